/* A driver that misbehaves: our own libcuda.so.1 (src/exec) behind each function that the CUDA backend calls. What it plays is chosen by
 * environment variables:
 *   FAKE_CUDA_GPU      the simulated GPU, as spec_open takes it (default "toy")
 *   FAKE_CUDA_INIT     what cuInit returns (100: no device, 999: unknown); negative: the signal that it dies of
 *   FAKE_CUDA_DEVICES  how many GPUs there are (default 1)
 *   FAKE_CUDA_BUSY     so many of them, from the first one on, are somebody else's
 *   FAKE_CUDA_FAIL     "cuMemAlloc_v2:3:2": the third call of that function returns 2; 0 for the 3: every one
 *   FAKE_CUDA_HANG     "5": the fifth launch never ends
 *   FAKE_CUDA_FAULT    "5": the fifth launch kills the context with an illegal address
 *   FAKE_CUDA_CRASH    "5": the fifth launch kills the process
 *   FAKE_CUDA_GONE     a file: with that fault the GPU itself goes away, which makes the file; who comes later finds no GPU
 *   FAKE_CUDA_ONCE     a file: those three happen only where it does not exist yet, and make it
 *   FAKE_CUDA_VERSION  what cuDriverGetVersion says (default 13000); its compiler takes the PTX of that version only
 *   FAKE_CUDA_CC       the compute capability, 90 is 9.0 (default: the simulated GPU's)
 * Memory that is allocated holds what was there before: a caller that relies on zeros has to be found out. */
#include "fake_targets.h"
#include "gpu/cuda/cuda_driver.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	UNAVAILABLE = 46,
	NO_DEVICE = 100,
	INVALID_PTX = 218,
	ILLEGAL_ADDRESS = 700,
	LAUNCH_TIMEOUT = 702,
};
#define OLD_BYTES 65536u /* of what was in memory before */

enum call {
#define CUDA_SYMBOL(needed, member, symbol, type) CALL_##member,
#include "gpu/cuda/cuda_symbols.def"
#undef CUDA_SYMBOL
	CALLS
};
static const char *const names[] = {
#define CUDA_SYMBOL(needed, member, symbol, type) symbol,
#include "gpu/cuda/cuda_symbols.def"
#undef CUDA_SYMBOL
};

/* All arguments are numbers or pointers, 11 of cuLaunchKernel: whatever a function takes is handed on in as many words. */
#define WORDS(w) w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10]
typedef uintptr_t word;
typedef CUresult function(word, word, word, word, word, word, word, word, word, word, word);

