/* A module back to text that the driver's compiler accepts as well. */
#include "ptx/ptx_impl.h"
#include <string.h>

struct printer {
	struct str *out;
	const struct ptx_module *m;
	const struct ptx_func *f;
	uint32_t prototypes; /* and prototypes of calls */
	uint32_t lists;	     /* branch target lists printed so far */
};

static void word(struct printer *p, uint32_t class, uint32_t value)
{
	if (value)
		str_addf(p->out, ".%s", ptx_word_of(class, value));
}

/* Modifiers in the order that PTX prescribes. */
static void mods(struct printer *p, const struct ptx_inst *in)
{
	static const struct {
		uint32_t class, first, last;
	} before[] = {{M_RND, 0, 0}, {M_APPROX, PTX_APPROX, PTX_APPROX}, {M_FULL, PTX_FULL, PTX_FULL}};
	const uint32_t may = ptx_ops[in->op].may;
	word(p, M_CMP, in->cmp);
	word(p, M_BOOL, in->boolop);
	if (in->round)
		word(p, in->round >= PTX_RNI ? M_RNDI : M_RND, in->round);
	for (size_t i = 1; i < sizeof before / sizeof *before; i++)
		word(p, before[i].class, in->mods & before[i].first);
	word(p, M_PART, in->mods & (PTX_LO_PART | PTX_HI_PART));
	word(p, M_WIDE, in->mods & PTX_WIDE);
	if (in->op != PTX_OP_MATCH)
		word(p, M_SYNC, in->mods & PTX_SYNC);
	word(p, M_VOL, in->mods & PTX_VOLATILE);
	word(p, M_SEM, in->mods & (PTX_RELAXED | PTX_ACQUIRE | PTX_RELEASE | PTX_ACQ_REL | PTX_WEAK | PTX_SC));
	word(p, M_SCOPE, in->mods & (PTX_SCOPE_CTA | PTX_SCOPE_GPU | PTX_SCOPE_SYS));
	word(p, M_TO, in->mods & PTX_TO);
	word(p, M_SPACE, in->sub == PTX_SUB_CLUSTER ? PTX_GENERIC : in->space);
	word(p, M_CACHE, in->cache);
	word(p, M_ATOM, in->atom);
	word(p, M_HINT, in->mods & PTX_POLICY);
	if (in->op != PTX_OP_PRMT && in->sub && in->sub != PTX_SUB_INDEX)
		word(p, M_SUB, in->sub);
	if (in->op == PTX_OP_MATCH)
		word(p, M_SYNC, in->mods & PTX_SYNC);
	if (in->vec_width > 1)
		word(p, M_VEC, in->vec_width);
	word(p, M_UNI, may & M_UNI ? in->mods & PTX_UNI : 0);
	word(p, M_FTZ, in->mods & PTX_FTZ);
	word(p, M_NAN, in->mods & PTX_NAN_OUT);
	word(p, M_OWN, in->mods & (PTX_SHIFTAMT | PTX_XORSIGN_ABS | PTX_OOB));
	word(p, M_SAT, in->mods & (PTX_SAT | PTX_SATFINITE));
	word(p, M_RELU, in->mods & PTX_RELU);
	word(p, M_NOFTZ, in->mods & PTX_NOFTZ);
	word(p, M_CC, in->mods & PTX_CC_OUT);
	if (in->op == PTX_OP_SET)
		word(p, M_TYPE, in->type2);
	word(p, M_TYPE, in->type);
	if (in->op != PTX_OP_SET)
		word(p, M_TYPE, in->type2);
	if (in->op == PTX_OP_PRMT && in->sub != PTX_SUB_INDEX)
		word(p, M_SUB, in->sub);
}

static const char *symbol(const struct printer *p, int32_t sym)
{
	if (sym >= 0)
		return p->m->vars[sym].name;
	uint32_t k = (uint32_t)(-2 - sym);
	return k < p->f->param_count ? p->f->params[k].name : p->f->rets[k - p->f->param_count].name;
}

static void offset(struct printer *p, int64_t v)
{
	if (v)
		str_addf(p->out, "+%lld", (long long)v);
}

static void parts(struct printer *p, unsigned count)
{
	unsigned digits = count >> PTX_PARTS_COUNT & 3;
	if (!(count & PTX_PARTS)) {
		str_addf(p->out, ".%c%u", count < 5 ? 'b' : 'h', count - (count < 5 ? 1 : 5));
		return;
	}
	str_add(p->out, count & PTX_PARTS_HALF ? ".h" : ".b");
	for (unsigned k = digits ? digits : 4; k--;)
		str_addf(p->out, "%u", count >> 3 * k & 7);
}

