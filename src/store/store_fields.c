#include "store/store_fields.h"
#include "data/run.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define F(record, member, column, kind)                                                                                \
	{                                                                                                              \
		column, kind, offsetof(record, member), sizeof(((record *)0)->member)                                  \
	}
#define TABLE(name, text, list) const struct field_table name = {text, list, sizeof(list) / sizeof *(list)}

static const struct field run_fields[] = {
    F(struct run, fathom, "fathom", FIELD_TEXT),
    F(struct run, started, "started", FIELD_TEXT),
    F(struct run, seed, "seed", FIELD_U64),
    F(struct run, seconds, "seconds", FIELD_REAL),
};
TABLE(run_table, "run", run_fields);

static const struct field concluded_fields[] = {
    F(struct run, concluded, "fathom", FIELD_TEXT),
};
TABLE(concluded_table, "concluded", concluded_fields);

static const struct field device_fields[] = {
    F(struct device_info, backend, "backend", FIELD_TEXT),
    F(struct device_info, spec, "spec", FIELD_TEXT),
    F(struct device_info, name, "name", FIELD_TEXT),
    F(struct device_info, uuid, "uuid", FIELD_TEXT),
    F(struct device_info, driver, "driver", FIELD_TEXT),
    F(struct device_info, dialect, "dialect", FIELD_TEXT),
    F(struct device_info, target, "target", FIELD_TEXT),
    F(struct device_info, ptx_version, "ptx_version", FIELD_INT),
    F(struct device_info, cc, "cc", FIELD_INT),
    F(struct device_info, sm_count, "sm_count", FIELD_U32),
    F(struct device_info, warp_size, "warp_size", FIELD_U32),
    F(struct device_info, max_threads_per_block, "max_threads_per_block", FIELD_U32),
    F(struct device_info, max_threads_per_sm, "max_threads_per_sm", FIELD_U32),
    F(struct device_info, registers_per_block, "registers_per_block", FIELD_U32),
    F(struct device_info, shared_per_block, "shared_per_block", FIELD_U64),
    F(struct device_info, constant_bytes, "constant_bytes", FIELD_U64),
    F(struct device_info, memory_bytes, "memory_bytes", FIELD_U64),
    F(struct device_info, clock_hz, "clock_hz", FIELD_REAL),
    F(struct device_info, has_f64, "has_f64", FIELD_BOOL),
    F(struct device_info, has_f16, "has_f16", FIELD_BOOL),
    F(struct device_info, has_fma, "has_fma", FIELD_BOOL),
};
TABLE(device_table, "device", device_fields);

static const struct field probe_fields[] = {
    F(struct probe_record, name, "name", FIELD_TEXT),
    F(struct probe_record, state, "state", FIELD_STATE),
    F(struct probe_record, seconds, "seconds", FIELD_REAL),
    F(struct probe_record, message, "message", FIELD_TEXT),
};
TABLE(probe_table_fields, "probe", probe_fields);

static const struct field series_fields[] = {
    F(struct series, probe, "probe", FIELD_NAME),
    F(struct series, experiment, "experiment", FIELD_NAME),
    F(struct series, axis, "axis", FIELD_NAME),
    F(struct series, unit, "unit", FIELD_NAME),
    F(struct series, params[0], "param0", FIELD_NAME),
    F(struct series, params[1], "param1", FIELD_NAME),
    F(struct series, params[2], "param2", FIELD_NAME),
    F(struct series, params[3], "param3", FIELD_NAME),
    F(struct series, params[4], "param4", FIELD_NAME),
    F(struct series, params[5], "param5", FIELD_NAME),
    F(struct series, params[6], "param6", FIELD_NAME),
    F(struct series, params[7], "param7", FIELD_NAME),
    F(struct series, seed, "seed", FIELD_U64),
    F(struct series, before.sm_clock_mhz, "before_sm_clock_mhz", FIELD_REAL),
    F(struct series, before.memory_clock_mhz, "before_memory_clock_mhz", FIELD_REAL),
    F(struct series, before.temperature_c, "before_temperature_c", FIELD_REAL),
    F(struct series, before.power_w, "before_power_w", FIELD_REAL),
    F(struct series, before.throttle, "before_throttle", FIELD_I64),
    F(struct series, after.sm_clock_mhz, "after_sm_clock_mhz", FIELD_REAL),
    F(struct series, after.memory_clock_mhz, "after_memory_clock_mhz", FIELD_REAL),
    F(struct series, after.temperature_c, "after_temperature_c", FIELD_REAL),
    F(struct series, after.power_w, "after_power_w", FIELD_REAL),
    F(struct series, after.throttle, "after_throttle", FIELD_I64),
};
TABLE(series_table, "series", series_fields);
_Static_assert(POINT_PARAMS == 8, "the schema has eight parameters");

