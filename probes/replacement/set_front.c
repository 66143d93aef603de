/* What is in front of the TLBs of textures: a cache of the SM's own answers before addresses are translated. */
#include "replacement.h"

bool set_common(const struct study *s)
{
	double near_size, near_line, size, line;

	return study_number(s, "cache.texture.l1.size", &near_size) &&
	       study_number(s, "cache.texture.l1.line", &near_line) && study_number(s, "cache.global.l2.size", &size) &&
	       study_number(s, "cache.global.l2.line", &line) && near_size == size && near_line == line;
}
