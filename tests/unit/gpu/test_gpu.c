/* Names of devices, with backends of the test's own. */
#include "base/arena.h"
#include "gpu/gpu.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What the fakes were asked; the test reads it, so it cannot live in a struct that gpu.c hands through. */
static struct {
	const char *backend;
	char spec[64];
	bool isolated;
	unsigned devices, opencl; /* what listing finds */
	unsigned unusable;	  /* so many of cuda, from the first one on */
	int list_rc;
} seen;

static struct gpu any;

static int opened(const char *backend, const char *spec, bool isolated)
{
	seen.backend = backend;
	seen.isolated = isolated;
	snprintf(seen.spec, sizeof(seen.spec), "%s", spec);
	return 0;
}

static int open_cuda(struct gpu **out, const char *spec, uint64_t seed, struct err *e)
{
	(void)out, (void)seed, (void)e;
	return opened("cuda", spec, false);
}

static int open_opencl(struct gpu **out, const char *spec, uint64_t seed, struct err *e)
{
	(void)out, (void)seed, (void)e;
	return opened("opencl", spec, false);
}

static int open_sim(struct gpu **out, const char *spec, uint64_t seed, struct err *e)
{
	(void)seed, (void)e;
	*out = &any;
	return opened("sim", spec, false);
}

static int open_replay(struct gpu **out, const char *spec, uint64_t seed, struct err *e)
{
	(void)out, (void)seed, (void)e;
	return opened("replay", spec, false);
}

const struct gpu_ops gpu_cuda = {.name = "cuda", .help = "cuda:N, an NVIDIA GPU by its index", .open = open_cuda};
const struct gpu_ops gpu_opencl = {.name = "opencl", .help = "opencl:P.D, a device", .open = open_opencl};
const struct gpu_ops gpu_sim = {.name = "sim", .help = "sim:NAME, a simulated GPU", .open = open_sim};
const struct gpu_ops gpu_replay = {.name = "replay", .help = "replay:FILE.fathom, a stored run", .open = open_replay};

int gpu_open_proxy(struct gpu **out, const struct gpu_ops *ops, const char *spec, uint64_t seed, struct err *e)
{
	(void)seed;
	if (ops == &gpu_cuda && (unsigned)spec[0] - '0' < seen.unusable)
		return err_set(e, -EIO, "cuda:%s cannot be used: somebody has it", spec);
	*out = &any;
	return opened(ops->name, spec, true);
}

int gpu_list_isolated(const struct gpu_ops *ops, struct device_list *list, struct err *e)
{
	if (ops == &gpu_opencl) {
		list->items = seen.opencl ? mem_zero(seen.opencl, sizeof(*list->items)) : NULL;
		list->count = seen.opencl;
		for (unsigned i = 0; i < seen.opencl; i++) {
			snprintf(list->items[i].spec, sizeof(list->items[i].spec), "opencl:0.%u", i);
			snprintf(list->items[i].name, sizeof(list->items[i].name), "Radeon %u", i);
		}
		return 0;
	}
	assert_ptr_equal(ops, &gpu_cuda);
	if (seen.list_rc)
		return err_set(e, seen.list_rc, "the driver is broken");
	if (!seen.devices) {
		snprintf(list->note, sizeof(list->note), "no NVIDIA driver: libcuda.so.1 was not found");
		return 0;
	}
	list->items = mem_zero(seen.devices, sizeof(*list->items));
	list->count = seen.devices;
	for (unsigned i = 0; i < seen.devices; i++)
		snprintf(list->items[i].spec, sizeof(list->items[i].spec), "cuda:%u", i);
	return 0;
}

