/* Parts that the full report and the summary share. */
#ifndef FATHOM_REPORT_PARTS_H
#define FATHOM_REPORT_PARTS_H
#include "report/render.h"
#include "report/report_table.h"

/* Who was measured, by whom, and how many findings of each verdict there are. */
void part_head(struct str *out, const struct run *r, const struct report_style *style);
/* One line, where clocks were held back while something was measured. */
void part_throttling(struct str *out, const struct run *r, const struct report_style *style);
void part_title(struct str *out, const char *title, const struct report_style *style);
/* Is the key shown in one of these tables? Then the plain list leaves it out. */
bool part_tabulated(const char *key);
/* Latency, throughput, issue interval and native instructions: one operation a line. */
void part_arithmetic(struct str *out, const struct finding *const *sorted, const struct run *r,
		     const struct report_style *style);
/* Caches and TLBs: one level a line. `family` is "cache" or "tlb". brief: who shares the level, and no interval. */
void part_levels(struct str *out, const struct finding *const *sorted, const struct run *r, const char *family,
		 bool brief, const struct report_style *style);
/* What is not decided, failed or only bounded, with the reason. most: entries to show, 0 = all. */
void part_open(struct str *out, const struct finding *const *sorted, const struct run *r,
	       const struct report_style *style, size_t most);
/* Performance, latencies and ridge points by class, and every memory by the size of a load. */
void part_performance(struct str *out, const struct run *r, const struct report_style *style);
/* Probes that did not end well. */
void part_probes(struct str *out, const struct run *r, const struct report_style *style);

#endif
