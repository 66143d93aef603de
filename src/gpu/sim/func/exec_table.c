/* Record's op to handler. */
#include "exec.h"

func_wide_fn *const func_wide[] = {
#define SLOW(name)     [EXEC_##name] = exec_wide_##name,
#define UN(name, ...)  SLOW(name)
#define BI(name, ...)  SLOW(name)
#define TRI(name, ...) SLOW(name)
#define CMP(name, ...) SLOW(name)
#include "exec_alu.def"
#include "exec_slow.def"
#undef SLOW
};

func_one_fn *const func_one[] = {
#define SLOW(name) [EXEC_##name] = exec_one_##name,
#include "exec_alu.def"
#include "exec_slow.def"
#undef SLOW
#undef UN
#undef BI
#undef TRI
#undef CMP
};
