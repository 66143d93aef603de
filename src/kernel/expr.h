/* Expressions and parameters of kernel templates. Internal to this room. */
#ifndef FATHOM_KERNEL_EXPR_H
#define FATHOM_KERNEL_EXPR_H
#include "kernel/kernel.h"
#include <stdbool.h>
#include <stdint.h>

#define SCOPE_VARS 16

/* What names mean at one place of a template: parameters, then #repeat variables, then the dialect's own. */
struct scope {
	const struct kernel_param *params;
	size_t param_count;
	struct kernel_param own[4];
	size_t own_count;
	struct scope_var {
		char name[24];
		int64_t value;
	} var[SCOPE_VARS];
	size_t var_count;
};

/* Length of the name at s, 0 when there is none. */
size_t scope_name(const char *s, const char *end);
/* Text of a name, written to out when it is a #repeat variable. NULL: unknown. */
const char *scope_text(const struct scope *sc, const char *name, size_t len, char out[24]);
/* Evaluates the expression in [s, end). 0, or -EINVAL and a sentence without place. */
int scope_eval(const struct scope *sc, const char *s, const char *end, int64_t *value, struct err *e);
/* Every name that scope_text knows, as "a, b, c": for messages. */
void scope_names(const struct scope *sc, char *out, size_t n);

#endif
