/* The whole GPU as it was found. Boxes stand for structures, and go to the next line where a page is narrow; a box without any finding is
 * not drawn. */
#include "report/html_data.h"
#include "report/render.h"
#include "report/report_overview.h"
#include "report/report_svg.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 840, SMS_MOST = 256 };
#define FACTS 4

struct box {
	const char *title;
	const char *key[FACTS]; /* the first that is answered says the colour */
	const char *label[FACTS];
};

static const struct box of_sm[] = {
    {"32-bit registers", {"regfile.registers_per_sm", "regfile.max_per_thread"}, {"", "per thread"}},
    {"shared memory", {"shared.size", "shared.latency", "shared.bandwidth", "shared.banks"}, {"", "", "", "banks"}},
    {"L1",
     {"cache.global.l1.size", "cache.global.l1.latency", "cache.global.l1.bandwidth", "cache.global.l1.line"},
     {"", "", "", "line"}},
    {"constant L1",
     {"cache.constant.l1.size", "cache.constant.l1.latency", "cache.constant.l1.line", "cache.constant.l1.scope"},
     {"", "", "line", "per"}},
    {"texture L1",
     {"cache.texture.l1.size", "cache.texture.l1.latency", "cache.texture.l1.line", "cache.texture.l1.scope"},
     {"", "", "line", "per"}},
    {"instruction L1",
     {"cache.instruction.l1.size", "cache.instruction.l1.latency", "cache.instruction.l1.line",
      "cache.instruction.l1.scope"},
     {"", "", "line", "per"}},
    {"single precision", {"unit.sp.throughput", "unit.sp.latency"}, {"", ""}},
    {"double precision", {"unit.dpu.throughput", "unit.dpu.latency"}, {"", ""}},
    {"special functions", {"unit.sfu.throughput", "unit.sfu.latency"}, {"", ""}},
};
static const struct box beyond[] = {
    {"constant L2",
     {"cache.constant.l2.size", "cache.constant.l2.latency", "cache.constant.l2.line", "cache.constant.l2.scope"},
     {"", "", "line", "per"}},
    {"constant L3",
     {"cache.constant.l3.size", "cache.constant.l3.latency", "cache.constant.l3.line", "cache.constant.l3.scope"},
     {"", "", "line", "per"}},
    {"texture L2",
     {"cache.texture.l2.size", "cache.texture.l2.latency", "cache.texture.l2.line", "cache.texture.l2.scope"},
     {"", "", "line", "per"}},
    {"instruction L2",
     {"cache.instruction.l2.size", "cache.instruction.l2.latency", "cache.instruction.l2.line",
      "cache.instruction.l2.scope"},
     {"", "", "line", "per"}},
    {"instruction L3",
     {"cache.instruction.l3.size", "cache.instruction.l3.latency", "cache.instruction.l3.line",
      "cache.instruction.l3.scope"},
     {"", "", "line", "per"}},
    {"TLB L1", {"tlb.global.l1.reach", "tlb.global.l1.entries", "tlb.page_size"}, {"reach", "entries", "page"}},
    {"TLB L2", {"tlb.global.l2.reach", "tlb.global.l2.entries"}, {"reach", "entries"}},
};
static const struct box of_gpu[] = {
    {"L2",
     {"cache.global.l2.size", "cache.global.l2.latency", "cache.global.l2.bandwidth_total", "cache.global.l2.line"},
     {"", "", "", "line"}},
    {"memory",
     {"memory.global.latency", "memory.global.4.bandwidth", "memory.global.bandwidth", "memory.global.fetch"},
     {"", "", "", "fetches"}},
};

static const struct finding *fact(const struct run *r, const struct box *b, unsigned i)
{
	const struct finding *f = b->key[i] ? findings_get(&r->findings, b->key[i]) : NULL;
	return f && finding_answered(f) ? f : NULL;
}

/* What says the box's colour: what was found first, or that its size was looked for and is open. */
static const struct finding *leading(const struct run *r, const struct box *b)
{
	const struct finding *f = NULL, *size = findings_get(&r->findings, b->key[0]);
	for (unsigned i = 0; i < FACTS && !f; i++)
		f = fact(r, b, i);
	return f || !size || size->verdict != VERDICT_INCONCLUSIVE ? f : size;
}

/* Of which cache of global memory the box is another name: "L2"; NULL: of none. */
static const char *other_name(const struct run *r, const struct finding *first)
{
	static const char *const names[] = {"L1", "L2", "L3", "L4"};
	const char *dot = strrchr(first->key, '.');
	char key[112], global[16];
	snprintf(key, sizeof(key), "%.*s.shared_with", (int)(dot ? dot - first->key : 0), first->key);
	const struct finding *same = findings_get(&r->findings, key);
	for (unsigned i = 0; same && finding_estimated(same) && i < sizeof names / sizeof *names; i++) {
		snprintf(global, sizeof(global), "global.l%u", i + 1);
		if (strcmp(same->value.text, global) == 0)
			return names[i];
	}
	return NULL;
}

