/* The parts of compile.c. Nothing outside src/gpu/sim/func includes this. */
#ifndef FATHOM_FUNC_COMPILE_IMPL_H
#define FATHOM_FUNC_COMPILE_IMPL_H
#include "gpu/sim/func/func.h"

/* One stretch of records that is passed through from its first to its last. */
struct stretch {
	struct func_inst *inst;
	struct func_info *info;
	uint16_t *live; /* registers that are live before each record */
	uint32_t count;
};
bool stretch_in(uint16_t slot, const uint16_t *list, uint32_t count);
bool stretch_is_plain(const struct func_inst *i, const struct func_info *n);
bool stretch_may_move(const struct func_inst *i, const struct func_info *n);

/* A constant, a parameter or another register under a new name: instructions take those where they stand. */
bool stretch_is_name(const struct func_inst *i, const struct func_info *n);

/* narrow.c: logical operations of 64 bits count as what is left of them. 0 or -ENOMEM. */
int func_narrow(const struct func_program *p, const struct func_inst *inst, struct func_info *info);
/* hoist.c: loads early, as long as no more than so many registers live at once */
void stretch_hoist(struct stretch *s, uint32_t registers);
/* fuse.c: marks what becomes an operand of other records. leader: whether a stretch begins at a record, one more than there are. 0 or -ENOMEM. */
int func_fuse(const struct func_program *p, struct func_inst *inst, struct func_info *info, const bool *leader);

#endif
