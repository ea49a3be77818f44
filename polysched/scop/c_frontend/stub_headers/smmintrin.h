#ifndef POLYSCHED_SMMINTRIN_H
#define POLYSCHED_SMMINTRIN_H
#include <immintrin.h>
#endif
