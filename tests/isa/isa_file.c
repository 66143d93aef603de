#include "isa_file.h"
#include "base/str.h"
#include <string.h>

uint64_t isa_line_hash(const struct isa_case *c)
{
	uint64_t types = (uint64_t)c->d << 24 | (uint64_t)c->a << 16 | (uint64_t)c->b << 8 | c->c;
	return hash64(c->line, strlen(c->line), types);
}

uint64_t isa_answer_hash(const struct isa_case *c, const uint64_t *answer)
{
	uint64_t h = 1;
	if (isa_approximate((enum isa_rule)c->rule))
		return 0;
	for (uint32_t t = 0; t < ISA_THREADS; t++) {
		uint64_t v = isa_canonical(c, t, answer[t]);
		h = hash64(&v, sizeof v, h);
	}
	return h;
}
