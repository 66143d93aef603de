/* Functions that call themselves: directly, by turns, with variables and structs of their own, and through a table. */
#include "programs.h"

#define THREADS 64

static uint32_t ackermann(uint32_t m, uint32_t n)
{
	return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static bool recursion_deep(void)
{
	uint32_t got[THREADS];
	gpu out = to_gpu(NULL, sizeof got);
	go("call_ackermann", 1, 1, THREADS, 1, &out, NULL);
	from_gpu(got, out, sizeof got);
	for (uint32_t t = 0; t < THREADS; t++)
		if (got[t] != ackermann(t % 3, t % 5))
			return false;
	return true;
}

static bool recursion_by_turns(void)
{
	int got[THREADS];
	gpu out = to_gpu(NULL, sizeof got);
	go("call_parity", 1, 1, THREADS, 1, &out, NULL);
	from_gpu(got, out, sizeof got);
	for (int t = 0; t < THREADS; t++)
		if (got[t] != (t % 24 % 2 == 0) + 2 * (t % 7 % 2))
			return false;
	return true;
}

static bool recursion_sort(void)
{
	enum { EACH = 24 };
	int v[THREADS * EACH], n = EACH;
	uint64_t before = 0, behind = 0;
	for (int k = 0; k < THREADS * EACH; k++) {
		v[k] = (int)(number() % 100);
		before += (uint64_t)v[k] * v[k];
	}
	gpu d = to_gpu(v, sizeof v);
	go("call_sort", 1, 1, THREADS, 1, &d, &n, NULL);
	from_gpu(v, d, sizeof v);
	for (int k = 0; k < THREADS * EACH; k++) {
		behind += (uint64_t)v[k] * v[k];
		if (k % EACH && v[k - 1] > v[k])
			return false;
	}
	return before == behind;
}

struct sum {
	double total;
	float scale;
	char steps;
};

static bool recursion_structs(void)
{
	struct sum v[THREADS] = {0}, got[THREADS];
	for (int t = 0; t < THREADS; t++)
		v[t] = (struct sum){t, (float)t + 0.5f, (char)t};
	gpu d = to_gpu(v, sizeof v);
	go("call_sum", 1, 1, THREADS, 1, &d, NULL);
	from_gpu(got, d, sizeof got);
	for (int t = 0; t < THREADS; t++) {
		double total = v[t].total, all = 0;
		for (int n = t % 9; n; n--) {
			all += total;
			total += n;
			v[t].scale *= 1.5f;
		}
		if (got[t].total != all + total || got[t].scale != v[t].scale || got[t].steps != (char)(t + t % 9))
			return false;
	}
	return true;
}

static int visit(uint32_t which, int depth, uint32_t path)
{
	if (!depth)
		return which ? 5 : 3;
	const int below = visit(path & 1, depth - 1, path >> 1);
	return which ? 3 * below : below + 1;
}

static bool recursion_table(void)
{
	int got[THREADS];
	gpu out = to_gpu(NULL, sizeof got);
	go("call_visitors", 1, 1, THREADS, 1, &out, NULL);
	from_gpu(got, out, sizeof got);
	for (uint32_t t = 0; t < THREADS; t++)
		if (got[t] != visit(t & 1, (int)(t % 8), t * 37))
			return false;
	return true;
}

const struct program programs_of_recursion[] = {
    {"recursion_deep", recursion_deep},	  {"recursion_by_turns", recursion_by_turns},
    {"recursion_sort", recursion_sort},	  {"recursion_structs", recursion_structs},
    {"recursion_table", recursion_table}, {NULL, NULL}};
