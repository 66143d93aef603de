/* The page about all probes, doc/probes.md. */
#ifndef FATHOM_PROBE_PAGE_H
#define FATHOM_PROBE_PAGE_H
#include "base/str.h"

void probe_page(struct str *out);

#endif
