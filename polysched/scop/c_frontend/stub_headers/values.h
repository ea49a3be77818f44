#ifndef POLYSCHED_VALUES_H
#define POLYSCHED_VALUES_H
#include <float.h>
#include <limits.h>
#define MAXINT INT_MAX
#define MAXDOUBLE DBL_MAX
#define MINDOUBLE DBL_MIN
#define MAXFLOAT FLT_MAX
#define MINFLOAT FLT_MIN
#endif
