/* Files of the source tree that travel inside the binary: probes' kernels, gpus/, papers/, the SQL schema.
 * The table is generated at build time by tools/embed.py. */
#ifndef FATHOM_EMBED_H
#define FATHOM_EMBED_H
#include <stddef.h>

struct embedded {
	const char *path; /* relative to the source root: "gpus/gtx280.gpu" */
	const char *data; /* NUL-terminated; the NUL is not counted */
	size_t size;
};

extern const struct embedded embedded_files[]; /* sorted by path */
extern const size_t embedded_count;

const struct embedded *embed_find(const char *path); /* NULL when there is none */

#endif
