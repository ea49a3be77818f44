#ifndef POLYSCHED_IMMINTRIN_H
#define POLYSCHED_IMMINTRIN_H
#include <stddef.h>
#include <stdint.h>
typedef struct { float opaque[4]; } __m128;
typedef struct { double opaque[2]; } __m128d;
typedef struct { long long opaque[2]; } __m128i;
typedef struct { float opaque[8]; } __m256;
typedef struct { double opaque[4]; } __m256d;
typedef struct { long long opaque[4]; } __m256i;
typedef struct { float opaque[16]; } __m512;
typedef struct { double opaque[8]; } __m512d;
typedef struct { long long opaque[8]; } __m512i;
typedef unsigned char __mmask8;
typedef unsigned short __mmask16;
typedef unsigned int __mmask32;
typedef unsigned long long __mmask64;
#endif
