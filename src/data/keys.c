#include "data/keys.h"
#include "base/str.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const struct key_family key_families[] = {
#define K(pattern, unit, meaning) {pattern, unit, meaning},
#include "data/keys.def"
#undef K
};
const size_t key_family_count = sizeof(key_families) / sizeof(key_families[0]);

/* A NULL list means a word by its letters: digits, or a lower-case name. */
static const struct placeholder {
	const char *name;
	const char *const *words;
	bool digits;
} placeholders[] = {
    {"p", (const char *const[]){"global", "texture", "constant", "instruction", "local", "readonly", NULL}, false},
    {"l", (const char *const[]){"l1", "l15", "l2", "l3", "l4", NULL}, false},
    {"type",
     (const char *const[]){"u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64", "f16",
			   "f32", "f64", "bf16", "f16x2", "pred", NULL},
     false},
    {"class", (const char *const[]){"sp", "mad", "int", "dp", "sf", "softsf", NULL}, false},
    {"space", (const char *const[]){"global", "shared", "local", "constant", "private", "texture", "readonly", NULL},
     false},
    {"n", NULL, true},
    {"bytes", NULL, true},
    {"op", NULL, false},
    {"fn", NULL, false},
};

static bool word_fits(const struct placeholder *ph, const char *s, size_t n)
{
	if (n == 0)
		return false;
	if (ph->words) {
		for (size_t i = 0; ph->words[i]; i++) {
			if (strlen(ph->words[i]) == n && memcmp(ph->words[i], s, n) == 0)
				return true;
		}
		return false;
	}
	if (ph->digits && n > 1 && s[0] == '0') /* one number, one spelling */
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		if (ph->digits ? !isdigit(c) : !(islower(c) || c == '_' || (i && isdigit(c))))
			return false;
	}
	return true;
}

static const struct placeholder *placeholder(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++) {
		if (strlen(placeholders[i].name) == n && memcmp(placeholders[i].name, name, n) == 0)
			return &placeholders[i];
	}
	return NULL;
}

static bool fits(const char *pattern, const char *key)
{
	while (*pattern) {
		if (*pattern != '<') {
			if (*pattern++ != *key++)
				return false;
			continue;
		}
		size_t name = strcspn(++pattern, ">");
		const struct placeholder *ph = placeholder(pattern, name);
		size_t word = strcspn(key, "."); /* no placeholder holds a dot */
		if (!ph || !word_fits(ph, key, word))
			return false;
		pattern += name + 1;
		key += word;
	}
	return *key == '\0';
}

const struct key_family *key_family(const char *key)
{
	for (size_t i = 0; i < key_family_count; i++) {
		if (fits(key_families[i].pattern, key))
			return &key_families[i];
	}
	return NULL;
}

void key_rename(char *key, size_t room)
{
	static const struct {
		const char *starts, *was, *is;
	} renamed[] = {{"barrier.", ".scope", ".counts"},
		       {"regfile.", ".worst_fit", ".least_used"},
		       {"memory.", ".scattered", ".scattered_loads"},
		       {"memory.", ".alone", ".one_warp"},
		       {"memory.", ".nearest", ".timed_hit"},
		       {"memory.", ".completion", ".timed_latency"}};

	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
		const size_t n = strlen(key), was = strlen(renamed[i].was);
		if (str_starts(key, renamed[i].starts) && str_ends(key, renamed[i].was) &&
		    n - was + strlen(renamed[i].is) < room)
			snprintf(key + n - was, room - (n - was), "%s", renamed[i].is);
	}
}

struct key_text key_text(const char *fmt, ...)
{
	struct key_text key;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(key.of, sizeof(key.of), fmt, ap);
	va_end(ap);
	return key;
}

bool key_pattern_meets(const char *pattern, const char *glob)
{
	if (!*pattern && !*glob)
		return true;
	if (*glob == '*') /* any run of characters, a placeholder whole */
		return key_pattern_meets(pattern, glob + 1) ||
		       (*pattern &&
			key_pattern_meets(pattern + (*pattern == '<' ? strcspn(pattern, ">") + 1 : 1), glob));
	if (*pattern != '<')
		return *pattern && *pattern == *glob && key_pattern_meets(pattern + 1, glob + 1);
	const size_t name = strcspn(++pattern, ">"), word = strcspn(glob, ".*");
	const struct placeholder *ph = placeholder(pattern, name);
	if (glob[word] == '*') /* "alu_*": what comes behind is not known */
		return key_pattern_meets(pattern + name + 1, glob + word);
	return ph && word_fits(ph, glob, word) && key_pattern_meets(pattern + name + 1, glob + word);
}
