#include "gpu/sim/time/time_fetch.h"
#include "gpu/sim/time/time_units.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static uint32_t cycles_of(double c)
{
	return c > 0 ? (uint32_t)llround(c) : 0;
}

/* Number of the set with these pipes, added when it is new. The number of sets is bounded by the file's operations,
 * which rarely use more than a handful. Past the table the last set serves, which only makes pipes busier than they
 * are. */
static uint8_t set_number(struct time_program *p, const struct sim_spec *spec, const uint32_t *pipe, uint32_t count)
{
	struct time_set s;
	memset(&s, 0, sizeof s); /* compared as bytes */
	s.count = (uint8_t)count;
	for (uint32_t k = 0; k < count; k++) {
		s.pipe[k] = (uint8_t)pipe[k];
		s.shared |= spec->schedulers > 1 && !spec->pipe[pipe[k]].per_scheduler;
	}
	for (uint32_t n = 0; n < p->set_count; n++)
		if (!memcmp(&p->set[n], &s, sizeof s))
			return (uint8_t)n;
	if (p->set_count == TIME_SETS)
		return TIME_SETS - 1;
	p->set[p->set_count] = s;
	return (uint8_t)p->set_count++;
}

/* Cycles that one warp instruction keeps a pipe busy: an SM-wide rate is shared out over the copies of the pipe. */
static double interval_of(const struct sim_spec *s, uint32_t pipe, double rate)
{
	uint32_t copies = s->pipe[pipe].per_scheduler ? s->schedulers : 1;
	return rate > 0 ? (double)s->warp_size * copies / rate : 0;
}

static int32_t find(const struct sim_spec *s, const char *op, enum ptx_type type)
{
	int32_t n = spec_find_op(s, op, ptx_type_name(type));
	return n >= 0 && s->op[n].present ? n : -1;
}

/* Of a function that is computed approximately: where subnormal numbers are kept, their range is compared, and scaled before and behind. */
static const char *approximate(const struct func_info *i, bool kept, const char *plain, const char *keeping)
{
	return kept && i->type == PTX_F32 && !(i->mods & PTX_FTZ) ? keeping : plain;
}

/* A variant that hardware does otherwise has a name of its own in the file (doc/gpu-file.md), or NULL. With `kept`, so
 * has one that keeps subnormal numbers. */
static const char *variant_of(const struct func_info *i, bool kept)
{
	switch (i->ptx_op) {
	case PTX_OP_MUL:
		return i->mods & PTX_HI_PART ? "mulhi" : i->mods & PTX_WIDE ? "mulwide" : NULL;
	case PTX_OP_MAD:
		return i->mods & PTX_HI_PART ? "madhi" : i->mods & PTX_WIDE ? "madwide" : NULL;
	case PTX_OP_DIV:
		return i->mods & PTX_FULL     ? "divfull"
		       : i->mods & PTX_APPROX ? approximate(i, kept, "divapprox", "divsub")
					      : NULL;
	case PTX_OP_RCP:
		return i->mods & PTX_APPROX ? approximate(i, kept, NULL, "rcpsub") : "rcprn";
	case PTX_OP_SQRT:
		return i->mods & PTX_APPROX ? approximate(i, kept, NULL, "sqrtsub") : "sqrtrn";
	case PTX_OP_RSQRT:
		return approximate(i, kept, NULL, "rsqrtsub");
	case PTX_OP_EX2:
		return approximate(i, kept, NULL, "ex2sub");
	case PTX_OP_LG2:
		return approximate(i, kept, NULL, "lg2sub");
	default:
		return NULL;
	}
}

/* The file's operation for a record. Its own name and type come first, then the 32-bit type of the same family that
 * narrow and untyped variants run on, then the default. */
static int32_t op_of(const struct sim_spec *s, const struct func_info *i)
{
	const char *name = ptx_op_name((enum ptx_op)i->ptx_op), *const variant[] = {variant_of(i, true),
										    variant_of(i, false)};
	enum ptx_type type = (enum ptx_type)i->type;
	int32_t n = -1;
	for (unsigned k = 0; k < 2 && n < 0; k++)
		n = variant[k] ? find(s, variant[k], type) : -1;
	if (n < 0)
		n = find(s, name, type);
	if (n < 0) {
		switch (type) {
		case PTX_B8:
		case PTX_B16:
		case PTX_U8:
		case PTX_U16:
		case PTX_B32:
			n = find(s, name, PTX_U32);
			break;
		case PTX_S8:
		case PTX_S16:
			n = find(s, name, PTX_S32);
			break;
		case PTX_B64:
			n = find(s, name, PTX_U64);
			break;
		default:
			break;
		}
	}
	return n >= 0 ? n : s->default_op;
}

