/* Recorded answers: a line of text that says where they come from, then all cases, little endian. Each case has the
 * hash of its line, a hash of all its answers (0 for approximate cases), and the first of them in full. Those have one
 * to eight bytes each. */
#ifndef FATHOM_ISA_FILE_H
#define FATHOM_ISA_FILE_H
#include "isa_run.h"

#define ISA_KEPT	     48	 /* answers of an exact case that are kept */
#define ISA_KEPT_APPROXIMATE 192 /* of another */
#define ISA_HEAD	     "fathom isa 1 "

static inline uint32_t isa_kept(const struct isa_case *c)
{
	return isa_approximate((enum isa_rule)c->rule) ? ISA_KEPT_APPROXIMATE : ISA_KEPT;
}

static inline uint32_t isa_width(const struct isa_case *c)
{
	uint32_t n = ptx_type_bytes((enum ptx_type)c->d);
	return n ? n : 1; /* a predicate */
}
uint64_t isa_line_hash(const struct isa_case *c);
/* Of canonical answers. */
uint64_t isa_answer_hash(const struct isa_case *c, const uint64_t *answer);

#endif
