/* What the files of the probe `registers` share. */
#ifndef FATHOM_REGISTERS_H
#define FATHOM_REGISTERS_H
#include "probe/probe.h"

enum { VALUES_MAX = 512 };    /* that live at once in a kernel */
enum { REGISTERS_BLOCK = 0 }; /* the experiment of launches of one block; p[0]: its threads */
int registers_draw(const struct study *s, struct figure_list *out);

#endif
