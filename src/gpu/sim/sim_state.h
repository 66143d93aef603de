/* Private to the backend. */
#ifndef FATHOM_SIM_STATE_H
#define FATHOM_SIM_STATE_H
#include "gpu/sim/sim.h"
#include "gpu/sim/sim_check.h"

struct sim_kernel {
	char *name, *entry, *text; /* decoded again from these when it was put away */
	struct arena arena;	   /* what was decoded, empty while put away */
	struct func_program *func;
	struct time_program *time;
	struct time_program *compiled; /* in its compiler's order, from the first launch on that asks for it */
	uint64_t used;		       /* run number of the latest use */
};

struct sim_buffer { /* how a region of global memory was last set up */
	uint64_t base, bytes;
	uint64_t content; /* fingerprint; 0 = not set up */
};

struct sim {
	struct gpu gpu;
	struct arena arena; /* spec, when it was opened by name */
	const struct sim_spec *spec;
	struct time_gpu *time;
	struct device_info info;
	struct sim_kernel *kernel;
	uint32_t kernel_count, kernel_cap;
	size_t decoded_bytes;
	uint64_t runs;
	/* memory as the latest launch left it */
	struct func_memory memory;
	struct sim_buffer buffer[LAUNCH_BUFFERS + LAUNCH_TEXTURES]; /* then one a texture; no bytes: in place */
	uint32_t buffer_count;					    /* textures included */
	struct func_texture texture[LAUNCH_TEXTURES];
	uint32_t module;   /* kernel + 1 whose module variables are in memory */
	uint8_t *constant; /* spec->constant_bytes */
	uint64_t constant_content;
	const struct time_hook *hook;
	struct sim_check *check; /* NULL: not asked for */
	struct time_stats *stats;
	uint64_t limit_cycles, limit_instructions;
	const struct func_watch *watch;
	struct sfu *sfu; /* tables of the special function unit; built when the first kernel uses them */
	bool sfu_built;
	bool general, apart, untimed;
	const uint8_t *given[LAUNCH_ARGS]; /* parameters that are given byte by byte, NULL: by the launch */
	struct func_print print;	   /* of the latest launch */
	struct time_result result;
};

int sim_decode(struct sim *g, struct sim_kernel *k, struct err *e);
/* Lays out the launch's buffers; 0, negative, or 1: refused with a sentence in out. */
int sim_memory_layout(struct sim *g, uint32_t id, const struct launch *l, struct sample *out, struct err *e);
int sim_memory_fill(struct sim *g, uint32_t id, const struct launch *l, struct err *e); /* content before a launch */
/* sim_texture.c: bytes of the array that texture n of the launch is copied to, 0 when it lies in place. */
uint64_t sim_texture_bytes(const struct sim *g, const struct launch *l, uint32_t n);
void sim_textures_place(struct sim *g, const struct launch *l);		     /* g->texture, once the layout is known */
int sim_textures_fill(struct sim *g, const struct launch *l, struct err *e); /* arrays, once the buffers are filled */
/* sim_host.c. Whether what a launch that did not end well has computed is wanted. */
bool sim_keeps(const struct sim *g, const struct sample *s);
/* One launch of the kernel. 0, negative, or 1: it did not end well, as out says. */
int sim_kernel_once(struct sim *g, uint32_t id, const struct launch *l, struct func_launch *f,
		    const struct time_request *q, struct sample *out, struct err *e);
/* A launch whose copies are timed: each repeat takes as long. 0 or negative. */
int sim_copies(struct sim *g, uint32_t id, const struct launch *l, struct func_launch *f, const struct time_request *q,
	       struct sample *out, struct err *e);
/* One copy, or all of a launch, beside a kernel that takes so long. bandwidth: bytes a second, 0: no limit. */
double sim_copy_seconds(const struct sim_spec *s, double bandwidth, uint64_t bytes);
double sim_copies_seconds(const struct sim_spec *s, const struct launch_copy *c, double kernel);
void sim_memory_check(struct sim *g, const struct launch *l); /* what the launch has content for, and what not */
void sim_memory_close(struct sim *g);
int sim_native(struct native_info *out, const struct sim_spec *s, const struct func_program *f,
	       const struct time_program *t);

#endif
