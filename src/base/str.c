#include "base/str.h"
#include "base/arena.h"
#include <ctype.h>
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void str_init(struct str *s)
{
	*s = (struct str){0};
}

void str_free(struct str *s)
{
	mem_free(s->data);
	*s = (struct str){0};
}

void str_clear(struct str *s)
{
	s->len = 0;
	s->failed = false;
	if (s->data)
		s->data[0] = '\0';
}

/* Room for n more bytes and the NUL. */
static bool reserve(struct str *s, size_t n)
{
	if (s->failed)
		return false;
	if (n > PTRDIFF_MAX - s->len - 1) {
		s->failed = true;
		return false;
	}
	if (s->len + n + 1 > s->cap) {
		size_t cap = s->cap ? s->cap : 128;
		while (cap < s->len + n + 1)
			cap += cap / 2;
		char *data = mem_grow(s->data, cap);
		if (!data) {
			s->failed = true;
			return false;
		}
		s->data = data;
		s->cap = cap;
	}
	return true;
}

void str_addn(struct str *s, const char *text, size_t n)
{
	if (!reserve(s, n))
		return;
	if (n)
		memcpy(s->data + s->len, text, n);
	s->len += n;
	s->data[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c)
{
	str_addn(s, &c, 1);
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !reserve(s, (size_t)n)) {
		s->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(s->data + s->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->len += (size_t)n;
}

const char *str_text(const struct str *s)
{
	return s->data ? s->data : "";
}

char *str_take(struct str *s)
{
	char *data = s->data;

	if (s->failed || !data) {
		str_free(s);
		return NULL;
	}
	*s = (struct str){0};
	return data;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool str_glob(const char *pattern, const char *s)
{
	const char *star = NULL, *back = NULL; /* last *, and where in s its match may still grow */

	while (*s) {
		if (*pattern == '*') {
			star = ++pattern;
			back = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star;
			s = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

#define WORD_MAX 63

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edit distance that counts a swap of neighbours as one, case ignored. Words longer than WORD_MAX are never near. */
static unsigned distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[3][WORD_MAX + 1];

	if (n > WORD_MAX || m > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= m; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
			now[j] = least(last[j] + 1, now[j - 1] + 1, last[j - 1] + (ca != cb));
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
			    cb == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
	}
	return row[n % 3][m];
}

const char *str_nearest(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	unsigned best_d =
	    (unsigned)strlen(word) / 3 + 1; /* a third of the letters may be wrong, and one in short words */

	for (size_t i = 0; i < n; i++) {
		unsigned d = distance(word, names[i]);
		if (d < best_d || (d == best_d && !best && d < strlen(names[i]))) {
			best = names[i];
			best_d = d;
		}
	}
	return best;
}

/* Up to eight bytes as a number, the first one lowest: the same on every machine. */
static uint64_t word_at(const unsigned char *p, size_t n)
{
	uint64_t w = 0;

	memcpy(&w, p, n);
	return le64toh(w);
}

static uint64_t stir(uint64_t h, uint64_t w)
{
	h ^= w * 0x9e3779b97f4a7c15u;
	return (h << 29 | h >> 35) * 0xd6e8feb86659fd93u;
}

/* Eight bytes a step, because memory images of many megabytes are hashed; then a mix so that near inputs differ in all
 * bits. The length goes in, so that zeros at the end count. */
uint64_t hash64(const void *data, size_t bytes, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t h = stir(seed, bytes);

	for (; bytes >= 8; bytes -= 8, p += 8)
		h = stir(h, word_at(p, 8));
	if (bytes)
		h = stir(h, word_at(p, bytes));
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return h ^ (h >> 32);
}

/* Bytes of the UTF-8 character at s, 0 when there is none. Overlong forms and surrogates are none. */
static size_t character(const unsigned char *s, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	if (n == 0)
		return 0;
	*code = n == 1 ? s[0] : s[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	return *code >= least[n] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff) ? n : 0;
}

/* Characters that a terminal obeys instead of showing: controls, and those that reorder the line. */
static bool unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t str_character(const char *s, bool *shown)
{
	uint32_t code = 0;
	const size_t n = character((const unsigned char *)s, &code);

	*shown = n && !unsafe(code);
	return n ? n : 1;
}

void str_clean(char *out, size_t n, const char *text)
{
	size_t at = 0;

	while (*text) {
		bool shown;
		const size_t k = str_character(text, &shown), room = shown ? k : 1;
		if (at + room >= n)
			break;
		memcpy(out + at, shown ? text : "?", room);
		at += room;
		text += k;
	}
	out[at] = 0;
}
