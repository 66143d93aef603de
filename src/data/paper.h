/* What a paper published: a .paper file as data. doc/paper-file.md describes the format. */
#ifndef FATHOM_PAPER_H
#define FATHOM_PAPER_H
#include "base/arena.h"
#include "base/err.h"
#include "data/figure.h"
#include <stdbool.h>
#include <stddef.h>

#define PAPER_LIST_MAX 16 /* numbers of one printed list */

struct paper_row {
	const char *where, *row, *key, *printed; /* key: also a formula, "-" or "setting" (paper_formula.h) */
	const char *printed_unit;		 /* as the paper has it: "KB" */
	const char *unit;			 /* of our findings: "bytes" */
	const char *note;			 /* "" when there is none */
	const char *tolerance, *reason; /* "2" or "5 %", and why it is not what the digits say; "" when it is */
	const char *deviation;		/* the entry of gpus/DEVIATIONS.md that says why ours differs, or "" */
	bool is_word;			/* unit name or yes/no: only `printed` counts */
	/* What is left open, in the unit of our findings; "at least" has hi INFINITY. Each number of a list may be off by `open`. */
	double lo, hi, open;
	/* The same of what a deviation explains: all, unless the row has a tolerance. */
	double far_lo, far_hi, far_open;
	const double *list; /* the numbers of a printed list, ascending, or NULL */
	unsigned list_count;
	bool again;    /* it repeats a value of its part, which is counted once */
	bool wide;     /* the tolerance is wider than three times the last printed digit */
	unsigned part; /* index */
	unsigned line;
};
struct paper_figure {
	const char *number, *name; /* the paper's: "13", and that of our figure: "tlb-global" */
	unsigned line;
};
/* A paper measured one device or several: the rows of each are one part. */
struct paper_part {
	const char *device; /* the product */
	const char *gpu;    /* the description in gpus/, or "-": there is none */
	size_t first, count;
	struct paper_figure *figures; /* numbered ones that plot a measurement */
	size_t figure_count, figure_cap;
	unsigned line;
};
struct paper {
	const char *title, *authors, *published;
	struct paper_part *parts;
	size_t part_count;
	struct paper_row *rows;
	size_t count;
	size_t values; /* rows that are neither settings nor said again */
};

/* Everything lives in arena a. Errors name file, line and what would be right: -EINVAL, or -ENOMEM. */
int paper_parse(struct paper **out, struct arena *a, const char *file, const char *text, size_t size, struct err *e);

/* A built-in paper by its name ("wong2010"), or a file whose name has a slash or ends in .paper. An unknown name is
 * -ENOENT, and the sentence names the known ones. */
int paper_open(struct paper **out, struct arena *a, const char *name_or_path, struct err *e);

/* Each figure that a built-in paper numbers says so in `paper`, unless it says another: "Wong 2010, Fig. 6". 0 or -ENOMEM. */
int paper_name_figures(struct figure_list *l, struct err *e);

#endif
