/* The image that the fake linker returns: a small ELF file with the kernel's instructions, as a compiler that changes
 * nothing would write them. It has the PTX itself, too, for the fake loader. */
#include "base/arena.h"
#include "base/str.h"
#include "fake_state.h"
#include <elf.h>
#include <stdio.h>
#include <string.h>

#define INST_BYTES 16
#define CLOCK_LO   0x50
#define CODE_ALIGN 8 /* instructions; the real ones pad to 128 bytes too */

static const char names[] = "\0.shstrtab\0.fake.ptx\0.text.";

/* The native opcode that a PTX operation becomes: its register form. */
static unsigned alu_opcode(const struct func_info *i)
{
	bool f16 = i->type == PTX_F16 || i->type == PTX_F16X2, f32 = i->type == PTX_F32, f64 = i->type == PTX_F64;

	switch (i->ptx_op) {
	case PTX_OP_ADD:
	case PTX_OP_SUB:
		return f64 ? 0x229 : f32 ? 0x221 : f16 ? 0x230 : 0x210;
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
		return 0x202;
	}
}

static unsigned opcode(const struct func_inst *i, const struct func_info *info)
{
	switch ((enum func_kind)i->kind) {
	case FUNC_CLOCK:
		return 0x805;
	case FUNC_LOAD:
		return i->space == PTX_SHARED  ? 0x984
		       : i->space == PTX_CONST ? 0xb82
		       : i->space == PTX_LOCAL ? 0x983
					       : 0x981;
	case FUNC_STORE:
		return 0x986;
	case FUNC_ATOMIC:
		return 0x9a8;
	case FUNC_BRANCH:
		return 0x947;
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

static void put_code(uint8_t *out, const struct func_program *p, uint32_t padded)
{
	for (uint32_t pc = 0; pc < padded; pc++) {
		uint64_t lo = 0x918, hi = 0; /* NOP */
		if (pc < p->inst_count) {
			lo = opcode(&p->inst[pc], &p->info[pc]);
			/* What makes two kernels differ: operands, roughly where the real encoding has them. */
			lo |= ((uint64_t)p->inst[pc].dst & 0xff) << 16 | ((uint64_t)p->inst[pc].a & 0xff) << 24 |
			      ((uint64_t)p->inst[pc].b & 0xff) << 32;
			if (p->inst[pc].kind == FUNC_CLOCK)
				hi = CLOCK_LO << 8;
		} else if (pc == p->inst_count) {
			lo = 0x947; /* the branch to itself behind the last exit */
		}
		memcpy(out + pc * INST_BYTES, &lo, 8);
		memcpy(out + pc * INST_BYTES + 8, &hi, 8);
	}
}

int fake_image_write(struct CUlinkState_st *l, const struct func_program *p, const struct sim_spec *s)
{
	uint32_t padded = (p->inst_count + 1 + CODE_ALIGN - 1) / CODE_ALIGN * CODE_ALIGN;
	size_t string_bytes = sizeof names + strlen(p->name), text_bytes = l->text.len + 1,
	       code_bytes = padded * INST_BYTES;
	size_t strings = sizeof(Elf64_Ehdr), text = strings + string_bytes, code = (text + text_bytes + 15) / 16 * 16,
	       headers = code + code_bytes, total = headers + 4 * sizeof(Elf64_Shdr);
	uint8_t *out = mem_zero(total, 1);

	if (!out)
		return -1;
	Elf64_Ehdr h = {.e_type = ET_EXEC,
			.e_machine = 190, /* CUDA */
			.e_version = EV_CURRENT,
			.e_shoff = headers,
			.e_flags = (Elf64_Word)s->cc,
			.e_ehsize = sizeof h,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 4,
			.e_shstrndx = 1};
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	Elf64_Shdr section[4] = {
	    {0},
	    {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = string_bytes, .sh_addralign = 1},
	    {.sh_name = 11, .sh_type = SHT_PROGBITS, .sh_offset = text, .sh_size = text_bytes, .sh_addralign = 1},
	    {.sh_name = 21,
	     .sh_type = SHT_PROGBITS,
	     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
	     .sh_offset = code,
	     .sh_size = code_bytes,
	     .sh_info = p->registers << 24,
	     .sh_addralign = 16},
	};
	memcpy(out, &h, sizeof h);
	memcpy(out + strings, names, sizeof names - 1);
	memcpy(out + strings + sizeof names - 1, p->name, strlen(p->name) + 1);
	memcpy(out + text, str_text(&l->text), text_bytes);
	put_code(out + code, p, padded);
	/* Behind the code, which is a multiple of 16 bytes, so aligned. */
	memcpy(out + headers, section, sizeof section);
	l->image = out;
	l->image_bytes = total;
	return 0;
}

const char *fake_image_text(const void *image, size_t *bytes, char *entry, size_t entry_bytes)
{
	Elf64_Ehdr h;
	Elf64_Shdr section[4];

	memcpy(&h, image, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_machine != 190 || h.e_shnum != 4)
		return NULL;
	memcpy(section, (const char *)image + h.e_shoff, sizeof section);
	*bytes = section[2].sh_size - 1;
	snprintf(entry, entry_bytes, "%s", (const char *)image + section[1].sh_offset + sizeof names - 1);
	return (const char *)image + section[2].sh_offset;
}
