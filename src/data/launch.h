/* A kernel and one launch of it, as values: no device pointer, no file handle. Passes through pipes unchanged. */
#ifndef FATHOM_LAUNCH_H
#define FATHOM_LAUNCH_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* BUFFER_HOST: the host's memory, which kernels read where it lies. It has content, and no kernel writes to it. */
enum buffer_space { BUFFER_GLOBAL, BUFFER_CONSTANT, BUFFER_HOST };

/* One memory object of a launch. Content is set before every launch, in this order: zero, then bytes, then ring.
 * Instead of zero it is what the last launch left, if `keep` and nothing else differs. A kernel writes only to its
 * output and to buffers without init and ring. What has content of its own may thus stay on the device from launch to
 * launch. */
struct launch_buffer {
	enum buffer_space space;
	char symbol[64];  /* BUFFER_CONSTANT: the module's .const variable that it fills */
	uint64_t bytes;	  /* size; global buffers are aligned to at least `align` */
	uint64_t align;	  /* 0 = 256 */
	const void *init; /* first init_bytes of content, or NULL */
	uint64_t init_bytes;
	const uint64_t *ring; /* pointer chase: the word at byte ring[i] leads to ring[(i+1) % ring_count] */
	uint32_t ring_count;
	uint8_t ring_word;  /* 8: u64 device address of the target. 4: u32 byte offset of the target in the buffer */
	uint32_t ring_unit; /* ring_word 4: offsets are divided by this, 0 = 1. 4: indices of 32-bit texels */
	bool as_is; /* no content: whatever is there stays, and kernels may write. For buffers as large as the memory */
	bool output; /* its first output_words u32 words come back as the sample; at most one per launch */
	uint32_t output_words;
};

enum arg_kind { ARG_U32, ARG_U64, ARG_F32, ARG_F64, ARG_BUFFER, ARG_TEXTURE };
struct launch_arg {
	enum arg_kind kind;
	uint64_t bits; /* value; ARG_BUFFER: offset added to the buffer's base address */
	uint32_t
	    buffer; /* ARG_BUFFER: index in buffers; passed as a 64-bit address. ARG_TEXTURE: index in textures; passed as
			  * a 64-bit handle, for tex.1d.v4.u32.s32 {a, b, c, d}, [handle, {x}] */
};

/* A texture on a global buffer. The texels lie from the buffer's first byte on, row by row, slice by slice, the channels of
 * one side by side, without gaps. Only kernels without .tex variables are meant: textures are named by handles. */
enum texel_type { TEXEL_U8, TEXEL_U16, TEXEL_U32, TEXEL_S8, TEXEL_S16, TEXEL_S32, TEXEL_F16, TEXEL_F32 };
enum texture_address { TEXTURE_CLAMP, TEXTURE_WRAP, TEXTURE_MIRROR, TEXTURE_BORDER };
enum texture_place {
	TEXTURE_IN_PLACE, /* the buffer itself: one dimension ("linear memory": point filter, coordinates count texels, zero
			   * outside) or two (rows of a multiple of 32 bytes). What a pointer chase wants */
	TEXTURE_ARRAY, /* copied, before the first launch, to an array in the GPU's own order of texels */
};
struct launch_texture {
	uint32_t buffer; /* index in buffers: global, not the output */
	enum texture_place place;
	uint32_t size[3]; /* texels: width, height, depth; height 0: one dimension, depth 0: two */
	enum texel_type type;
	uint32_t channels;	/* 1, 2 or 4; missing ones read as 0 */
	bool normalized_values; /* 8- and 16-bit integers read as f32 in [0, 1] or [-1, 1] */
	bool normalized_coords; /* f32 coordinates go from 0 to 1 over the texture instead of counting texels */
	bool linear; /* filter between 2, 4 or 8 texels, with fractions of 1/256; else the texel that is hit */
	enum texture_address
	    address[3]; /* outside, a dimension each. WRAP and MIRROR need normalized_coords, else they are CLAMP */
};

#define LAUNCH_BUFFERS	8
#define LAUNCH_ARGS	24
#define LAUNCH_TEXTURES 4

enum carveout { CARVEOUT_DEFAULT, CARVEOUT_MAX_L1, CARVEOUT_MAX_SHARED };

/* What sample.elapsed_ms covers. KERNEL: the last repeat's kernel, from its launch to its end. COPY_IN: the copy before
 * it, of all bytes of the output buffer's initial content to the device. COPY_OUT: the copy after it, of the output
 * words back to the host. LAUNCHES: all repeats, from the first one's launch to the last one's end.
 *
 * With SPAN_KERNELS every repeat has two more words behind its output: how many nanoseconds its kernel took, the low
 * word first. With SPAN_COPIES it has four, the nanoseconds of launch.copy. Two are by the device's timer, 0 if that
 * cannot tell, and two by the host's clock. */
