/* NVIDIA's compiled image (an ELF file) into native instructions. The encoding of instructions is known only here. */
#include "base/arena.h"
#include "base/str.h"
#include "native/native.h"
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define INST_BYTES   16
#define BASE(opcode) ((opcode)&0x1ff)
/* Opcodes that this file itself asks for, and special registers; all found with the compiler, see opcodes.def. */
#define OP_CS2R	   0x005
#define OP_CS2UR   0x0cb
#define OP_NOP	   0x118
#define OP_S2R	   0x119
#define OP_BRA	   0x147
#define OP_S2UR	   0x1c3
#define SR_CLOCKLO 0x50
#define SR_CLOCKHI 0x51
/* Attribute of .nv.info: registers of one function. Layout: u8 format (4: sized), u8 attribute, u16 size, u32 symbol, u32 count. */
#define NVINFO_SIZED	4
#define NVINFO_REGCOUNT 0x2f

struct opcode {
	uint16_t base;
	int first_cc, last_cc;
	const char *name;
	enum native_class cls;
};

static const struct opcode opcodes[] = {
#define NATIVE_OPCODE(base, first, last, name, cls) {base, first, last, name, cls},
#include "opcodes.def"
#undef NATIVE_OPCODE
};

__attribute__((format(printf, 2, 3))) static void problem(struct native_info *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->problem, sizeof out->problem, fmt, ap);
	va_end(ap);
}

static uint64_t word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static const struct opcode *opcode_find(unsigned base, int cc)
{
	for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
		if (opcodes[i].base == base && cc >= opcodes[i].first_cc && cc <= opcodes[i].last_cc)
			return &opcodes[i];
	return NULL;
}

/* Behind the code stand a branch to itself and no-ops up to the next 128 bytes; they never execute. */
static size_t without_padding(const uint8_t *code, size_t n)
{
	while (n && BASE(word(code + (n - 1) * INST_BYTES)) == OP_NOP)
		n--;
	if (n > 1 && BASE(word(code + (n - 1) * INST_BYTES)) == OP_BRA)
		n--;
	return n;
}

static int decode(struct native_op *op, const uint8_t *inst, int cc, struct arena *a)
{
	unsigned full = (unsigned)(word(inst) & 0xfff), base = BASE(full);
	const struct opcode *o = opcode_find(base, cc);

	if (!o) {
		op->name = arena_printf(a, "0x%03x", full);
		op->cls = NATIVE_UNKNOWN;
		return op->name ? 0 : -1;
	}
	op->name = o->name;
	op->cls = o->cls;
	if (base == OP_CS2R || base == OP_S2R || base == OP_CS2UR || base == OP_S2UR) {
		/* Bits 72..79 name the special register. The high half alone is not a time stamp that opens a region. */
		unsigned sr = (unsigned)(word(inst + 8) >> 8) & 0xff;
		if (sr == SR_CLOCKLO)
			op->cls = NATIVE_CLOCK;
		else if (sr == SR_CLOCKHI)
			op->cls = NATIVE_OTHER;
	}
	return 0;
}

static void decode_text(struct native_info *out, const uint8_t *code, size_t bytes, int cc)
{
	char source[sizeof out->source];
	size_t n = without_padding(code, bytes / INST_BYTES);
	struct arena a;
	bool ok = true;

	snprintf(source, sizeof source, "cubin sm_%d", cc);
	arena_init(&a);
	struct native_op *ops = ARENA_ARRAY(&a, n ? n : 1, struct native_op);
	for (size_t i = 0; ops && ok && i < n; i++)
		ok = decode(&ops[i], code + i * INST_BYTES, cc, &a) == 0;
	for (size_t i = 0; ops && i < n; i++)
		ops[i].address = (uint32_t)(i * INST_BYTES);
	if (ops && ok) {
		native_count(out, ops, n, source);
		out->layout.code_bytes = (uint32_t)(n * INST_BYTES);
		uint64_t h = hash64(code, n * INST_BYTES, 0);
		out->fingerprint = n ? h | (h == 0) : 0;
	} else {
		problem(out, "out of memory while decoding the compiled kernel");
	}
	arena_free(&a);
}

