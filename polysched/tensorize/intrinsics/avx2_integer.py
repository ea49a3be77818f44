"""AVX2: pairs of 16-bit products, added up in eight lanes of 32 bits, exact; and pairs of byte products cut to 16 bits.

`vpmaddwd` reads one pair for all lanes, `vpmaddwd_vector` a pair per lane.  Bytes are widened where the program's
operands are copied; the forms named after two types widen them as they are loaded, for bytes that are used once.
`vpmaddubsw` is used where the program's values cannot make a pair of products leave 16 bits (`a & 127`).
"""

from dataclasses import replace

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register
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
# gcc 12 reads what several rows share from memory for each of them otherwise, more often than two ports can load
SHARED = replace(YMM, hold='asm("" : "+x"({register}));')
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
              Operand(name="B", register=SHARED, mode=LoadMode.PACKED)))

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

BYTES = """
void {name}(int32_t C[8], const uint8_t A{lanes}[2][2], const int8_t B[8][2][2]) {{
    for (int i = 0; i < 8; i++)
        for (int h = 0; h < 2; h++) {{
            int32_t t = 0;
            for (int k = 0; k < 2; k++)
                t += A{lane}[h][k] * B[i][h][k];
            C[i] += sat_i16(t);
        }}
}}"""
BYTES_COST = Cost(issue_cycles=1, latency_cycles=1,
                  source="uops.info, VPMADDUBSW, VPMADDWD and VPADDD (YMM), Zen 4, Ice Lake")
PAIRS = "_mm256_maddubs_epi16({A}, {B})"
BYTES_TEMPLATE = "{C} = _mm256_add_epi32({C}, _mm256_madd_epi16(" + PAIRS + ", _mm256_set1_epi16(1)));" + IN_PLACE


def _of_bytes(name: str, *, lanes: bool) -> Intrinsic:
    shared = Operand(name="A", register=YMM_REPEAT_32, mode=LoadMode.BROADCAST)
    return Intrinsic(   # a register for the products, and one for the ones that pairs are added up with
        name=name, isa=ISA, cost=BYTES_COST, section="vol. 2B, PMADDUBSW, PMADDWD and PADDD", template=BYTES_TEMPLATE,
        temporaries=2, semantics=BYTES.format(name=name, lanes="[8]" if lanes else "", lane="[i]" if lanes else ""),
        operands=(Operand(name="C", register=YMM),
                  Operand(name="A", register=YMM, mode=LoadMode.PACKED) if lanes else shared,
                  Operand(name="B", register=YMM, mode=LoadMode.PACKED)))


VPMADDUBSW = _of_bytes("vpmaddubsw", lanes=False)
VPMADDUBSW_VECTOR = _of_bytes("vpmaddubsw_vector", lanes=True)

ALL = (VPMADDWD, VPMADDWD_VECTOR, VPMADDWD_U8S8, VPMADDWD_S8S8, VPMADDWD_U8U8,
       VPMADDUBSW, VPMADDUBSW_VECTOR)