enum launch_span { SPAN_KERNEL, SPAN_COPY_IN, SPAN_COPY_OUT, SPAN_KERNELS, SPAN_LAUNCHES, SPAN_COPIES };
#define LAUNCH_TIMED 32 /* repeats of a launch with SPAN_KERNELS, at most */

/* Copies between memory of the host's and memory of the device's that serves for nothing else. Both ways begin together. With SPAN_COPIES
 * they are timed, and the launch has no output. */
struct launch_copy {
	uint64_t in, out; /* bytes to the device, and from it; 0: no such copy */
	bool pinned; /* the host's memory is such that the device reaches it by itself, else as any program has it */
	bool
	    beside; /* the kernel is launched together with them, and its end counts, too; else it does not run at all */
};
#define COPY_WORDS 4

struct launch {
	char label[256]; /* names the point: replay finds it by this. "constant.chase x=4096 stride=16" */
	char entry[64];	 /* .entry name */
	uint32_t grid[3], block[3];
	uint32_t shared_bytes; /* dynamic shared memory */
	enum carveout carveout;
	/* Percent of the most shared memory of an SM that it is to have, if launches choose how it and the L1 divide
	 * their memory. A hint that comes before the carve-out; 0: none. */
	uint32_t shared_percent;
	uint32_t
	    bank_bytes; /* after which shared memory's next bank follows, a hint as the carve-out is; 0: as it is set */
	struct launch_buffer buffers[LAUNCH_BUFFERS];
	uint32_t buffer_count;
	struct launch_arg args[LAUNCH_ARGS];
	uint32_t arg_count;
	struct launch_texture textures[LAUNCH_TEXTURES];
	uint32_t texture_count;
	uint32_t repeats; /* the kernel is launched this often; the sample holds every launch's words in turn. 0 = 1 */
	uint32_t warmups; /* launches before, whose words are dropped */
	bool flush;	  /* before each launch, evict what earlier launches left in caches (best effort) */
	uint32_t time_limit_ms; /* 0 = the backend's default */
	bool
	    compiled; /* simulated GPUs: run it in the order that the modelled device's compiler gives it, not as it is written.
				 * Probes leave it off: their code says what it measures */
	bool may_hang; /* it may be one that never ends: run where nothing else is lost with it */
	enum launch_span timed;
	struct launch_copy copy;
};

/* Words that each repeat of the launch answers with. */
uint32_t launch_words(const struct launch *l);
/* Puts the time of repeat r behind its words. words: those of all repeats, each of them launch_words long. */
void launch_set_time(const struct launch *l, uint32_t *words, uint32_t r, double ns);
/* The same of both times of copies. device_ns: negative where the device cannot tell. */
void launch_set_copy_time(const struct launch *l, uint32_t *words, uint32_t r, double device_ns, double host_ns);
/* Whether copies and what is timed go together. 0 or -EINVAL and a sentence. */
int launch_check_copy(const struct launch *l, struct err *e);
/* Whether buffer i and its content make sense, whatever runs them. A ring's words can have `pointers` bytes on the
 * device: 4, or 8 for both. Returns 0 or -EINVAL and a sentence. */
int launch_check_buffer(const struct launch *l, uint32_t i, uint32_t pointers, struct err *e);
uint32_t texel_bytes(enum texel_type t); /* of one channel */
/* Whether the launch's textures and their arguments make sense, whatever runs them. 0 or -EINVAL and a sentence. */
int launch_check_textures(const struct launch *l, struct err *e);

enum outcome { OUTCOME_OK, OUTCOME_REFUSED, OUTCOME_TIMEOUT, OUTCOME_DEADLOCK, OUTCOME_INVALID, OUTCOME_CRASH };
const char *outcome_name(enum outcome o); /* "OK" ... */
/* It never ended: stopped from outside, or shown that it cannot end. */
bool outcome_hangs(enum outcome o);
int outcome_parse(const char *name, enum outcome *o);

/* What came back. Words are raw: nothing was subtracted or averaged. */
struct sample {
	enum outcome outcome;
	uint32_t repeats, words_per_repeat;
	uint32_t *words; /* repeats * words_per_repeat; mem_free */
	double
	    elapsed_ms; /* launch.timed, by the device's timer where the backend has one, else wall time; < 0 unknown */
	char message[256]; /* why, when not OK */
};
void sample_free(struct sample *s);

#endif
