"""AVX2: pairs of 16-bit products, added up in eight lanes of 32 bits; exact, unlike the byte products of VPMADDUBSW.

`vpmaddwd` reads one pair for all lanes, `vpmaddwd_vector` a pair per lane.  Bytes are widened where the program's
operands are copied; the forms named after two types widen them as they are loaded, for bytes that are used once.
"""

from polysched.tensorize.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register
from polysched.tensorize.intrinsics.x86_registers import YMM, YMM_REPEAT_32

ISA = Isa(name="avx2", machine="x86_64", headers=("immintrin.h",), flags=("-mavx2",),
          compilers=("x86_64-linux-gnu-gcc",), runner=("qemu-x86_64", "-cpu", "max"),
          manual="Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2")
SECTION = "vol. 2B, PMADDWD and PADDD"
# an accumulator waits for the addition only: products are computed ahead of it
COST = Cost(issue_cycles=0.5, latency_cycles=1, source="uops.info, VPMADDWD and VPADDD (YMM), Zen 3, Zen 4, Ice Lake")
WIDENED_COST = Cost(issue_cycles=1, latency_cycles=1,
                    source="uops.info, two VPMOVSXBW or VPMOVZXBW (YMM, M128) and VPMADDWD, VPADDD")
# gcc 12 orders loads ahead of all products otherwise, and has no registers left for the sums
IN_PLACE = ' asm("" : "+x"({C}));'
TEMPLATE = "{C} = _mm256_add_epi32({C}, _mm256_madd_epi16({A}, {B}));" + IN_PLACE


def _widened(signed: bool) -> Register:
    """Sixteen bytes as 16-bit numbers."""
    convert = f"_mm256_cvtep{'i' if signed else 'u'}8_epi16"
    return Register(c_type="__m256i", count=16,
                    load="{register} = " + convert + "(_mm_loadu_si128((const __m128i *)({pointer})));")


def _vector_of_bytes(name: str, *, signed: tuple[bool, bool]) -> Intrinsic:
    left, right = (f"{'' if s else 'u'}int8_t" for s in signed)
    return Intrinsic(
        name=name, isa=ISA, cost=WIDENED_COST, section=SECTION, template=TEMPLATE, temporaries=1,
        semantics=f"""
void {name}(int32_t C[8], const {left} A[8][2], const {right} B[8][2]) {{
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 2; k++)
            C[i] += A[i][k] * B[i][k];
}}""",
        operands=(Operand(name="C", register=YMM),
                  Operand(name="A", register=_widened(signed[0]), mode=LoadMode.PACKED),
                  Operand(name="B", register=_widened(signed[1]), mode=LoadMode.PACKED)))


VPMADDWD = Intrinsic(
    name="vpmaddwd", isa=ISA, cost=COST, section=SECTION, template=TEMPLATE, temporaries=1,
    semantics="""
void vpmaddwd(int32_t C[8], const int16_t A[2], const int16_t B[8][2]) {
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 2; k++)
            C[i] += A[k] * B[i][k];
}""",
    operands=(Operand(name="C", register=YMM), Operand(name="A", register=YMM_REPEAT_32, mode=LoadMode.BROADCAST),
              Operand(name="B", register=YMM, mode=LoadMode.PACKED)))

VPMADDWD_VECTOR = Intrinsic(
    name="vpmaddwd_vector", isa=ISA, cost=COST, section=SECTION, template=TEMPLATE, temporaries=1,
    semantics="""
void vpmaddwd_vector(int32_t C[8], const int16_t A[8][2], const int16_t B[8][2]) {
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 2; k++)
            C[i] += A[i][k] * B[i][k];
}""",
    operands=(Operand(name="C", register=YMM), Operand(name="A", register=YMM, mode=LoadMode.PACKED),
              Operand(name="B", register=YMM, mode=LoadMode.PACKED)))

VPMADDWD_U8S8 = _vector_of_bytes("vpmaddwd_u8s8_vector", signed=(False, True))
VPMADDWD_S8S8 = _vector_of_bytes("vpmaddwd_s8s8_vector", signed=(True, True))
VPMADDWD_U8U8 = _vector_of_bytes("vpmaddwd_u8u8_vector", signed=(False, False))

ALL = (VPMADDWD, VPMADDWD_VECTOR, VPMADDWD_U8S8, VPMADDWD_S8S8, VPMADDWD_U8U8)
