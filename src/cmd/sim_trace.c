#include "cmd/sim_trace.h"
#include <errno.h>
#include <string.h>

#define FLUSH_BYTES 65536
#define TRACKS_SM   4096u /* threads of one process in the JSON: more than an SM has warps */
#define SMS_MAX	    1024u
#define WARPS_MAX   256u

struct trace_writer {
	struct cmd_context *c;
	const struct func_program *p;
	const char **line; /* of the source, from 1 */
	uint32_t lines;
	FILE *file; /* NULL: c->out */
	const char *path;
	bool json, some; /* some: an event was written */
	uint64_t id;	 /* of loads in flight */
	uint8_t *named;	 /* bits: SMs, then tracks of warps of SMs, that have names */
	bool *beside;	 /* warps of SMs: the latest slice is on the track beside */
	uint64_t *end;	 /* warps of SMs: the latest slice ends */
	struct str text;
	int rc;
};

static int split(struct trace_writer *t, const char *text)
{
	uint32_t n = 2;
	for (const char *p = text; *p; p++)
		n += *p == '\n';
	t->line = ARENA_ARRAY(&t->c->arena, n, const char *);
	char *copy = arena_strdup(&t->c->arena, text);
	if (!t->line || !copy)
		return cmd_fail(t->c, CMD_DEVICE, "out of memory");
	for (char *p = copy; p;) {
		char *end = strchr(p, '\n');
		if (end)
			*end = '\0';
		t->line[++t->lines] = p + strspn(p, " \t");
		p = end ? end + 1 : NULL;
	}
	return CMD_OK;
}

static const char *source(const struct trace_writer *t, uint32_t pc, uint32_t *line)
{
	*line = t->p->info[pc].line;
	return *line && *line <= t->lines ? t->line[*line] : "";
}

static void write_out(struct trace_writer *t)
{
	if (t->rc)
		return;
	if (t->text.failed)
		t->rc = cmd_fail(t->c, CMD_DEVICE, "out of memory");
	else if (!t->file)
		t->rc = cmd_print(t->c, &t->text);
	else if (fwrite(str_text(&t->text), 1, t->text.len, t->file) != t->text.len)
		t->rc = cmd_fail(t->c, CMD_DEVICE, "cannot write %s: %s", t->path, strerror(errno));
	str_clear(&t->text);
}

/* "operand of line 12", "pipe mem", "fetch from memory": in words what the instruction waited for. */
static void add_reason(struct str *s, const struct trace_writer *t, const struct time_event *ev)
{
	str_add(s, time_why_text(ev->why));
	if (ev->why == WHY_OPERAND)
		str_addf(s, " of line %u", t->p->info[ev->why_pc].line);
	else if (ev->why == WHY_PIPE)
		str_addf(s, " %s busy", ev->what);
	else if (ev->why == WHY_FETCH)
		str_addf(s, " from %s", ev->what);
}

/* Cycles in which the warp could have issued had nothing been in its way. */
static uint64_t waited(const struct time_event *ev)
{
	uint64_t from = ev->first ? 0 : ev->before + 1;
	return ev->cycle > from ? ev->cycle - from : 0;
}

static bool is_memory(const struct trace_writer *t, uint32_t pc)
{
	uint8_t kind = t->p->inst[pc].kind;
	return kind == FUNC_LOAD || kind == FUNC_STORE || kind == FUNC_ATOMIC;
}

/* ---- for people ---- */

/* What comes behind the source stands in a column of its own. */
static void column(struct str *s, size_t from)
{
	for (size_t n = s->len - from; n < 40; n++) /* not until it is long enough: it does not grow without memory */
		str_addc(s, ' ');
	str_add(s, "  | ");
}

static void text_event(struct trace_writer *t, const struct time_event *ev)
{
	uint32_t line;
	const char *code = source(t, ev->pc, &line);
	struct str *s = &t->text;
	str_addf(s, "%10llu  sm %-3u warp %-2u  %08llx  %5u: ", (unsigned long long)ev->cycle, ev->sm, ev->warp,
		 (unsigned long long)ev->mask, line);
	size_t from = s->len;
	str_add(s, code);
	if (waited(ev)) {
		column(s, from);
		str_addf(s, "waited %llu: ", (unsigned long long)waited(ev));
		add_reason(s, t, ev);
	}
	if (is_memory(t, ev->pc) && ev->mask) {
		column(s, from);
		if (ev->passes)
			str_addf(s, "shared, %u pass%s", ev->passes, ev->passes == 1 ? "" : "es");
		else if (*ev->where)
			str_add(s, ev->where);
		else
			str_addf(s, "%u transaction%s", ev->transactions, ev->transactions == 1 ? "" : "s");
		if (t->p->inst[ev->pc].kind != FUNC_STORE)
			str_addf(s, ", there at %llu", (unsigned long long)ev->done);
	}
	str_add(s, "\n");
}

