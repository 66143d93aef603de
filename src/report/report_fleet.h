/* Many cards beside each other, for people and for programs. */
#ifndef FATHOM_REPORT_FLEET_H
#define FATHOM_REPORT_FLEET_H
#include "data/fleet.h"
#include "report/report.h"

/* Each model with its cards, then what lies apart, by card. */
int report_fleet(struct str *out, const struct fleet *f, const struct report_style *style, struct err *e);
/* Schema 1: models, cards, every key with median and spread, and outliers. */
int report_fleet_json(struct str *out, const struct fleet *f, struct err *e);
/* One page without a program: a map of how far cards are from their like, what lies apart, all cards. */
int report_fleet_html(struct str *out, const struct fleet *f, struct err *e);
/* OpenMetrics text: of each card how many findings lie apart, and of numbers that do the ratio to the median. */
int report_fleet_openmetrics(struct str *out, const struct fleet *f, struct err *e);

#endif
