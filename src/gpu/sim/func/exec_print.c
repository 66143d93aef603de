/* What kernels say: vprintf, and the sentence of an assertion that failed. */
#include "exec.h"
#include <stdio.h>
#include <string.h>

/* A byte at a generic address, or -1. */
static int byte_at(struct func_warp *w, uint64_t address, uint32_t lane)
{
	const struct func_launch *k = w->block->launch;
	uint64_t at = address - FUNC_LOCAL_WINDOW;
	if (at < FUNC_WINDOW_BYTES)
		return at < k->program->local_bytes ? w->local[k->program->local_bytes * lane + at] : -1;
	at = address - FUNC_CONST_WINDOW;
	if (at < FUNC_WINDOW_BYTES)
		return at < k->constant_bytes ? k->constant[at] : -1;
	at = address - FUNC_SHARED_WINDOW;
	if (at < FUNC_WINDOW_BYTES)
		return at < k->shared_bytes ? w->block->shared[at] : -1;
	const uint8_t *p = func_global(k->memory, address, 1);
	return p ? *p : -1;
}

/* As much of a text as there is; "" where nothing can be read. */
static void text_at(struct func_warp *w, uint64_t address, uint32_t lane, char *out, size_t n)
{
	size_t used = 0;
	for (int c; used + 1 < n && (c = byte_at(w, address + used, lane)) > 0;)
		out[used++] = (char)c;
	out[used] = '\0';
}

static void put(struct func_print *out, const char *text, size_t n)
{
	if (n > FUNC_PRINT_MOST - out->length) {
		out->lost = true;
		return;
	}
	memcpy(out->text + out->length, text, n);
	out->length += (uint32_t)n;
}

struct reader { /* of the arguments, which lie one after the other, each at a multiple of its size */
	struct func_warp *w;
	uint64_t at;
	uint32_t lane;
};

static uint64_t next(struct reader *r, unsigned bytes)
{
	uint64_t v = 0;
	r->at = (r->at + bytes - 1) / bytes * bytes;
	for (unsigned k = 0; k < bytes; k++)
		v |= (uint64_t)(byte_at(r->w, r->at + k, r->lane) & 0xff) << (8 * k);
	r->at += bytes;
	return v;
}

/* One conversion from '%' on, whose flags, width and precision are the host's. Returns its length. */
static size_t convert(const char *format, struct reader *r, char *out, size_t n)
{
	char spec[32] = "%", text[256];
	size_t at = 1, used = 1;
	unsigned longs = 0;
	int width[2] = {0, 0};
	unsigned widths = 0;
	for (; format[at] && strchr("-+ #0123456789.*", format[at]); at++) {
		if (format[at] == '*' && widths < 2)
			width[widths++] = (int)(int32_t)next(r, 4);
		if (used < 20)
			spec[used++] = format[at];
	}
	for (; format[at] && strchr("hlLzjt", format[at]); at++)
		longs += format[at] == 'l' || format[at] == 'z' || format[at] == 'j' || format[at] == 't';
	char kind = format[at];
	const char *known = kind ? strchr("diouxXcsfFeEgGaAp%", kind) : NULL;
	bool whole = kind && strchr("diouxX", kind), real = kind && strchr("fFeEgGaA", kind);
	if (!known) {
		snprintf(out, n, "%.*s", (int)at, format);
		return at;
	}
	if (whole)
		used += (size_t)snprintf(spec + used, 4, "ll");
	spec[used++] = kind;
	spec[used] = '\0';
	uint64_t bits = kind == '%' ? 0 : next(r, real || longs || kind == 's' || kind == 'p' ? 8 : 4);
	double d;
	memcpy(&d, &bits, sizeof d);
	long long v = longs		   ? (long long)bits
		      : strchr("di", kind) ? (long long)(int32_t)bits
					   : (long long)(uint32_t)bits;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* made above of what is known */
#define WITH(value)                                                                                                    \
	(widths == 2   ? snprintf(out, n, spec, width[0], width[1], (value))                                           \
	 : widths == 1 ? snprintf(out, n, spec, width[0], (value))                                                     \
		       : snprintf(out, n, spec, (value)))
	if (whole) {
		WITH(v);
	} else if (real) {
		WITH(d);
	} else if (kind == 'c') {
		WITH((int)(char)bits);
	} else if (kind == 's') {
		text_at(r->w, bits, r->lane, text, sizeof text);
		WITH(text);
	} else if (kind == 'p') {
		snprintf(out, n, "0x%llx", (unsigned long long)bits);
	} else {
		snprintf(out, n, "%%");
	}
#pragma GCC diagnostic pop
	return at + 1;
}

void exec_wide_print(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	struct func_print *out = w->block->launch->print;
	char format[1024], one[512];
	EACH_LANE(l, mask)
	{
		struct reader r = {.w = w, .at = exec_row64(w, i->b)[l], .lane = l};
		text_at(w, exec_row64(w, i->a)[l], l, format, sizeof format);
		for (size_t k = 0; out && format[k];) {
			size_t plain = strcspn(format + k, "%");
			put(out, format + k, plain);
			k += plain;
			if (!format[k])
				break;
			k += convert(format + k, &r, one, sizeof one);
			put(out, one, strlen(one));
		}
		if (i->dst != FUNC_NONE)
			exec_row(w, i->dst)[l] = 0;
	}
}
EXEC_FORWARD(print)

void exec_wide_assert(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	char message[160], file[100], function[100];
	uint32_t l = (uint32_t)__builtin_ctz(mask);
	w->fault = FUNC_FAULT_ASSERT;
	w->fault_lane = (uint8_t)l;
	w->fault_address = 0;
	text_at(w, exec_row64(w, i->a)[l], l, message, sizeof message);
	text_at(w, exec_row64(w, i->b)[l], l, file, sizeof file);
	text_at(w, exec_row64(w, i->more[0])[l], l, function, sizeof function);
	snprintf(w->block->said, sizeof w->block->said, "%s:%u: %s: assertion `%s` failed", file, exec_row(w, i->c)[l],
		 function, message);
}
EXEC_FORWARD(assert)

void exec_wide_heap(struct func_warp *w, const struct func_inst *i, uint32_t mask)
{
	const struct func_heap *h = w->block->launch->heap;
	EACH_LANE(l, mask)
	{
		const uint64_t v = exec_row64(w, i->a)[l];
		if (!i->imm)
			exec_row64(w, i->dst)[l] = h && v ? h->take(h->ctx, v) : 0;
		else if (h && v)
			h->give(h->ctx, v);
	}
}
EXEC_FORWARD(heap)
