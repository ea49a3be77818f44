#ifndef POLYSCHED_XMMINTRIN_H
#define POLYSCHED_XMMINTRIN_H
#include <immintrin.h>
#endif
