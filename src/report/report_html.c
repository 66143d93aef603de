/* The page: headline, the whole GPU, figures, all findings, how it was measured, what to take along. */
#include "report/report_html.h"
#include "base/embed.h"
#include "report/html_data.h"
#include "report/render.h"
#include "report/report_overview.h"
#include "report/report_screen.h"
#include "report/report_svg.h"
#include <stdio.h>
#include <string.h>

static const char uplot[] = "third_party/uplot/uPlot.iife.min.js", uplot_css[] = "third_party/uplot/uPlot.min.css",
		  page_css[] = "src/report/page.css", page_js[] = "src/report/page.js";

static void asset(struct str *out, const char *tag, const char *path)
{
	const struct embedded *a = embed_find(path);
	str_addf(out, "<%s>", tag);
	str_addn(out, a->data, a->size);
	str_addf(out, "</%s>\n", tag);
}

static void head(struct str *out, const struct html_page *p)
{
	str_addf(out,
		 "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s' "
		 "'sha256-%s'; "
		 "script-src 'sha256-%s' 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"
		 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
		 embed_find(page_css)->sha256, embed_find(uplot_css)->sha256, embed_find(uplot)->sha256,
		 embed_find(page_js)->sha256);
	for (size_t i = 0; i < p->count; i++) {
		str_add(out, i ? ", " : "");
		report_escaped(out, p->runs[i]->device.name);
	}
	str_add(out, " - fathom</title>\n");
	asset(out, "style", uplot_css);
	asset(out, "style", page_css);
	str_add(out, "</head><body>\n");
}

/* ---- headline ---- */

static void card(struct str *out, const struct finding *f, const char *what, double scale, const char *unit)
{
	struct str s;
	if (!f || !finding_estimated(f) || f->value.kind != VALUE_NUMBER || f->value.number == 0)
		return;
	str_init(&s);
	if (scale > 0 && f->verdict == VERDICT_LIKELY)
		str_addc(&s, '~');
	if (scale > 0)
		screen_si(&s, f->value.number * scale, unit);
	else
		overview_value(&s, f);
	str_addf(out, "<li><a href=\"#%s\" data-key=\"%s\"><strong>", f->key, f->key);
	report_escaped(out, str_text(&s));
	str_add(out, "</strong><span>");
	report_escaped(out, what);
	str_add(out, "</span></a></li>\n");
	out->failed |= s.failed;
	str_free(&s);
}

static void cards(struct str *out, const struct run *r)
{
	static const struct {
		const char *key, *what;
		double scale; /* to `unit`; 0: as it is */
		const char *unit;
	} shown[] = {{"memory.global.4.bandwidth", "memory bandwidth", 1e9, "B/s"},
		     {"host.launch_latency", "launch of a kernel", 1, "s"},
		     {"shared.size", "shared memory per SM", 0, ""},
		     {"cache.global.l1.size", "L1", 0, ""},
		     {"cache.global.l1.latency", "L1 hit", 0, ""},
		     {"cache.global.l2.size", "L2", 0, ""},
		     {"cache.global.l2.latency", "L2 hit", 0, ""},
		     {"memory.global.latency", "load from memory", 0, ""},
		     {"cache.constant.l1.size", "constant L1", 0, ""},
		     {"tlb.page_size", "page", 0, ""},
		     {"device.clock_hz", "SM clock", 1, "Hz"}};
	str_add(out, "<ul class=\"cards\">\n");
	card(out, overview_rate(r, "mad"), "FP32, multiply and add", 1e9, "flop/s");
	card(out, overview_rate(r, "dp"), "FP64, additions", 1e9, "flop/s");
	card(out, overview_rate(r, "int"), "INT32", 1e9, "op/s");
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		card(out, findings_get(&r->findings, shown[i].key), shown[i].what, shown[i].scale, shown[i].unit);
	str_add(out, "</ul>\n");
}

