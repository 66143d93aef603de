/* Files that commands read and write: run files, figures, free names. */
#ifndef FATHOM_FILES_H
#define FATHOM_FILES_H
#include "cmd/cmd.h"
#include "data/run.h"
#include "store/store.h"

/* All return CMD_OK or another exit code with c->error set. */
int files_load_run(struct cmd_context *c, const char *path, struct run *r); /* CMD_OK: run_free(r) */
/* Says to the log where another build than this one concluded the findings: for output that does not say so itself. */
void files_say_foreign(struct cmd_context *c, const char *path, const struct run *r);
/* For writing: takes the file's lock first, then reads, so that nobody writes in between. */
int files_open_run(struct cmd_context *c, const char *path, struct run *r, struct store **store);
int files_make_dir(struct cmd_context *c, const char *dir); /* with its parents; fine when it is there */
/* Writes text under another name first, so that a full disk leaves no half file under `path`. A device or a pipe stays what it is. */
int files_replace(struct cmd_context *c, const char *path, const struct str *text);
bool files_exists(const char *path);
/* "fathom-gtx280-2026-11-20.fathom", or with "-2" ... when the name is taken. NULL: out of memory. `attempt` from 1. */
/* Names what -o says for this device. "%h" is the machine, "%u" the device's UUID, "%d" what -d names it by, as parts
 * of a file name. Other text stays. NULL: out of memory. */
char *files_output(struct arena *a, const char *given, const struct device_info *d);
char *files_run_name(struct arena *a, const struct device_info *d, const char *date, unsigned attempt);

#endif
