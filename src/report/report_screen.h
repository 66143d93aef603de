/* What the first screen is made of: numbers of three digits, lines of parts, and the table of memories. */
#ifndef FATHOM_REPORT_SCREEN_H
#define FATHOM_REPORT_SCREEN_H
#include "report/render.h"
#include "report/report_table.h"

/* Three significant digits, whole numbers below 10,000 whole. */
void screen_number(struct str *out, double v);
/* "66.9 Tflop/s", "2.72 us": an SI prefix and three digits. */
void screen_si(struct str *out, double v, const char *unit);
/* "227 KB", "26.9 MB": binary prefixes and three digits. */
void screen_bytes(struct str *out, double bytes);
unsigned screen_width(const struct report_style *style);

/* Parts that stand on one line as long as they fit, several blanks between them. */
struct screen_line {
	struct str *out;
	struct str part;
	const struct report_style *style;
	size_t at;
};
void screen_begin(struct screen_line *l, struct str *out, const struct report_style *style);
void screen_part(struct screen_line *l); /* puts the part that was filled, and empties it for the next */
void screen_end(struct screen_line *l);	 /* puts the last one and ends the line, if there is any */
void screen_free(struct screen_line *l);

/* Registers, shared memory, caches, memory, TLBs: a line each, those of constants, textures and code drawn together. */
void screen_memories(struct str *out, const struct run *r, const struct report_style *style);

#endif