static void operand(struct printer *p, const struct ptx_inst *in, const struct ptx_operand *o)
{
	if (o->negated)
		str_addc(p->out, in->op == PTX_OP_VMAD ? '-' : '!');
	switch (o->kind) {
	case PTX_OPND_REG:
		str_add(p->out, p->f->regs[o->reg].name);
		if (o->count)
			parts(p, o->count);
		break;
	case PTX_OPND_INT:
		str_addf(p->out, "%lld", (long long)o->imm);
		break;
	case PTX_OPND_F32:
		str_addf(p->out, "0f%08llX", (unsigned long long)o->imm);
		break;
	case PTX_OPND_F64:
		str_addf(p->out, "0d%016llX", (unsigned long long)o->imm);
		break;
	case PTX_OPND_SREG:
		str_add(p->out, ptx_sreg_name((enum ptx_sreg)o->index));
		break;
	case PTX_OPND_LABEL:
		str_add(p->out, p->f->labels[o->index].name);
		break;
	case PTX_OPND_FUNC:
		str_add(p->out, p->m->funcs[o->index].name);
		break;
	case PTX_OPND_SINK:
		str_addc(p->out, '_');
		break;
	case PTX_OPND_SYMBOL:
		str_add(p->out, symbol(p, o->sym));
		offset(p, o->offset);
		break;
	case PTX_OPND_ADDRESS:
		str_addc(p->out, '[');
		if (o->has_reg)
			str_add(p->out, p->f->regs[o->reg].name);
		else if (o->sym != -1)
			str_add(p->out, symbol(p, o->sym));
		if (o->has_reg || o->sym != -1)
			offset(p, o->offset);
		else
			str_addf(p->out, "%lld", (long long)o->offset);
		str_addc(p->out, ']');
		break;
	default:
		str_addc(p->out, in->op == PTX_OP_CALL ? '(' : '{');
		for (unsigned i = 0; i < o->count; i++) {
			if (i)
				str_add(p->out, ", ");
			operand(p, in, &in->vec[o->index + (int)i]);
		}
		str_addc(p->out, in->op == PTX_OP_CALL ? ')' : '}');
		break;
	}
}

/* One that no label or register of the function has. */
static void prototype_name(struct printer *p, uint32_t number)
{
	str_addf(p->out, "$prototype%u$%u", p->f->label_count, number);
}

static void call(struct printer *p, const struct ptx_inst *in)
{
	if (in->operand[0].count) {
		operand(p, in, &in->operand[0]);
		str_add(p->out, ", ");
	}
	operand(p, in, &in->operand[1]);
	if (in->operand[2].count) {
		str_add(p->out, ", ");
		operand(p, in, &in->operand[2]);
	}
	if (in->operand_count > 3) {
		str_add(p->out, ", ");
		prototype_name(p, p->prototypes++);
	}
}

static bool pairs(const struct ptx_inst *in)
{
	char first = ptx_ops[in->op].shape[0];
	return first == 'P' || first == 'Q';
}

/* The name of a list of branch targets: one that no label or register of the function has. */
static void list_name(struct printer *p, uint32_t number)
{
	str_addf(p->out, "$targets%u$%u", p->f->label_count, number);
}

static void param_list(struct printer *p, const struct ptx_param *q, uint32_t n, const char *after)
{
	str_addc(p->out, '(');
	for (uint32_t i = 0; i < n; i++) {
		str_add(p->out, i ? ", " : "");
		str_add(p->out, q[i].reg >= 0 ? ".reg " : ".param ");
		if (q[i].align)
			str_addf(p->out, ".align %u ", q[i].align);
		str_addf(p->out, ".%s %s", ptx_type_name((enum ptx_type)q[i].type), q[i].name);
		if (q[i].is_array && !q[i].size)
			str_add(p->out, "[]");
		else if (q[i].is_array)
			str_addf(p->out, "[%u]", q[i].size / ptx_type_bytes((enum ptx_type)q[i].type));
	}
	str_addf(p->out, ")%s", after);
}

static void prototype(struct printer *p, const struct ptx_inst *in)
{
	const struct ptx_prototype *t = &p->m->prototypes[in->operand[3].index];
	prototype_name(p, p->prototypes);
	str_add(p->out, ": .callprototype ");
	if (t->ret_count)
		param_list(p, t->rets, t->ret_count, " ");
	str_add(p->out, "_ ");
	param_list(p, t->params, t->param_count, ";\n");
}

