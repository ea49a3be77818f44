"""Register classes of x86: how C loads, stores and clears them."""

from polysched.tensorize.description.intrinsic import Register
from polysched.tensorize.intrinsics.repeated import repeated_group

ZMM = Register(c_type="__m512i", load="{register} = _mm512_loadu_si512((const void *)({pointer}));",
               store="_mm512_storeu_si512((void *)({pointer}), {register});",
               zero="{register} = _mm512_setzero_si512();", count=32)
ZMM_F32 = Register(c_type="__m512", load="{register} = _mm512_loadu_ps((const float *)({pointer}));",
                   store="_mm512_storeu_ps((float *)({pointer}), {register});",
                   zero="{register} = _mm512_setzero_ps();", count=32)
ZMM_F64 = Register(c_type="__m512d", load="{register} = _mm512_loadu_pd((const double *)({pointer}));",
                   store="_mm512_storeu_pd((double *)({pointer}), {register});",
                   zero="{register} = _mm512_setzero_pd();", count=32)
YMM = Register(c_type="__m256i", load="{register} = _mm256_loadu_si256((const __m256i *)({pointer}));",
               store="_mm256_storeu_si256((__m256i *)({pointer}), {register});",
               zero="{register} = _mm256_setzero_si256();", count=16)
YMM_F32 = Register(c_type="__m256", load="{register} = _mm256_loadu_ps((const float *)({pointer}));",
                   store="_mm256_storeu_ps((float *)({pointer}), {register});",
                   zero="{register} = _mm256_setzero_ps();", count=16)
YMM_F64 = Register(c_type="__m256d", load="{register} = _mm256_loadu_pd((const double *)({pointer}));",
                   store="_mm256_storeu_pd((double *)({pointer}), {register});",
                   zero="{register} = _mm256_setzero_pd();", count=16)
# A 32-bit group (four bytes, or two short floats), an f32 or an f64 repeated in every lane.
ZMM_REPEAT_32 = repeated_group("__m512i", "_mm512_set1_epi32({})", "int")
ZMM_REPEAT_F32 = Register(c_type="__m512", load="{register} = _mm512_set1_ps(*(const float *)({pointer}));")
ZMM_REPEAT_F64 = Register(c_type="__m512d", load="{register} = _mm512_set1_pd(*(const double *)({pointer}));")
YMM_REPEAT_32 = repeated_group("__m256i", "_mm256_set1_epi32({})", "int", count=16)
YMM_REPEAT_F32 = Register(c_type="__m256", load="{register} = _mm256_set1_ps(*(const float *)({pointer}));", count=16)
YMM_REPEAT_F64 = Register(c_type="__m256d", load="{register} = _mm256_set1_pd(*(const double *)({pointer}));",
                          count=16)
