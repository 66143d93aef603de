/* The device's state from NVIDIA's management library, where it is installed. */
#include "base/arena.h"
#include "gpu/cuda/cuda_gpu.h"
#include <dlfcn.h>
#include <string.h>

/* The library's interface, as NVIDIA documents it; 0 is success everywhere. */
typedef void *nvml_device;
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_TEMPERATURE_GPU = 0 };

struct nvml {
	void *lib;
	nvml_device device;
	int (*init)(void);
	int (*by_uuid)(const char *uuid, nvml_device *dev);
	int (*clock)(nvml_device dev, int kind, unsigned *mhz);
	int (*temperature)(nvml_device dev, int sensor, unsigned *celsius);
	int (*power)(nvml_device dev, unsigned *milliwatts);
	int (*throttle)(nvml_device dev, unsigned long long *reasons);
};

static void symbol(void *lib, const char *name, void *member)
{
	void *p = dlsym(lib, name);

	memcpy(member, &p, sizeof p);
}

/* NULL where it cannot be had: then the condition stays unknown, which is not an error. */
static struct nvml *nvml_open(const char *uuid)
{
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	struct nvml *n;

	if (!lib)
		return NULL;
	n = mem_zero(1, sizeof *n);
	if (!n)
		return NULL;
	n->lib = lib;
	symbol(lib, "nvmlInit_v2", &n->init);
	symbol(lib, "nvmlDeviceGetHandleByUUID", &n->by_uuid);
	symbol(lib, "nvmlDeviceGetClockInfo", &n->clock);
	symbol(lib, "nvmlDeviceGetTemperature", &n->temperature);
	symbol(lib, "nvmlDeviceGetPowerUsage", &n->power);
	symbol(lib, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->throttle);
	if (!n->init || !n->by_uuid || n->init() || n->by_uuid(uuid, &n->device)) {
		mem_free(n);
		return NULL;
	}
	return n;
}

int cuda_sense(struct gpu *gpu, struct condition *c, struct err *e)
{
	struct cuda_gpu *g = (struct cuda_gpu *)gpu;
	unsigned long long reasons;
	unsigned v;

	(void)e; /* what is not known is -1, never an error */
	*c = (struct condition){-1, -1, -1, -1, -1};
	if (!g->nvml && !g->nvml_tried) {
		g->nvml_tried = true;
		g->nvml = nvml_open(g->info.uuid);
	}
	const struct nvml *n = g->nvml;
	if (!n)
		return 0;
	if (n->clock && !n->clock(n->device, NVML_CLOCK_SM, &v))
		c->sm_clock_mhz = v;
	if (n->clock && !n->clock(n->device, NVML_CLOCK_MEMORY, &v))
		c->memory_clock_mhz = v;
	if (n->temperature && !n->temperature(n->device, NVML_TEMPERATURE_GPU, &v))
		c->temperature_c = v;
	if (n->power && !n->power(n->device, &v))
		c->power_w = v / 1000.0;
	if (n->throttle && !n->throttle(n->device, &reasons))
		c->throttle = (int64_t)reasons;
	return 0;
}

void cuda_sense_close(struct cuda_gpu *g)
{
	mem_free(g->nvml); /* the library stays loaded, as the driver does */
	g->nvml = NULL;
}
