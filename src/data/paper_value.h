/* A published value: its printed form, its unit and its tolerance. Internal to the reader of .paper files. */
#ifndef FATHOM_PAPER_VALUE_H
#define FATHOM_PAPER_VALUE_H
#include "data/paper.h"

/* Fills unit, is_word, lo, hi and the list from printed, printed_unit and tolerance. -EINVAL with one sentence, without
 * file and line, or -ENOMEM. */
int paper_value(struct paper_row *row, struct arena *a, struct err *e);

#endif
