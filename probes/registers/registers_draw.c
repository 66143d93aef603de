/* Wong 2010, Fig. 9: the largest block for each number of registers. */
#include "registers.h"

int registers_draw(const struct study *s, struct figure_list *out)
{
	const struct series *b = study_series(s, REGISTERS_BLOCK);
	double x[VALUES_MAX + 1], y[VALUES_MAX + 1];
	uint32_t most[VALUES_MAX + 1] = {0}, least[VALUES_MAX + 1] = {0};
	const uint32_t largest = study_device(s)->max_threads_per_block;
	size_t n = 0;
	for (size_t i = 0; b && i < b->count; i++) {
		const struct point *pt = &b->points[i];
		const struct native_info *native = study_native(s, REGISTERS_BLOCK, pt);
		const uint32_t t = (uint32_t)pt->p[0], r = native ? native->registers : 0;
		if (!r || r > VALUES_MAX)
			continue;
		if (pt->outcome == OUTCOME_OK && t > most[r])
			most[r] = t;
		if (pt->outcome == OUTCOME_REFUSED && (!least[r] || t < least[r]))
			least[r] = t;
	}
	/* Only numbers of registers whose largest block is known exactly. What fewer of them are refused, more are. */
	uint32_t refused = 0;
	for (uint32_t r = 1; r <= VALUES_MAX; r++) {
		if (least[r] && (!refused || least[r] < refused))
			refused = least[r];
		if (!most[r] || (most[r] < largest && refused != most[r] + 1))
			continue;
		x[n] = r;
		y[n++] = most[r];
	}
	if (!n)
		return 0;
	struct figure *f = figures_new(out, "registers-block", "The largest block for each number of registers");
	if (!f)
		return -1;
	f->main = true;
	figure_key(f, "regfile.*");
	f->x = (struct figure_axis){.label = "registers of a thread", .unit = "count"};
	f->y = (struct figure_axis){.label = "threads of the largest block", .unit = "count"};
	return figure_add(f, "largest block", MARK_POINTS, x, y, NULL, n);
}