static void headline(struct str *out, const struct html_page *p)
{
	size_t answered = 0, asked = 0, all = 0;
	for (size_t r = 0; r < p->count; r++) {
		const struct run *run = p->runs[r];
		char foreign[RUN_FOREIGN];
		str_add(out, r ? "<h2>" : "<h1>");
		report_escaped(out, run->device.name);
		str_add(out, r ? "</h2>\n<p class=\"soft\">" : "</h1>\n<p class=\"soft\">");
		report_escaped(out, p->names[r]);
		str_addf(out, ": %u SMs, ", run->device.sm_count);
		report_escaped(out, run->device.target);
		str_addf(out, ", measured %.10s in %.0f s by fathom ", run->started, run->seconds);
		report_escaped(out, run->fathom);
		if (*run_foreign(run, foreign)) {
			str_add(out, "; ");
			report_escaped(out, foreign);
		}
		for (size_t i = 0; i < run->findings.count; i++) {
			answered += finding_answered(&run->findings.items[i]);
			asked += render_asked(&run->findings.items[i]);
		}
		all += run->findings.count;
		str_add(out, "</p>\n");
		if (r == 0)
			str_add(out,
				"<nav aria-label=\"parts\"><a href=\"#gpu\">the GPU</a><a href=\"#curves\">figures</a>"
				"<a href=\"#all\">findings</a><a href=\"#how\">how it was measured</a></nav>\n");
		cards(out, run);
	}
	str_addf(out, "<p>%zu of %zu questions are answered; %zu more do not apply.</p>\n", answered, asked,
		 all - asked);
	if (p->count > 1)
		str_addf(out, "<p>The runs contradict each other in %zu findings, and differ in %zu more.</p>\n",
			 p->all->counts[COMPARE_CONTRADICT], p->all->counts[COMPARE_DIFFER]);
}

/* ---- figures ---- */

static void shows(struct str *out, const struct html_page *p, const struct figure *f)
{
	enum { MOST = 3 };
	unsigned n = 0;
	for (size_t i = 0; i < p->all->row_count && n <= MOST; i++) {
		const struct compare_row *row = &p->all->rows[i];
		if (!row->of[0] || !finding_answered(row->of[0]) || !figure_shows(f, row->key))
			continue;
		if (n++ == MOST) {
			str_add(out, ", ...");
			break;
		}
		str_add(out, n == 1 ? " Evidence of " : ", ");
		str_add(out, "<a href=\"#");
		report_escaped(out, row->key);
		str_add(out, "\">");
		report_escaped(out, row->key);
		str_add(out, "</a>");
	}
}

/* Its rows need the room of two figures. */
static bool tall(const struct figure *f)
{
	return f->rows_count > 24;
}

static void one_figure(struct str *out, const struct html_page *p, const struct figure *f)
{
	str_addf(out, "<figure id=\"figure-%s\"%s><h4>", f->name, tall(f) ? " class=\"tall\"" : "");
	report_escaped(out, f->title);
	str_add(out, "</h4>\n<div class=\"drawing\" tabindex=\"0\">");
	report_svg_inline(out, f);
	str_add(out, "</div><figcaption>");
	report_escaped(out, f->caption);
	const size_t said = strlen(f->caption);
	str_add(out, !said ? "" : f->caption[said - 1] == '.' ? " " : ". ");
	report_escaped(out, f->origin);
	if (*f->paper) {
		str_add(out, "; after ");
		report_escaped(out, f->paper);
	}
	str_add(out, ".");
	shows(out, p, f);
	str_add(out, "</figcaption>");
	if (figure_is_curves(f)) {
		str_add(out, "<button type=\"button\" class=\"zoom\" aria-label=\"zoom: ");
		report_escaped(out, f->title);
		str_add(out, "\">zoom</button>");
	}
	str_add(out, "</figure>\n");
}

/* Figures of one topic: those that are evidence first of a key that begins so. The last topic takes what is left. */
struct topic {
	const char *title, *begins[7];
};

static const struct topic topics[] = {
    {"Overview", {NULL}},
    {"Caches and memories", {"cache.", "memory.", "shared.", "walk.", "outstanding."}},
    {"Address translation", {"tlb."}},
    {"Operations and warps", {"arith.", "pipeline.", "unit.", "regfile.", "sfu.", "core."}},
    {"Branches", {"branch."}},
    {"The whole GPU", {""}},
};

