#ifndef POLYSCHED_X86INTRIN_H
#define POLYSCHED_X86INTRIN_H
#include <immintrin.h>
#endif
