/* fathom infer: conclude again from what was stored. */
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "probe/engine.h"
#include "store/store.h"
#include <math.h>
#include <string.h>

/* "MEASURED 8192 bytes", for a line that says what changed. */
static void claim(struct str *out, const struct finding *f)
{
	char text[64];

	str_add(out, verdict_name(f->verdict));
	switch (f->value.kind) {
	case VALUE_NUMBER:
		str_addf(out, " %s", units_value(text, sizeof(text), f->value.number, f->unit));
		break;
	case VALUE_TEXT:
		str_addf(out, " %s", f->value.text);
		break;
	case VALUE_ARRAY:
		for (unsigned i = 0; i < f->value.array_count; i++)
			str_addf(out, "%s%.6g", i ? ", " : " ", f->value.array[i]);
		break;
	case VALUE_NONE:
		break;
	}
	if (f->verdict == VERDICT_BOUND) {
		if (isfinite(f->lo))
			str_addf(out, " at least %s", units_value(text, sizeof(text), f->lo, f->unit));
		if (isfinite(f->hi))
			str_addf(out, " at most %s", units_value(text, sizeof(text), f->hi, f->unit));
	}
}

/* Two findings say the same when a reader would act the same. */
static bool same_claim(const struct finding *a, const struct finding *b)
{
	struct str ta, tb;
	bool same;

	str_init(&ta);
	str_init(&tb);
	claim(&ta, a);
	claim(&tb, b);
	same = strcmp(str_text(&ta), str_text(&tb)) == 0;
	str_free(&ta);
	str_free(&tb);
	return same;
}

static size_t say_changes(struct str *out, const struct finding_list *old, const struct finding_list *now)
{
	size_t changes = 0;

	for (size_t i = 0; i < now->count; i++) {
		const struct finding *f = &now->items[i], *was = findings_get(old, f->key);

		if (was && same_claim(was, f))
			continue;
		changes++;
		str_addf(out, "%s: ", f->key);
		if (was) {
			claim(out, was);
			str_add(out, " -> ");
		} else {
			str_add(out, "new: ");
		}
		claim(out, f);
		if (*f->because)
			str_addf(out, " (%s)", f->because);
		str_addc(out, '\n');
	}
	for (size_t i = 0; i < old->count; i++) {
		if (findings_get(now, old->items[i].key))
			continue;
		changes++;
		str_addf(out, "%s: ", old->items[i].key);
		claim(out, &old->items[i]);
		str_add(out, " -> no longer concluded\n");
	}
	return changes;
}

static int infer_run(struct cmd_context *c, const char *path, struct run *r, struct store *store, struct str *out)
{
	struct finding_list old = r->findings;
	char foreign[sizeof r->concluded] = "";
	size_t changes;
	int rc;

	if (strcmp(run_concluded(r), c->build) != 0)
		snprintf(foreign, sizeof foreign, "%s", run_concluded(r));
	snprintf(r->concluded, sizeof(r->concluded), "%s", c->build);
	memset(&r->findings, 0, sizeof(r->findings));
	rc = engine_infer(r, &c->error);
	if (rc == 0)
		rc = store_findings(store, r, &c->error);
	if (rc) {
		findings_free(&old);
		return CMD_DEVICE;
	}
	findings_sort(&r->findings);
	changes = say_changes(out, &old, &r->findings);
	findings_free(&old);
	if (*foreign)
		str_addf(out, "%s was concluded by fathom %s, and is now by fathom %s: ", path, foreign, c->build);
	if (changes)
		str_addf(out, "%zu change%s; %s now holds %zu findings\n", changes, changes == 1 ? "" : "s", path,
			 r->findings.count);
	else
		str_addf(out, "nothing changed; %s holds %zu findings\n", path, r->findings.count);
	return cmd_print(c, out);
}

int cmd_infer(struct cmd_context *c, int argc, char **argv)
{
	const char *path = argv[0];
	struct store *store = NULL;
	struct str out;
	struct run r;
	int rc;

	(void)argc;
	rc = files_open_run(c, path, &r, &store);
	if (rc)
		return rc;
	str_init(&out);
	rc = infer_run(c, path, &r, store, &out);
	str_free(&out);
	run_free(&r);
	store_close(store);
	return rc;
}