/* ---- Chrome trace events: one microsecond stands for one cycle ---- */

static void add_string(struct str *s, const char *text)
{
	str_addc(s, '"');
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			str_addf(s, "\\%c", *p);
		else if (*p < 0x20 || *p >= 0x7f)
			str_addf(s, "\\u%04x", *p);
		else
			str_addc(s, (char)*p);
	}
	str_addc(s, '"');
}

/* Opens an event; the caller goes on with what else it has and closes the brace. Process and thread numbers start at 1,
 * because 0 means the idle task to some viewers, and no two processes share a thread number. */
static void begin(struct trace_writer *t, const char *ph, uint32_t sm, uint32_t warp)
{
	str_addf(&t->text, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", t->some ? ",\n" : "", ph, sm + 1,
		 sm * TRACKS_SM + warp + 1);
	t->some = true;
}

static bool first_time(struct trace_writer *t, uint32_t bit)
{
	bool first = !(t->named[bit / 8] >> bit % 8 & 1);
	t->named[bit / 8] |= (uint8_t)(1u << bit % 8);
	return first;
}

/* Slices of one track may follow each other or lie in each other, and viewers drop those that overlap. An instruction that
 * issues together with the last step of the one before it goes on a track beside, or from there back. */
static uint32_t track_of(struct trace_writer *t, const struct time_event *ev)
{
	if (ev->sm >= SMS_MAX || ev->warp >= WARPS_MAX)
		return ev->warp;
	bool *beside = &t->beside[ev->sm * WARPS_MAX + ev->warp], together = !ev->first && ev->cycle <= ev->before;
	*beside = together && !*beside;
	return ev->warp + (*beside ? WARPS_MAX : 0);
}

static void name_tracks(struct trace_writer *t, const struct time_event *ev, uint32_t track)
{
	if (ev->sm >= SMS_MAX || ev->warp >= WARPS_MAX)
		return;
	if (first_time(t, ev->sm)) {
		begin(t, "M", ev->sm, 0);
		str_addf(&t->text, ",\"name\":\"process_name\",\"args\":{\"name\":\"SM %u\"}}", ev->sm);
	}
	if (first_time(t, SMS_MAX + ev->sm * 2 * WARPS_MAX + track)) {
		begin(t, "M", ev->sm, track);
		str_addf(&t->text, ",\"name\":\"thread_name\",\"args\":{\"name\":\"warp %u (scheduler %u)%s\"}}",
			 ev->warp, ev->scheduler, track == ev->warp ? "" : ", issued together");
	}
}

static const char *category(const struct trace_writer *t, uint32_t pc)
{
	static const char *const name[FUNC_KINDS] = {
	    [FUNC_ALU] = "arithmetic",	[FUNC_CLOCK] = "clock",	  [FUNC_LOAD] = "load",
	    [FUNC_STORE] = "store",	[FUNC_ATOMIC] = "atomic", [FUNC_BRANCH] = "branch",
	    [FUNC_BARRIER] = "barrier", [FUNC_FENCE] = "fence",	  [FUNC_EXIT] = "exit",
	};
	uint8_t kind = t->p->inst[pc].kind;
	return kind < FUNC_KINDS ? name[kind] : "";
}

/* From what the warp waited for, or, where a block waits for its first turn, from when the block before it has left the track. */
static void json_wait(struct trace_writer *t, const struct time_event *ev)
{
	struct str *s = &t->text;
	uint64_t from = ev->cycle - waited(ev);
	if (ev->sm < SMS_MAX && ev->warp < WARPS_MAX) {
		uint64_t *end = &t->end[ev->sm * WARPS_MAX + ev->warp];
		from = *end > from ? *end : from;
		*end = ev->last + 1;
	}
	if (from >= ev->cycle)
		return;
	begin(t, "X", ev->sm, ev->warp);
	str_addf(s, ",\"ts\":%llu,\"dur\":%llu,\"cat\":\"wait\",\"name\":\"", (unsigned long long)from,
		 (unsigned long long)(ev->cycle - from));
	add_reason(s, t, ev); /* words and numbers only */
	str_addf(s, "\",\"args\":{\"line\":%u}}", t->p->info[ev->pc].line);
}

