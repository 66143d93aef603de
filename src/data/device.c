#include "data/device.h"
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum kind { TEXT, INT, U32, U64, REAL, YES };

/* All but spec, target and ptx_version: where it is, and what was written for it. */
static const struct {
	enum kind kind;
	size_t offset;
	const char *what;
} fields[] = {
    {TEXT, offsetof(struct device_info, backend), "backend"},
    {TEXT, offsetof(struct device_info, name), "name"},
    {TEXT, offsetof(struct device_info, uuid), "UUID"},
    {TEXT, offsetof(struct device_info, driver), "driver"},
    {TEXT, offsetof(struct device_info, dialect), "dialect"},
    {INT, offsetof(struct device_info, cc), "compute capability x 10"},
    {U32, offsetof(struct device_info, sm_count), "SMs"},
    {U32, offsetof(struct device_info, warp_size), "threads of a warp"},
    {U32, offsetof(struct device_info, max_threads_per_block), "threads of a block"},
    {U32, offsetof(struct device_info, max_threads_per_sm), "threads of an SM"},
    {U32, offsetof(struct device_info, registers_per_block), "registers of a block"},
    {U64, offsetof(struct device_info, shared_per_block), "bytes of shared memory"},
    {U64, offsetof(struct device_info, constant_bytes), "bytes of constants"},
    {U64, offsetof(struct device_info, memory_bytes), "bytes of memory"},
    {REAL, offsetof(struct device_info, clock_hz), "clock in Hz"},
    {YES, offsetof(struct device_info, has_f64), "double precision"},
    {YES, offsetof(struct device_info, has_f16), "half precision"},
    {YES, offsetof(struct device_info, has_fma), "fused multiply-add"},
};

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

/* As it is written down. */
static void value_of(const struct device_info *d, size_t field, char *out, size_t n)
{
	const char *at = (const char *)d + fields[field].offset;
	uint64_t whole = 0;
	uint32_t half = 0;
	double real = 0;
	int number = 0;
	bool yes = false;

	switch (fields[field].kind) {
	case TEXT:
		snprintf(out, n, "%s", *at ? at : "none");
		break;
	case INT:
		memcpy(&number, at, sizeof number);
		snprintf(out, n, "%d", number);
		break;
	case U32:
		memcpy(&half, at, sizeof half);
		snprintf(out, n, "%" PRIu32, half);
		break;
	case U64:
		memcpy(&whole, at, sizeof whole);
		snprintf(out, n, "%" PRIu64, whole);
		break;
	case REAL:
		memcpy(&real, at, sizeof real);
		snprintf(out, n, "%.12g", real);
		break;
	case YES:
		memcpy(&yes, at, sizeof yes);
		snprintf(out, n, "%s", yes ? "yes" : "no");
		break;
	}
}

bool device_differs(const struct device_info *is, const struct device_info *was, char *out, size_t n)
{
	size_t used = 0;
	bool differs = false;

	out[0] = 0;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		char a[160], b[160];
		value_of(is, i, a, sizeof a);
		value_of(was, i, b, sizeof b);
		if (strcmp(a, b) == 0)
			continue;
		if (used < n)
			used += (size_t)snprintf(out + used, n - used, "%s%s %s, not %s", differs ? "; " : "",
						 fields[i].what, a, b);
		differs = true;
	}
	return differs;
}
