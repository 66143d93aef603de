/* How the files of the list write its cases. */
#ifndef FATHOM_ISA_MAKER_H
#define FATHOM_ISA_MAKER_H
#include "base/str.h"
#include "isa_cases.h"

struct maker {
	struct isa_cases *c;
	struct str text; /* of the case being made */
	bool failed;
};

/* The types of a line, a byte each. */
#define TYPES(d, a, b, c) ((uint32_t)(d) << 24 | (uint32_t)(a) << 16 | (uint32_t)(b) << 8 | (uint32_t)(c))
#define put(m, rule, d, a, b, c, ...)                                                                                  \
	(str_clear(&(m)->text), str_addf(&(m)->text, __VA_ARGS__), isa_keep((m), (rule), TYPES(d, a, b, c)))
#define N(t)	 ptx_type_name(t)
#define COUNT(x) (sizeof(x) / sizeof *(x))

void isa_keep(struct maker *m, enum isa_rule rule, uint32_t types);
void isa_newer(struct maker *m); /* what came with sm_70 to sm_90 */

#endif