static void opens_by_name(void **state)
{
	(void)state;
	struct gpu *g;
	struct err e = {0};

	assert_int_equal(gpu_open(&g, "sim:gtx280", 1, true, &e), 0);
	assert_string_equal(seen.backend, "sim");
	assert_string_equal(seen.spec, "gtx280");
	assert_false(seen.isolated); /* our own code needs no child */
	assert_int_equal(gpu_open(&g, "cuda:1", 1, true, &e), 0);
	assert_string_equal(seen.spec, "1");
	assert_true(seen.isolated);
	assert_int_equal(gpu_open(&g, "cuda:0", 1, false, &e), 0);
	assert_false(seen.isolated);
	assert_int_equal(gpu_open(&g, "opencl:0.1", 1, true, &e), 0);
	assert_string_equal(seen.spec, "0.1");
	assert_true(seen.isolated);
	assert_int_equal(gpu_open(&g, "replay:a:b.fathom", 1, true, &e), 0); /* a file may have a colon */
	assert_string_equal(seen.spec, "a:b.fathom");
}

static void refuses_with_advice(void **state)
{
	(void)state;
	static const struct {
		const char *device, *words;
	} bad[] = {
	    {"gtx280", "'sim:gtx280'"},
	    {"gtx208", "did you mean 'sim:gtx280'?"},
	    {"my.gpu", "'sim:my.gpu'"},
	    {"old.fathom", "'replay:old.fathom'"},
	    {"cuda", "cuda:N, an NVIDIA GPU by its index"},
	    {"cuda:", "cuda:N, an NVIDIA GPU by its index"},
	    {"0", "'cuda:0'"},
	    {"cdua:0", "did you mean 'cuda:0'?"},
	    {"opengl:x", "did you mean 'opencl:x'?"},
	    {"opencl", "opencl:P.D"},
	    {"vulkan:0", "a device is cuda:N"},
	    {"", "a device is cuda:N"},
	    {":", "a device is cuda:N"},
	    {"something else", "a device is cuda:N"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct gpu *g;
		struct err e = {0};
		assert_int_equal(gpu_open(&g, bad[i].device, 1, true, &e), -EINVAL);
		if (!strstr(e.text, bad[i].words))
			print_error("'%s': '%s' does not say '%s'\n", bad[i].device, e.text, bad[i].words);
		assert_non_null(strstr(e.text, bad[i].words));
		assert_null(g);
	}
}

static void expect_best(const char *device, const char *why)
{
	char got[64], said[512];
	struct gpu *g;
	struct err e = {0};

	assert_int_equal(gpu_open_best(&g, 1, got, sizeof(got), said, sizeof(said), &e), 0);
	assert_ptr_equal(g, &any);
	assert_string_equal(got, device);
	assert_string_equal(said, why);
}

static void chooses_and_says_why(void **state)
{
	(void)state;
	char device[64], why[256];
	struct gpu *g;
	struct err e = {0};

	seen.devices = 0;
	expect_best("sim:gtx280", "no NVIDIA driver: libcuda.so.1 was not found; taking the simulated GTX 280");
	seen.opencl = 2;
	expect_best("sim:gtx280",
		    "no NVIDIA driver: libcuda.so.1 was not found; OpenCL has Radeon 0 (-d opencl:0.0) and 1 more; "
		    "taking the simulated GTX 280");
	seen.opencl = 0;
	seen.devices = 2;
	expect_best("cuda:0", "taking the first NVIDIA GPU");
	assert_true(seen.isolated);
	seen.unusable = 1;
	expect_best("cuda:1", "cuda:0 cannot be used: somebody has it; taking cuda:1");
	seen.unusable = 2;
	expect_best("sim:gtx280", "cuda:0 cannot be used: somebody has it; cuda:1 cannot be used: somebody has it; "
				  "taking the simulated GTX 280");
	seen.list_rc = -EIO;
	expect_best("sim:gtx280", "the driver is broken; taking the simulated GTX 280");
	seen.list_rc = -ENOMEM;
	assert_int_equal(gpu_open_best(&g, 1, device, sizeof(device), why, sizeof(why), &e), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(opens_by_name),
	    cmocka_unit_test(refuses_with_advice),
	    cmocka_unit_test(chooses_and_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
