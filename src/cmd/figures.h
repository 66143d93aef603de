/* The figures of a run as SVG files. */
#ifndef FATHOM_FIGURES_H
#define FATHOM_FIGURES_H
#include "cmd/cmd.h"
#include "data/figure.h"

/* Writes each as DIR/NAME.svg; DIR is made when missing. CMD_OK or a code with c->error set. */
int figures_write(struct cmd_context *c, const char *dir, const struct figure_list *figures);

/* Writes one as DIR/STEM.svg; DIR is there. CMD_OK or a code with c->error set. */
int figures_write_one(struct cmd_context *c, const char *dir, const char *stem, const struct figure *f);

#endif
