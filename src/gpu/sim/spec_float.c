/* The part of a description that says what floating-point arithmetic gives: values, no times. */
#include "gpu/sim/func/func.h"
#include "gpu/sim/spec_tell.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 64
#define FUSES                                                                                                          \
	20 /* compute capability x 10 that fuses and keeps denormals, where the file does not say (NVIDIA, PTX ISA, mad, .ftz) */
#define BITS_TOLERANCE	0.1
#define ULP_TOLERANCE	0.05
#define RATIO_TOLERANCE 0.02

bool spec_keeps_denormals(const struct sim_spec *s)
{
	return s->denormals ? s->denormals == ANSWER_YES : s->cc >= FUSES;
}

bool spec_mad_fuses(const struct sim_spec *s)
{
	return s->mad_fused ? s->mad_fused == ANSWER_YES : s->cc >= FUSES;
}

static int check_words(const struct spec_file *f, const struct sfu_words *w, const char *name)
{
	char key[KEY_BYTES];
	snprintf(key, sizeof key, "sfu.%s.square_bits", name);
	const int low = (strcmp(name, "sin") == 0 ? 25 : 23) - w->index;
	if (w->square > 2 * low)
		return spec_fail(f, spec_line_number(f, key), "'%s' is %u, but the square of %d bits has %d", key,
				 (unsigned)w->square, low, 2 * low);
	return 0;
}

int spec_read_float(const struct spec_file *f, struct sim_spec *s)
{
	static const char *const names[] = {"index_bits", "c0_bits", "c1_bits", "c2_bits", "square_bits"};
	for (int k = 0; k < SFU_FUNCTIONS; k++) {
		struct sfu_words *w = &s->sfu[k];
		*w = sfu_published[k];
		uint8_t *to[] = {&w->index, &w->c0, &w->c1, &w->c2, &w->square};
		for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
			char key[KEY_BYTES];
			double v;
			snprintf(key, sizeof key, "sfu.%s.%s", sfu_names[k], names[n]);
			const struct spec_line *l = spec_line(f, key);
			int rc = l ? spec_number(f, l, l->value, &v) : 0;
			if (rc)
				return rc;
			if (l)
				*to[n] = (uint8_t)v;
		}
		int rc = check_words(f, w, sfu_names[k]);
		if (rc)
			return rc;
	}
	return 0;
}

void spec_target(const struct sim_spec *s, struct func_target *t)
{
	*t = (struct func_target){.cc = s->cc,
				  .flushes = !spec_keeps_denormals(s),
				  .words = s->sfu,
				  .matrix_bits = (int)s->matrix_sum_bits,
				  .matrix_byte_bits = (int)s->matrix_byte_bits};
	if (!spec_mad_fuses(s))
		t->mad = s->mad_product == PRODUCT_TRUNCATED ? FUNC_MAD_TRUNCATED : FUNC_MAD_ROUNDED;
}

/* ---- what a probe should find ---- */

static void tell_function(struct teller *t, const char *function, const char *property, double number, double tolerance)
{
	char key[KEY_BYTES];
	snprintf(key, sizeof key, "sfu.%s.%s", function, property);
	if (number > 0)
		tell_number(t, key, number, tolerance);
}

/* Everything is rounded to nearest but what the special function unit does before operations say how they round. */
static void tell_rounding(struct teller *t, const struct sim_spec *s)
{
	static const char *const always[] = {"add", "mul", "from_s32", "to_s32", "to_f16"},
				 *const doubles[] = {"add_f64", "mul_f64",  "fma_f64",
						     "div_f64", "sqrt_f64", "from_f64"},
				 *const halves[] = {"add_f16", "mul_f16", "fma_f16"};
	const struct {
		const char *const *names;
		size_t count;
		bool there;
	} of[] = {{always, sizeof always / sizeof *always, true},
		  {doubles, sizeof doubles / sizeof *doubles, s->has_f64},
		  {halves, sizeof halves / sizeof *halves, s->has_f16}};
	char key[KEY_BYTES];
	for (size_t k = 0; k < sizeof of / sizeof *of; k++)
		for (size_t n = 0; n < of[k].count && of[k].there; n++) {
			snprintf(key, sizeof key, "float.%s.rounding", of[k].names[n]);
			tell_text(t, key, "nearest");
		}
	if (s->has_fma)
		tell_text(t, "float.fma.rounding", "nearest");
	const char *root = s->cc < FUSES ? "approximate" : "nearest";
	tell_text(t, "float.div.rounding", root);
	tell_text(t, "float.sqrt.rounding", root);
	const bool fused = spec_mad_fuses(s);
	tell_text(t, "float.mad.fused", fused ? "yes" : "no");
	tell_text(t, "float.mad.rounding", !fused && s->mad_product == PRODUCT_TRUNCATED ? "truncated" : "nearest");
}

/* What the words of the special function unit make of its functions. */
static void tell_special(struct teller *t, const struct sim_spec *s)
{
	char key[KEY_BYTES];
	struct sfu *unit = mem_zero(1, sizeof *unit);
	if (!unit) {
		t->rc = t->rc ? t->rc : -ENOMEM;
		return;
	}
	sfu_build(unit, s->sfu);
	for (int k = 0; k <= SFU_FUNCTIONS; k++) {
		const enum sfu_function f = k < SFU_FUNCTIONS ? (enum sfu_function)k : SFU_SIN;
		const char *name = k < SFU_FUNCTIONS ? sfu_names[k] : "cos";
		const struct sfu_accuracy a = sfu_accuracy(unit, f);
		tell_function(t, name, "good_bits", a.good_bits, BITS_TOLERANCE);
		tell_function(t, name, "max_ulp", a.max_ulp, ULP_TOLERANCE * a.max_ulp);
		tell_function(t, name, "exact_ratio", a.exact_ratio, RATIO_TOLERANCE);
		snprintf(key, sizeof key, "sfu.%s.monotonic", name);
		tell_text(t, key, sfu_steps_back(unit, f) ? "no" : "yes");
	}
	mem_free(unit);
}

int spec_truth_float(const struct sim_spec *s, int (*each)(void *ctx, const struct truth *t), void *ctx)
{
	struct teller t = {each, ctx, 0};
	tell_rounding(&t, s);
	tell_text(&t, "float.denormals", spec_keeps_denormals(s) ? "yes" : "no");
	if (s->has_f64)
		tell_text(&t, "float.f64.denormals", "yes");
	if (s->has_f16)
		tell_text(&t, "float.f16.denormals", "yes");
	tell_text(&t, "float.specials", "yes");
	tell_special(&t, s);
	return t.rc;
}
