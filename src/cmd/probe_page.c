#include "cmd/probe_page.h"
#include "probe/probe.h"

#define WIDTH 120

/* Text broken between words. */
static void paragraph(struct str *out, const char *label, const char *text)
{
	size_t at = out->len, start = at;

	str_addf(out, "**%s** ", label);
	while (*text && !out->failed) {
		const char *blank = text;

		while (*blank && *blank != ' ')
			blank++;
		if (out->len - start + (size_t)(blank - text) > WIDTH && out->len > at &&
		    out->data[out->len - 1] == ' ') {
			out->data[out->len - 1] = '\n';
			start = out->len;
		}
		str_addn(out, text, (size_t)(blank - text));
		text = blank;
		while (*text == ' ')
			text++;
		if (*text)
			str_addc(out, ' ');
	}
	str_add(out, "\n\n");
}

static void names(struct str *out, const char *before, const char *const *list, const char *between)
{
	if (!list || !list[0])
		return;
	str_add(out, before);
	for (size_t i = 0; list[i]; i++)
		str_addf(out, "%s`%s`", i ? between : "", list[i]);
}

static void probe(struct str *out, const struct probe *p)
{
	str_addf(out, "## %s\n\n*%s*\n\n", p->name, p->asks);
	paragraph(out, "How.", p->how);
	if (p->figure)
		str_addf(out, "![%s on the simulated GTX 280](figures/%s.svg)\n\n", p->name, p->figure);
	paragraph(out, "What can fool it.", p->fooled);
	paragraph(out, "Source.", p->source);
	names(out, "Concludes ", p->claims, " ");
	names(out, "; after ", p->needs, ", ");
	names(out, "; helped by ", p->helped, ", ");
	str_add(out, ".\n");
}

void probe_page(struct str *out)
{
	str_add(out, "# Probes\n\n"
		     "What each probe asks, how it works, what can fool it, and where it comes from. The program wrote "
		     "this page, from\n"
		     "what stands in `probes/`: change it there, then `make pages`. How to write a probe: "
		     "`doc/writing-probes.md`.\n"
		     "The figures are those of the simulated GTX 280.\n\n"
		     "| probe | asks |\n|---|---|\n");
	for (size_t i = 0; i < probe_count; i++)
		str_addf(out, "| [%s](#%s) | %s |\n", probe_table[i]->name, probe_table[i]->name, probe_table[i]->asks);
	for (size_t i = 0; i < probe_count; i++) {
		str_addc(out, '\n');
		probe(out, probe_table[i]);
	}
}
