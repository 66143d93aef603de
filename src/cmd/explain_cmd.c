/* fathom explain: what a key means, who asks it and how, and what can fool it. With a run file it says what came out,
 * why, and its evidence. */
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "data/keys.h"
#include "probe/engine.h"
#include "report/render.h"
#include "report/report_overview.h"
#include <ctype.h>
#include <string.h>

enum { IN_FULL = 3 }; /* so many are explained one by one; more are listed */

/* ---- what was asked for ---- */

/* Is the word, in whatever case, in the text? A short word has to be one there: L2 is no part of l2x. */
static bool holds(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = text; *at; at++) {
		const bool begins = at == text || !isalnum((unsigned char)at[-1]);

		if (strncasecmp(at, word, n) == 0 && (n > 2 || (begins && !isalnum((unsigned char)at[n]))))
			return true;
	}
	return false;
}

/* A key, a glob of keys, or words that all stand in the key or in what it means. */
static bool asked(const char *key, const char *meaning, int argc, char **argv)
{
	if (argc == 1 && (strcmp(key, argv[0]) == 0 || str_glob(argv[0], key)))
		return true;
	if (argc == 1 && strpbrk(argv[0], "*?."))
		return false;
	for (int i = 0; i < argc; i++)
		if (!holds(key, argv[i]) && !holds(meaning, argv[i]))
			return false;
	return true;
}

/* Whether the pattern has a placeholder that holds the words' names: "cache.<p>.<l>.size" holds "l2". */
static bool family_asked(const struct key_family *f, int argc, char **argv)
{
	static const char *const levels[] = {"l1", "l15", "l2", "l3", "l4"};

	if (asked(f->pattern, f->meaning, argc, argv) || (argc == 1 && key_family(argv[0]) == f))
		return true;
	for (size_t i = 0; argc == 1 && i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strcasecmp(levels[i], argv[0]) == 0 && strstr(f->pattern, "<l>"))
			return true;
	return false;
}

/* ---- a key in full ---- */

static void paragraph(struct str *out, const struct cmd_context *c, const char *title, const char *text)
{
	struct str s, clean;

	if (!*text)
		return;
	str_init(&s);
	str_init(&clean);
	render_clean(&clean, text, !c->style.unicode);
	str_addf(&s, "%s: %s", title, str_text(&clean));
	render_wrap(out, str_text(&s), 2, c->style.width ? c->style.width : 80);
	out->failed |= s.failed || clean.failed;
	str_free(&s);
	str_free(&clean);
}

static void explain_probe(struct str *out, const struct cmd_context *c, const struct probe *p)
{
	struct str s;

	str_init(&s);
	str_addf(&s, "%s. %s", p->name, p->asks);
	paragraph(out, c, "probe", str_text(&s));
	out->failed |= s.failed;
	str_free(&s);
	paragraph(out, c, "how", p->how);
	paragraph(out, c, "what can fool it", p->fooled);
	paragraph(out, c, "source", p->source);
}

/* Keys of the same table row: what stands beside this one. */
static void related(struct str *out, const struct cmd_context *c, const char *key, const struct finding_list *l)
{
	const char *dot = strrchr(key, '.');
	const size_t n = dot ? (size_t)(dot - key) + 1 : 0, most = 8;
	const size_t all = l ? l->count : key_family_count;
	struct str s;
	size_t found = 0;

	str_init(&s);
	for (size_t i = 0; n && i < all; i++) {
		const char *other = l ? l->items[i].key : key_families[i].pattern;

		if (strncmp(other, key, n) != 0 || strcmp(other, key) == 0 || strchr(other + n, '.'))
			continue;
		if (++found <= most)
			str_addf(&s, "%s%s", found > 1 ? ", " : "", other + n);
	}
	if (found > most)
		str_addf(&s, " and %zu more", found - most);
	if (found) {
		struct str title;
		str_init(&title);
		str_addf(&title, "beside it, %.*s*", (int)n, key);
		paragraph(out, c, str_text(&title), str_text(&s));
		out->failed |= title.failed;
		str_free(&title);
	}
	out->failed |= s.failed;
	str_free(&s);
}

