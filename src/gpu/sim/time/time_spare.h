/* A victim buffer: the lines that a cache replaced last, any line in any place (Jouppi 1990). Private to time/. */
#ifndef FATHOM_TIME_SPARE_H
#define FATHOM_TIME_SPARE_H
#include <stdbool.h>
#include <stdint.h>

struct time_spare {
	uint32_t count, sectors; /* lines, and sectors of each; count 0: there is none */
	uint64_t stamp;
	uint64_t *tag;	/* keys as the cache has them; 0: nothing */
	uint64_t *age;	/* when a line came in; 0: nothing is there */
	uint64_t *fill; /* count * sectors, as the cache has them */
};

int spare_reserve(struct time_spare *s, uint32_t count, uint32_t sectors); /* 0 or -ENOMEM */
void spare_free(struct time_spare *s);
/* A cache lets the line `old` go (0: its way was empty) for the line `key`. Array `fill` has the way's sectors, first
 * of the old line, then of the new one. They are as they were if the buffer has that, else CACHE_INVALID. Returns
 * whether it has. */
bool spare_swap(struct time_spare *s, uint64_t old, uint64_t key, uint64_t *fill);
/* All lines whose key, of which only these bits count, lies in [from, to] are gone. */
void spare_forget(struct time_spare *s, uint64_t mask, uint64_t from, uint64_t to);

#endif
