#define TRANSPOSE transpose_conflicts
#define PITCH	  32
#include "transpose.h"
