#include "base/embed.h"
#include "base/arena.h"
#include "base/str.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct embedded *embed_find(const char *path)
{
	size_t lo = 0, hi = embedded_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(path, embedded_files[mid].path);
		if (c == 0)
			return &embedded_files[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

enum { NAMES_MOST = 64, NAME_BYTES = 64 };

/* Those in the folder, each as a text. Returns how many. */
static size_t names_of(char name[NAMES_MOST][NAME_BYTES], const char *folder, const char *suffix)
{
	size_t n = 0;
	for (size_t i = 0; i < embedded_count && n < NAMES_MOST; i++) {
		const char *p = embedded_files[i].path;
		if (str_starts(p, folder) && str_ends(p, suffix))
			snprintf(name[n++], NAME_BYTES, "%.*s", (int)(strlen(p) - strlen(folder) - strlen(suffix)),
				 p + strlen(folder));
	}
	return n;
}

const char *embed_nearest(char *out, size_t n, const char *folder, const char *suffix, const char *word)
{
	char name[NAMES_MOST][NAME_BYTES];
	const char *names[NAMES_MOST];
	const size_t count = names_of(name, folder, suffix);
	for (size_t i = 0; i < count; i++)
		names[i] = name[i];
	const char *near = str_nearest(word, names, count);
	if (near)
		snprintf(out, n, "%s", near);
	return near ? out : NULL;
}

static int open_builtin(struct embed_text *out, const struct embed_kind *k, const char *name, struct err *e)
{
	char path[256], known[256] = "", near[NAME_BYTES], all[NAMES_MOST][NAME_BYTES];
	snprintf(path, sizeof path, "%s%.200s%s", k->folder, name, k->suffix);
	const struct embedded *m = embed_find(path);
	if (m) {
		*out = (struct embed_text){.path = m->path, .data = m->data, .size = m->size};
		return 0;
	}
	if (embed_nearest(near, sizeof near, k->folder, k->suffix, name))
		return err_set(e, -ENOENT, "there is no %s '%.60s'; did you mean %s?", k->what, name, near);
	const size_t n = names_of(all, k->folder, k->suffix);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(known);
		snprintf(known + len, sizeof known - len, "%s%.63s", len ? ", " : "", all[i]);
	}
	return err_set(e, -ENOENT, "there is no %s '%.60s': built in are %s; a file's name has to end in %s", k->what,
		       name, known, k->suffix);
}

int embed_open(struct embed_text *out, const struct embed_kind *k, struct arena *a, const char *name_or_path,
	       struct err *e)
{
	*out = (struct embed_text){.path = NULL};
	if (!strchr(name_or_path, '/') && !str_ends(name_or_path, k->suffix))
		return open_builtin(out, k, name_or_path, e);
	out->path = name_or_path;
	FILE *in = fopen(name_or_path, "rb");
	if (!in) {
		int code = errno;
		return err_set(e, -code, "cannot open %s: %s", name_or_path, strerror(code));
	}
	char *text = arena_alloc(a, k->most + 1, 1);
	size_t size = text ? fread(text, 1, k->most + 1, in) : 0;
	bool broken = ferror(in) != 0;
	fclose(in);
	if (!text)
		return err_nomem(e);
	if (broken)
		return err_set(e, -EIO, "cannot read %s", name_or_path);
	if (size > k->most)
		return err_set(e, -EFBIG, "%s is larger than %zu bytes: this is no %s", name_or_path, k->most, k->text);
	*out = (struct embed_text){.path = name_or_path, .data = text, .size = size};
	return 0;
}
