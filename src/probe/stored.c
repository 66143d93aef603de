/* Points of a run file, which may come from anywhere. A study reads a point's words by the shape that its own launch gives them, so a point
 * of another shape must not reach it. The launch is made again for points that the study asks for, and for no others: coordinates that only
 * the file knows could describe anything. */
#include "probe/study.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

int stored_open(struct study *s)
{
	s->stored = mem_zero(s->probe->experiment_count + 1, sizeof(*s->stored));
	if (!s->stored)
		return -ENOMEM;
	for (unsigned k = 0; k < s->probe->experiment_count; k++) {
		const size_t n = s->series[k] ? s->series[k]->count : 0;
		s->stored[k].is_checked = n ? mem_zero(n, 1) : NULL;
		if (n && !s->stored[k].is_checked)
			return -ENOMEM;
		s->stored[k].count = n;
	}
	return 0;
}

void stored_close(struct study *s)
{
	for (unsigned k = 0; s->stored && k < s->probe->experiment_count; k++)
		mem_free(s->stored[k].is_checked);
	mem_free(s->stored);
	s->stored = NULL;
}

int stored_check(struct study *s, unsigned experiment, size_t index)
{
	struct study_stored *const stored = &s->stored[experiment];
	const struct experiment *x = &s->probe->experiments[experiment];
	struct arena arena;
	struct job job = {.arena = &arena, .check = {.cls = -1}};

	if (index >= stored->count || stored->is_checked[index])
		return 0;
	struct point *pt = &s->series[experiment]->points[index];
	if (pt->outcome != OUTCOME_OK)
		return 0;
	stored->is_checked[index] = 1;
	arena_init(&arena);
	const int rc = x->setup(s, pt->x, pt->p, &job);
	if (rc == -ENOMEM) {
		arena_free(&arena);
		return rc;
	}
	/* Recordings of older versions have other numbers of repeats; studies take as many as there are. */
	if (rc || !pt->repeats || pt->words_per_repeat != launch_words(&job.launch)) {
		if (rc)
			snprintf(pt->message, sizeof(pt->message),
				 "the run file holds words of a kernel that this device cannot run");
		else
			snprintf(pt->message, sizeof(pt->message),
				 "the run file holds %u x %u words, and the kernel writes %u in each repeat",
				 pt->repeats, pt->words_per_repeat, launch_words(&job.launch));
		pt->outcome = OUTCOME_INVALID;
		pt->y = NULL;
		pt->repeats = pt->words_per_repeat = 0;
	}
	arena_free(&arena);
	return 0;
}

int stored_draw(struct study *s)
{
	s->mode = STUDY_DRAW;
	s->concluded.count = 0; /* the run's findings have passed the gates */
	for (unsigned k = 0; k < s->probe->experiment_count; k++) {
		const struct series *all = s->series[k];
		if (!all || !all->count)
			continue;
		struct series *shown = arena_copy(&s->kept_arena, all, sizeof(*all));
		struct point *points = ARENA_ARRAY(&s->kept_arena, all->count, struct point);
		if (!shown || !points)
			return -ENOMEM;
		shown->points = points;
		shown->count = 0;
		for (size_t i = 0; i < all->count; i++)
			if (i >= s->stored[k].count || s->stored[k].is_checked[i] ||
			    all->points[i].outcome != OUTCOME_OK)
				points[shown->count++] = all->points[i];
		s->series[k] = shown;
	}
	return 0;
}
