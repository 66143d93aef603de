/* Growing text buffer and small string helpers. */
#ifndef FATHOM_STR_H
#define FATHOM_STR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
	char *data; /* NUL-terminated once anything was added, else NULL */
	size_t len, cap;
	bool failed; /* an allocation failed; contents are truncated, later calls do nothing */
};

void str_init(struct str *s);
void str_free(struct str *s);
void str_clear(struct str *s); /* keeps the memory */
void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *text, size_t n);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *str_text(const struct str *s); /* "" when empty */
char *str_take(struct str *s);		   /* caller frees with mem_free; NULL when failed or empty */

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Glob with * (any run of characters) and ? only. */
bool str_glob(const char *pattern, const char *s);
/* The nearest of n names to `word` by edit distance, or NULL when none is near: "did you mean ...?". */
const char *str_nearest(const char *word, const char *const *names, size_t n);
uint64_t hash64(const void *data, size_t bytes, uint64_t seed); /* stable across machines and versions */

/* Bytes of the UTF-8 character at s, 1 where there is none. *shown: a terminal shows it; controls, and what reorders a line, it obeys. */
size_t str_character(const char *s, bool *shown);
/* The text as far as it fits into n bytes, a '?' for each character that is not shown. Allocates nothing. */
void str_clean(char *out, size_t n, const char *text);

#endif
