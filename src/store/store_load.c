/* Reading a whole run. Nothing in the file is trusted: every number is checked against what a run can be. */
#include "base/arena.h"
#include "data/keys.h"
#include "store/store_fields.h"
#include "store/store_file.h"
#include "store/store_words.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct store *s;
	struct run *r;
	struct err *e;
};
/* Column `count` and on of the statement are the extra ones. */
typedef int (*row_fn)(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx);

/* Runs the SELECT of t with `tail` (WHERE, ORDER BY; one parameter) and hands every row over. */
static int each(struct reader *in, const struct field_table *t, const char *extra, const char *tail, sqlite3_int64 key,
		void *record, row_fn row, void *ctx)
{
	struct str sql;
	sqlite3_stmt *st = NULL;
	str_init(&sql);
	fields_select(&sql, t, extra);
	str_addf(&sql, " %s", tail);
	int code = store_prepare(in->s, &st, &sql, in->e);
	if (code)
		return code;
	int rc = strchr(tail, '?') ? sqlite3_bind_int64(st, 1, key) : SQLITE_OK;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	while (code == 0 && rc == SQLITE_ROW) {
		const char *column = "";
		code = fields_read(st, t, record, &in->r->arena, &column);
		if (code == -ENOMEM)
			code = err_nomem(in->e);
		else if (code)
			code = store_damaged(in->s, in->e, "%s.%s has an impossible value", t->table, column);
		else
			code = row(in, st, (int)t->count, record, ctx);
		if (code == 0)
			rc = sqlite3_step(st);
	}
	if (code == 0 && rc != SQLITE_DONE)
		code = store_fail(in->s, rc, in->e);
	sqlite3_finalize(st);
	return code;
}

static int count_row(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx)
{
	(void)in, (void)st, (void)extra, (void)record;
	++*(unsigned *)ctx;
	return 0;
}

static int load_head(struct reader *in)
{
	unsigned runs = 0, devices = 0;
	int code = each(in, &run_table, "", "", 0, in->r, count_row, &runs);
	if (code == 0 && in->s->schema > 3)
		code = each(in, &concluded_table, "", "", 0, in->r, count_row, &(unsigned){0});
	if (code == 0)
		code = each(in, &device_table, "", "", 0, &in->r->device, count_row, &devices);
	if (code == 0 && (runs != 1 || devices != 1))
		code = store_damaged(in->s, in->e, "it says nothing about the %s", runs != 1 ? "run" : "device");
	struct err why = {0};
	if (code == 0 && device_check(&in->r->device, &why))
		code = store_damaged(in->s, in->e, "%s", why.text);
	return code;
}

static int probe_row(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx)
{
	(void)st, (void)extra, (void)ctx;
	const struct probe_record *p = record;
	struct probe_record *to = run_probe(in->r, p->name);
	if (!to)
		return err_nomem(in->e);
	*to = *p;
	return 0;
}

/* ---- series ---- */

struct series_ids {
	sqlite3_int64 *id;
	size_t count, cap;
};

static int series_row(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx)
{
	const struct series *x = record;
	struct series_ids *ids = ctx;
	if (!x->probe || !x->experiment)
		return store_damaged(in->s, in->e, "a series has no name");
	if (run_series(in->r, x->probe, x->experiment))
		return store_damaged(in->s, in->e, "a series is there twice");
	if (ids->count == ids->cap) {
		size_t cap = ids->cap ? 2 * ids->cap : 16;
		sqlite3_int64 *id = mem_grow(ids->id, cap * sizeof(*id));
		if (!id)
			return err_nomem(in->e);
		ids->id = id;
		ids->cap = cap;
	}
	struct series *to = run_series_new(in->r, x->probe, x->experiment);
	if (!to)
		return err_nomem(in->e);
	to->axis = x->axis ? x->axis : "";
	to->unit = x->unit ? x->unit : "";
	memcpy(to->params, x->params, sizeof(to->params));
	to->seed = x->seed;
	to->before = x->before;
	to->after = x->after;
	ids->id[ids->count++] = sqlite3_column_int64(st, extra);
	return 0;
}

/* "alu=128 clock=1" */
static int parse_counts(struct native_region *g, const char *text)
{
	memset(g->count, 0, sizeof(g->count));
	while (text && *text) {
		const char *equals = strchr(text, '=');
		if (!equals)
			return -EINVAL;
		int cls = 0;
		while (cls < NATIVE_CLASSES) {
			const char *name = native_class_name((enum native_class)cls);
			if (strlen(name) == (size_t)(equals - text) && memcmp(name, text, strlen(name)) == 0)
				break;
			cls++;
		}
		char *rest;
		unsigned long long n = strtoull(equals + 1, &rest, 10);
		if (cls == NATIVE_CLASSES || rest == equals + 1 || n > UINT32_MAX || (*rest && *rest != ' '))
			return -EINVAL;
		g->count[cls] = (uint32_t)n;
		text = *rest ? rest + 1 : rest;
	}
	return text ? 0 : -EINVAL;
}