static const struct field native_fields[] = {
    F(struct native_info, fingerprint, "fingerprint", FIELD_U64),
    F(struct native_info, instructions, "instructions", FIELD_U32),
    F(struct native_info, registers, "registers", FIELD_U32),
    F(struct native_info, clock_reads, "clock_reads", FIELD_U32),
    F(struct native_info, source, "source", FIELD_TEXT),
    F(struct native_info, problem, "problem", FIELD_TEXT),
};
TABLE(native_table, "native", native_fields);

static const struct field layout_fields[] = {
    F(struct native_info, layout.code_bytes, "code_bytes", FIELD_U32),
    F(struct native_info, layout.first, "first", FIELD_U32),
    F(struct native_info, layout.step, "step", FIELD_U32),
    F(struct native_info, layout.reads, "reads", FIELD_U32),
};
TABLE(layout_table, "native_layout", layout_fields);

static const struct field region_fields[] = {
    F(struct native_region, total, "total", FIELD_U32),
    F(struct native_region, top_count, "top_count", FIELD_U32),
    F(struct native_region, mix, "mix", FIELD_TEXT),
};
TABLE(region_table, "native_region", region_fields);

static const struct field point_fields[] = {
    F(struct point, x, "x", FIELD_FINITE),
    F(struct point, p[0], "p0", FIELD_FINITE),
    F(struct point, p[1], "p1", FIELD_FINITE),
    F(struct point, p[2], "p2", FIELD_FINITE),
    F(struct point, p[3], "p3", FIELD_FINITE),
    F(struct point, p[4], "p4", FIELD_FINITE),
    F(struct point, p[5], "p5", FIELD_FINITE),
    F(struct point, p[6], "p6", FIELD_FINITE),
    F(struct point, p[7], "p7", FIELD_FINITE),
    F(struct point, outcome, "outcome", FIELD_OUTCOME),
    F(struct point, repeats, "repeats", FIELD_U32),
    F(struct point, words_per_repeat, "words_per_repeat", FIELD_U32),
    F(struct point, elapsed_ms, "elapsed_ms", FIELD_FINITE),
    F(struct point, native, "native", FIELD_INDEX),
    F(struct point, message, "message", FIELD_TEXT),
};
TABLE(point_table, "point", point_fields);

static const struct field finding_fields[] = {
    F(struct finding, key, "key", FIELD_TEXT),
    F(struct finding, verdict, "verdict", FIELD_VERDICT),
    F(struct finding, value.kind, "kind", FIELD_VALUE),
    F(struct finding, value.number, "number", FIELD_REAL),
    F(struct finding, value.text, "text", FIELD_TEXT),
    F(struct finding, lo, "lo", FIELD_REAL),
    F(struct finding, hi, "hi", FIELD_REAL),
    F(struct finding, unit, "unit", FIELD_TEXT),
    F(struct finding, method, "method", FIELD_TEXT),
    F(struct finding, because, "because", FIELD_TEXT),
    F(struct finding, scope, "scope", FIELD_TEXT),
    F(struct finding, probe, "probe", FIELD_TEXT),
};
TABLE(finding_table, "finding", finding_fields);