static void explain_family(struct str *out, const struct cmd_context *c, const struct key_family *f)
{
	bool any = false;

	str_addf(out, "%s (%s)\n", f->pattern, f->unit);
	paragraph(out, c, "means", f->meaning);
	for (size_t i = 0; i < probe_count; i++) {
		for (size_t k = 0; probe_table[i]->claims[k]; k++) {
			if (!key_pattern_meets(f->pattern, probe_table[i]->claims[k]))
				continue;
			explain_probe(out, c, probe_table[i]);
			any = true;
			break;
		}
	}
	if (!any)
		paragraph(out, c, "probe", "none yet; descriptions of simulated GPUs and papers use the word");
	related(out, c, f->pattern, NULL);
}

/* How closely a figure is about the key: the letters of the longest of its globs that fit. The probe's main one gets
 * more. */
static size_t closeness(const struct figure *f, const char *key, const struct probe *p)
{
	size_t most = 0;

	for (unsigned i = 0; i < f->keys_count; i++) {
		const size_t stars = strcspn(f->keys[i], "*?") < strlen(f->keys[i]);
		const size_t n = 4 * (strlen(f->keys[i]) - stars);
		if (str_glob(f->keys[i], key) && n > most)
			most = n;
	}
	return most ? most + (p && p->figure && strcmp(f->name, p->figure) == 0) : 0;
}

/* The figure that is closest to the finding, or NULL. */
static const struct figure *evidence(const struct figure_list *figures, const char *key, const struct probe *p)
{
	const struct figure *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < figures->count; i++) {
		const size_t n = closeness(&figures->items[i], key, p);
		if (n > most) {
			most = n;
			best = &figures->items[i];
		}
	}
	return best;
}

static void second(struct str *out, const struct cmd_context *c, const struct finding *f)
{
	const struct finding_rival *r = &f->rival;
	struct finding value = {.verdict = VERDICT_MEASURED, .value = {.kind = VALUE_NUMBER, .number = r->value}};
	struct str s;

	if (!*r->shape)
		return;
	memcpy(value.unit, f->unit, sizeof(value.unit));
	str_init(&s);
	render_value(&s, &value, true, c->style.unicode);
	str_addf(&s,
		 " (%s), %.0f nats less probable. They are parted by the ring of %.0f bytes in steps of %.0f: %.0f of "
		 "its %.0f "
		 "accesses missed; at least %.0f have to by the best, and %.0f by the second",
		 r->shape, r->nats, r->bytes, r->step, r->misses, r->visits, r->best_least, r->least);
	paragraph(out, c, "second", str_text(&s));
	out->failed |= s.failed;
	str_free(&s);
}

static int explain_finding(struct str *out, struct cmd_context *c, const struct finding *f, const struct run *r,
			   const struct figure_list *figures, bool picture)
{
	const struct key_family *family = key_family(f->key);
	const struct probe *p = probe_find(f->probe);
	struct str s;

	str_init(&s);
	str_addf(out, "%s: ", f->key);
	render_value(&s, f, true, c->style.unicode);
	str_addf(out, "%s, %s\n", str_text(&s), verdict_name(f->verdict));
	str_clear(&s);
	render_interval(&s, f, true, c->style.unicode);
	paragraph(out, c, "interval", str_text(&s));
	out->failed |= s.failed;
	str_clear(&s);
	paragraph(out, c, "means", family ? family->meaning : "");
	paragraph(out, c, "method", f->method);
	paragraph(out, c, f->verdict == VERDICT_MEASURED ? "seen" : "because", f->because);
	second(out, c, f);
	if (p) {
		explain_probe(out, c, p);
		str_addf(out, "  measure only this: %s run -d ", c->program);
		help_quote(out, r->device.spec);
		str_addf(out, " -p %s\n", p->name);
	}
	related(out, c, f->key, &r->findings);
	out->failed |= s.failed;
	str_free(&s);
	/* The ring that parted it says more than what is near. */
	const struct figure *parted = picture ? figures_get(figures, ENGINE_PARTED) : NULL,
			    *figure = parted	? parted
				      : picture ? evidence(figures, f->key, p)
						: NULL;
	if (figure) {
		str_addc(out, '\n');
		if (report_draw(out, figure, &c->style, &c->error))
			return CMD_DEVICE;
	}
	return CMD_OK;
}

