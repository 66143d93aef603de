#include "gpu/cuda/cuda_driver.h"
#include "base/str.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct symbol {
	bool needed;
	size_t offset;
	const char *name;
} symbols[] = {
#define CUDA_SYMBOL(needed, member, symbol, type) {needed, offsetof(struct cuda_driver, member), symbol},
#include "cuda_symbols.def"
#undef CUDA_SYMBOL
};

static int load_symbols(struct cuda_driver *d, struct err *e)
{
	const char *missing = NULL;

	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		void *p = dlsym(d->lib, symbols[i].name);
		if (!p && symbols[i].needed && !missing)
			missing = symbols[i].name;
		/* A function pointer from dlsym: copied as bytes, since ISO C has no cast for it. */
		memcpy((char *)d + symbols[i].offset, &p, sizeof p);
	}
	if (d->driver_get_version)
		d->driver_get_version(&d->version);
	if (!missing)
		return 0;
	if (d->version > 0)
		return err_set(e, -ENOTSUP, "the NVIDIA driver (CUDA %d.%d) lacks %s; a newer driver is needed",
			       d->version / 1000, d->version % 1000 / 10, missing);
	return err_set(e, -ENOTSUP, "the NVIDIA driver (unknown version) lacks %s; a newer driver is needed", missing);
}

const char *cuda_words(const struct cuda_driver *d, CUresult r, struct cuda_words *w)
{
	const char *words = NULL, *name = NULL;

	if (d->get_error_string)
		d->get_error_string(r, &words);
	if (d->get_error_name)
		d->get_error_name(r, &name);
	if (words && name)
		snprintf(w->text, sizeof w->text, "%s (%s)", words, name);
	else if (words)
		snprintf(w->text, sizeof w->text, "%s (error %d)", words, (int)r);
	else
		snprintf(w->text, sizeof w->text, "error %d", (int)r);
	return w->text;
}

int cuda_fail(const struct cuda_driver *d, CUresult r, struct err *e, const char *what)
{
	struct cuda_words w;
	int code = -EIO;

	if ((int)r == RESULT_OUT_OF_MEMORY)
		code = -ENOMEM;
	else if ((int)r == RESULT_NO_DEVICE || cuda_sticky(r))
		code = -ENODEV;
	return err_set(e, code, "%s: %s", what, cuda_words(d, r, &w));
}

bool cuda_sticky(CUresult r)
{
	int n = (int)r;

	if (n == RESULT_LAUNCH_OUT_OF_RESOURCES || n == RESULT_LAUNCH_INCOMPATIBLE_TEXTURING)
		return false;
	/* 704..709 and 711..713 are wrong calls, 720 and 801 on what is not permitted or supported: the context survives. */
	if ((n >= 704 && n <= 709) || (n >= 711 && n <= 713) || (n >= 720 && n < CUDA_ERROR_UNKNOWN))
		return false;
	return n == RESULT_ECC || n >= RESULT_FIRST_STICKY;
}

bool cuda_refuses(CUresult r)
{
	int n = (int)r;

	return n == RESULT_INVALID_VALUE || n == RESULT_LAUNCH_OUT_OF_RESOURCES || n == RESULT_NOT_SUPPORTED ||
	       n == RESULT_LAUNCH_INCOMPATIBLE_TEXTURING;
}

int cuda_driver_open(struct cuda_driver *d, struct err *e)
{
	struct cuda_words w;
	int r;

	memset(d, 0, sizeof *d);
	d->lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!d->lib) {
		const char *why = dlerror();
		/* A library that it needs, and that is missing, is told by its own name. */
		if (!why || str_starts(why, "libcuda.so.1: cannot open shared object file: No such file"))
			return err_set(e, -ENODEV, "no NVIDIA driver: libcuda.so.1 was not found");
		return err_set(e, -ENODEV, "the NVIDIA driver could not be loaded: %s", why);
	}
	r = load_symbols(d, e);
	if (r == 0) {
		CUresult c = d->init(0);
		if ((int)c == RESULT_NO_DEVICE)
			r = err_set(e, -ENODEV, "the NVIDIA driver (CUDA %d.%d) finds no GPU", d->version / 1000,
				    d->version % 1000 / 10);
		else if (c)
			r = err_set(e, -ENODEV, "the NVIDIA driver does not start: %s", cuda_words(d, c, &w));
	}
	if (r)
		cuda_driver_close(d);
	return r;
}

void cuda_driver_close(struct cuda_driver *d)
{
	/* Not dlclose: the driver has threads and exit handlers of its own, and unloading it under them crashes. */
	d->lib = NULL;
}
