/* The image that the linker returns: an ELF file, as NVIDIA's is, with the program's PTX and with each kernel's native instructions. Those are as
 * many as the GPU's description says, in the encoding that Volta and later have. The PTX alone says what they compute. */
#include "exec/driver.h"
#include "gpu/sim/sim.h"
#include <elf.h>
#include <string.h>

#define MACHINE	     190 /* CUDA */
#define INST_BYTES   16
#define CLOCK_LO     0x50 /* the special register */
#define CODE_ALIGN   8	  /* instructions: real code is padded to 128 bytes */
#define REGISTERS_AT 24	  /* bits of a section's sh_info that its kernel's registers are above */
#define PTX_SECTION  ".fathom.ptx"
#define CODE_SECTION ".text."
#define SHSTRTAB     ".shstrtab"

/* Instructions of which this file itself makes more, and what says that nothing follows. */
enum { IADD3 = 0x210, MOV = 0x202, BRA = 0x947, NOP = 0x918 };

/* The native opcode that a PTX operation becomes: its register form. */
static unsigned alu_opcode(const struct func_info *i)
{
	const bool f16 = i->type == PTX_F16 || i->type == PTX_F16X2, f32 = i->type == PTX_F32, f64 = i->type == PTX_F64;
	switch (i->ptx_op) {
	case PTX_OP_ADD:
	case PTX_OP_SUB:
		return f64 ? 0x229 : f32 ? 0x221 : f16 ? 0x230 : IADD3;
	case PTX_OP_MUL:
		return f64 ? 0x228 : f32 ? 0x220 : f16 ? 0x232 : 0x224;
	case PTX_OP_MAD:
	case PTX_OP_FMA:
		return f64 ? 0x22b : f32 ? 0x223 : f16 ? 0x231 : 0x224;
	case PTX_OP_SETP:
		return 0x20c;
	case PTX_OP_AND:
	case PTX_OP_OR:
	case PTX_OP_XOR:
		return 0x212;
	case PTX_OP_SHL:
	case PTX_OP_SHR:
		return 0x219;
	default:
		return MOV;
	}
}

static unsigned load_opcode(uint8_t space)
{
	switch (space) {
	case PTX_SHARED:
		return 0x984;
	case PTX_CONST:
		return 0xb82;
	case PTX_LOCAL:
		return 0x983;
	case PTX_TEX:
		return 0x361;
	default:
		return 0x981;
	}
}

static unsigned opcode(const struct func_inst *i, const struct func_info *info)
{
	switch ((enum func_kind)i->kind) {
	case FUNC_CLOCK:
		return 0x805;
	case FUNC_LOAD:
		return load_opcode(i->space);
	case FUNC_STORE:
		return 0x986;
	case FUNC_ATOMIC:
		return 0x9a8;
	case FUNC_BRANCH:
		return BRA;
	case FUNC_BARRIER:
		return 0xb1d;
	case FUNC_FENCE:
		return 0x992;
	case FUNC_EXIT:
		return 0x94d;
	case FUNC_ALU:
	case FUNC_KINDS:
		break;
	}
	return alu_opcode(info);
}

static void put(struct str *out, uint64_t low, uint64_t high, uint32_t times)
{
	const uint64_t word[2] = {low, high};
	for (; times; times--)
		str_addn(out, (const char *)word, sizeof word);
}