static struct fake {
	pthread_mutex_t lock;
	bool begun, initialised, hung;
	function *real[CALLS];
	int devices, version, cc, busy;
	char fail_name[64];
	long fail_at, fail_calls;
	int fail_code;
	long hang_at, fault_at, crash_at, launches;
	int sticky;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static long number(const char *name, long otherwise)
{
	const char *v = getenv(name);

	return v && *v ? strtol(v, NULL, 10) : otherwise;
}

static void begin(void)
{
	const char *fail = getenv("FAKE_CUDA_FAIL"), *gpu = getenv("FAKE_CUDA_GPU");
	void *lib = dlopen(EXEC_DRIVER, RTLD_NOW | RTLD_LOCAL);
	char gpus[1024] = "";

	fake.begun = true;
	fake.devices = (int)number("FAKE_CUDA_DEVICES", 1);
	for (int k = 0; k < fake.devices || !k; k++)
		snprintf(gpus + strlen(gpus), sizeof gpus - strlen(gpus), "%s%s", k ? "," : "", gpu ? gpu : "toy");
	setenv("FATHOM_EXEC_GPU", gpus, 1);
	for (int c = 0; c < CALLS; c++) {
		void *p = lib ? dlsym(lib, names[c]) : NULL;
		memcpy(&fake.real[c], &p, sizeof p);
		if (!p) {
			fprintf(stderr, "fake driver: %s\n", dlerror());
			abort();
		}
	}
	if (fail && sscanf(fail, "%63[^:]:%ld:%d", fake.fail_name, &fake.fail_at, &fake.fail_code) != 3)
		abort();
	fake.hang_at = number("FAKE_CUDA_HANG", 0);
	fake.fault_at = number("FAKE_CUDA_FAULT", 0);
	fake.crash_at = number("FAKE_CUDA_CRASH", 0);
	fake.version = (int)number("FAKE_CUDA_VERSION", 13000);
	fake.cc = (int)number("FAKE_CUDA_CC", 0);
	fake.busy = (int)number("FAKE_CUDA_BUSY", 0);
}

static CUresult real(enum call c, const word *w)
{
	return fake.real[c](WORDS(w));
}

static CUresult start(const word *w)
{
	const char *gone = getenv("FAKE_CUDA_GONE");
	const int r = (int)number("FAKE_CUDA_INIT", 0);

	if (r < 0)
		raise(-r);
	if (r || fake.initialised)
		return (CUresult)r;
	if (gone && access(gone, F_OK) == 0)
		return (CUresult)NO_DEVICE;
	fake.initialised = true;
	return fake.devices ? real(CALL_init, w) : CUDA_SUCCESS;
}

/* ---- what is played ---- */

/* With FAKE_CUDA_ONCE naming a file, what is played happens once, however many processes follow: the first one that gets
 * there makes the file. */
static bool again(void)
{
	const char *marker = getenv("FAKE_CUDA_ONCE");

	if (!marker)
		return true;
	int fd = open(marker, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Whether the GPU goes away with the fault. */
static bool gone(void)
{
	const char *marker = getenv("FAKE_CUDA_GONE");
	int fd = marker ? open(marker, O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Whether this launch is one that something is played in. It is seen when the launch is waited for. */
static bool spoilt(void)
{
	pthread_mutex_lock(&fake.lock);
	const long n = ++fake.launches;
	const bool now = (n == fake.crash_at || n == fake.hang_at || n == fake.fault_at) && again();
	if (now && n == fake.crash_at)
		raise(SIGSEGV);
	fake.hung |= now && n == fake.hang_at;
	if (now && n == fake.fault_at)
		fake.sticky = gone() ? CUDA_ERROR_UNKNOWN : ILLEGAL_ADDRESS;
	pthread_mutex_unlock(&fake.lock);
	return now;
}

static CUresult allocate(const word *w)
{
	const CUresult r = real(CALL_mem_alloc, w);

	if (!r) {
		const word fill[11] = {*(CUdeviceptr *)w[0], 0xa5, w[1] < OLD_BYTES ? w[1] : OLD_BYTES};
		real(CALL_memset_d8_async, fill);
	}
	return r;
}

static CUresult attribute(const word *w)
{
	int *v = (int *)w[0];
	const int which = (int)w[1];
	const CUresult r = real(CALL_device_get_attribute, w);

	if (!r && fake.cc && (which == DEVICE_CC_MAJOR || which == DEVICE_CC_MINOR))
		*v = which == DEVICE_CC_MAJOR ? fake.cc / 10 : fake.cc % 10;
	return r;
}

/* The compiler of the version that is played, for the card that is played: what it takes is compiled for the card that there is. */
static CUresult compile(const word *w)
{
	const char *text = (const char *)w[2], *target = strstr(text, ".target sm_");
	const size_t bytes = w[3];
	int major = 0, minor = 0, cc[2];
	char why[128], card[16] = "";
	word with[11];

	if ((int)w[1] != CU_JIT_INPUT_PTX || !target || !strstr(text, ".version "))
		return real(CALL_link_add_data, w);
	sscanf(strstr(text, ".version "), ".version %d.%d", &major, &minor);
	sscanf(target, ".target %15[a-z_0-9]", card);
	for (int k = 0; k < 2; k++) {
		const word ask[11] = {(word)&cc[k], DEVICE_CC_MAJOR + (word)k};
		real(CALL_device_get_attribute, ask);
	}
	const int there = 10 * cc[0] + cc[1];
	if (!fake_takes(major * 10 + minor, card, fake.version, fake.cc ? fake.cc : there, why, sizeof why)) {
		fprintf(stderr, "fake driver: %s\n", why);
		return (CUresult)INVALID_PTX;
	}
	if (strtol(card + 3, NULL, 10) <= there)
		return real(CALL_link_add_data, w);
	char *copy = malloc(bytes + sizeof card);
	if (!copy)
		return (CUresult)OUT_OF_MEMORY;
	const int n = snprintf(copy, bytes + sizeof card, "%.*s.target sm_%d%s", (int)(target - text), text, there,
			       target + strlen(".target ") + strlen(card));
	memcpy(with, w, sizeof with);
	with[2] = (word)copy;
	with[3] = (word)n + 1;
	const CUresult r = real(CALL_link_add_data, with);
	free(copy);
	return r;
}

static CUresult play(enum call c, const word *w)
{
	switch (c) {
	case CALL_init:
		return start(w);
	case CALL_driver_get_version:
		*(int *)w[0] = fake.version;
		return CUDA_SUCCESS;
	case CALL_device_get_count:
		*(int *)w[0] = fake.devices;
		return CUDA_SUCCESS;
	case CALL_device_get_attribute:
		return attribute(w);
	case CALL_primary_retain:
		return (int)w[1] < fake.busy ? (CUresult)UNAVAILABLE : real(c, w);
	case CALL_link_add_data:
		return compile(w);
	case CALL_mem_alloc:
		return allocate(w);
	case CALL_launch_kernel:
		return spoilt() ? CUDA_SUCCESS : real(c, w);
	default:
		return real(c, w);
	}
}

/* What it takes to be asked before cuInit, and about errors of cuInit itself. */
static bool always(enum call c)
{
	return c == CALL_init || c == CALL_driver_get_version || c == CALL_get_error_string || c == CALL_get_error_name;
}

/* What is returned at once, or whether there is something to do. */
static CUresult decide(enum call c, bool *go)
{
	CUresult r = CUDA_SUCCESS;

	pthread_mutex_lock(&fake.lock);
	if (!fake.begun)
		begin();
	if (!strcmp(fake.fail_name, names[c]) && (++fake.fail_calls == fake.fail_at || !fake.fail_at))
		r = (CUresult)fake.fail_code;
	else if (!fake.initialised && !always(c))
		r = (CUresult)NOT_INITIALIZED;
	else if (fake.sticky && !always(c))
		r = (CUresult)fake.sticky;
	else if (fake.hung && c == CALL_event_query)
		r = CUDA_ERROR_NOT_READY;
	else
		*go = true;
	pthread_mutex_unlock(&fake.lock);
	return r;
}

static CUresult called(enum call c, const word *w)
{
	bool go = false;
	CUresult r = decide(c, &go);

	if (go)
		r = play(c, w);
	if (go && (int)r == LAUNCH_TIMEOUT) { /* our driver ends what can never end; real ones wait */
		pthread_mutex_lock(&fake.lock);
		fake.hung = true;
		pthread_mutex_unlock(&fake.lock);
		r = c == CALL_event_query ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
	}
	return r;
}

#define CUDA_SYMBOL(needed, member, symbol, type)                                                                      \
	__attribute__((visibility("default")))                                                                         \
	CUresult fake_##member(word, word, word, word, word, word, word, word, word, word, word) __asm__(symbol);      \
	CUresult fake_##member(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k) \
	{                                                                                                              \
		return called(CALL_##member, (const word[]){a, b, c, d, e, f, g, h, i, j, k});                         \
	}
#include "gpu/cuda/cuda_symbols.def"
