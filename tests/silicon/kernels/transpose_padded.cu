#define TRANSPOSE transpose_padded
#define PITCH	  33
#include "transpose.h"