struct natives {
	struct native_info *item;
	size_t count, cap;
};

static int native_row(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx)
{
	struct natives *list = ctx;
	if (sqlite3_column_int64(st, extra) != (sqlite3_int64)list->count)
		return store_damaged(in->s, in->e, "a native record is missing");
	if (list->count == list->cap) {
		size_t cap = list->cap ? 2 * list->cap : 8;
		struct native_info *item = mem_grow(list->item, cap * sizeof(*item));
		if (!item)
			return err_nomem(in->e);
		list->item = item;
		list->cap = cap;
	}
	list->item[list->count++] = *(const struct native_info *)record;
	return 0;
}

static int layout_row(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx)
{
	struct natives *list = ctx;
	sqlite3_int64 native = sqlite3_column_int64(st, extra);
	if (native < 0 || (uint64_t)native >= list->count)
		return store_damaged(in->s, in->e, "a native layout belongs to nothing");
	list->item[native].layout = ((const struct native_info *)record)->layout;
	return 0;
}

static int region_row(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx)
{
	struct natives *list = ctx;
	struct native_region *g = record;
	sqlite3_int64 native = sqlite3_column_int64(st, extra), number = sqlite3_column_int64(st, extra + 1);
	if (native < 0 || native >= (sqlite3_int64)list->count)
		return store_damaged(in->s, in->e, "a native region belongs to nothing");
	struct native_info *n = &list->item[native];
	if (number != n->region_count || number >= NATIVE_REGIONS || parse_counts(g, fields_text(st, extra + 2)))
		return store_damaged(in->s, in->e, "a native region has impossible values");
	n->region[n->region_count++] = *g;
	return 0;
}

struct points {
	struct series *series;
	const uint32_t *index; /* of the file's native number in the series */
	size_t native_count;
	sqlite3_int64 next;
	uint32_t *words; /* decoded, one point at a time */
	size_t cap;
};

static int point_words(struct reader *in, sqlite3_stmt *st, int column, struct points *list, struct point *p)
{
	p->y = NULL;
	uint64_t n = (uint64_t)p->repeats * p->words_per_repeat;
	if (p->outcome == OUTCOME_OK && !p->repeats)
		return store_damaged(in->s, in->e, "a point has no repeats");
	if (sqlite3_column_type(st, column) == SQLITE_NULL)
		return p->outcome == OUTCOME_OK && n ? store_damaged(in->s, in->e, "the words of a point are missing")
						     : 0;
	if (p->outcome != OUTCOME_OK)
		return store_damaged(in->s, in->e, "a point that is not OK has words");
	const void *blob = sqlite3_column_blob(st, column);
	size_t bytes = (size_t)sqlite3_column_bytes(st, column);
	/* every word takes a byte at least: a false count cannot ask for more memory than the file is long */
	if (!blob || sqlite3_column_type(st, column) != SQLITE_BLOB || n > bytes || n == 0)
		return store_damaged(in->s, in->e, "the words of a point do not fit its repeats");
	if (n > list->cap) {
		uint32_t *words = mem_grow(list->words, (size_t)n * sizeof(*words));
		if (!words)
			return err_nomem(in->e);
		list->words = words;
		list->cap = (size_t)n;
	}
	if (words_decode(list->words, (size_t)n, blob, bytes))
		return store_damaged(in->s, in->e, "the words of a point cannot be decoded");
	p->y = list->words;
	return 0;
}

static int point_row(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx)
{
	struct points *list = ctx;
	struct point *p = record;
	if (sqlite3_column_int64(st, extra) != list->next++)
		return store_damaged(in->s, in->e, "a point is missing");
	if (p->native != UINT32_MAX) {
		if (p->native >= list->native_count)
			return store_damaged(in->s, in->e, "a point names a native record that is not there");
		p->native = list->index[p->native];
	}
	int code = point_words(in, st, extra + 1, list, p);
	if (code)
		return code;
	return series_add(in->r, list->series, p) ? err_nomem(in->e) : 0;
}

