/* Parts of the HTML page. Inside this room. */
#ifndef FATHOM_HTML_DATA_H
#define FATHOM_HTML_DATA_H
#include "report/report_html.h"

/* What the page's program reads, as JSON in which no `<` stands. */
void html_data(struct str *out, const struct html_page *p, const struct figure_list *drawn);
/* The figures of all runs, those of one name laid over each other. 0 or -ENOMEM; figures_free. */
int html_figures(struct figure_list *out, const struct html_page *p);
/* All findings, a row each and a column a run; contradictions first where there are several. */
void html_findings(struct str *out, const struct html_page *p);
/* The i-th row of that table. */
const struct compare_row *html_row(const struct html_page *p, size_t i);
/* "measured", as classes are named. */
const char *html_class(enum verdict v);

#endif
