#include "silicon.h"

KERNEL(nothing, u32 n)
{
	BEGIN();
	END();
}

