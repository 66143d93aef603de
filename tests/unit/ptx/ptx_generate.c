#include "ptx_generate.h"
#include "ptx/ptx.h"
#include <string.h>

struct shape {
	const char *name, *operands;
	int types, types2; /* whether it has them */
};
static const struct shape shapes[] = {
#define PTX_OP(id, name, operands, types, types2, ...) {name, operands, #types[0] != '0', #types2[0] != '0'},
#include "ptx/ops.def"
#undef PTX_OP
};

static const char *pick(struct rng *r, const char *const *list, size_t n)
{
	return list[rng_below(r, n)];
}
#define PICK(r, ...)                                                                                                   \
	pick((r), (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void reg_of(struct str *out, struct rng *r, enum ptx_type t)
{
	static const char *const prefix[PTX_TYPES] = {
	    [PTX_PRED] = "%p",	[PTX_B8] = "%h",   [PTX_B16] = "%h",  [PTX_B32] = "%r",	 [PTX_B64] = "%rd",
	    [PTX_B128] = "%rd", [PTX_U8] = "%us",  [PTX_U16] = "%us", [PTX_U32] = "%u",	 [PTX_U64] = "%ud",
	    [PTX_S8] = "%ss",	[PTX_S16] = "%ss", [PTX_S32] = "%s",  [PTX_S64] = "%sd", [PTX_F16] = "%h",
	    [PTX_F16X2] = "%r", [PTX_F32] = "%f",  [PTX_F64] = "%fd"};
	str_addf(out, "%s%u", prefix[t] ? prefix[t] : "%r", (unsigned)rng_below(r, 4));
}

static void source_of(struct str *out, struct rng *r, enum ptx_type t)
{
	if (rng_below(r, 3) || t == PTX_PRED) {
		reg_of(out, r, t);
		return;
	}
	switch (ptx_type_class(t)) {
	case 'f':
		str_add(out, PICK(r, "0f3F800000", "0d4000000000000000", "1.5", "-2.0", "0f7FC00000"));
		break;
	default:
		str_add(out, PICK(r, "0", "7", "-1", "0x7f", "0b101", "017", "63U", "WARP_SZ"));
	}
}

static enum ptx_type any_type(struct rng *r)
{
	return (enum ptx_type)(1 + rng_below(r, PTX_TYPES - 1));
}

static enum ptx_type twice(enum ptx_type t)
{
	return t == PTX_U16 ? PTX_U32 : t == PTX_S16 ? PTX_S32 : t == PTX_U32 ? PTX_U64 : t == PTX_S32 ? PTX_S64 : t;
}

static void operand(struct str *out, struct rng *r, char letter, enum ptx_type t, enum ptx_type t2, const char *mods)
{
	bool wide = strstr(mods, ".wide");
	const char *space = strstr(mods, ".shared") ? "pool" : strstr(mods, ".const") ? "table" : "cell";
	switch (letter) {
	case 'd':
	case 'z':
	case 'V':
		reg_of(out, r, t);
		break;
	case 'Q':
		reg_of(out, r, t);
		str_add(out, rng_below(r, 2) ? "|%p1" : "");
		break;
	case 'D':
		reg_of(out, r, wide ? twice(t) : t);
		break;
	case 't':
		reg_of(out, r, t2);
		break;
	case 'e':
		reg_of(out, r, PTX_U32);
		break;
	case 'P':
		str_add(out, PICK(r, "%p0", "%p1|%p2", "%p3"));
		break;
	case 'B':
		reg_of(out, r, strstr(mods, "ballot") ? PTX_B32 : PTX_PRED);
		break;
	case 'p':
		str_add(out, PICK(r, "%p0", "!%p1"));
		break;
	case 'w':
		source_of(out, r, wide ? twice(t) : t);
		break;
	case 's':
		source_of(out, r, t2);
		break;
	case 'u':
		source_of(out, r, PTX_U32);
		break;
	case 'X':
		if (rng_below(r, 4) == 0)
			str_add(out, PICK(r, "%tid.x", "%clock", "%clock64", "pool", "cell+4", "%laneid"));
		else
			source_of(out, r, t);
		break;
	case 'm':
		if (rng_below(r, 2))
			str_addf(out, "[%s%s]", space, PICK(r, "", "+4", "+-8"));
		else
			str_addf(out, "[%s%s]", PICK(r, "%rd1", "%ud2", "%u1"), PICK(r, "", "+16", "+-4"));
		break;
	case 'l':
		str_add(out, PICK(r, "FIRST", "LAST"));
		break;
	case 'i':
		str_addf(out, "%u", (unsigned)rng_below(r, 256));
		break;
	default:
		source_of(out, r, t);
	}
}

/* Modifiers that the operation often has, so that enough lines are right. */
static const char *some_mods(struct rng *r, const char *name)
{
	static const struct {
		const char *name, *mods[6];
	} usual[] = {
	    {"mul", {".lo", ".hi", ".wide", ".rn", ".rz.ftz", ".ftz.sat"}},
	    {"mad", {".lo", ".hi", ".wide", ".rn", ".rp", ".lo.cc"}},
	    {"madc", {".lo", ".hi", ".lo.cc", ".hi.cc", ".lo", ".hi"}},
	    {"mul24", {".lo", ".hi", ".lo", ".hi", ".lo", ".hi"}},
	    {"mad24", {".lo", ".hi", ".lo", ".hi.sat", ".lo", ".hi"}},
	    {"fma", {".rn", ".rz", ".rm.ftz", ".rp.sat", ".rn.ftz.sat", ".rn.relu"}},
	    {"set", {".lt", ".eq.and", ".geu", ".ne", ".gt.ftz", ".hi"}},
	    {"setp", {".lt", ".eq.and", ".geu", ".ne", ".lo.or", ".num"}},
	    {"cvt", {".rn", "", ".rzi", ".sat", ".rni.ftz", ".rz"}},
	    {"vote.sync", {".all", ".any", ".uni", ".ballot", ".all", ".any"}},
	    {"vote", {".all", ".any", ".sync.uni", ".ballot", ".sync.all", ".any"}},
	    {"shfl", {".up", ".sync.down", ".sync.bfly", ".idx", ".sync.idx", ".bfly"}},
	    {"shf", {".l.wrap", ".l.clamp", ".r.wrap", ".r.clamp", ".l.wrap", ".r.wrap"}},
	    {"match", {".any.sync", ".all.sync", ".any.sync", ".all.sync", ".any.sync", ".all.sync"}},
	    {"ld", {".global", ".shared", ".const", "", ".volatile.global", ".global.cg"}},
	    {"st", {".global", ".shared", "", ".volatile.shared", ".global.wt", ".relaxed.gpu.global"}},
	    {"atom", {".global.add", ".shared.exch", ".min", ".global.cas", ".and", ".relaxed.gpu.global.inc"}},
	    {"red", {".global.add", ".shared.or", ".max", ".global.xor", ".dec", ".release.sys.global.add"}},
	    {"membar", {".cta", ".gl", ".sys", ".cta", ".gl", ".sys"}},
	    {"fence", {".acq_rel.gpu", ".sc.sys", ".cta", ".sc.cta", ".acq_rel.sys", ".gpu"}},
	    {"testp", {".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"}},
	    {"cvta", {".global", ".to.global", ".shared", ".to.shared", ".local", ".const"}},
	    {"isspacep", {".global", ".shared", ".local", ".const", ".global", ".shared"}},
	    {"prefetch", {".global.L1", ".L2", ".global.L2", ".L1", ".local.L1", ".L2"}},
	    {"div", {"", ".rn", ".approx", ".full.ftz", ".rz", ""}},
	};
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (strcmp(usual[i].name, name) == 0)
			return usual[i].mods[rng_below(r, 6)];
	return PICK(r, "", "", "", ".approx", ".ftz", ".rn", ".sat", ".uni", ".cc", ".NaN", ".shiftamt", ".f4e", ".to");
}

void generate_line(struct str *out, struct rng *r)
{
	const struct shape *s = &shapes[rng_below(r, sizeof shapes / sizeof *shapes)];
	enum ptx_type t = any_type(r), t2 = any_type(r);
	const char *mods = some_mods(r, s->name);
	bool optional = rng_below(r, 2), set = strcmp(s->name, "set") == 0;
	if (rng_below(r, 5) == 0)
		str_add(out, PICK(r, "@%p0 ", "@!%p1 "));
	str_addf(out, "%s%s", s->name, mods);
	if (set)
		str_addf(out, ".%s", ptx_type_name(t2));
	if (s->types)
		str_addf(out, ".%s", ptx_type_name(t));
	if (s->types2 && !set)
		str_addf(out, ".%s", ptx_type_name(t2));
	for (const char *c = s->operands, *space = " "; *c; c++) {
		if (*c == '?') {
			if (!optional)
				break;
			continue;
		}
		str_add(out, space);
		space = ", ";
		operand(out, r, *c, t, t2, mods);
	}
	str_add(out, ";\n");
}

void generate_module(struct str *out, const char *lines)
{
	str_add(out, ".version 8.0\n.target sm_90\n.address_size 64\n"
		     ".const .align 4 .u32 table[4] = {1, 2, 3};\n.global .u32 cell[16];\n.shared .b32 pool[16];\n"
		     ".visible .entry k(.param .u64 out)\n{\n"
		     ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .u16 %us<4>;\n.reg .s16 %ss<4>;\n.reg .b32 %r<4>;\n"
		     ".reg .u32 %u<4>;\n.reg .s32 %s<4>;\n.reg .b64 %rd<4>;\n.reg .u64 %ud<4>;\n.reg .s64 %sd<4>;\n"
		     ".reg .f32 %f<4>;\n.reg .f64 %fd<4>;\nFIRST:\n");
	str_add(out, lines);
	str_add(out, "LAST:\n\tret;\n}\n");
}
