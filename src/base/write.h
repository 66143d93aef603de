/* Writing to files. */
#ifndef FATHOM_WRITE_H
#define FATHOM_WRITE_H
#include <stddef.h>

/* Writes n bytes, however many calls that takes. 0 or a negative errno, after which part of them may be written. */
int write_all(int fd, const void *data, size_t n);

#endif
