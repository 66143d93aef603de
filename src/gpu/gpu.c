#include "gpu/gpu.h"
#include "base/arena.h"
#include "base/embed.h"
#include "base/str.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_SIM "gtx280" /* a file in gpus/ */

/* In the order in which `fathom list devices` shows them. */
static const struct gpu_ops *const backends[] = {&gpu_cuda, &gpu_opencl, &gpu_sim, &gpu_replay};
#define COUNT (sizeof(backends) / sizeof(backends[0]))

const struct gpu_ops *const *gpu_backends(size_t *count)
{
	*count = COUNT;
	return backends;
}

static const struct gpu_ops *backend(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (strlen(backends[i]->name) == len && memcmp(backends[i]->name, name, len) == 0)
			return backends[i];
	}
	return NULL;
}

/* A name without a colon: what did the user most likely mean? */
static int no_colon(const char *device, struct err *e)
{
	char path[160];
	const char *names[64], *near;
	char name[64][32];
	size_t n = 0;

	snprintf(path, sizeof(path), "gpus/%.100s.gpu", device);
	if (embed_find(path))
		return err_set(e, -EINVAL, "'%s' is no device; the simulated GPU of that name is 'sim:%s'", device,
			       device);
	if (str_ends(device, ".gpu"))
		return err_set(e, -EINVAL, "'%s' is no device; to simulate that file say 'sim:%s'", device, device);
	if (str_ends(device, ".fathom"))
		return err_set(e, -EINVAL, "'%s' is no device; to replay that file say 'replay:%s'", device, device);
	if (backend(device, strlen(device)))
		return err_set(e, -EINVAL, "'%s' does not say which device: %s", device,
			       backend(device, strlen(device))->help);
	if (*device && strspn(device, "0123456789") == strlen(device))
		return err_set(e, -EINVAL, "'%s' is no device; an NVIDIA GPU by its index is 'cuda:%s'", device,
			       device);
	for (size_t i = 0; i < embedded_count && n < 64; i++) {
		if (!str_starts(embedded_files[i].path, "gpus/") || !str_ends(embedded_files[i].path, ".gpu"))
			continue;
		snprintf(name[n], sizeof(name[n]), "%.*s", (int)(strlen(embedded_files[i].path) - 9),
			 embedded_files[i].path + 5);
		names[n] = name[n];
		n++;
	}
	near = str_nearest(device, names, n);
	if (near)
		return err_set(e, -EINVAL, "'%s' is no device; did you mean 'sim:%s'?", device, near);
	return err_set(
	    e, -EINVAL,
	    "'%s' is no device; a device is cuda:N, opencl:P.D, sim:NAME, sim:FILE.gpu or replay:FILE.fathom", device);
}

int gpu_open(struct gpu **out, const char *device, uint64_t seed, bool isolate, struct err *e)
{
	const char *colon = strchr(device, ':'), *names[COUNT];
	const struct gpu_ops *ops;

	*out = NULL;
	if (!colon)
		return no_colon(device, e);
	ops = backend(device, (size_t)(colon - device));
	if (!ops) {
		char word[64];
		for (size_t i = 0; i < COUNT; i++)
			names[i] = backends[i]->name;
		snprintf(word, sizeof(word), "%.*s", (int)(colon - device), device);
		const char *near = str_nearest(word, names, COUNT);
		if (near)
			return err_set(e, -EINVAL, "there is no kind of device '%s'; did you mean '%s%s'?", word, near,
				       colon);
		return err_set(
		    e, -EINVAL,
		    "there is no kind of device '%s'; a device is cuda:N, opencl:P.D, sim:NAME, sim:FILE.gpu or "
		    "replay:FILE.fathom",
		    word);
	}
	if (!colon[1])
		return err_set(e, -EINVAL, "'%s' does not say which device: %s", device, ops->help);
	/* The other backends run our own code only; a kernel that never ends is under their own control. */
	if (isolate && (ops == &gpu_cuda || ops == &gpu_opencl))
		return gpu_open_proxy(out, ops, colon + 1, seed, e);
	return ops->open(out, colon + 1, seed, e);
}

int gpu_choose(char *device, size_t n, char *why, size_t why_n, struct err *e)
{
	struct device_list list = {0};
	const char *sim = DEFAULT_SIM;
	int rc = gpu_list_isolated(&gpu_cuda, &list, e);

	if (rc == -ENOMEM) {
		mem_free(list.items);
		return rc;
	}
	if (rc == 0 && list.count) {
		snprintf(device, n, "%s", list.items[0].spec);
		snprintf(why, why_n, "taking the first NVIDIA GPU: %s", list.items[0].name);
	} else {
		const char *note = rc && e && e->text[0] ? e->text : list.note;
		snprintf(device, n, "sim:%s", sim);
		/* "gtx280" in capitals and with its number apart is how people write it */
		char name[64];
		size_t k = 0;
		for (; *sim && k + 2 < sizeof(name); sim++) {
			if (isdigit((unsigned char)*sim) && k && isalpha((unsigned char)sim[-1]))
				name[k++] = ' ';
			name[k++] = (char)toupper((unsigned char)*sim);
		}
		name[k] = '\0';
		snprintf(why, why_n, "%s; taking the simulated %s", *note ? note : "no NVIDIA GPU was found", name);
	}
	mem_free(list.items);
	return 0;
}
