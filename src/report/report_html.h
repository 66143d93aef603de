/* A run, or several beside each other, as one page that needs nothing else. */
#ifndef FATHOM_REPORT_HTML_H
#define FATHOM_REPORT_HTML_H
#include "base/err.h"
#include "base/str.h"
#include "data/figure.h"
#include "data/run.h"
#include "data/run_compare.h"

/* What the page says about a probe behind its findings. */
struct html_probe {
	const char *name, *asks, *how, *fooled;
};
struct html_page {
	const struct run *const *runs;
	const struct figure_list *figures; /* one list a run, the figures of the whole GPU among them */
	const char *const *names;	   /* of the runs, told apart: their files */
	size_t count;
	const struct comparison *all; /* of all runs: its rows are the page's findings */
	const struct html_probe *probes;
	size_t probe_count;
};
/* A page of HTML: about 0.5 MB for a run with all probes. It asks for nothing from anywhere, its policy forbids that, and without
 * JavaScript it is a static page. */
int report_html(struct str *out, const struct html_page *p, struct err *e);

#endif
