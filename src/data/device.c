#include "data/device.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Far beyond what is built, and small enough that sums and products of them fit into 64 bits. */
#define UNITS_MAX     (1u << 20) /* SMs, threads of a block, threads of an SM */
#define WARP_MAX      1024u
#define REGISTERS_MAX (1u << 26)
#define BYTES_MAX     (1ull << 50)
#define CLOCK_MAX     1e12 /* Hz */
#define VERSION_MAX   10000

static bool ends(const char *text, size_t n)
{
	return memchr(text, '\0', n) != NULL;
}

static bool is_bool(const bool *b)
{
	unsigned char byte;

	memcpy(&byte, b, 1); /* another value is none of its type */
	return byte <= 1;
}

static const char *fault(const struct device_info *d)
{
	if (!ends(d->backend, sizeof d->backend) || !ends(d->spec, sizeof d->spec) || !ends(d->name, sizeof d->name) ||
	    !ends(d->uuid, sizeof d->uuid) || !ends(d->driver, sizeof d->driver) ||
	    !ends(d->dialect, sizeof d->dialect) || !ends(d->target, sizeof d->target))
		return "a name without an end";
	if (strcmp(d->dialect, "ptx") != 0 && strcmp(d->dialect, "cl") != 0)
		return "a dialect that is none";
	if (!d->warp_size || d->warp_size > WARP_MAX)
		return "a warp size that cannot be";
	if (!d->sm_count || d->sm_count > UNITS_MAX)
		return "a number of SMs that cannot be";
	if (!d->max_threads_per_block || d->max_threads_per_block > UNITS_MAX || d->max_threads_per_sm > UNITS_MAX)
		return "a number of threads that cannot be";
	if (d->registers_per_block > REGISTERS_MAX)
		return "a number of registers that cannot be";
	if (d->shared_per_block > BYTES_MAX || d->constant_bytes > BYTES_MAX || d->memory_bytes > BYTES_MAX)
		return "more memory than there is";
	if (!(d->clock_hz >= 0) || d->clock_hz > CLOCK_MAX)
		return "a clock that cannot be";
	if (d->cc < 0 || d->cc > VERSION_MAX || d->ptx_version < 0 || d->ptx_version > VERSION_MAX)
		return "a version that cannot be";
	if (!is_bool(&d->has_f64) || !is_bool(&d->has_f16) || !is_bool(&d->has_fma))
		return "an answer that is neither yes nor no";
	return NULL;
}

int device_check(const struct device_info *d, struct err *e)
{
	const char *why = fault(d);

	return why ? err_set(e, -EINVAL, "the device has %s", why) : 0;
}

const char *throttle_words(int64_t throttle, char words[THROTTLE_WORDS])
{
	/* NVML's nvmlClocksEventReason...: bits that are left out say that the GPU is idle, or at clocks that somebody chose. */
	static const struct {
		int64_t bits;
		const char *what;
	} known[] = {{0x04, "power"},
		     {0x20 | 0x40, "heat"},
		     {0x80, "the power supply"},
		     {0x08, "the hardware's own protection"}};
	size_t n = 0;

	words[0] = 0;
	for (size_t i = 0; i < sizeof known / sizeof *known && throttle > 0; i++)
		if (throttle & known[i].bits)
			n += (size_t)snprintf(words + n, THROTTLE_WORDS - n, "%s%s", n ? ", " : "", known[i].what);
	return words;
}
