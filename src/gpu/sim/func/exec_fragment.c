/* How matrices come from memory to the lanes of a warp and back: ldmatrix and its like, and places for wmma. */
#include "exec.h"
#include <assert.h>
#include <string.h>

/* 8 x 8 elements of 16 bits. Lane 8 m + r says where row r of matrix m lies in shared memory. */
static uint8_t *row_at(struct func_warp *w, const struct func_inst *i, uint32_t lane)
{
	uint64_t address = exec_get(w, i->a, i->more[1], lane) + i->imm;
	address -= address - FUNC_SHARED_WINDOW < FUNC_WINDOW_BYTES ? FUNC_SHARED_WINDOW : 0;
	w->addr[lane] = address;
	w->space = PTX_SHARED;
	if (!(address & 15) && address + 16 <= w->block->launch->shared_bytes)
		return w->block->shared + address;
	w->fault = address & 15 ? FUNC_FAULT_ALIGN : FUNC_FAULT_BOUNDS;
	w->fault_lane = (uint8_t)lane;
	w->fault_address = address;
	return NULL;
}

static bool rows_of(struct func_warp *w, const struct func_inst *i, uint32_t mask, unsigned count,
		    uint8_t *at[FUNC_LANES])
{
	const unsigned rows = 8 * count;
	assert(rows);
	for (unsigned lane = 0; lane < rows; lane++)
		if (!(at[lane] = row_at(w, i, lane)))
			return false;
	/* The other lanes' addresses are not looked at; they cost nothing of their own. */
	EACH_LANE(l, mask)
	{
		w->addr[l] = w->addr[l % rows];
	}
	return true;
}

static unsigned shift_of(bool transposed, unsigned lane, unsigned half, unsigned *row)
{
	unsigned line = lane / EXEC_GROUP, along = lane % EXEC_GROUP * 2 + half;
	*row = transposed ? along : line;
	return 2 * (transposed ? line : along);
}

/* dst, more[2..3] and b: rows of the matrices; more[0]: their number, 8 for transposed; more[1]: wide address */
void exec_wide_ldmatrix(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned count = i->more[0] & 7, row;
	bool transposed = i->more[0] & 8;
	const uint16_t to[] = {i->dst, i->more[2], i->more[3], i->b};
	uint8_t *at[FUNC_LANES];
	if (!rows_of(w, i, mask, count, at))
		return;
	for (unsigned m = 0; m < count; m++)
		EACH_LANE(l, mask)
		{
			uint16_t half[2];
			for (unsigned h = 0; h < 2; h++) {
				unsigned shift = shift_of(transposed, l, h, &row);
				memcpy(&half[h], at[8 * m + row] + shift, 2);
			}
			exec_row(w, to[m])[l] = (uint32_t)half[1] << 16 | half[0];
		}
}
EXEC_FORWARD(ldmatrix)

void exec_wide_stmatrix(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	unsigned count = i->more[0] & 7, row;
	const uint16_t from[] = {i->dst, i->more[2], i->more[3], i->b};
	uint8_t *at[FUNC_LANES];
	if (!rows_of(w, i, mask, count, at))
		return;
	w->block->shared_changed = true;
	for (unsigned m = 0; m < count; m++)
		EACH_LANE(l, mask)
		{
			for (unsigned h = 0; h < 2; h++) {
				unsigned shift = shift_of(i->more[0] & 8, l, h, &row);
				uint16_t half = (uint16_t)(exec_row(w, from[m])[l] >> (16 * h));
				memcpy(at[8 * m + row] + shift, &half, 2);
			}
		}
}
EXEC_FORWARD(stmatrix)

void exec_wide_movmatrix(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	uint32_t from[FUNC_LANES];
	memcpy(from, exec_row(w, i->a), sizeof from);
	EACH_LANE(l, mask)
	{
		uint32_t v = 0;
		for (unsigned h = 0; h < 2; h++) {
			unsigned y = l % EXEC_GROUP * 2 + h,
				 x = l / EXEC_GROUP; /* of what comes to lie in row x, column y */
			v |= (from[y * EXEC_GROUP + x / 2] >> (x % 2 * 16) & 0xffff) << (16 * h);
		}
		exec_row(w, i->dst)[l] = v;
	}
}
EXEC_FORWARD(movmatrix)

/* The begin of a lane's part of a matrix that wmma loads or stores. In a: base; b: elements from line to line; imm:
 * bits of an element. In more[0..2]: bytes of a lane's part, bytes of a line, wide base. With more[3] the matrix lies
 * across, and element more[3] - 1 of the part is asked for. */
void exec_wide_wmma_place(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	EACH_LANE(l, mask)
	{
		uint64_t at = (uint64_t)l * i->more[0], line = at / i->more[1], rest = at % i->more[1];
		uint64_t apart = (uint64_t)exec_row(w, i->b)[l] * i->imm / 8, base = exec_get(w, i->a, i->more[2], l);
		uint64_t along = i->more[3] ? rest * 8 / i->imm + i->more[3] - 1 : 0;
		exec_put(w, i->dst, i->more[2], l,
			 i->more[3] ? base + line * i->imm / 8 + along * apart : base + line * apart + rest);
	}
}
EXEC_FORWARD(wmma_place)