static void arithmetic(struct time_program *p, const struct sim_spec *s, struct time_inst *t)
{
	const struct op_spec *o = &s->op[t->op];
	uint32_t steps = o->native_ops ? o->native_ops : 1;
	if (steps > UINT8_MAX)
		steps = UINT8_MAX;
	uint32_t latency = cycles_of(o->latency);
	t->before = (uint8_t)(steps - 1);
	t->step = time_fixed(o->latency / steps);
	/* What the whole operation takes is exact; rounding of the steps ends up in the last one. */
	uint32_t spent = (uint32_t)((uint64_t)t->step * t->before >> FIX);
	t->tail = latency > spent ? latency - spent : 0;
	t->set = t->set_before = set_number(p, s, o->pipe, o->pipe_count);
	t->together = o->pipe_count && s->pipe[o->pipe[0]].together ? (uint8_t)(o->pipe[0] + 1) : 0;
	for (uint32_t k = 0; k < o->pipe_count; k++)
		t->interval[k] = t->interval_before[k] = time_fixed(interval_of(s, o->pipe[k], o->rate[k]) / steps);
}

static void memory(struct time_program *p, const struct sim_spec *s, struct time_inst *t, const struct path_spec *path)
{
	const struct op_spec *o = &s->op[s->default_op];
	t->set = set_number(p, s, &path->pipe, 1);
	t->request = time_fixed(path->request);
	if (t->kind == FUNC_STORE || !path->address_ops)
		return;
	t->before = (uint8_t)(path->address_ops < UINT8_MAX ? path->address_ops : UINT8_MAX);
	t->step = time_fixed(path->address_latency);
	t->set_before = set_number(p, s, o->pipe, o->pipe_count);
	uint32_t steps = o->native_ops ? o->native_ops : 1;
	for (uint32_t k = 0; k < o->pipe_count; k++)
		t->interval_before[k] = time_fixed(interval_of(s, o->pipe[k], o->rate[k]) / steps);
}

static uint8_t path_of(const struct sim_spec *s, const struct func_inst *i)
{
	switch (i->space) {
	case PTX_SHARED:
		return PATH_SHARED;
	case PTX_CONST:
		return PATH_CONSTANT;
	case PTX_PARAM:
		return PATH_NONE;
	case PTX_TEX:
		return PATH_TEXTURE;
	default:
		return s->readonly_by_texture && i->flags & FUNC_READONLY ? PATH_TEXTURE : PATH_GLOBAL;
	}
}

static void add_wait(struct time_inst *t, uint16_t slot)
{
	for (uint32_t k = 0; k < t->wait_count; k++)
		if (t->wait[k] == slot)
			return;
	t->wait[t->wait_count++] = slot;
}

/* Of what turns registers into others, and of parameters and surfaces. */
static bool may_fault(enum ptx_op op)
{
	switch (op) {
	case PTX_OP_TRAP:
	case PTX_OP_BRKPT:
	case PTX_OP_LD:
	case PTX_OP_LDU:
	case PTX_OP_ST:
	case PTX_OP_CALL:
	case PTX_OP_SULD:
	case PTX_OP_SUST:
	case PTX_OP_SURED:
	case PTX_OP_TXQ:
	case PTX_OP_SUQ:
	case PTX_OP_ALLOCA:
	case PTX_OP_WGMMA:
		return true;
	default:
		return false;
	}
}

static void prepare(struct time_program *p, const struct sim_spec *s, const struct func_inst *i,
		    const struct func_info *info, struct time_inst *t)
{
	t->kind = i->kind;
	t->op = -1;
	for (uint32_t k = 0; k < info->read_count && k < FUNC_READS; k++)
		add_wait(t, info->read[k]);
	for (uint32_t k = 0; k < info->write_count && k < FUNC_WRITES; k++) {
		add_wait(t, info->write[k]);
		t->write[t->write_count++] = info->write[k];
	}
	if (!t->wait_count) /* whoever looks at the first one without asking finds a slot that was always ready */
		t->wait[0] = (uint16_t)p->slots;
	switch ((enum func_kind)i->kind) {
	case FUNC_ALU:
		t->op = op_of(s, info);
		t->checked = may_fault((enum ptx_op)info->ptx_op);
		t->keeps = i->space == PTX_LOCAL && (!i->bytes || !info->write_count);
		arithmetic(p, s, t);
		if (s->branch_predicate > 0 && t->write_count && !t->before && info->write[0] >= p->func->rows)
			t->tail = cycles_of(s->branch_predicate);
		break;
	case FUNC_CLOCK: {
		uint32_t steps = s->clock_native_ops ? s->clock_native_ops : 1;
		t->before = (uint8_t)(steps < UINT8_MAX ? steps - 1 : UINT8_MAX);
		t->step = time_fixed(s->clock_op_latency);
		t->tail = cycles_of(s->clock_op_latency);
		/* The whole read costs op_latency * (steps - 1) + issue, rounded once. */
		uint32_t whole = cycles_of(s->clock_op_latency * t->before + s->clock_issue);
		uint32_t spent = (uint32_t)((uint64_t)t->step * t->before >> FIX);
		t->after = whole > spent ? whole - spent : 0;
		break;
	}
	case FUNC_LOAD:
	case FUNC_STORE:
	case FUNC_ATOMIC:
		t->path = path_of(s, i);
		t->alone = i->kind == FUNC_LOAD &&
			   (t->path == PATH_CONSTANT ||
			    (i->space == PTX_GLOBAL && t->path == PATH_GLOBAL && !(i->flags & FUNC_SKIP_L1) &&
			     s->coalesce == COALESCE_LINES && s->outstanding == OUTSTANDING_NONE));
		memory(p, s, t,
		       t->path == PATH_SHARED			   ? &s->shared
		       : t->path == PATH_CONSTANT		   ? &s->constant
		       : t->path == PATH_TEXTURE && s->has_texture ? &s->texture
								   : &s->global);
		break;
	case FUNC_BRANCH:
		t->after = cycles_of(s->branch_latency + (i->flags & FUNC_PARTING ? s->branch_meet : 0));
		t->tail = cycles_of(s->branch_split);
		t->beside = i->flags & FUNC_PARTING ? (uint8_t)s->branch_meet_ops : 0;
		t->interval[0] = time_fixed(s->branch_issue * (1 + t->beside));
		t->request = time_fixed(s->scheduler_issue * t->beside);
		break;
	case FUNC_BARRIER:
	case FUNC_FENCE:
	case FUNC_EXIT:
	case FUNC_KINDS:
		break;
	}
}

