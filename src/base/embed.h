/* Files of the source tree that travel inside the binary: probes' kernels, gpus/, papers/, the SQL schema.
 * The table is generated at build time by tools/embed.py. */
#ifndef FATHOM_EMBED_H
#define FATHOM_EMBED_H
#include "base/err.h"
#include <stddef.h>

struct embedded {
	const char *path; /* relative to the source root: "gpus/gtx280.gpu" */
	const char *data; /* NUL-terminated; the NUL is not counted */
	size_t size;
	const char *sha256; /* of data, in base64, as a page's policy names it */
};

extern const struct embedded embedded_files[]; /* sorted by path */
extern const size_t embedded_count;

const struct embedded *embed_find(const char *path); /* NULL when there is none */
/* The built-in name in that folder that a word is nearest to, in out, or NULL. */
const char *embed_nearest(char *out, size_t n, const char *folder, const char *suffix, const char *word);

struct arena;
/* A kind of text that is built in by name or comes from a file. */
struct embed_kind {
	const char *folder, *suffix; /* "gpus/", ".gpu" */
	const char *what;	     /* "simulated GPU": there is no ... */
	const char *text;	     /* "GPU description": a larger file is no ... */
	size_t most;		     /* bytes of a file */
};
struct embed_text {
	const char *path, *data;
	size_t size;
};
/* A name without '/' and suffix is a built-in one, all else a file, whose text comes from the arena. The path is valid
 * as long as name_or_path, and NULL if a built-in name is unknown. Returns 0, or negative and a sentence. For an
 * unknown name that has the nearest name, or all. */
int embed_open(struct embed_text *out, const struct embed_kind *k, struct arena *a, const char *name_or_path,
	       struct err *e);

#endif
