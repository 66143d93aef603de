/* Run files: SQLite, one file a run. The only room with SQL. */
#ifndef FATHOM_STORE_H
#define FATHOM_STORE_H
#include "base/err.h"
#include "data/run.h"

struct store;
#define STORE_SCHEMA 5

/* A writer holds the file alone until store_close; the lock also ends with the process, and is not inherited by a fork.
 * A full disk is -ENOSPC: the transaction in hand is undone, what was stored before is safe. */

/* Creates a new run file, with the run's device and the probes that are pending, and locks it for writing. Returns
 * -EEXIST when it exists, -EBUSY when another run writes it. */
int store_create(struct store **out, const char *path, const struct run *r, struct err *e);
/* Opens an existing run file for writing (--resume). */
int store_resume(struct store **out, const char *path, struct err *e);
/* Reads what an open store holds, as store_load does; the lock stays, so that nobody writes in between. */
int store_read(struct store *s, struct run *r, struct err *e);
/* One transaction: the probe's record, series, points, natives and findings. */
int store_probe(struct store *s, const struct run *r, const char *probe, struct err *e);
/* Replaces all findings and who concluded them, in one transaction. */
int store_findings(struct store *s, const struct run *r, struct err *e);
void store_close(struct store *s);
/* Closes it after having seen that the file is the one that was written, and whole. Returns -ESTALE if somebody
 * removed, replaced or changed it. Every writing call finds that out as well; what it returned success for before may
 * be lost. */
int store_finish(struct store *s, struct err *e);
/* Reads a whole run into r, which need not be initialised; on an error r is empty. A file that is not a run is refused
 * with one sentence:
 *
 *   -ENOENT   missing
 *   -EISDIR   a folder
 *   -EINVAL   empty, not SQLite or not fathom's
 *   -ENOTSUP  a newer schema
 *   -EBADMSG  damaged
 *   -EBUSY    another fathom is writing it */
int store_load(struct run *r, const char *path, struct err *e);

#endif
