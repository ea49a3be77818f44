"""AVX2 and AVX-512BW: sums of absolute differences of eight bytes, added to accumulators of 32 or 64 bits.

The instruction adds up to 64 bits. Of an accumulator of 32 bits the low half is kept, which wraps as the program's sum
does.
"""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register
from polysched.tensorize.intrinsics.repeated import repeated_group

MANUAL = "Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2"
AVX2 = Isa(name="avx2", machine="x86_64", headers=("immintrin.h",), flags=("-mavx2",), manual=MANUAL,
           compilers=("x86_64-linux-gnu-gcc",), runner=("qemu-x86_64", "-cpu", "max"))
AVX512 = Isa(name="avx512bw", machine="x86_64", headers=("immintrin.h",), flags=("-mavx512f", "-mavx512bw"),
             manual=MANUAL, compilers=("x86_64-linux-gnu-gcc",))
SECTION = "vol. 2B, PSADBW and PADDQ"
COST = Cost(issue_cycles=1, latency_cycles=4, source="uops.info, VPSADBW and VPADDQ, one port")
FOUR = Register(
    c_type="__m256i", count=16, zero="{register} = _mm256_setzero_si256();",
    load="{register} = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)({pointer})));",
    store="_mm_storeu_si128((__m128i *)({pointer}), _mm256_castsi256_si128(_mm256_permutevar8x32_epi32("
          "{register}, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6))));")
EIGHT = Register(
    c_type="__m512i", count=32, zero="{register} = _mm512_setzero_si512();",
    load="{register} = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)({pointer})));",
    store="_mm256_storeu_si256((__m256i *)({pointer}), _mm512_cvtepi64_epi32({register}));")
FOUR_WHOLE = Register(
    c_type="__m256i", count=16, zero="{register} = _mm256_setzero_si256();",
    load="{register} = _mm256_loadu_si256((const __m256i *)({pointer}));",
    store="_mm256_storeu_si256((__m256i *)({pointer}), {register});")
EIGHT_WHOLE = Register(
    c_type="__m512i", count=32, zero="{register} = _mm512_setzero_si512();",
    load="{register} = _mm512_loadu_si512((const void *)({pointer}));",
    store="_mm512_storeu_si512((void *)({pointer}), {register});")
BYTES_32 = Register(c_type="__m256i", count=16,
                    load="{register} = _mm256_loadu_si256((const __m256i *)({pointer}));")
BYTES_64 = Register(c_type="__m512i", load="{register} = _mm512_loadu_si512((const void *)({pointer}));")
REPEAT_32 = repeated_group("__m256i", "_mm256_set1_epi64x({})", "long long", count=16)
REPEAT_64 = repeated_group("__m512i", "_mm512_set1_epi64({})", "long long")


def _sums(name: str, lanes: int, isa: Isa, registers: tuple[Register, Register], template: str, *,
          repeated: bool, total: str = "int32_t") -> Intrinsic:
    """Sums of |A - B|; `repeated`: the same eight bytes of A for all lanes; `total`: the type of the sums."""
    result, bytes_ = registers
    shape, at = ("[8]", "A[k]") if repeated else (f"[{lanes}][8]", "A[i][k]")
    mode = LoadMode.BROADCAST if repeated else LoadMode.PACKED
    kept = {BYTES_32: REPEAT_32, BYTES_64: REPEAT_64}[bytes_] if repeated else bytes_
    return Intrinsic(
        name=name, isa=isa, cost=COST, section=SECTION, template=template, temporaries=1,
        semantics=f"""
void {name}({total} C[{lanes}], const uint8_t A{shape}, const uint8_t B[{lanes}][8]) {{
    for (int i = 0; i < {lanes}; i++)
        for (int k = 0; k < 8; k++)
            C[i] += {at} > B[i][k] ? {at} - B[i][k] : B[i][k] - {at};
}}""",
        operands=(Operand(name="C", register=result), Operand(name="A", register=kept, mode=mode),
                  Operand(name="B", register=bytes_, mode=LoadMode.PACKED)))


# gcc 12 orders loads ahead of all sums otherwise, and has no registers left for the accumulators
_FOUR = "{C} = _mm256_add_epi64({C}, _mm256_sad_epu8({A}, {B}));" + ' asm("" : "+x"({C}));'
_EIGHT = "{C} = _mm512_add_epi64({C}, _mm512_sad_epu8({A}, {B}));" + ' asm("" : "+v"({C}));'
VPSADBW_AVX2 = _sums("vpsadbw_avx2", 4, AVX2, (FOUR, BYTES_32), _FOUR, repeated=True)
VPSADBW_VECTOR_AVX2 = _sums("vpsadbw_vector_avx2", 4, AVX2, (FOUR, BYTES_32), _FOUR, repeated=False)
VPSADBW = _sums("vpsadbw", 8, AVX512, (EIGHT, BYTES_64), _EIGHT, repeated=True)
VPSADBW_VECTOR = _sums("vpsadbw_vector", 8, AVX512, (EIGHT, BYTES_64), _EIGHT, repeated=False)
VPSADBW_64_AVX2 = _sums("vpsadbw_64_avx2", 4, AVX2, (FOUR_WHOLE, BYTES_32), _FOUR, repeated=True, total="int64_t")
VPSADBW_64_VECTOR_AVX2 = _sums("vpsadbw_64_vector_avx2", 4, AVX2, (FOUR_WHOLE, BYTES_32), _FOUR, repeated=False,
                               total="int64_t")
VPSADBW_64 = _sums("vpsadbw_64", 8, AVX512, (EIGHT_WHOLE, BYTES_64), _EIGHT, repeated=True, total="int64_t")
VPSADBW_64_VECTOR = _sums("vpsadbw_64_vector", 8, AVX512, (EIGHT_WHOLE, BYTES_64), _EIGHT, repeated=False,
                          total="int64_t")

ALL = (VPSADBW_AVX2, VPSADBW_VECTOR_AVX2, VPSADBW, VPSADBW_VECTOR,
       VPSADBW_64_AVX2, VPSADBW_64_VECTOR_AVX2, VPSADBW_64, VPSADBW_64_VECTOR)
