/* Which cases a device does not take: each is compiled by itself, and what is refused is named with the reason. */
#include "base/str.h"
#include "isa_run.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct isa_cases c;
	struct gpu *g;
	struct err e = {0};
	size_t refused = 0;
	if (argc != 2 || isa_cases_open(&c) || gpu_open(&g, argv[1], 1, false, &e)) {
		fprintf(stderr, "usage: isa_list DEVICE\n%s\n", e.text);
		return 2;
	}
	for (size_t n = 0; n < c.count; n++) {
		struct native_info native = {0};
		struct str text;
		uint32_t id;
		str_init(&text);
		isa_kernel(&text, &c, n, n + 1);
		struct kernel_source src = {.name = "isa", .entry = "k", .text = str_text(&text)};
		if (g->ops->load(g, &src, 1, &id, &native, &e)) {
			printf("%s\n    %s\n", c.list[n].line, e.text);
			refused++;
		}
		str_free(&text);
	}
	printf("%zu of %zu cases are refused\n", refused, c.count);
	g->ops->close(g);
	isa_cases_close(&c);
	return refused ? 1 : 0;
}
