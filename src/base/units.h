/* Numbers with units, for people: "64 KB", "1.35 GHz", "24 cycles". */
#ifndef FATHOM_UNITS_H
#define FATHOM_UNITS_H
#include <stddef.h>
#include <stdint.h>

#define KIB 1024ull
#define MIB (1024ull * 1024)

/* Writes bytes the way the field does ("2 KB", "1.5 MB", "48 bytes"; exact: 5000 is "5000 bytes"). Returns out. */
char *units_bytes(char *out, size_t n, uint64_t bytes);
/* Any value in any unit of the key table; bytes go through units_bytes. Shortest text that keeps 6 digits. */
char *units_value(char *out, size_t n, double value, const char *unit);
/* Parses "64", "64K", "2 KB", "1.5MB". Returns 0 or -EINVAL. */
int units_parse_bytes(const char *text, uint64_t *bytes);

/* Bits behind the highest one that is set; 0 for 0 and 1. */
static inline unsigned log2_floor(uint64_t v)
{
	unsigned n = 0;
	while (v > 1) {
		v >>= 1;
		n++;
	}
	return n;
}

#endif
