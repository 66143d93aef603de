/* Kernel templates: probes' texts with parameters, expanded to complete PTX for one device.
 *
 * A template is PTX without .version/.target/.address_size (those are put in front for the device) plus:
 *   $name or ${name}     a parameter, or one of the dialect's own: $CC (90), $RN (".rn" from sm_20 on, else ""),
 *                        ${WARP}. An unknown name is an error with its line.
 *   $(expr)              integer expression: + - * / % << >> & | ( ) comparisons, parameters without $
 *   #repeat COUNT [var]  ... #end     the lines between, COUNT times; var runs from 0
 *   #if EXPR ... #else ... #end       EXPR as above; a text parameter compares with == 'text'
 *   #include name        the text src/kernel/name.ptx (e.g. "pin": the prologue that pins a launch to one SM)
 * Directives stand alone on a line; nesting is allowed. */
#ifndef FATHOM_KERNEL_H
#define FATHOM_KERNEL_H
#include "base/err.h"
#include "base/str.h"
#include "data/device.h"

struct kernel_param {
	char name[24];
	char text[104]; /* an integer or any text */
};

int kernel_expand(struct str *out, const char *name, const char *text, size_t size, const struct kernel_param *params,
		  size_t n, const struct device_info *device, struct err *e);

#endif