static int load_series(struct reader *in, struct series *x, sqlite3_int64 id)
{
	struct native_info native = {0};
	struct native_region region = {0};
	struct point point = {0};
	struct native_info laid = {0};
	struct natives natives = {0};
	uint32_t *index = NULL;
	int code =
	    each(in, &native_table, "number", "WHERE series = ? ORDER BY number", id, &native, native_row, &natives);
	if (code == 0 && in->s->schema > 1)
		code = each(in, &layout_table, "native", "WHERE series = ?", id, &laid, layout_row, &natives);
	if (code == 0)
		code = each(in, &region_table, "native,number,counts", "WHERE series = ? ORDER BY native,number", id,
			    &region, region_row, &natives);
	if (code == 0 && natives.count) {
		index = mem_alloc(natives.count * sizeof(*index));
		if (!index)
			code = err_nomem(in->e);
	}
	/* Records that were told apart only by bytes behind a text's end may now be one. */
	for (size_t i = 0; index && code == 0 && i < natives.count; i++) {
		index[i] = series_add_native(in->r, x, &natives.item[i]);
		if (index[i] == UINT32_MAX)
			code = err_nomem(in->e);
	}
	struct points points = {.series = x, .index = index, .native_count = natives.count};
	if (code == 0)
		code = each(in, &point_table, "number,words", "WHERE series = ? ORDER BY number", id, &point, point_row,
			    &points);
	mem_free(points.words);
	mem_free(index);
	mem_free(natives.item);
	return code;
}

static int load_all_series(struct reader *in)
{
	struct series record = {0};
	struct series_ids ids = {0};
	int code = each(in, &series_table, "id", "ORDER BY id", 0, &record, series_row, &ids);
	for (size_t i = 0; code == 0 && i < ids.count; i++)
		code = load_series(in, &in->r->series[i], ids.id[i]);
	mem_free(ids.id);
	return code;
}

/* ---- findings ---- */

static int parse_array(struct finding *f, const char *text)
{
	f->value.array_count = 0;
	while (text && *text) {
		char *rest;
		double v = strtod(text, &rest);
		if (rest == text || (*rest && *rest != ' ') || f->value.array_count == VALUE_ARRAY_MAX)
			return -EINVAL;
		f->value.array[f->value.array_count++] = v;
		text = *rest ? rest + 1 : rest;
	}
	return text ? 0 : -EINVAL;
}

static int parse_evidence(struct finding *f, const char *text)
{
	f->evidence_count = 0;
	while (text && *text) {
		size_t n = strcspn(text, "\n");
		if (n >= sizeof(f->evidence[0]) || f->evidence_count == FINDING_EVIDENCE)
			return -EINVAL;
		memcpy(f->evidence[f->evidence_count], text, n);
		f->evidence[f->evidence_count][n] = '\0';
		fields_defuse(f->evidence[f->evidence_count++]);
		text += n + (text[n] == '\n');
	}
	return text ? 0 : -EINVAL;
}

static int finding_row(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx)
{
	(void)ctx;
	struct finding *f = record;
	if (parse_array(f, fields_text(st, extra)) || parse_evidence(f, fields_text(st, extra + 1)))
		return store_damaged(in->s, in->e, "a finding has impossible values");
	key_rename(f->key, sizeof(f->key));
	return findings_add(&in->r->findings, f) ? err_nomem(in->e) : 0;
}

static int rival_row(struct reader *in, sqlite3_stmt *st, int extra, void *record, void *ctx)
{
	(void)st, (void)extra, (void)ctx;
	struct finding *f = record;
	key_rename(f->key, sizeof(f->key));
	struct finding *of = (struct finding *)findings_get(&in->r->findings, f->key);
	if (!of)
		return store_damaged(in->s, in->e, "something came second to no finding");
	of->rival = f->rival;
	return 0;
}

int store_read(struct store *s, struct run *r, struct err *e)
{
	struct reader in = {.s = s, .r = r, .e = e};
	struct probe_record probe = {0};
	struct finding finding = {0};
	int code = run_init(r) ? err_nomem(e) : 0;
	if (code)
		return code;
	code = store_exec(s, "BEGIN", e);
	if (code == 0)
		code = store_check(s, e);
	if (code == 0)
		code = load_head(&in);
	if (code == 0)
		code = each(&in, &probe_table_fields, "", "ORDER BY rowid", 0, &probe, probe_row, NULL);
	if (code == 0)
		code = load_all_series(&in);
	if (code == 0)
		code = each(&in, &finding_table, "array,evidence", "ORDER BY key", 0, &finding, finding_row, NULL);
	finding = (struct finding){0};
	if (code == 0 && s->schema > 4)
		code = each(&in, &rival_table, "", "", 0, &finding, rival_row, NULL);
	if (code == 0)
		code = store_exec(s, "COMMIT", e);
	else
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	if (code)
		run_free(r);
	return code;
}

int store_load(struct run *r, const char *path, struct err *e)
{
	struct store *s = NULL;
	int code = run_init(r) ? err_nomem(e) : 0;
	if (code == 0)
		code = store_look(path, e);
	if (code == 0)
		code = store_open(&s, path, false, e);
	if (code)
		return code;
	code = store_read(s, r, e);
	store_close(s);
	return code;
}
