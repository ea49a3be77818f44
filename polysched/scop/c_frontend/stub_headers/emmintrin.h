#ifndef POLYSCHED_EMMINTRIN_H
#define POLYSCHED_EMMINTRIN_H
#include <immintrin.h>
#endif
