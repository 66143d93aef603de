/* Many cards beside each other, for people and for programs. */
#ifndef FATHOM_REPORT_FLEET_H
#define FATHOM_REPORT_FLEET_H
#include "data/fleet.h"
#include "report/report.h"

/* Each model with its cards, then what lies apart, by card. */
int report_fleet(struct str *out, const struct fleet *f, const struct report_style *style, struct err *e);
/* Schema 1: models, cards, every key with median and spread, and outliers. */
int report_fleet_json(struct str *out, const struct fleet *f, struct err *e);

#endif
