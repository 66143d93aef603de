/* What the tests of run files do with files. They make them in a folder of their own, and compare what they read with
 * what was written. */
#ifndef FATHOM_STORE_FILES_H
#define FATHOM_STORE_FILES_H
#include "base/err.h"
#include "data/run.h"
#include "store/store.h"

extern struct err e;

int folder(void **state);
int clean(void **state);
/* A whole run, in place of what was there. */
void save(const char *path, const struct run *r);
void same_series(const struct series *a, const struct series *b);
void same(const struct run *a, struct run *b);
/* The file is neither read nor taken up, with one sentence that names it and has these words. */
void refuse(const char *path, int code, const char *words);
void write_file(const char *path, const void *data, size_t n);

#endif
