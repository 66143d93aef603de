/* What all reports share: text that is safe to print, numbers in their shortest form, findings in the order of keys. */
#ifndef FATHOM_RENDER_H
#define FATHOM_RENDER_H
#include "base/str.h"
#include "data/run.h"
#include "report/report.h"

/* Appends text of unknown origin. Control characters, escape sequences among them, and bytes that are not UTF-8 become
 * '?'. A damaged or hostile file thus cannot reach the terminal. With `ascii`, other characters than ASCII become '?',
 * too. */
void render_clean(struct str *out, const char *text, bool ascii);
/* Shortest text that reads back as v to `digits` significant digits: "8", "0.125", "inf". */
void render_number(struct str *out, double v, int digits);
/* Columns that UTF-8 text takes, counting one a character. */
size_t render_width(const char *text);
/* Text broken between words at `width`, every line after `indent` blanks. */
void render_wrap(struct str *out, const char *text, unsigned indent, unsigned width);
/* name="text", as a label of OpenMetrics. */
void render_label(struct str *out, const char *name, const char *text);
/* The findings as pointers in the order of their keys. mem_free; NULL: out of memory. At least one element. */
const struct finding **render_sorted(const struct run *r);
/* Whether the device can be asked this at all: what reports count as a question. UNSUPPORTED is none. */
bool render_asked(const struct finding *f);
/* The value with its unit for people: "2 KB", "24 cycles", "lru", "431, 440.5, 449 cycles", ">= 8", "none". ASCII unless
 * unicode. unit: say the unit too. */
void render_value(struct str *out, const struct finding *f, bool unit, bool unicode);
/* How far the interval reaches around the value: "+- 0.5", "-4 +1.5", "2 KB .. 3 KB", "" when it says nothing. With
 * `scope` it is told what it covers, "+- 0.5 (sm)". */
void render_interval(struct str *out, const struct finding *f, bool scope, bool unicode);

#endif