/* What is fetched behind it comes from the block that the warp holds. */
static bool is_apart(const struct func_program *f, const struct time_inst *t, uint32_t n)
{
	const struct func_inst *i = &f->inst[n];
	if (t[n].spans || n + 1 == f->inst_count || t[n + 1].block != t[n].block)
		return false;
	if (i->kind == FUNC_BRANCH)
		return !(i->flags & FUNC_INDEXED) && t[i->target].block == t[n].block;
	return func_is_private(i);
}

/* A load that is an operand costs what it makes the instruction slower that it belongs to. */
static void operands(const struct sim_spec *s, uint8_t operand, struct time_inst *t)
{
	if (operand == FUNC_OPERAND_LOAD) {
		t->operand = true;
		t->set = t->set_before = t->before = 0;
	}
	for (uint32_t k = 0; k < SPEC_OP_PIPES && operand == FUNC_OPERAND_USE; k++)
		t->interval[k] += time_fixed(s->shared_operand_issue);
}

int time_prepare(struct time_program **out, struct arena *a, const struct sim_spec *s, const struct func_program *f)
{
	struct time_program *p = ARENA_NEW(a, struct time_program);
	struct time_inst *t = ARENA_ARRAY(a, f->inst_count, struct time_inst);
	if (!p || !t)
		return -ENOMEM;
	p->func = f;
	p->inst = t;
	p->set_count = 1;
	p->slots = f->rows + f->preds;
	p->barriers = time_barriers_named(f);
	/* Rows of one program never overwrite its literals, so a warp that last held the same ones still does. */
	p->literals = 0x9e3779b97f4a7c15u;
	for (uint32_t i = 0; i < f->literal_count; i++) {
		uint64_t place = (uint64_t)f->literal[i].row << 1 | f->literal[i].wide;
		p->literals = (p->literals ^ f->literal[i].bits) * 0xbf58476d1ce4e5b9u;
		p->literals = (p->literals ^ p->literals >> 31 ^ place) * 0x94d049bb133111ebu;
		p->literals ^= p->literals >> 29;
	}
	p->literals |= 1;
	uint32_t *stretch = mem_alloc(f->inst_count * sizeof *stretch);
	if (!stretch)
		return -ENOMEM;
	func_stretches(f, stretch);
	for (uint32_t i = 0; i < f->inst_count; i++) {
		p->meets |= f->inst[i].kind == FUNC_BARRIER && !(f->inst[i].flags & FUNC_WARP_SYNC);
		if (f->info[i].fused)
			continue;
		prepare(p, s, &f->inst[i], &f->info[i], &t[i]);
		operands(s, f->operand ? f->operand[i] : FUNC_OPERAND_NONE, &t[i]);
	}
	time_layout(p, s, t);
	for (uint32_t i = f->inst_count; i-- > 0;)
		if (f->info[i].fused) {
			t[i] = t[i + 1];
			t[i].lead++;
		}
	for (uint32_t i = f->inst_count; i-- > 0;)
		t[i].apart = f->info[i].fused ? t[i + 1].apart && func_is_private(&f->inst[i]) : is_apart(f, t, i);
	for (uint32_t i = 0; i < f->inst_count; i++) {
		t[i].stretch = stretch[i];
		t[i].set_first = t[i].before ? t[i].set_before : t[i].set;
		t[i].plain = !t[i].lead && !t[i].before && !t[i].operand && func_is_private(&f->inst[i]);
	}
	mem_free(stretch);
	*out = p;
	return 0;
}

uint32_t time_beside(const struct time_program *p, uint32_t pc)
{
	return p->inst[pc].beside;
}

int time_op(const struct time_program *p, uint32_t pc)
{
	return p->inst[pc].op;
}
