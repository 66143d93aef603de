/* Pieces of JSON that several outputs build. A json_t of NULL stands for memory that was not there. */
#ifndef FATHOM_JSON_BUILD_H
#define FATHOM_JSON_BUILD_H
#include "base/err.h"
#include "base/str.h"
#include "data/device.h"
#include "data/run.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

json_t *json_of_number(double v);		   /* null unless finite */
json_t *json_of_known(double v);		   /* null when negative: it could not be had */
json_t *json_of_text(const char *s);		   /* clean UTF-8; NULL is "" */
json_t *json_of_wide(const char *fmt, uint64_t v); /* a text: a number would lose bits in most readers */
json_t *json_of_device(const struct device_info *d);
json_t *json_of_finding(const struct finding *f);

/* An object under construction; one failure is remembered. */
struct json_object {
	json_t *json;
	bool failed;
};
struct json_object json_begin(void);
void json_put(struct json_object *o, const char *key, json_t *value); /* takes value over */
json_t *json_done(struct json_object *o);			      /* NULL when something failed */

/* Texts that stand once in a list, and elsewhere as their place in it. */
struct json_texts {
	json_t *place, *list; /* an object from text to place, and an array; NULL: out of memory */
	json_t *row;	      /* an object from a finding's key to its row of the page's table */
};
struct json_texts json_texts_begin(void);
/* Says the next row's key; all keys have a row before findings are printed. 0, or not when out of memory. */
int json_texts_row(struct json_texts *t, const char *key);
/* report_json with findings as arrays of values, whose names report_json_fields prints once. A name that ends in '#' has places in `texts`
 * for values, one that ends in '@' rows. Names are a third of a page's data, keys and repeated texts an eighth each. */
int report_json_rows(struct str *out, const struct run *r, struct json_texts *texts, struct err *e);
void report_json_fields(struct str *out);
/* Prints the list, and frees all. */
void json_texts_end(struct str *out, struct json_texts *texts);

void json_print(struct str *out, json_t *j); /* prints in one line and frees */

#endif
