/* Runs the instruction set on a device and writes down what it answered:
 *   isa_device cuda:0 h200.isa
 * The file goes to tests/isa; the test beside it compares the simulator with it. Cases that the device refuses are named on
 * standard error and are not in the file. */
#include "isa_bound.h"
#include "isa_file.h"
#include <stdio.h>
#include <string.h>

static int write_case(FILE *out, const struct isa_case *c, const uint64_t *answer)
{
	uint64_t head[2] = {isa_line_hash(c), isa_answer_hash(c, answer)};
	fwrite(head, sizeof head, 1, out);
	for (uint32_t t = 0; t < isa_kept(c); t++) {
		uint64_t v = isa_canonical(c, t, answer[t]);
		fwrite(&v, isa_width(c), 1, out);
	}
	return ferror(out);
}

/* What lies outside of its documented bound: a mistake of the bound, of the inputs, or of the device. */
static unsigned count_outside(const struct isa_cases *c, size_t n, const uint64_t *answer)
{
	unsigned outside = 0;
	double truth;
	if (!isa_approximate((enum isa_rule)c->list[n].rule))
		return 0;
	for (uint32_t t = 0; t < ISA_THREADS; t++)
		outside += !isa_within_bound(&c->list[n], t, answer[t], &truth);
	if (outside)
		fprintf(stderr, "%s: %u of %u answers outside of the documented bound\n", c->list[n].line, outside,
			ISA_THREADS);
	return outside;
}

int main(int argc, char **argv)
{
	struct isa_cases c;
	struct gpu *g;
	struct err e = {0};
	uint64_t *answer;
	bool *refused;
	size_t written = 0;
	FILE *out;
	if (argc != 3) {
		fprintf(stderr, "usage: isa_device DEVICE OUT\n");
		return 2;
	}
	if (isa_cases_open(&c) || gpu_open(&g, argv[1], 1, true, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	if (isa_run(g, &c, ISA_THREADS, ISA_BLOCK, &answer, &refused, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	const struct device_info *d = g->ops->info(g);
	out = fopen(argv[2], "wb");
	if (!out) {
		perror(argv[2]);
		return 1;
	}
	fprintf(out, ISA_HEAD "%zu cases, %u threads, seed %u, on %s, driver %s\n", c.count, ISA_THREADS, ISA_SEED,
		d->name, d->driver);
	for (size_t n = 0; n < c.count; n++) {
		if (refused[n])
			continue;
		written++;
		write_case(out, &c.list[n], answer + n * ISA_THREADS);
		count_outside(&c, n, answer + n * ISA_THREADS);
	}
	int bad = ferror(out) | fclose(out);
	printf("%zu of %zu cases on %s\n", written, c.count, d->name);
	mem_free(answer);
	mem_free(refused);
	g->ops->close(g);
	isa_cases_close(&c);
	return bad != 0;
}
