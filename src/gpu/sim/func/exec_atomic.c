/* What atomics and mbarriers do to the word that they find. */
#include "exec.h"
#include "gpu/sim/func/func_lanes.h"

/* ---- mbarrier: a word of 64 bits in shared memory ---- */
enum { COUNT_BITS = 20, COUNT = EXEC_BARRIER_COUNT, PHASE_AT = 2 * COUNT_BITS, BYTES_AT = PHASE_AT + 1 };

struct barrier_word {
	uint32_t pending, expected;
	bool phase;
	int64_t bytes; /* of copies that are waited for */
};

static struct barrier_word barrier_of(uint64_t v)
{
	return (struct barrier_word){.pending = v & COUNT,
				     .expected = v >> COUNT_BITS & COUNT,
				     .phase = v >> PHASE_AT & 1,
				     .bytes = (int64_t)v >> BYTES_AT};
}

static uint64_t barrier_bits(struct barrier_word b)
{
	if (!b.pending && !b.bytes) { /* the phase is over, and the next one begins */
		b.pending = b.expected;
		b.phase = !b.phase;
	}
	return b.pending | (uint64_t)b.expected << COUNT_BITS | (uint64_t)b.phase << PHASE_AT |
	       (uint64_t)b.bytes << BYTES_AT;
}

void exec_barrier_lane(struct func_warp *w, const struct func_inst *i, uint32_t l, uint8_t *p)
{
	uint64_t old = exec_read_bytes(p, 8), result = old;
	struct barrier_word b = barrier_of(old);
	uint32_t n = i->b == FUNC_NONE ? 1 : exec_row(w, i->b)[l] & COUNT;
	bool done = false;
	switch (i->more[0]) {
	case MBARRIER_INIT:
		exec_write_bytes(p, 8, n | (uint64_t)n << COUNT_BITS);
		return;
	case MBARRIER_INVAL:
		return;
	case MBARRIER_EXPECT:
		b.bytes += i->b == FUNC_NONE ? 0 : exec_row(w, i->b)[l];
		break;
	case MBARRIER_COMPLETE:
		b.bytes -= exec_row(w, i->b)[l];
		break;
	case MBARRIER_TEST: /* the state's phase is over when it is no longer the barrier's */
		done = barrier_of(exec_row64(w, i->b)[l]).phase != b.phase;
		break;
	case MBARRIER_PARITY:
		done = (exec_row(w, i->b)[l] & 1) != b.phase;
		break;
	default:
		b.pending -= n < b.pending ? n : b.pending;
		b.expected -= i->more[0] == MBARRIER_DROP ? n : 0;
		b.bytes += i->c == FUNC_NONE ? 0 : exec_row(w, i->c)[l];
		break;
	}
	if (i->more[0] == MBARRIER_TEST || i->more[0] == MBARRIER_PARITY) {
		exec_put_pred(w, i->more[3], 1u << l, done ? UINT32_MAX : 0);
		return;
	}
	exec_write_bytes(p, 8, barrier_bits(b));
	if (i->dst != FUNC_NONE)
		exec_put(w, i->dst, true, l, result);
}

/* ---- atomics: lanes in ascending order ---- */
static uint16_t half_sum(bool brain, uint16_t a, uint16_t b)
{
	if (!brain)
		return exec_to_half(exec_from_half(a) + exec_from_half(b), PTX_RN);
	const double sum = exec_add_odd(exec_from_small(&exec_bf16, a), exec_from_small(&exec_bf16, b));
	return (uint16_t)exec_to_small(&exec_bf16, sum, PTX_RN, false);
}

