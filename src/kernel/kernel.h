/* Kernel templates: probes' texts with parameters, expanded to complete PTX, or OpenCL C, for one device.
 *
 * A template is PTX without .version/.target/.address_size (those are put in front for the device), or OpenCL C, plus:
 *   $name or ${name}     a parameter, or one of the dialect's own: $CC (90), $RN (".rn" from sm_20 on, else ""),
 *                        ${WARP}, $FMA ("fma.rn.f32" or "mad.f32", "fma" or "mad" in OpenCL C). An unknown name is an error with its line.
 *   $(expr)              integer expression: + - * / % << >> & | ( ) comparisons, parameters without $
 *   #repeat COUNT [var]  ... #end     the lines between, COUNT times; var runs from 0
 *   #if EXPR ... #else ... #end       EXPR as above; a text parameter compares with == 'text'
 *   #include name        the text src/kernel/name.ptx (e.g. "pin": the prologue that pins a launch to one SM), or name.cl
 *   #macro name ... #end #put name    the lines between, wherever they are put, with the parameters and variables there
 * Directives stand alone on a line; nesting is allowed. OpenCL C has no lines of its own that start with #, but for #pragma. */
#ifndef FATHOM_KERNEL_H
#define FATHOM_KERNEL_H
#include "base/embed.h"
#include "base/err.h"
#include "base/str.h"
#include "data/device.h"

struct kernel_param {
	char name[24];
	char text[104]; /* an integer or any text */
};

/* The text of this path in the device's dialect: beside x.ptx stands x.cl. NULL: there is none. */
const struct embedded *kernel_text(const char *path, const char *dialect);
/* Whether there is any text of that dialect in this folder ("probes/clock"). */
bool kernel_has_text(const char *folder, const char *dialect);
int kernel_expand(struct str *out, const char *name, const char *text, size_t size, const struct kernel_param *params,
		  size_t n, const struct device_info *device, struct err *e);
/* The same of a text without parameters that the program brings along, in the device's dialect. */
int kernel_expand_own(struct str *out, const char *path, const struct device_info *device, struct err *e);

#endif
