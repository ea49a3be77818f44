#ifndef POLYSCHED_NMMINTRIN_H
#define POLYSCHED_NMMINTRIN_H
#include <immintrin.h>
#endif