/* ---- the command ---- */

static int nothing(struct cmd_context *c, int argc, char **argv, const char *where)
{
	const char *names[512], *near;
	size_t n = 0;

	if (argc == 1 && !strchr(argv[0], '*') && key_family(argv[0]))
		return cmd_fail(c, CMD_USAGE,
				"%s has nothing of %s: the run did not ask; `fathom explain %s` says which probe does",
				where, argv[0], argv[0]);
	for (; n < key_family_count && n < sizeof(names) / sizeof(names[0]); n++)
		names[n] = key_families[n].pattern;
	near = argc == 1 ? str_nearest(argv[0], names, n) : NULL;
	if (near)
		return cmd_fail(c, CMD_USAGE, "%s has no key '%s'; did you mean %s?", where, argv[0], near);
	return cmd_fail(c, CMD_USAGE, "%s has no key that fits '%s'; `fathom list keys` names them", where, argv[0]);
}

static int explain_keys(struct cmd_context *c, struct str *out, int argc, char **argv)
{
	size_t found = 0;

	for (size_t i = 0; i < key_family_count; i++)
		found += family_asked(&key_families[i], argc, argv);
	if (!found)
		return nothing(c, argc, argv, "fathom");
	for (size_t i = 0; i < key_family_count; i++) {
		const struct key_family *f = &key_families[i];

		if (!family_asked(f, argc, argv))
			continue;
		if (found <= IN_FULL)
			explain_family(out, c, f);
		else
			paragraph(out, c, f->pattern, f->meaning);
	}
	return CMD_OK;
}

static bool finding_asked(const struct finding *f, int argc, char **argv)
{
	const struct key_family *family = key_family(f->key);

	return asked(f->key, family ? family->meaning : "", argc, argv);
}

static int explain_run(struct cmd_context *c, struct str *out, int argc, char **argv, const char *path)
{
	struct figure_list figures = {0};
	size_t found = 0;
	struct run r;
	int rc = files_load_run(c, path, &r);

	if (rc)
		return rc;
	files_say_foreign(c, path, &r);
	findings_sort(&r.findings);
	const struct finding *one = NULL;
	for (size_t i = 0; i < r.findings.count; i++)
		if (finding_asked(&r.findings.items[i], argc, argv)) {
			one = &r.findings.items[i];
			found++;
		}
	if (!found)
		rc = nothing(c, argc, argv, path);
	else if (found == 1 && engine_draw_parted(&r, one, &figures))
		rc = cmd_fail(c, CMD_DEVICE, "out of memory");
	else if (found == 1 && !figures.count &&
		 (engine_draw(&r, &figures, &c->error) || report_overview(&figures, &r)))
		rc = CMD_DEVICE;
	for (size_t i = 0; rc == CMD_OK && i < r.findings.count; i++) {
		const struct finding *f = &r.findings.items[i];
		struct str s;

		if (!finding_asked(f, argc, argv))
			continue;
		if (found <= IN_FULL) {
			rc = explain_finding(out, c, f, &r, &figures, found == 1);
			continue;
		}
		str_init(&s);
		render_value(&s, f, true, c->style.unicode);
		if (!finding_answered(f))
			str_addf(&s, " %s: %s", verdict_name(f->verdict), f->because);
		paragraph(out, c, f->key, str_text(&s));
		out->failed |= s.failed;
		str_free(&s);
	}
	figures_free(&figures);
	run_free(&r);
	return rc;
}

int cmd_explain(struct cmd_context *c, int argc, char **argv)
{
	char today[96];
	const char *path = argc > 1 && str_ends(argv[argc - 1], ".fathom") ? argv[argc - 1] : NULL;
	struct str out;
	int rc;

	if (snprintf(today, sizeof(today), "%s", argv[0]) < (int)sizeof(today)) {
		key_rename(today, sizeof(today));
		argv[0] = today;
	}
	str_init(&out);
	rc = path ? explain_run(c, &out, argc - 1, argv, path) : explain_keys(c, &out, argc, argv);
	if (rc == CMD_OK)
		rc = cmd_print(c, &out);
	str_free(&out);
	return rc;
}
