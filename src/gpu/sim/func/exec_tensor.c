/* Copies of tensors, piece by piece: where each lies in global and in shared memory (PTX manual, tensors: tile and im2col modes). */
#include "exec.h"
#include "gpu/sim/func/tensor.h"
#include <assert.h>
#include <string.h>

_Static_assert(sizeof(struct func_tensor) <= TENSOR_BYTES, "a program keeps 128 bytes for a map");

enum { PIECE = 16, SHARED_ALIGN = 128, HALF = TENSOR_BYTES / 2, TF32_SHIFT = 13 };

static void refuse(struct func_warp *w, enum func_fault why, uint64_t address, uint32_t lane)
{
	w->fault = (uint8_t)why;
	w->fault_lane = (uint8_t)lane;
	w->fault_address = address;
}

static bool map_of(struct func_warp *w, uint64_t address, uint32_t lane, struct func_tensor *t)
{
	uint8_t all[TENSOR_BYTES];
	for (unsigned at = 0; at < TENSOR_BYTES; at += HALF) {
		const uint8_t *p = exec_find(w, PTX_GENERIC, lane, address + at, HALF, false);
		if (!p)
			return false;
		memcpy(all + at, p, HALF);
	}
	memcpy(t, all, sizeof *t);
	if (t->magic == TENSOR_MAGIC)
		return true;
	refuse(w, FUNC_FAULT_TENSOR, address, lane);
	return false;
}

/* Elements of a line of the box, and its lines. The steps of the first dimension are not looked at. */
static unsigned line_of(const struct func_tensor *t)
{
	return t->box[0];
}

static unsigned lines_of(const struct func_tensor *t)
{
	unsigned n = 1;
	if (t->column)
		return t->box[1];
	for (unsigned k = 1; k < t->rank; k++)
		n *= (t->box[k] + t->step[k] - 1u) / t->step[k];
	return n;
}

static bool rounds(const struct func_tensor *t, uint64_t flags)
{
	return flags & EXEC_TENSOR_LOADS && t->type >= TENSOR_F32_FTZ;
}

/* Bytes that are copied together: 16 where all lines begin and end at such places and nothing else is done to elements, else an element. What leaves
 * goes in pieces of 16 bytes, the last of a line also where the tensor ends within it (seen on an H200). */
static unsigned piece_of(const struct func_tensor *t, int32_t first, uint64_t flags)
{
	const unsigned bytes = tensor_element(t->type);
	const uint64_t at = (uint64_t)((int64_t)first * bytes),
		       size = flags & EXEC_TENSOR_LOADS ? (uint64_t)t->size[0] * bytes : 0;
	return (at | size | t->box[0] * bytes) % PIECE || t->nan || flags & EXEC_TENSOR_REDUCES || rounds(t, flags)
		   ? bytes
		   : PIECE;
}

/* A box begins at a multiple of 16 bytes, or it is an illegal instruction (seen on an H200, as the faults below). In
 * dst: pieces; more[0]: bytes of the box. In a: the map; b: the first coordinate; imm: flags */
void exec_wide_tensor(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH_LANE(l, mask)
	{
		struct func_tensor t;
		if (!map_of(w, exec_row64(w, i->a)[l], l, &t))
			return;
		if (exec_row(w, i->b)[l] * tensor_element(t.type) % PIECE) {
			refuse(w, FUNC_FAULT_TENSOR, exec_row64(w, i->a)[l], l);
			return;
		}
		const unsigned bytes = line_of(&t) * lines_of(&t) * tensor_element(t.type),
			       piece = piece_of(&t, (int32_t)exec_row(w, i->b)[l], i->imm);
		exec_row(w, i->dst)[l] = bytes / piece;
		exec_row(w, i->more[0])[l] = bytes;
	}
}
EXEC_FORWARD(tensor)

/* Elements of the first dimension that a copy reaches. */
static int64_t reach_of(const struct func_tensor *t, unsigned flags)
{
	const unsigned each = PIECE / tensor_element(t->type);
	return flags & EXEC_TENSOR_LOADS ? t->size[0] : (t->size[0] + (int64_t)each - 1) / each * each;
}

/* What leaves begins inside, and the place in shared memory is one of 128 bytes. */
static bool may_begin(struct func_warp *w, const struct func_tensor *t, const int64_t *at, unsigned flags, uint64_t map,
		      uint64_t shared, uint32_t lane)
{
	bool inside = true;
	for (unsigned k = 0; k < t->rank; k++)
		inside &= flags & EXEC_TENSOR_LOADS || t->column || at[k] >= 0;
	if (!inside)
		refuse(w, FUNC_FAULT_TENSOR, map, lane);
	else if (shared % SHARED_ALIGN)
		refuse(w, FUNC_FAULT_ALIGN, shared, lane);
	return !w->fault;
}