static const struct field rival_fields[] = {
    F(struct finding, key, "key", FIELD_TEXT),
    F(struct finding, rival.shape, "shape", FIELD_TEXT),
    F(struct finding, rival.value, "value", FIELD_FINITE),
    F(struct finding, rival.nats, "nats", FIELD_FINITE),
    F(struct finding, rival.experiment, "experiment", FIELD_TEXT),
    F(struct finding, rival.point, "point", FIELD_U32),
    F(struct finding, rival.addresses, "addresses", FIELD_U32),
    F(struct finding, rival.bytes, "bytes", FIELD_FINITE),
    F(struct finding, rival.step, "step", FIELD_FINITE),
    F(struct finding, rival.floor, "floor", FIELD_FINITE),
    F(struct finding, rival.visits, "visits", FIELD_FINITE),
    F(struct finding, rival.misses, "misses", FIELD_FINITE),
    F(struct finding, rival.best_least, "best_least", FIELD_FINITE),
    F(struct finding, rival.least, "least", FIELD_FINITE),
};
TABLE(rival_table, "rival", rival_fields);

static const char *const value_kinds[] = {
    [VALUE_NONE] = "none", [VALUE_NUMBER] = "number", [VALUE_TEXT] = "text", [VALUE_ARRAY] = "array"};

void fields_insert(struct str *sql, const struct field_table *t, const char *extra)
{
	str_addf(sql, "INSERT OR REPLACE INTO %s(%s", t->table, extra);
	for (size_t i = 0; i < t->count; i++)
		str_addf(sql, "%s%s", i || *extra ? "," : "", t->fields[i].column);
	str_add(sql, ") VALUES(?");
	size_t marks = t->count;
	if (*extra)
		marks++;
	for (const char *c = extra; *c; c++)
		marks += *c == ',';
	for (size_t i = 1; i < marks; i++)
		str_add(sql, ",?");
	str_add(sql, ")");
}

void fields_select(struct str *sql, const struct field_table *t, const char *extra)
{
	str_add(sql, "SELECT ");
	for (size_t i = 0; i < t->count; i++)
		str_addf(sql, "%s%s", i ? "," : "", t->fields[i].column);
	str_addf(sql, "%s%s FROM %s", *extra ? "," : "", extra, t->table);
}

static int bind_text(sqlite3_stmt *st, int at, const char *text)
{
	return text ? sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(st, at);
}

static int bind_one(sqlite3_stmt *st, int at, const struct field *f, const char *from)
{
	switch (f->kind) {
	case FIELD_TEXT:
		return bind_text(st, at, from);
	case FIELD_NAME:
		return bind_text(st, at, *(const char *const *)from);
	case FIELD_INT:
		return sqlite3_bind_int(st, at, *(const int *)from);
	case FIELD_U32:
		return sqlite3_bind_int64(st, at, *(const uint32_t *)from);
	case FIELD_INDEX:
		if (*(const uint32_t *)from == UINT32_MAX)
			return sqlite3_bind_null(st, at);
		return sqlite3_bind_int64(st, at, *(const uint32_t *)from);
	case FIELD_U64:
		return sqlite3_bind_int64(st, at, (int64_t) * (const uint64_t *)from);
	case FIELD_I64:
		return sqlite3_bind_int64(st, at, *(const int64_t *)from);
	case FIELD_REAL:
	case FIELD_FINITE:
		return sqlite3_bind_double(st, at, *(const double *)from); /* SQLite itself makes NULL of NaN */
	case FIELD_BOOL:
		return sqlite3_bind_int(st, at, *(const bool *)from);
	case FIELD_STATE:
		return bind_text(st, at, probe_state_name(*(const enum probe_state *)from));
	case FIELD_OUTCOME:
		return bind_text(st, at, outcome_name(*(const enum outcome *)from));
	case FIELD_VERDICT:
		return bind_text(st, at, verdict_name(*(const enum verdict *)from));
	case FIELD_VALUE:
		return bind_text(st, at, value_kinds[*(const enum value_kind *)from]);
	}
	return SQLITE_MISUSE;
}

int fields_bind(sqlite3_stmt *st, int first, const struct field_table *t, const void *record)
{
	for (size_t i = 0; i < t->count; i++) {
		int rc = bind_one(st, first + (int)i, &t->fields[i], (const char *)record + t->fields[i].offset);
		if (rc != SQLITE_OK)
			return rc;
	}
	return SQLITE_OK;
}

const char *fields_text(sqlite3_stmt *st, int column)
{
	if (sqlite3_column_type(st, column) != SQLITE_TEXT)
		return NULL;
	const char *text = (const char *)sqlite3_column_text(st, column);
	return text && strlen(text) == (size_t)sqlite3_column_bytes(st, column) ? text : NULL;
}

