#include "data/native_record.h"
#include <stddef.h>

const char *native_class_name(enum native_class c)
{
	static const char *const names[NATIVE_CLASSES] = {
	    [NATIVE_ALU] = "alu",
	    [NATIVE_LOAD_GLOBAL] = "load.global",
	    [NATIVE_LOAD_SHARED] = "load.shared",
	    [NATIVE_LOAD_CONST] = "load.const",
	    [NATIVE_LOAD_LOCAL] = "load.local",
	    [NATIVE_TEXTURE] = "texture",
	    [NATIVE_STORE] = "store",
	    [NATIVE_ATOMIC] = "atomic",
	    [NATIVE_BRANCH] = "branch",
	    [NATIVE_BARRIER] = "barrier",
	    [NATIVE_CLOCK] = "clock",
	    [NATIVE_OTHER] = "other",
	    [NATIVE_UNKNOWN] = "unknown",
	};

	return (size_t)c < NATIVE_CLASSES ? names[c] : "?";
}