/* A load is on its way while its warp goes on: a track of its own beside the warp's. */
static void json_flight(struct trace_writer *t, const struct time_event *ev, const char *name)
{
	struct str *s = &t->text;
	uint64_t id = ++t->id;
	for (int end = 0; end < 2; end++) {
		begin(t, end ? "e" : "b", ev->sm, ev->warp);
		str_addf(s, ",\"ts\":%llu,\"cat\":\"in flight\",\"id\":%llu,\"name\":",
			 (unsigned long long)(end ? ev->done : ev->last), (unsigned long long)id);
		add_string(s, name);
		str_add(s, "}");
	}
}

static void json_event(struct trace_writer *t, const struct time_event *ev)
{
	struct str *s = &t->text;
	uint32_t line;
	const char *code = source(t, ev->pc, &line);
	char name[64];
	uint32_t track = track_of(t, ev);
	name_tracks(t, ev, track);
	json_wait(t, ev);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(code, ";"), code);
	begin(t, "X", ev->sm, track);
	str_addf(s, ",\"ts\":%llu,\"dur\":%llu,\"cat\":\"%s\",\"name\":", (unsigned long long)ev->cycle,
		 (unsigned long long)(ev->last - ev->cycle + 1), category(t, ev->pc));
	add_string(s, name);
	str_addf(s, ",\"args\":{\"line\":%u,\"source\":", line);
	add_string(s, code);
	str_addf(s, ",\"lanes\":\"%08llx\",\"block\":%llu,\"waited\":%llu,\"for\":\"", (unsigned long long)ev->mask,
		 (unsigned long long)ev->block, (unsigned long long)waited(ev));
	add_reason(s, t, ev);
	str_addf(s, "\",\"done\":%llu", (unsigned long long)ev->done);
	if (is_memory(t, ev->pc) && ev->mask) {
		if (*ev->where)
			str_addf(s, ",\"where\":\"%s\"", ev->where);
		if (ev->transactions)
			str_addf(s, ",\"transactions\":%u", ev->transactions);
		if (ev->passes)
			str_addf(s, ",\"bank_passes\":%u", ev->passes);
	}
	str_add(s, "}}");
	if (is_memory(t, ev->pc) && ev->mask && t->p->inst[ev->pc].kind != FUNC_STORE)
		json_flight(t, ev, name);
}

/* ---- open, close ---- */

static void issue(void *ctx, const struct time_event *ev)
{
	struct trace_writer *t = ctx;
	if (t->rc)
		return;
	if (t->json)
		json_event(t, ev);
	else
		text_event(t, ev);
	if (t->text.len > FLUSH_BYTES)
		write_out(t);
}

int trace_open(struct trace_writer **out, struct cmd_context *c, const char *path, const char *text,
	       const struct func_program *p, const char *gpu_name, struct time_hook *hook)
{
	struct trace_writer *t = ARENA_NEW(&c->arena, struct trace_writer);
	if (!t)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	*t = (struct trace_writer){.c = c, .p = p, .path = path, .json = path && str_ends(path, ".json")};
	t->named = ARENA_ARRAY(&c->arena, (SMS_MAX + SMS_MAX * 2 * WARPS_MAX) / 8, uint8_t);
	t->beside = ARENA_ARRAY(&c->arena, SMS_MAX * WARPS_MAX, bool);
	t->end = ARENA_ARRAY(&c->arena, SMS_MAX * WARPS_MAX, uint64_t);
	if (!t->named || !t->beside || !t->end)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	int rc = split(t, text);
	if (rc)
		return rc;
	if (path && !(t->file = fopen(path, "wb")))
		return cmd_fail(c, CMD_FILE, "cannot write %s: %s", path, strerror(errno));
	str_init(&t->text);
	if (t->json) {
		str_add(&t->text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"gpu\":");
		add_string(&t->text, gpu_name);
		str_add(&t->text, ",\"kernel\":");
		add_string(&t->text, p->name);
		str_add(&t->text, ",\"unit\":\"1 us is 1 cycle\"},\"traceEvents\":[\n");
	}
	*hook = (struct time_hook){.ctx = t, .issue = issue};
	*out = t;
	return CMD_OK;
}

int trace_close(struct trace_writer *t)
{
	if (!t)
		return CMD_OK;
	if (t->json)
		str_add(&t->text, "\n]}\n");
	write_out(t);
	str_free(&t->text);
	if (t->file && fclose(t->file) && !t->rc)
		t->rc = cmd_fail(t->c, CMD_DEVICE, "cannot write %s: %s", t->path, strerror(errno));
	return t->rc;
}
