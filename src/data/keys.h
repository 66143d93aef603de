/* The table of finding keys: families, units, meaning. keys.def holds it. */
#ifndef FATHOM_KEYS_H
#define FATHOM_KEYS_H
#include <stdbool.h>
#include <stddef.h>

struct key_family {
	const char *pattern; /* "cache.<p>.<l>.size" */
	const char *
	    unit; /* "bytes" "cycles" "count" "ops/clk/SM" "bytes/clk" "GB/s" "Gop/s" "ratio" "yes/no" "name" "Hz" "s" */
	const char *meaning; /* one sentence */
};
extern const struct key_family key_families[];
extern const size_t key_family_count;
const struct key_family *key_family(const char *key); /* NULL: no such key */
/* Puts today's name in the place of one that a key had before, as run files and people may still have it. There, `key`
 * has room for `room` bytes. */
void key_rename(char *key, size_t room);
/* A key that is put together as by printf. KEY(...) is its text, until the end of the full expression. */
struct key_text {
	char of[96];
};
struct key_text key_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define KEY(...) (key_text(__VA_ARGS__).of)
/* May a key of this pattern fit the glob? "cache.<p>.<l>.size" meets "cache.constant.*". */
bool key_pattern_meets(const char *pattern, const char *glob);

#endif
