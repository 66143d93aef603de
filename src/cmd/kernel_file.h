/* Kernels of the user's, their launches and their arguments: what `sim` and `predict` share. */
#ifndef FATHOM_KERNEL_FILE_H
#define FATHOM_KERNEL_FILE_H
#include "cmd/cmd.h"
#include "data/device.h"
#include "data/launch.h"
#include "ptx/ptx.h"

/* All return CMD_OK or another exit code with c->error set. */
int kernel_file_text(struct cmd_context *c, const char *path, char **text);
/* With --template, the text is expanded with its parameters for that device; else it stays as it is. */
int kernel_file_template(struct cmd_context *c, const char *path, const struct device_info *d, char **text);
/* "30", "8,4" or "8,4,2", text of `what`; what is not given is 1. */
int kernel_file_triple(struct cmd_context *c, const char *what, const char *text, uint32_t out[3]);
/* The type of a number is the parameter's: 5 may fill a .u32 or a .u64, 2.5 an .f32 or an .f64. */
int kernel_file_number(struct cmd_context *c, const char *text, const struct ptx_param *p, struct launch_arg *a);

#endif
