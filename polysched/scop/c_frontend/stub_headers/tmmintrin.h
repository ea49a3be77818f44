#ifndef POLYSCHED_TMMINTRIN_H
#define POLYSCHED_TMMINTRIN_H
#include <immintrin.h>
#endif
