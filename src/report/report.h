/* Reports: pure functions of a run. They write into a str; the command decides where it goes. */
#ifndef FATHOM_REPORT_H
#define FATHOM_REPORT_H
#include "base/err.h"
#include "base/str.h"
#include "data/figure.h"
#include "data/paper_compare.h"
#include "data/run.h"
#include "data/run_compare.h"

struct report_style {
	bool colour, unicode;
	unsigned width; /* columns; 0 = 80 */
};
/* One page: device, findings by family as tables, main figures in characters, what was not decided and why. */
int report_text(struct str *out, const struct run *r, const struct figure_list *figures,
		const struct report_style *style, struct err *e);
int report_summary(struct str *out, const struct run *r, const struct report_style *style,
		   struct err *e); /* `make run`'s page */
int report_lemeire(struct str *out, const struct run *r, const struct report_style *style,
		   struct err *e); /* Lemeire's one-page performance report */
/* Schema 1 (report.schema.json); findings sorted by key. */
int report_json(struct str *out, const struct run *r, struct err *e);
/* Takes a long report piece by piece. take: returns 0, or a negative that the report returns, too; it leaves `part`
 * alone. */
struct report_sink {
	int (*take)(void *ctx, struct str *part);
	void *ctx;
};
/* The same with the raw series. `to` gets all but the last piece, which stays in out; NULL: everything stays there. */
int report_json_series(struct str *out, const struct run *r, const struct report_sink *to, struct err *e);
int report_csv(struct str *out, const struct run *r, struct err *e);
int report_svg(struct str *out, const struct figure *f, struct err *e);
int report_draw(struct str *out, const struct figure *f, const struct report_style *style,
		struct err *e);						  /* in characters */
int report_markdown(struct str *out, const struct run *r, struct err *e); /* a page of doc/results */
/* Published values beside those of runs, `n` parts of one paper; JSON has schema 1, too. */
int report_paper(struct str *out, const struct paper_comparison *parts, size_t n, const struct report_style *style,
		 struct err *e);
int report_paper_json(struct str *out, const struct paper_comparison *parts, size_t n, struct err *e);
/* Several runs beside each other. `names`: what to call each, its file. JSON has schema 1, too. */
int report_compare(struct str *out, const struct comparison *c, const char *const *names,
		   const struct report_style *style, struct err *e);
int report_compare_json(struct str *out, const struct comparison *c, const char *const *names, struct err *e);

#endif
