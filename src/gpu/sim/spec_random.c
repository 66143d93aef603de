/* Random GPUs for calibration, as .gpu text. */
#include "base/rng.h"
#include "base/str.h"
#include "gpu/sim/spec.h"
#include <errno.h>
int spec_random(struct str *out, uint64_t seed)
{
	(void)out;
	(void)seed;
	return -ENOTSUP;
}
