/* libnvidia-ml.so.1: one device whose state never changes. FAKE_NVML_THROTTLE: the reasons for its clocks, default 0. */
#include <stdlib.h>
#include <string.h>

#define EXPORT	  __attribute__((visibility("default")))
#define NOT_FOUND 6

EXPORT int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
	return 0;
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	static int handle;

	*device = &handle;
	return strncmp(uuid, "GPU-", 4) ? NOT_FOUND : 0;
}

EXPORT int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz)
{
	(void)device;
	*mhz = kind == 1 ? 1500 : 2600;
	return 0;
}

EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	(void)device;
	*celsius = 41 + (unsigned)sensor;
	return 0;
}

EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	(void)device;
	*milliwatts = 123500;
	return 0;
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	(void)device;
	const char *v = getenv("FAKE_NVML_THROTTLE");
	*reasons = v ? strtoull(v, NULL, 0) : 0;
	return 0;
}