/* The coordinates of a line of the box. */
static void tile(const struct func_tensor *t, unsigned line, int64_t *at)
{
	for (unsigned k = 1; k < t->rank; k++) {
		const unsigned n = (t->box[k] + t->step[k] - 1u) / t->step[k];
		at[k] += (int64_t)(line % n) * t->step[k];
		line /= n;
	}
}

/* Pixels follow each other along the first of the inner dimensions, between their corners; the last dimension counts images. */
static void column(const struct func_tensor *t, unsigned pixel, const int32_t *offset, int64_t *at)
{
	const unsigned inner = t->rank - 2u;
	for (unsigned k = 0; k < inner; k++) {
		const int64_t from = t->low[k], to = (int64_t)t->size[k + 1] + t->high[k], step = t->step[k + 1],
			      n = (to - from + step - 1) / step, here = (at[k + 1] - from) / step + pixel;
		if (n <= 0)
			break;
		at[k + 1] += (here % n - (at[k + 1] - from) / step) * step;
		pixel = (unsigned)(here / n);
	}
	at[t->rank - 1] += pixel;
	for (unsigned k = 0; k < inner; k++)
		at[k + 1] += offset[k];
}

/* An H200 fills with this, whatever the type. */
static uint64_t fill_of(const struct func_tensor *t)
{
	return t->nan ? EXEC_OOB16 * 0x1000100010001ull : 0;
}

/* Piece c of a box. In a: the map; b: shared memory; imm: rows of the coordinates and offsets in program->many. In dst:
 * the global address; more[0]: the shared one; more[1]: its kind, as decode_tensor.c tells apart. In more[2]: what
 * stands for elements outside; more[3]: TENSOR_ flags */
void exec_wide_tensor_piece(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const uint16_t *rows = w->block->launch->program->many + (uint32_t)i->imm;
	EACH_LANE(l, mask)
	{
		struct func_tensor t;
		int64_t at[TENSOR_RANK] = {0};
		int32_t offset[TENSOR_RANK] = {0};
		if (!map_of(w, exec_row64(w, i->a)[l], l, &t))
			return;
		for (unsigned k = 0; k < rows[0] && k < TENSOR_RANK; k++)
			at[k] = (int32_t)exec_row(w, rows[1 + k])[l];
		const uint64_t room = exec_get(w, i->b, i->more[3] & EXEC_TENSOR_WIDE, l);
		if (!may_begin(w, &t, at, i->more[3], exec_row64(w, i->a)[l], room, l))
			return;
		const uint16_t *more = rows + 1 + rows[0];
		for (unsigned k = 0; k < more[0] && k < TENSOR_RANK; k++)
			offset[k] = (uint16_t)exec_row(w, more[1 + k])[l];
		const bool reduces = i->more[3] & EXEC_TENSOR_REDUCES;
		const unsigned element = tensor_element(t.type), piece = piece_of(&t, (int32_t)at[0], i->more[3]),
			       each = piece / element, line = line_of(&t), n = exec_row(w, i->c)[l] * each;
		if (t.column)
			column(&t, n / line, offset, at);
		else
			tile(&t, n / line, at);
		at[0] += n % line;
		bool inside = true;
		uint64_t global = t.base + (uint64_t)at[0] * element;
		for (unsigned k = 0; k < t.rank; k++) {
			inside &= at[k] >= 0 && at[k] < (k ? t.size[k] : reach_of(&t, i->more[3]));
			global += k ? (uint64_t)at[k] * t.stride[k - 1] : 0;
		}
		/* Lines that are shorter than what is swizzled together lie as far from each other as that is long. */
		const unsigned pitch = t.swizzle ? (t.swizzle + 1u) * PIECE : line * element;
		uint64_t shared = room + (uint64_t)(n / line) * pitch + (uint64_t)(n % line) * element;
		shared ^= (shared >> 7 & t.swizzle) << 4;
		exec_row64(w, i->dst)[l] = global;
		exec_put(w, i->more[0], i->more[3] & EXEC_TENSOR_WIDE, l, shared);
		exec_row(w, i->more[1])[l] = reduces ? (inside ? 1u + t.type : 0)
					     : inside && rounds(&t, i->more[3])
						 ? EXEC_TENSOR_ROUNDED + (unsigned)t.type
						 : 2u * (unsigned)__builtin_ctz(piece) + inside;
		exec_row64(w, i->more[2])[l] = fill_of(&t);
	}
}
EXEC_FORWARD(tensor_piece)

/* An element as its type wants it: dst of a, imm: enum tensor_type */
void exec_wide_tensor_value(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const bool flushes = i->imm != TENSOR_TF32, tf32 = i->imm != TENSOR_F32_FTZ;
	EACH_LANE(l, mask)
	{
		uint32_t v = exec_row(w, i->a)[l];
		float f;
		if (flushes && !(v & 0x7f800000))
			v &= 0x80000000;
		memcpy(&f, &v, sizeof f);
		exec_row(w, i->dst)[l] = tf32 ? exec_to_small(&exec_tf32, f, PTX_RN, false) << TF32_SHIFT : v;
	}
}
EXEC_FORWARD(tensor_value)
