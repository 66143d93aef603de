/* Preloaded into programs that have the CUDA runtime inside them, as nvcc links it unless told otherwise. Each of its
 * functions, found in the program's own table of symbols, begins with a jump to that of our libcudart. A stripped
 * program has no such table: it goes to libcuda.so.1, which says what is to be done. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image { /* the program's file */
	const uint8_t *data;
	size_t bytes;
	const Elf64_Sym *symbol;
	size_t count;
	const char *names;
	size_t names_bytes;
};

#if defined __x86_64__
#define JUMP_BYTES 14
static void write_jump(uint8_t *at, uint64_t to)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
	memcpy(at, jump, sizeof jump);
	memcpy(at + sizeof jump, &to, sizeof to);
}
#elif defined __aarch64__
#define JUMP_BYTES 16
static void write_jump(uint8_t *at, uint64_t to)
{
	static const uint32_t jump[] = {0x58000050, 0xd61f0200}; /* ldr x16, .+8; br x16 */
	memcpy(at, jump, sizeof jump);
	memcpy(at + sizeof jump, &to, sizeof to);
	__builtin___clear_cache((char *)at, (char *)at + JUMP_BYTES);
}
#else
#define JUMP_BYTES SIZE_MAX /* static runtimes are not served here */
static void write_jump(uint8_t *at, uint64_t to)
{
	(void)at, (void)to;
}
#endif

static bool inside(const struct image *m, uint64_t at, uint64_t bytes)
{
	return at <= m->bytes && bytes <= m->bytes - at;
}

static bool find_symbols(struct image *m)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)m->data;
	if (m->bytes < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_shentsize != sizeof(Elf64_Shdr) || !inside(m, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
		return false;
	const Elf64_Shdr *section = (const Elf64_Shdr *)(m->data + h->e_shoff);
	for (unsigned k = 0; k < h->e_shnum; k++) {
		const Elf64_Shdr *s = &section[k];
		if (s->sh_type != SHT_SYMTAB || s->sh_link >= h->e_shnum || !inside(m, s->sh_offset, s->sh_size))
			continue;
		const Elf64_Shdr *names = &section[s->sh_link];
		if (!inside(m, names->sh_offset, names->sh_size) || !names->sh_size)
			continue;
		m->symbol = (const Elf64_Sym *)(m->data + s->sh_offset);
		m->count = s->sh_size / sizeof *m->symbol;
		m->names = (const char *)m->data + names->sh_offset;
		m->names_bytes = names->sh_size;
		return m->names[m->names_bytes - 1] == '\0';
	}
	return false;
}

/* Name of the k-th symbol when it is a function of the runtime that is defined here, else NULL. */
static const char *runtime_function(const struct image *m, size_t k)
{
	const Elf64_Sym *s = &m->symbol[k];
	if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF || s->st_name >= m->names_bytes)
		return NULL;
	const char *name = m->names + s->st_name;
	return !strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6) ? name : NULL;
}

static int first_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the program itself comes first */
}

static void *open_runtime(int major)
{
	Dl_info info;
	char path[4096];
	if (!dladdr((const void *)(uintptr_t)open_runtime, &info))
		return NULL;
	const char *slash = strrchr(info.dli_fname, '/');
	int folder = slash ? (int)(slash - info.dli_fname) : 1;
	snprintf(path, sizeof path, "%.*s/libcudart.so.%d", folder, slash ? info.dli_fname : ".", major);
	return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void redirect(const struct image *m)
{
	bool has_runtime = false, twelve = false;
	for (size_t k = 0; k < m->count; k++) {
		const char *name = runtime_function(m, k);
		has_runtime = has_runtime || (name && !strcmp(name, "__cudaRegisterFatBinary"));
		twelve = twelve || (name && !strcmp(name, "cudaGetDeviceProperties_v2"));
	}
	void *lib = has_runtime ? open_runtime(twelve ? 12 : 13) : NULL;
	if (!lib)
		return;
	uint64_t base = 0;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	dl_iterate_phdr(first_base, &base);
	for (size_t k = 0; k < m->count; k++) {
		const char *name = runtime_function(m, k);
		void *to = name ? dlsym(lib, name) : NULL;
		const uint64_t at = base + m->symbol[k].st_value, from = at & ~(page - 1);
		/* A shorter one that begins at a multiple of 16 is followed by nothing up to the next. */
		if (!to || (m->symbol[k].st_size < JUMP_BYTES && at % 16))
			continue;
		const size_t bytes = at + JUMP_BYTES - from;
		if (mprotect((void *)(uintptr_t)from, bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
			continue;
		write_jump((uint8_t *)(uintptr_t)at, (uintptr_t)to);
		mprotect((void *)(uintptr_t)from, bytes, PROT_READ | PROT_EXEC);
	}
}

__attribute__((constructor)) static void begin(void)
{
	struct stat st;
	struct image m = {0};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			m.data = data;
			m.bytes = (size_t)st.st_size;
			if (find_symbols(&m))
				redirect(&m);
			munmap(data, m.bytes);
		}
	}
	close(fd);
}
