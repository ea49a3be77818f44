#ifndef POLYSCHED_PMMINTRIN_H
#define POLYSCHED_PMMINTRIN_H
#include <immintrin.h>
#endif