static void inst(struct printer *p, const struct ptx_inst *in)
{
	if (in->op == PTX_OP_CALL && in->operand_count > 3)
		prototype(p, in);
	if (in->op == PTX_OP_BRX) {
		list_name(p, p->lists);
		str_add(p->out, ": .branchtargets ");
		for (unsigned i = 0; i < in->operand[1].count; i++) {
			str_add(p->out, i ? ", " : "");
			operand(p, in, &in->vec[in->operand[1].index + (int)i]);
		}
		str_add(p->out, ";\n");
	}
	str_addc(p->out, '\t');
	if (in->guard >= 0)
		str_addf(p->out, "@%s%s ", in->guard_negated ? "!" : "", p->f->regs[in->guard].name);
	str_add(p->out, ptx_op_name((enum ptx_op)in->op));
	if (in->tail)
		str_add(p->out, in->tail);
	else
		mods(p, in);
	if (in->operand_count)
		str_addc(p->out, ' ');
	if (in->op == PTX_OP_CALL) {
		call(p, in);
	} else if (in->op == PTX_OP_BRX) {
		operand(p, in, &in->operand[0]);
		str_add(p->out, ", ");
		list_name(p, p->lists++);
	} else {
		const int handle = ptx_handle_at(in);
		const unsigned coordinates = handle < 0 ? 0 : ptx_coordinates_at(in, p->f->regs, (unsigned)handle);
		for (unsigned i = 0; i < in->operand_count; i++) {
			if (i == 1 && pairs(in)) {
				if (in->operand[1].kind == PTX_OPND_SINK)
					continue;
				str_addc(p->out, '|');
			} else if (i) {
				str_add(p->out, ", ");
			}
			str_add(p->out, (int)i == handle ? "[" : "");
			operand(p, in, &in->operand[i]);
			str_add(p->out, handle >= 0 && i == coordinates ? "]" : "");
		}
	}
	str_add(p->out, ";\n");
}

/* Registers with one name and numbers from 0 on, side by side, print as a range. */
static uint32_t range(const struct ptx_func *f, uint32_t first, const bool *taken, size_t *stem)
{
	const char *name = f->regs[first].name;
	size_t n = strlen(name);
	if (n < 2 || name[n - 1] != '0' || (name[n - 2] >= '0' && name[n - 2] <= '9'))
		return 0;
	*stem = n - 1;
	uint32_t count = 0;
	for (uint32_t i = first; i < f->reg_count && !taken[i]; i++, count++) {
		const char *s = f->regs[i].name;
		char number[16];
		uint32_t v = count, at = sizeof number - 1;
		number[at] = '\0';
		do
			number[--at] = (char)('0' + v % 10);
		while (v /= 10);
		if (f->regs[i].type != f->regs[first].type || strncmp(s, name, *stem) != 0 ||
		    strcmp(s + *stem, number + at) != 0)
			break;
	}
	return count;
}

static int registers(struct printer *p)
{
	const struct ptx_func *f = p->f;
	bool *taken = mem_zero(f->reg_count ? f->reg_count : 1, sizeof *taken);
	if (!taken)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->param_count; i++)
		if (f->params[i].reg >= 0)
			taken[f->params[i].reg] = true;
	for (uint32_t i = 0; i < f->ret_count; i++)
		if (f->rets[i].reg >= 0)
			taken[f->rets[i].reg] = true;
	for (uint32_t i = 0; i < f->reg_count; i++) {
		size_t stem = 0;
		if (taken[i])
			continue;
		uint32_t n = range(f, i, taken, &stem);
		const char *type = ptx_type_name((enum ptx_type)f->regs[i].type);
		if (n > 1) {
			str_addf(p->out, "\t.reg .%s %.*s<%u>;\n", type, (int)stem, f->regs[i].name, n);
			i += n - 1;
		} else {
			str_addf(p->out, "\t.reg .%s %s;\n", type, f->regs[i].name);
		}
	}
	mem_free(taken);
	return 0;
}

static void printed_address(struct printer *p, const struct ptx_address *a)
{
	const char *name = a->sym >= 0 ? p->m->vars[a->sym].name : p->m->funcs[a->func].name;
	str_addf(p->out, a->generic ? "generic(%s)" : "%s", name);
	offset(p, a->offset);
}

