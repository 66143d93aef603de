/* Caches that two paths of a random GPU have in common: the lines that describe one of them, said again of the other. */
#include "base/str.h"
#include "gpu/sim/spec_random.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MOST 1024

/* The line that begins at `at`, without its end; where the next one begins. */
static size_t line_at(const struct str *s, size_t at, char *line)
{
	const char *begin = str_text(s) + at, *end = strchr(begin, '\n');
	const size_t n = end ? (size_t)(end - begin) : strlen(begin);
	snprintf(line, LINE_MOST, "%.*s", (int)n, begin);
	return at + n + (end != NULL);
}

/* What the line of that key says; "" where there is none. */
static const char *value_of(const struct str *s, const char *stem, const char *property, char *line)
{
	char key[128];
	const int n = snprintf(key, sizeof key, "%s.%s = ", stem, property);
	for (size_t at = 0; at < s->len;) {
		at = line_at(s, at, line);
		if (strncmp(line, key, (size_t)n) == 0)
			return line + n;
	}
	return "";
}

long long spec_random_number(const struct str *s, const char *stem, const char *property)
{
	char line[LINE_MOST];
	return atoll(value_of(s, stem, property, line));
}

bool spec_random_says(const struct str *s, const char *stem, const char *property, const char *word)
{
	char line[LINE_MOST];
	const char *value = value_of(s, stem, property, line);
	const size_t n = strlen(word);
	return strncmp(value, word, n) == 0 && value[n] == ' ';
}

/* What a path has of its own, and what is of the one array that there is and said once. */
static bool is_own(const char *property)
{
	static const char *const own[] = {"latency ", "interval ", "bandwidth ", "write ", "write_allocate "};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (str_starts(property, own[i]))
			return true;
	return false;
}

void spec_random_again(struct str *out, const char *from, const char *to)
{
	char line[LINE_MOST];
	const size_t n = strlen(from), all = out->len;
	for (size_t at = 0; at < all;) {
		at = line_at(out, at, line);
		if (strncmp(line, from, n) == 0 && line[n] == '.' && !is_own(line + n + 1))
			str_addf(out, "%s%s\n", to, line + n);
	}
	str_addf(out, "%s.shared_with = %s name # guess: drawn\n", to, from + strlen("cache."));
}
