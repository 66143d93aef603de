/* The whole GPU as it was found. Boxes stand for structures; a box without any finding is not drawn. */
#include "report/render.h"
#include "report/report_overview.h"
#include "report/report_svg.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 840, GAP = 10, BOX_HEIGHT = 88, ROW = 15, SMS_MOST = 256 };
#define FACTS 4

struct box {
	const char *title;
	const char *key[FACTS]; /* the first that is answered says the colour */
	const char *label[FACTS];
};

static const struct box of_sm[] = {
    {"registers", {"regfile.registers_per_sm", "regfile.max_per_thread"}, {"", "a thread"}},
    {"shared memory", {"shared.size", "shared.latency", "shared.bandwidth", "shared.banks"}, {"", "", "", "banks"}},
    {"L1",
     {"cache.global.l1.size", "cache.global.l1.latency", "cache.global.l1.bandwidth", "cache.global.l1.line"},
     {"", "", "", "line"}},
    {"constant L1",
     {"cache.constant.l1.size", "cache.constant.l1.latency", "cache.constant.l1.line", "cache.constant.l1.scope"},
     {"", "", "line", "of"}},
    {"texture L1",
     {"cache.texture.l1.size", "cache.texture.l1.latency", "cache.texture.l1.line", "cache.texture.l1.scope"},
     {"", "", "line", "of"}},
    {"instruction L1",
     {"cache.instruction.l1.size", "cache.instruction.l1.latency", "cache.instruction.l1.line",
      "cache.instruction.l1.scope"},
     {"", "", "line", "of"}},
    {"single precision", {"unit.sp.throughput", "unit.sp.latency"}, {"", ""}},
    {"double precision", {"unit.dpu.throughput", "unit.dpu.latency"}, {"", ""}},
    {"special functions", {"unit.sfu.throughput", "unit.sfu.latency"}, {"", ""}},
};
static const struct box beyond[] = {
    {"constant L2",
     {"cache.constant.l2.size", "cache.constant.l2.latency", "cache.constant.l2.line", "cache.constant.l2.scope"},
     {"", "", "line", "of"}},
    {"constant L3",
     {"cache.constant.l3.size", "cache.constant.l3.latency", "cache.constant.l3.line", "cache.constant.l3.scope"},
     {"", "", "line", "of"}},
    {"texture L2",
     {"cache.texture.l2.size", "cache.texture.l2.latency", "cache.texture.l2.line", "cache.texture.l2.scope"},
     {"", "", "line", "of"}},
    {"instruction L2",
     {"cache.instruction.l2.size", "cache.instruction.l2.latency", "cache.instruction.l2.line",
      "cache.instruction.l2.scope"},
     {"", "", "line", "of"}},
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

static const struct finding *leading(const struct run *r, const struct box *b)
{
	const struct finding *f = NULL;
	for (unsigned i = 0; i < FACTS && !f; i++)
		f = fact(r, b, i);
	return f;
}

static void text(struct str *out, double x, double y, const char *class, const char *what)
{
	str_addf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	report_escaped(out, what);
	str_add(out, "</text>\n");
}

static void draw_box(struct str *out, const struct run *r, const struct box *b, double x, double y, double width)
{
	const struct finding *first = leading(r, b);
	char verdict[16];
	double line = y + 20;
	snprintf(verdict, sizeof(verdict), "%s", verdict_name(first->verdict));
	for (char *c = verdict; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	str_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"4\" class=\"part v-%s\"/>\n", x, y,
		 width, BOX_HEIGHT, verdict);
	text(out, x + 10, line, "name", b->title);
	for (unsigned i = 0; i < FACTS; i++) {
		const struct finding *f = fact(r, b, i);
		struct str s;
		if (!f || (f->verdict == VERDICT_ABSENT && f != first))
			continue;
		str_init(&s);
		if (*b->label[i])
			str_addf(&s, "%s ", b->label[i]);
		overview_value(&s, f);
		out->failed |= s.failed;
		text(out, x + 10, line += ROW, "fact", str_text(&s));
		str_free(&s);
	}
}

/* Boxes from left to right, as many in a row as there is room for. Returns where the next row begins. */
static double boxes(struct str *out, const struct run *r, const struct box *b, size_t n, double y, unsigned columns)
{
	const double width = (WIDTH - 2.0 * GAP - GAP * (columns - 1.0)) / columns;
	unsigned at = 0;
	for (size_t i = 0; i < n; i++) {
		if (!leading(r, &b[i]))
			continue;
		if (at == columns) {
			y += BOX_HEIGHT + GAP;
			at = 0;
		}
		draw_box(out, r, &b[i], GAP + at++ * (width + GAP), y, width);
	}
	return at ? y + BOX_HEIGHT + GAP : y;
}

/* Groups may differ in size: they share the SMs as evenly as those were counted. */
static unsigned of_group(unsigned c, unsigned sms, double clusters)
{
	return (unsigned)((c + 1) * sms / clusters) - (unsigned)(c * sms / clusters);
}

/* A square for each SM, the groups apart. */
static double groups(struct str *out, const struct run *r, double y)
{
	double clusters = 1;
	const unsigned sms = r->device.sm_count < SMS_MOST ? r->device.sm_count : SMS_MOST;
	if (!overview_number(r, "topology.cluster_count", &clusters) || clusters < 1 || clusters > sms)
		clusters = 1;
	unsigned wide = 0;
	for (unsigned c = 0; c < (unsigned)clusters; c++)
		wide += (of_group(c, sms, clusters) + 1) / 2;
	const double side = fmin(20, (WIDTH - 2.0 * GAP - 6 * clusters) / wide - 2);
	double x = GAP;
	for (unsigned c = 0; c < (unsigned)clusters; c++) {
		const unsigned n = of_group(c, sms, clusters), columns = (n + 1) / 2;
		str_add(out, "<path class=\"sm\" d=\"");
		for (unsigned i = 0; i < n; i++)
			str_addf(out, "M%.1f %.1fh%.1fv%.1fh%.1fz", x + i % columns * (side + 2),
				 y + i / columns * (side + 2), side, side, -side);
		str_add(out, "\"/>\n");
		x += columns * (side + 2) + 6;
	}
	return y + 2 * (side + 2) + GAP;
}

void report_gpu(struct str *out, const struct run *r)
{
	struct str body;
	char line[128];
	double clusters, y = 20;
	str_init(&body);
	snprintf(line, sizeof(line), "%u SMs", r->device.sm_count);
	if (overview_number(r, "topology.cluster_count", &clusters) && clusters > 1)
		snprintf(line, sizeof(line), "%u SMs in %.0f groups", r->device.sm_count, clusters);
	text(&body, GAP, y, "name", line);
	y = groups(&body, r, y + 10);
	text(&body, GAP, y + 12, "name", "in one SM");
	y = boxes(&body, r, of_sm, sizeof of_sm / sizeof *of_sm, y + 20, 4);
	text(&body, GAP, y + 12, "name", "behind it");
	y = boxes(&body, r, beyond, sizeof beyond / sizeof *beyond, y + 20, 4);
	text(&body, GAP, y + 12, "name", "of the whole GPU");
	y = boxes(&body, r, of_gpu, sizeof of_gpu / sizeof *of_gpu, y + 20, 2);
	str_addf(
	    out,
	    "<svg class=\"plot gpu\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"",
	    WIDTH, y, WIDTH, y);
	report_escaped(out, r->device.name);
	str_add(out, ": groups of SMs, caches and memory as found\">\n");
	str_addn(out, str_text(&body), body.len);
	str_add(out, "</svg>\n");
	out->failed |= body.failed;
	str_free(&body);
}