static void initialiser(struct printer *p, const struct ptx_var *v)
{
	uint32_t next = 0;
	unsigned size = ptx_type_bytes((enum ptx_type)v->type);
	uint64_t n = v->size / size, last = n;
	/* Trailing zeroes go without saying, except where the values give the array its size: it is printed with one. */
	while (last > 1) {
		bool zero = true;
		for (unsigned i = 0; i < size; i++)
			zero = zero && v->init[(last - 1) * size + i] == 0;
		if (!zero || (v->address_count && v->addresses[v->address_count - 1].at == (last - 1) * size))
			break;
		last--;
	}
	str_add(p->out, n > 1 || v->is_array ? " = {" : " = ");
	for (uint64_t k = 0; k < last && !p->out->failed; k++) {
		uint64_t bits = 0;
		for (unsigned i = 0; i < size && i < 8; i++)
			bits |= (uint64_t)v->init[k * size + i] << (8 * i);
		if (k)
			str_add(p->out, k % 16 ? ", " : ",\n\t");
		if (next < v->address_count && v->addresses[next].at == k * size)
			printed_address(p, &v->addresses[next++]);
		else if (v->type == PTX_F32)
			str_addf(p->out, "0f%08llX", (unsigned long long)bits);
		else if (v->type == PTX_F64)
			str_addf(p->out, "0d%016llX", (unsigned long long)bits);
		else
			str_addf(p->out, "%llu", (unsigned long long)bits);
	}
	if (n > 1 || v->is_array)
		str_addc(p->out, '}');
}

static void variable(struct printer *p, const struct ptx_var *v)
{
	static const char *const links[] = {"", ".visible ", ".weak ", ".extern "};
	static const char *const opaque[] = {"", "texref", "samplerref", "surfref"};
	if (v->opaque) {
		str_addf(p->out, "%s.global .%s %s;\n", links[v->linkage], opaque[v->opaque], v->name);
		return;
	}
	str_addf(p->out, "%s%s.%s ", v->func >= 0 ? "\t" : "", links[v->linkage],
		 v->space == PTX_TEX ? "tex" : ptx_word_of(M_SPACE, v->space));
	if (v->managed)
		str_add(p->out, ".attribute(.managed) ");
	if (v->align)
		str_addf(p->out, ".align %u ", v->align);
	if (v->vec > 1)
		str_addf(p->out, ".v%u ", v->vec);
	str_addf(p->out, ".%s %s", ptx_type_name((enum ptx_type)v->type), v->name);
	if (v->external)
		str_add(p->out, "[]");
	else if (v->is_array)
		str_addf(p->out, "[%llu]", (unsigned long long)v->count);
	if (v->init)
		initialiser(p, v);
	str_add(p->out, ";\n");
}

static void head(struct printer *p, const struct ptx_func *f)
{
	static const char *const links[] = {"", ".visible ", ".weak ", ".extern "};
	str_addf(p->out, "\n%s%s ", links[f->linkage], f->entry ? ".entry" : ".func");
	if (f->ret_count)
		param_list(p, f->rets, f->ret_count, " ");
	str_add(p->out, f->name);
	str_addc(p->out, ' ');
	param_list(p, f->params, f->param_count, "");
}

static int body(struct printer *p, uint32_t index)
{
	const struct ptx_func *f = p->f;
	uint32_t label = 0, note = 0;
	if (f->refused) {
		str_addf(p->out, "\n%s%s\n", f->pragmas, f->text);
		return 0;
	}
	str_addf(p->out, "\n%s{\n", f->pragmas);
	if (registers(p))
		return -ENOMEM;
	for (uint32_t i = 0; i < p->m->var_count; i++)
		if (p->m->vars[i].func == (int32_t)index)
			variable(p, &p->m->vars[i]);
	for (uint32_t i = 0; i <= f->inst_count; i++) {
		for (; label < f->label_count && f->labels[label].inst == i; label++)
			str_addf(p->out, "%s:\n", f->labels[label].name);
		for (; note < f->note_count && f->notes[note].inst == i; note++)
			str_addf(p->out, "\t.pragma \"%s\";\n", f->notes[note].text);
		if (i < f->inst_count)
			inst(p, &f->insts[i]);
	}
	str_add(p->out, "}\n");
	return 0;
}

int ptx_print(struct str *out, const struct ptx_module *m)
{
	struct printer p = {.out = out, .m = m};
	str_addf(out, ".version %d.%d\n.target %s\n.address_size %d\n\n", m->version / 10, m->version % 10, m->target,
		 m->address_size);
	for (uint32_t i = 0; i < m->item_count; i++) {
		const struct ptx_item *item = &m->items[i];
		if (item->kind == PTX_ITEM_VAR) {
			variable(&p, &m->vars[item->index]);
			continue;
		}
		p.f = &m->funcs[item->index];
		head(&p, p.f);
		if (item->kind == PTX_ITEM_HEAD)
			str_add(out, ";\n");
		else if (body(&p, item->index))
			return -ENOMEM;
	}
	return out->failed ? -ENOMEM : 0;
}