/* The adders of the memory partitions flush subnormal numbers of 32 bits, those of shared memory do not. */
static uint64_t float_sum(enum ptx_type type, bool shared, uint64_t a, uint64_t b)
{
	const bool brain = type == PTX_BF16 || type == PTX_BF16X2;
	if (type == PTX_F16 || type == PTX_BF16)
		return half_sum(brain, (uint16_t)a, (uint16_t)b);
	if (type == PTX_F16X2 || type == PTX_BF16X2)
		return (uint64_t)half_sum(brain, (uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16 |
		       half_sum(brain, (uint16_t)a, (uint16_t)b);
	return exec_float_value(PTX_OP_ADD, type, PTX_RN, type == PTX_F32 && !shared ? EXEC_FTZ : 0, a, b, 0);
}

/* The number that comes first by value; a number comes before what is none, and -0 before +0. */
static uint16_t half_first(bool brain, bool least, uint16_t a, uint16_t b)
{
	const double x = brain ? exec_from_small(&exec_bf16, a) : exec_from_half(a),
		     y = brain ? exec_from_small(&exec_bf16, b) : exec_from_half(b);
	if (x != x || y != y)
		return x == x ? a : y == y ? b : FUNC_NAN16;
	if (x == y)
		return least == (a >> 15) ? a : b;
	return (x < y) == least ? a : b;
}

static uint64_t halves_first(enum ptx_type type, bool least, uint64_t a, uint64_t b)
{
	const bool brain = type == PTX_BF16 || type == PTX_BF16X2;
	uint64_t r = half_first(brain, least, (uint16_t)a, (uint16_t)b);
	if (ptx_type_bytes(type) == 4)
		r |= (uint64_t)half_first(brain, least, (uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16;
	return r;
}

static uint64_t combine(int op, enum ptx_type type, bool shared, uint64_t old, uint64_t b, uint64_t c)
{
	switch (op) {
	case PTX_ATOM_AND:
		return old & b;
	case PTX_ATOM_OR:
		return old | b;
	case PTX_ATOM_XOR:
		return old ^ b;
	case PTX_ATOM_ADD:
		return ptx_type_class(type) == 'f' ? float_sum(type, shared, old, b) : old + b;
	case PTX_ATOM_INC:
		return old >= b ? 0 : old + 1;
	case PTX_ATOM_DEC:
		return old == 0 || old > b ? b : old - 1;
	case PTX_ATOM_MIN:
		if (ptx_type_class(type) == 'f')
			return halves_first(type, true, old, b);
		return exec_compare_value(type, PTX_LT, 0, b, old) ? b : old;
	case PTX_ATOM_MAX:
		if (ptx_type_class(type) == 'f')
			return halves_first(type, false, old, b);
		return exec_compare_value(type, PTX_GT, 0, b, old) ? b : old;
	case PTX_ATOM_CAS:
		return old == b ? c : old;
	default: /* exch */
		return b;
	}
}

void func_atomic_data(const struct func_warp *w, const struct func_inst *i, uint32_t lane,
		      uint64_t operand[FUNC_ATOMIC_WORDS])
{
	unsigned bytes = ptx_type_bytes((enum ptx_type)i->more[1]);
	if (bytes == 16) { /* the rows of the upper halves follow */
		for (unsigned k = 0; k < FUNC_ATOMIC_WORDS; k++)
			operand[k] = exec_row64(w, (uint16_t)((k < 2 ? i->b : i->c) + k % 2 * 2))[lane];
		return;
	}
	bool wide = bytes == 8;
	uint64_t keep = wide ? UINT64_MAX : (1ull << (bytes * 8)) - 1;
	operand[0] = exec_get(w, i->b, wide, lane) & keep;
	operand[1] = exec_get(w, i->c, wide, lane) & keep;
}

/* Several threads of the host may do it at once, as long as nobody is told what was there. */
static void combine_word(int op, enum ptx_type type, uint8_t *p, uint64_t b)
{
	if (ptx_type_bytes(type) == 4) {
		uint32_t *word = (uint32_t *)(void *)p, old = __atomic_load_n(word, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(word, &old, (uint32_t)combine(op, type, false, old, b, 0), true,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		return;
	}
	uint64_t *word = (uint64_t *)(void *)p, old = __atomic_load_n(word, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(word, &old, combine(op, type, false, old, b, 0), true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

/* exch and cas of 16 bytes */
static void exchange(struct func_warp *w, const struct func_inst *i, uint32_t lane, uint8_t *p, const uint64_t *operand)
{
	const bool compares = i->more[0] == PTX_ATOM_CAS;
	uint64_t old[2];
	memcpy(old, p, sizeof old);
	if (!compares || memcmp(old, operand, sizeof old) == 0)
		memcpy(p, compares ? operand + 2 : operand, sizeof old);
	for (unsigned k = 0; i->dst != FUNC_NONE && k < 2; k++)
		exec_row64(w, (uint16_t)(i->dst + k * 2))[lane] = old[k];
}

void func_atomic_do(struct func_warp *w, const struct func_inst *i, uint32_t lane, uint8_t *p,
		    const uint64_t operand[FUNC_ATOMIC_WORDS])
{
	enum ptx_type type = (enum ptx_type)i->more[1];
	unsigned bytes = ptx_type_bytes(type);
	if (bytes == 16) {
		exchange(w, i, lane, p, operand);
		return;
	}
	/* By where the bytes are: the warp may have gone on to another access. */
	uintptr_t at = (uintptr_t)p - (uintptr_t)w->block->shared;
	bool shared = at < w->block->launch->shared_bytes;
	if (i->dst == FUNC_NONE && bytes >= 4 && !shared && ptx_type_class(type) != 'f' && i->more[0] != PTX_ATOM_CAS) {
		combine_word(i->more[0], type, p, operand[0]);
		return;
	}
	uint64_t old = exec_read_bytes(p, bytes);
	exec_write_bytes(p, bytes, combine(i->more[0], type, shared, old, operand[0], operand[1]));
	if (i->dst != FUNC_NONE)
		exec_put(w, i->dst, bytes == 8, lane, old);
}
