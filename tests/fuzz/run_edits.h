/* Valid run files with contents that no run has, and what must hold whatever they are. */
#ifndef FATHOM_RUN_EDITS_H
#define FATHOM_RUN_EDITS_H
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/* Values for any column: what its type allows and a run does not. */
extern const char *const edit_values[];
extern const size_t edit_value_count;

/* The bytes of a run file of sim:toy and these probes; sqlite3_free. NULL, with a sentence on standard error. */
unsigned char *edit_make_run(const char *const *probes, size_t n, size_t *bytes);
/* A copy in memory, to be edited. Ends the program where there is no memory. */
sqlite3 *edit_copy(const unsigned char *bytes, size_t n);
/* Sets a column, of every row or of row number `row` modulo their number. False: SQLite itself does not let it in, or nothing changed. */
bool edit_set(sqlite3 *db, const char *table, const char *column, const char *value, bool all, unsigned row);
/* Writes the database to path and does what infer and report do. It must be refused in one sentence that names the file, or be used without
 * a fault; *refused says which. Not 0: neither; why in *said, of 600 bytes. */
int edit_judge(sqlite3 *db, const char *path, bool *refused, char *said);

#endif
