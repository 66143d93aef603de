/* A prediction as text and as JSON. */
#ifndef FATHOM_PREDICT_TEXT_H
#define FATHOM_PREDICT_TEXT_H
#include "base/str.h"
#include "data/run.h"
#include "predict/predict.h"

struct predict_page {
	const char *kernel, *entry, *from;
	const struct run *run;
	const struct predict_request *request;
	const struct predict_result *result;
	const char *checked_on; /* NULL: not run */
	double measured;	/* seconds */
};
void predict_text(struct str *out, const struct predict_page *p);
void predict_json(struct str *out, const struct predict_page *p); /* schema 1 */

#endif