static const char *const overview[] = {"memory-ladder", "roofline"};

static size_t topic_of(const struct figure *f)
{
	for (size_t i = 0; i < sizeof overview / sizeof *overview; i++)
		if (strcmp(f->name, overview[i]) == 0)
			return 0;
	for (size_t t = 1; t + 1 < sizeof topics / sizeof *topics; t++)
		for (size_t k = 0; f->keys_count && topics[t].begins[k]; k++)
			if (strncmp(f->keys[0], topics[t].begins[k], strlen(topics[t].begins[k])) == 0)
				return t;
	return sizeof topics / sizeof *topics - 1;
}

static void curves(struct str *out, const struct html_page *p, const struct figure_list *drawn)
{
	str_add(out, "<h2 id=\"curves\">Figures</h2>\n");
	for (size_t t = 0; t < sizeof topics / sizeof *topics; t++) {
		bool any = false;
		for (size_t k = 0; k < 2 * drawn->count; k++) { /* tall ones first: others fill the room beside them */
			const struct figure *f = &drawn->items[k % drawn->count];
			if (topic_of(f) != t || tall(f) != (k < drawn->count))
				continue;
			if (!any)
				str_addf(out, "<h3>%s</h3>\n<div class=\"figures\">\n", topics[t].title);
			any = true;
			one_figure(out, p, f);
		}
		str_add(out, any ? "</div>\n" : "");
	}
}

/* ---- how ---- */

static void how(struct str *out, const struct html_page *p)
{
	str_add(out, "<h2 id=\"how\">How it was measured</h2>\n");
	for (size_t r = 0; r < p->count; r++) {
		const struct run *run = p->runs[r];
		str_add(out, "<p>");
		report_escaped(out, p->names[r]);
		str_add(out, ": ");
		report_escaped(out, run->device.spec);
		str_add(out, ", ");
		report_escaped(out, run->device.uuid);
		str_add(out, ", driver ");
		report_escaped(out, run->device.driver);
		str_addf(out, ", seed %llu, %zu series.</p>\n", (unsigned long long)run->seed, run->series_count);
		for (size_t i = 0; i < run->probe_count; i++)
			if (run->probes[i].state != PROBE_DONE) {
				str_add(out, "<p class=\"why\">");
				report_escaped(out, run->probes[i].name);
				str_addf(out, ": %s ", probe_state_name(run->probes[i].state));
				report_escaped(out, run->probes[i].message);
				str_add(out, "</p>\n");
			}
	}
	str_add(out, "<div class=\"js\"><button type=\"button\" id=\"json\">JSON</button><button type=\"button\" "
		     "id=\"csv\">CSV</button></div>\n");
}

int report_html(struct str *out, const struct html_page *p, struct err *e)
{
	struct figure_list drawn = {0};
	if (html_figures(&drawn, p)) {
		figures_free(&drawn);
		return err_nomem(e);
	}
	head(out, p);
	str_add(out, "<main>\n");
	headline(out, p);
	str_add(out,
		"<h2 id=\"gpu\">The GPU as found</h2>\n"
		"<p class=\"soft\">Green was measured, yellow is a best estimate, blue a bound, grey is open.</p>\n");
	for (size_t r = 0; r < p->count; r++) {
		if (p->count > 1) {
			str_add(out, "<h3 class=\"run\">");
			report_escaped(out, p->names[r]);
			str_add(out, "</h3>\n");
		}
		report_gpu(out, p->runs[r]);
	}
	curves(out, p, &drawn);
	str_add(out, "<h2 id=\"all\">All findings</h2>\n");
	html_findings(out, p);
	how(out, p);
	str_add(out, "</main>\n<script type=\"application/json\" id=\"data\">");
	html_data(out, p, &drawn);
	str_add(out, "</script>\n");
	asset(out, "script", uplot);
	asset(out, "script", page_js);
	str_add(out, "</body></html>\n");
	figures_free(&drawn);
	return out->failed ? err_nomem(e) : 0;
}