/* Who shares it, in a reader's words. */
static const char *scope_word(const struct finding *f)
{
	static const char *const words[][2] = {
	    {"sm", "SM"}, {"cluster", "group of SMs"}, {"gpu", "GPU"}, {"partition", "SM partition"}};
	for (unsigned i = 0; f->value.kind == VALUE_TEXT && i < sizeof words / sizeof *words; i++)
		if (strcmp(f->value.text, words[i][0]) == 0)
			return words[i][1];
	return NULL;
}

static void draw_box(struct str *out, const struct run *r, const struct box *b, const struct finding *first)
{
	str_addf(out, "<li class=\"v-%s\"><a href=\"#", html_class(first->verdict));
	report_escaped(out, first->key);
	str_addf(out, "\">%s</a>", b->title);
	const char *same = other_name(r, first);
	if (!finding_answered(first))
		str_add(out, "<br>looked for, open");
	else if (same)
		str_addf(out, "<br>is the %s", same);
	for (unsigned i = 0; i < FACTS; i++) {
		const struct finding *f = fact(r, b, i);
		struct str s;
		if (!f || (f->verdict == VERDICT_ABSENT && f != first) || (same && strcmp(f->unit, "bytes") == 0))
			continue;
		str_init(&s);
		if (scope_word(f))
			str_addf(&s, "%s%s", f->verdict == VERDICT_LIKELY ? "~" : "", scope_word(f));
		else
			overview_value(&s, f);
		str_addf(out, "<br>%s%s", b->label[i], *b->label[i] ? " " : "");
		report_escaped(out, str_text(&s));
		out->failed |= s.failed;
		str_free(&s);
	}
	str_addc(out, '\n');
}

static void boxes(struct str *out, const struct run *r, const char *where, const struct box *b, size_t n)
{
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		const struct finding *first = leading(r, &b[i]);
		if (first && !any)
			str_addf(out, "<h3>%s</h3>\n<ul class=\"boxes\">\n", where);
		any |= first != NULL;
		if (first)
			draw_box(out, r, &b[i], first);
	}
	str_add(out, any ? "</ul>\n" : "");
}

/* Groups may differ in size: they share the SMs as evenly as those were counted. */
static unsigned of_group(unsigned c, unsigned sms, double clusters)
{
	return (unsigned)((c + 1) * sms / clusters) - (unsigned)(c * sms / clusters);
}

/* A square for each SM, the groups apart. */
static void groups(struct str *out, const struct run *r)
{
	double clusters = 1;
	const unsigned sms = r->device.sm_count < SMS_MOST ? r->device.sm_count : SMS_MOST;
	if (!overview_number(r, "topology.cluster_count", &clusters) || clusters < 1 || clusters > sms)
		clusters = 1;
	unsigned wide = 0;
	for (unsigned c = 0; c < (unsigned)clusters; c++)
		wide += (of_group(c, sms, clusters) + 1) / 2;
	const double side = fmin(20, (WIDTH - 6 * clusters) / wide - 2);
	double x = 1;
	str_addf(out, "<h3>%u SMs", r->device.sm_count);
	if (clusters > 1)
		str_addf(out, " in %.0f groups", clusters);
	str_addf(out, "</h3>\n<svg class=\"plot\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"groups of SMs\">\n",
		 WIDTH, 2 * (side + 2) + 2);
	for (unsigned c = 0; c < (unsigned)clusters; c++) {
		const unsigned n = of_group(c, sms, clusters), columns = (n + 1) / 2;
		str_add(out, "<path class=\"sm\" d=\"");
		for (unsigned i = 0; i < n; i++)
			str_addf(out, "M%.1f %.1fh%.1fv%.1fh%.1fz", x + i % columns * (side + 2),
				 1 + i / columns * (side + 2), side, side, -side);
		str_add(out, "\"/>\n");
		x += columns * (side + 2) + 6;
	}
	str_add(out, "</svg>\n");
}

void report_gpu(struct str *out, const struct run *r)
{
	groups(out, r);
	boxes(out, r, "in one SM", of_sm, sizeof of_sm / sizeof *of_sm);
	boxes(out, r, "behind it", beyond, sizeof beyond / sizeof *beyond);
	boxes(out, r, "of the whole GPU", of_gpu, sizeof of_gpu / sizeof *of_gpu);
}
