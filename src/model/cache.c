#include "model/cache.h"
#include "base/arena.h"
#include <errno.h>

uint64_t model_lines(const struct model_shape *s)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < s->sets; k++)
		n += s->set_ways ? s->set_ways[k] : s->ways;
	return n;
}

uint32_t model_set_of(const struct model_shape *s, uint64_t line)
{
	const bool power = !(s->sets & (s->sets - 1));
	uint64_t sum = 0;

	line >>= s->shift;
	if (!s->folded || s->sets == 1)
		return (uint32_t)(power ? line & (s->sets - 1) : line % s->sets);
	/* Digits to the base of the sets: added up, or of powers of two without a carry. */
	if (power) {
		for (; line; line >>= __builtin_ctz(s->sets))
			sum ^= line;
		return (uint32_t)(sum & (s->sets - 1));
	}
	for (; line; line /= s->sets)
		sum += line % s->sets;
	return (uint32_t)(sum % s->sets);
}

/* Lines are dealt round the sets, passing by those that are full, so that as many in a row as there are ways fit. */
static void deal(struct model_cache *c)
{
	const struct model_shape *s = &c->shape;

	for (uint64_t n = 0, round = 0; n < c->lines; round++)
		for (uint32_t set = 0; set < s->sets; set++)
			if (round < s->set_ways[set])
				c->dealt[n++] = set;
}

int model_cache_open(struct model_cache *c, const struct model_shape *shape, uint64_t seed)
{
	*c = (struct model_cache){.shape = *shape, .lines = model_lines(shape)};
	c->way = mem_alloc((size_t)shape->sets * shape->ways * sizeof(*c->way));
	c->state = mem_alloc(shape->sets * sizeof(*c->state));
	if (shape->set_ways)
		c->dealt = mem_alloc(c->lines * sizeof(*c->dealt));
	if (!c->way || !c->state || (shape->set_ways && !c->dealt)) {
		model_cache_close(c);
		return -ENOMEM;
	}
	if (c->dealt)
		deal(c);
	rng_seed(&c->rng, seed);
	model_flush(c);
	return 0;
}

void model_cache_close(struct model_cache *c)
{
	mem_free(c->way);
	mem_free(c->state);
	mem_free(c->dealt);
	c->way = NULL;
	c->state = NULL;
	c->dealt = NULL;
}

void model_flush(struct model_cache *c)
{
	const struct model_shape *s = &c->shape;

	for (uint32_t k = 0; k < s->sets; k++)
		rule_empty(c->way + (size_t)k * s->ways, &c->state[k], s->set_ways ? s->set_ways[k] : s->ways);
}

static struct rule_view view_of(struct model_cache *c, uint32_t set)
{
	const struct model_shape *s = &c->shape;
	return (struct rule_view){&s->rule, s->set_ways ? s->set_ways[set] : s->ways, c->way + (size_t)set * s->ways,
				  &c->state[set], &c->rng};
}

/* The line is at `way` of its set now. Whether the address's sector was there. */
static bool read_sector(const struct model_shape *s, struct rule_way *way, uint64_t address)
{
	const uint64_t sector = 1ull << (uint32_t)(address % s->line) / (uint32_t)s->sector;
	const bool hit = way->sectors & sector;

	way->sectors |= sector;
	return hit;
}

struct model_line model_line_of(const struct model_cache *c, uint64_t address)
{
	const uint64_t line = address / c->shape.line;
	return (struct model_line){.number = line,
				   .set = c->dealt ? c->dealt[line % c->lines] : model_set_of(&c->shape, line),
				   .way = UINT32_MAX};
}

bool model_access_line(struct model_cache *c, struct model_line *l, uint64_t address)
{
	const struct rule_view v = view_of(c, l->set);
	bool found;

	l->way = rule_use_at(&v, l->number, l->way, &found);
	return read_sector(&c->shape, &v.way[l->way], address);
}

bool model_access(struct model_cache *c, uint64_t address)
{
	const struct model_line l = model_line_of(c, address);
	const struct rule_view v = view_of(c, l.set);
	bool found;

	return read_sector(&c->shape, &v.way[rule_use(&v, l.number, &found)], address);
}

void model_take(struct model_cache *c, uint64_t n)
{
	const struct model_shape *s = &c->shape;
	uint32_t set = 0;

	for (uint32_t ways; n >= (ways = s->set_ways ? s->set_ways[set] : s->ways); set++)
		n -= ways;
	c->way[(size_t)set * s->ways + n].line = RULE_EMPTY;
	c->state[set].full = false;
}