void fields_defuse(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++) {
		bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0; /* the second half of the controls, in UTF-8 */
		if (c1)
			*c++ = '?';
		if (c1 || *c < ' ' || *c == 0x7f)
			*c = c1 ? '?' : ' ';
	}
}

static int read_enum(const struct field *f, const char *text, void *to)
{
	if (!text)
		return -EINVAL;
	switch (f->kind) {
	case FIELD_STATE:
		return probe_state_parse(text, to) ? -EINVAL : 0;
	case FIELD_OUTCOME:
		return outcome_parse(text, to) ? -EINVAL : 0;
	case FIELD_VERDICT:
		return verdict_parse(text, to) ? -EINVAL : 0;
	default:
		for (size_t i = 0; i < sizeof value_kinds / sizeof *value_kinds; i++)
			if (strcmp(text, value_kinds[i]) == 0) {
				*(enum value_kind *)to = (enum value_kind)i;
				return 0;
			}
		return -EINVAL;
	}
}

static int read_integer(sqlite3_stmt *st, int column, int64_t lo, int64_t hi, int64_t *v)
{
	*v = sqlite3_column_int64(st, column);
	return sqlite3_column_type(st, column) == SQLITE_INTEGER && *v >= lo && *v <= hi ? 0 : -EINVAL;
}

static int read_one(sqlite3_stmt *st, int column, const struct field *f, char *to, struct arena *a)
{
	int type = sqlite3_column_type(st, column);
	int64_t v = 0;
	int rc;
	const char *text;
	char *copy;
	switch (f->kind) {
	case FIELD_TEXT:
		text = fields_text(st, column);
		if (!text || strlen(text) >= f->size)
			return -EINVAL;
		memset(to, 0, f->size); /* records are also compared by their bytes */
		memcpy(to, text, strlen(text));
		fields_defuse(to);
		return 0;
	case FIELD_NAME:
		*(const char **)to = NULL;
		if (type == SQLITE_NULL)
			return 0;
		text = fields_text(st, column);
		if (!text)
			return -EINVAL;
		copy = arena_strdup(a, text);
		if (!copy)
			return -ENOMEM;
		fields_defuse(copy);
		*(const char **)to = copy;
		return 0;
	case FIELD_INT:
		rc = read_integer(st, column, INT_MIN, INT_MAX, &v);
		*(int *)to = (int)v;
		return rc;
	case FIELD_INDEX:
		if (type == SQLITE_NULL) {
			*(uint32_t *)to = UINT32_MAX;
			return 0;
		}
		rc = read_integer(st, column, 0, UINT32_MAX - 1, &v);
		*(uint32_t *)to = (uint32_t)v;
		return rc;
	case FIELD_U32:
		rc = read_integer(st, column, 0, UINT32_MAX, &v);
		*(uint32_t *)to = (uint32_t)v;
		return rc;
	case FIELD_U64:
	case FIELD_I64:
		rc = read_integer(st, column, INT64_MIN, INT64_MAX, &v);
		*(int64_t *)to = v;
		return rc;
	case FIELD_FINITE:
		*(double *)to = sqlite3_column_double(st, column);
		return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(*(double *)to) ? 0 : -EINVAL;
	case FIELD_REAL:
		if (type != SQLITE_NULL && type != SQLITE_FLOAT && type != SQLITE_INTEGER)
			return -EINVAL;
		*(double *)to = type == SQLITE_NULL ? (double)NAN : sqlite3_column_double(st, column);
		return 0;
	case FIELD_BOOL:
		rc = read_integer(st, column, 0, 1, &v);
		*(bool *)to = v != 0;
		return rc;
	default:
		return read_enum(f, fields_text(st, column), to);
	}
}

int fields_read(sqlite3_stmt *st, const struct field_table *t, void *record, struct arena *a, const char **column)
{
	for (size_t i = 0; i < t->count; i++) {
		*column = t->fields[i].column;
		int rc = read_one(st, (int)i, &t->fields[i], (char *)record + t->fields[i].offset, a);
		if (rc)
			return rc;
	}
	return 0;
}