static uint32_t nvinfo_registers(const uint8_t *p, size_t bytes, uint32_t symbol)
{
	size_t at = 0;

	while (at + 4 <= bytes) {
		unsigned format = p[at], attribute = p[at + 1], size = p[at + 2] | p[at + 3] << 8;
		at += 4;
		if (format != NVINFO_SIZED) /* other formats keep their value in the two bytes of the size */
			continue;
		if (size > bytes - at)
			break;
		if (attribute == NVINFO_REGCOUNT && size >= 8) {
			uint32_t v[2];
			memcpy(v, p + at, sizeof v);
			if (v[0] == symbol)
				return v[1];
		}
		at += size;
	}
	return 0;
}

struct image {
	Elf_Data *text, *info, *symbols;
	GElf_Word text_info;
	size_t strings; /* section of the symbols' names */
};

static bool image_sections(struct image *im, Elf *elf, const char *entry)
{
	size_t names;
	char want[160];
	Elf_Scn *s = NULL;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	snprintf(want, sizeof want, ".text.%s", entry);
	while ((s = elf_nextscn(elf, s))) {
		GElf_Shdr h;
		if (!gelf_getshdr(s, &h))
			return false;
		const char *name = elf_strptr(elf, names, h.sh_name);
		if (!name)
			continue;
		if (!strcmp(name, want)) {
			im->text = elf_rawdata(s, NULL);
			im->text_info = h.sh_info;
		} else if (!strcmp(name, ".nv.info")) {
			im->info = elf_rawdata(s, NULL);
		} else if (h.sh_type == SHT_SYMTAB) {
			im->symbols = elf_getdata(s, NULL);
			im->strings = h.sh_link;
		}
	}
	return im->text && im->text->d_buf && im->text->d_size;
}

static uint32_t image_registers(const struct image *im, Elf *elf, const char *entry)
{
	GElf_Sym sym;

	if (im->text_info >> 24) /* where the older images keep it */
		return im->text_info >> 24;
	if (!im->info || !im->info->d_buf || !im->symbols)
		return 0;
	for (int i = 0; gelf_getsym(im->symbols, i, &sym); i++) {
		const char *name = elf_strptr(elf, im->strings, sym.st_name);
		if (name && GELF_ST_TYPE(sym.st_info) == STT_FUNC && !strcmp(name, entry))
			return nvinfo_registers(im->info->d_buf, im->info->d_size, (uint32_t)i);
	}
	return 0;
}

void native_read_cubin(struct native_info *out, const void *image, size_t bytes, const char *entry, int cc)
{
	struct image im = {0};

	memset(out, 0, sizeof *out);
	if (!image || !bytes) {
		problem(out, "the driver's linker returned no image");
		return;
	}
	if (elf_version(EV_CURRENT) == EV_NONE) {
		problem(out, "libelf is older than this program expects");
		return;
	}
	/* libelf does not write to the bytes of a memory image; its interface merely lacks the const. */
	Elf *elf = elf_memory((char *)(uintptr_t)image, bytes);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		problem(out, "the compiled image of %zu bytes is not an ELF file", bytes);
	else if (!image_sections(&im, elf, entry))
		problem(out, "the compiled image has no code for kernel %.64s", entry);
	else if (cc < 70)
		problem(out, "native code of compute capability %d.%d is not decoded, only 7.0 and later", cc / 10,
			cc % 10);
	else if (im.text->d_size % INST_BYTES)
		problem(out, "the code of %.64s is %zu bytes, not a multiple of %d", entry, im.text->d_size,
			INST_BYTES);
	else
		decode_text(out, im.text->d_buf, im.text->d_size, cc);
	if (!out->problem[0])
		out->registers = image_registers(&im, elf, entry);
	else
		snprintf(out->source, sizeof out->source, "cubin sm_%d", cc);
	elf_end(elf);
}
