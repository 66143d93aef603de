/* What a paper published about one GPU: a .paper file as data. doc/paper-file.md describes the format. */
#ifndef FATHOM_PAPER_H
#define FATHOM_PAPER_H
#include "base/arena.h"
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct paper_row {
	const char *where, *row, *key, *printed, *unit, *note; /* key "-": no finding of ours means the same */
	bool is_word;					       /* unit name or yes/no: only `printed` counts */
	double lo, hi; /* what the printed digits leave open, in the unit of our findings */
	unsigned line;
};
struct paper {
	const char *title, *authors, *published, *device, *gpu;
	struct paper_row *rows;
	size_t count;
};

/* Everything lives in arena a. Errors name file and line. */
int paper_parse(struct paper **out, struct arena *a, const char *file, const char *text, size_t size, struct err *e);

#endif
