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
	char near[64];

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
	if (embed_nearest(near, sizeof(near), "gpus/", ".gpu", device))
		return err_set(e, -EINVAL, "'%s' is no device; did you mean 'sim:%s'?", device, near);
	return err_set(
	    e, -EINVAL,
	    "'%s' is no device; a device is cuda:N, opencl:P.D, sim:NAME, sim:FILE.gpu or replay:FILE.fathom", device);
}

/* The other backends run our own code only; a kernel that never ends is under their own control. */
static bool can_crash(const struct gpu_ops *ops)
{
	return ops == &gpu_cuda || ops == &gpu_opencl;
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
	if (isolate && can_crash(ops))
		return gpu_open_proxy(out, ops, colon + 1, seed, e);
	return ops->open(out, colon + 1, seed, e);
}

int gpu_list(const struct gpu_ops *ops, struct device_list *list, struct err *e)
{
	return can_crash(ops) ? gpu_list_isolated(ops, list, e) : ops->list(list, e);
}

/* The first of the list that opens; list->count: none does. why: what is wrong with those before it. */
static size_t open_first(struct gpu **out, const struct device_list *list, uint64_t seed, struct str *why)
{
	for (size_t i = 0; i < list->count; i++) {
		struct err e = {0};
		if (gpu_open(out, list->items[i].spec, seed, true, &e) == 0)
			return i;
		str_addf(why, "%s%s", why->len ? "; " : "", e.text);
	}
	return list->count;
}

/* Devices that are there, but have to be asked for. */
static void add_opencl(struct str *why)
{
	struct device_list list = {0};
	struct err e = {0};

	if (gpu_list(&gpu_opencl, &list, &e) == 0 && list.count) {
		str_addf(why, "; OpenCL has %s (-d %s)", list.items[0].name, list.items[0].spec);
		if (list.count > 1)
			str_addf(why, " and %zu more", list.count - 1);
	}
	mem_free(list.items);
}

static int open_sim(struct gpu **out, char *device, size_t n, struct str *why, uint64_t seed, struct err *e)
{
	const char *sim = DEFAULT_SIM;

	snprintf(device, n, "sim:%s", sim);
	str_add(why, "; taking the simulated ");
	/* "gtx280" in capitals and with its number apart is how people write it */
	for (size_t i = 0; sim[i]; i++) {
		if (i && isdigit((unsigned char)sim[i]) && isalpha((unsigned char)sim[i - 1]))
			str_addc(why, ' ');
		str_addc(why, (char)toupper((unsigned char)sim[i]));
	}
	return gpu_open(out, device, seed, true, e);
}

int gpu_open_best(struct gpu **out, uint64_t seed, char *device, size_t n, char *why, size_t why_n, struct err *e)
{
	struct device_list list = {0};
	struct str text;
	int rc = gpu_list(&gpu_cuda, &list, e);

	*out = NULL;
	str_init(&text);
	if (rc == -ENOMEM) {
		mem_free(list.items);
		return rc;
	}
	str_add(&text, rc && e->text[0] ? e->text : list.note);
	const size_t taken = rc ? list.count : open_first(out, &list, seed, &text);
	rc = 0;
	if (*out) {
		snprintf(device, n, "%s", list.items[taken].spec);
		if (text.len)
			str_addf(&text, "; taking %s", device);
		else
			str_addf(&text, "taking the first NVIDIA GPU");
	} else {
		if (!text.len)
			str_add(&text, "no NVIDIA GPU was found");
		add_opencl(&text);
		rc = open_sim(out, device, n, &text, seed, e);
	}
	snprintf(why, why_n, "%s", str_text(&text));
	str_free(&text);
	mem_free(list.items);
	return rc;
}