static void put_code(struct str *out, const struct CUfunc_st *f, const struct sim_spec *s)
{
	const struct func_program *p = f->program;
	const size_t begin = out->len;
	for (uint32_t pc = 0; pc < p->inst_count; pc++) {
		const struct func_inst *i = &p->inst[pc];
		if (p->info[pc].fused || (p->operand && p->operand[pc] == FUNC_OPERAND_LOAD))
			continue;
		const struct sim_steps n = sim_steps(s, p, f->time, pc);
		/* What makes two kernels differ: operands, about where the real encoding has them. */
		const uint64_t operands =
		    ((uint64_t)i->dst & 0xff) << 16 | ((uint64_t)i->a & 0xff) << 24 | ((uint64_t)i->b & 0xff) << 32;
		put(out, IADD3, 0, n.address);
		put(out, BRA, 0, n.beside);
		put(out, opcode(i, &p->info[pc]) | operands, i->kind == FUNC_CLOCK ? CLOCK_LO << 8 : 0, n.own);
	}
	put(out, BRA, 0, 1); /* to itself, behind the last exit */
	while ((out->len - begin) % (INST_BYTES * CODE_ALIGN) && !out->failed)
		put(out, NOP, 0, 1);
}

/* A section's header, for the bytes that come next. */
static Elf64_Shdr begin(struct str *out, struct str *names, const char *prefix, const char *name)
{
	const Elf64_Shdr s = {.sh_name = (Elf64_Word)names->len, .sh_type = SHT_PROGBITS, .sh_addralign = INST_BYTES};
	str_addf(names, "%s%s", prefix, name);
	str_addc(names, '\0');
	while (out->len % INST_BYTES && !out->failed)
		str_addc(out, '\0');
	return s;
}

int exec_image_write(struct str *out, const char *text, const struct CUfunc_st *functions, const struct sim_spec *s)
{
	Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_EXEC,
			.e_machine = MACHINE,
			.e_version = EV_CURRENT,
			.e_flags = (Elf64_Word)s->cc,
			.e_ehsize = sizeof h,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 1};
	struct str names, headers;
	Elf64_Shdr section = {0};
	str_init(&names);
	str_init(&headers);
	str_addc(&names, '\0');
	str_addn(&headers, (const char *)&section, sizeof section);
	str_addn(out, (const char *)&h, sizeof h);
	section = begin(out, &names, PTX_SECTION, "");
	section.sh_offset = out->len;
	section.sh_size = strlen(text) + 1;
	str_addn(out, text, section.sh_size);
	str_addn(&headers, (const char *)&section, sizeof section);
	h.e_shnum++;
	for (const struct CUfunc_st *f = functions; f; f = f->next) {
		if (!f->program)
			continue;
		section = begin(out, &names, CODE_SECTION, f->name);
		section.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
		section.sh_info = (f->program->registers < UINT8_MAX ? f->program->registers : UINT8_MAX)
				  << REGISTERS_AT;
		section.sh_offset = out->len;
		put_code(out, f, s);
		section.sh_size = out->len - section.sh_offset;
		str_addn(&headers, (const char *)&section, sizeof section);
		h.e_shnum++;
	}
	section = begin(out, &names, SHSTRTAB, "");
	section.sh_type = SHT_STRTAB;
	section.sh_offset = out->len;
	section.sh_size = names.len;
	str_addn(out, str_text(&names), names.len);
	str_addn(&headers, (const char *)&section, sizeof section);
	h.e_shstrndx = h.e_shnum++;
	begin(out, &names, "", ""); /* aligned */
	h.e_shoff = out->len;
	str_addn(out, str_text(&headers), headers.len);
	const bool failed = out->failed || names.failed || headers.failed;
	if (!failed)
		memcpy(out->data, &h, sizeof h);
	str_free(&names);
	str_free(&headers);
	return failed ? -1 : 0;
}

const char *exec_image_ptx(const void *image)
{
	const char *at = image;
	Elf64_Ehdr h;
	Elf64_Shdr names, s;
	memcpy(&h, image, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_machine != MACHINE || h.e_shentsize != sizeof s)
		return NULL;
	memcpy(&names, at + h.e_shoff + h.e_shstrndx * sizeof s, sizeof names);
	for (unsigned k = 0; k < h.e_shnum; k++) {
		memcpy(&s, at + h.e_shoff + k * sizeof s, sizeof s);
		if (!strcmp(at + names.sh_offset + s.sh_name, PTX_SECTION))
			return at + s.sh_offset;
	}
	return NULL;
}
