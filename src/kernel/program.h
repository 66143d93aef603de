/* Expressions of a template that are evaluated again and again. Internal to this room. */
#ifndef FATHOM_KERNEL_PROGRAM_H
#define FATHOM_KERNEL_PROGRAM_H
#include "kernel/expr.h"

#define PROGRAM_STEPS 32

/* An expression as steps on a stack of numbers, for one scope's parameters. */
struct program {
	unsigned count;
	struct program_step {
		enum program_do {
			PROGRAM_NUMBER,
			PROGRAM_VARIABLE,
			PROGRAM_OR = '|',
			PROGRAM_AND = '&',
			PROGRAM_NOT = '!',
			PROGRAM_NEGATE = '~',
			PROGRAM_EQUAL = '=',
			PROGRAM_OTHER = 'o',
			PROGRAM_LESS = '<',
			PROGRAM_MORE = '>',
			PROGRAM_LEAST = 'l',
			PROGRAM_MOST = 'm',
			PROGRAM_PLUS = '+',
			PROGRAM_MINUS = '-',
			PROGRAM_TIMES = '*',
			PROGRAM_OVER = '/',
			PROGRAM_REST = '%'
		} what;
		int64_t number; /* the number, or the variable's index in the scope */
	} step[PROGRAM_STEPS];
};

/* false: the expression holds something that only scope_eval does: texts, bits, errors. */
bool program_make(struct program *p, const struct scope *sc, const char *s, const char *end);
/* false: scope_eval has to say what is wrong, if anything is. sc: has the variables that it had when p was made. */
bool program_run(const struct program *p, const struct scope *sc, int64_t *value);

#endif
