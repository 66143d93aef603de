/* A run in the formats that other programs read. Only MEASURED and LIKELY values are written, for hwloc and Accel-Sim bounds as well, and each says
 * which it is. */
#ifndef FATHOM_REPORT_EXPORT_H
#define FATHOM_REPORT_EXPORT_H
#include "base/err.h"
#include "base/str.h"
#include "data/run.h"

/* Options of Accel-Sim, to be read behind a base's: each line says measured, estimate, bound or taken from the base. */
int export_accel_sim(struct str *out, const struct run *r, struct err *e);
/* JSON of schema 1: what arithmetic and memories reach, in Gop/s and GB/s of the whole GPU, for rooflines and autotuners. */
int export_ceilings(struct str *out, const struct run *r, struct err *e);
/* Tab-separated values, a line an operation: latency, interval between issues, throughput; for compilers' scheduling models. */
int export_latencies(struct str *out, const struct run *r, struct err *e);
/* OpenMetrics text: every number as a gauge whose labels are the key, the unit, the verdict and the GPU. */
int export_openmetrics(struct str *out, const struct run *r, struct err *e);
/* XML of hwloc 2: groups of SMs, their L1, the L2 and memory; lstopo draws it. */
int export_hwloc(struct str *out, const struct run *r, struct err *e);

#endif
