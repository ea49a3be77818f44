"""AVX2: averages, high products, saturating packs, extrema, comparisons, conversions, shuffles, complex products.

None of them adds to its result.  Packs and shuffles work within halves of 128 bits, which the texts say.
"""

from dataclasses import replace

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand, Register
from polysched.tensorize.intrinsics.repeated import each
from polysched.tensorize.intrinsics.x86_registers import YMM, YMM_F32

MANUAL = "Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2"
ISA = Isa(name="avx2", machine="x86_64", headers=("immintrin.h",), flags=("-mavx2",), manual=MANUAL,
          compilers=("x86_64-linux-gnu-gcc",), runner=("qemu-x86_64", "-cpu", "max"))
FMA = replace(ISA, name="avx2_fma", flags=("-mavx2", "-mfma"))
F16C = replace(ISA, name="avx2_f16c", flags=("-mavx2", "-mf16c"))
COST = Cost(issue_cycles=0.5, latency_cycles=1, source="uops.info, YMM forms, Zen 3, Zen 4, Ice Lake")
SHUFFLED = Cost(issue_cycles=1, latency_cycles=1, source="uops.info, one port for YMM shuffles, Ice Lake")
MULTIPLIED = Cost(issue_cycles=0.5, latency_cycles=5, source="uops.info, VPMULHRSW (YMM), Ice Lake")
CONVERTED = Cost(issue_cycles=1, latency_cycles=5, source="uops.info, conversions (YMM), Ice Lake")
XMM = Register(c_type="__m128i", load="{register} = _mm_loadu_si128((const __m128i *)({pointer}));",
               store="_mm_storeu_si128((__m128i *)({pointer}), {register});", count=16)


def _unit(name: str, parameters: str, body: str, template: str, section: str, *, cost: Cost = COST, isa: Isa = ISA,
          registers: dict[str, Register] | None = None) -> Intrinsic:
    """One instruction whose operands are whole registers; `registers` names those that are not 256 bits of integers."""
    names = [p.split("[")[0].split()[-1] for p in parameters.split(",")]
    return Intrinsic(
        name=name, isa=isa, cost=cost, section=section, template=template,
        semantics=f"\nvoid {name}({parameters}) {{\n    {body}\n}}",
        operands=tuple(Operand(name=n, register=(registers or {}).get(n, YMM)) for n in names))


def _two(name: str, c_type: str, lanes: int, value: str, call: str, section: str, *, cost: Cost = COST) -> Intrinsic:
    """An instruction of two operands, element by element."""
    return _unit(name, f"{c_type} O[{lanes}], const {c_type} A[{lanes}], const {c_type} B[{lanes}]",
                 each(lanes, value), f"{{O}} = {call}({{A}}, {{B}});", section,
                 cost=cost)


VPAVGB = _two("vpavgb", "uint8_t", 32, "(A[i] + B[i] + 1) >> 1", "_mm256_avg_epu8", "vol. 2B, PAVGB")
VPAVGW = _two("vpavgw", "uint16_t", 16, "(A[i] + B[i] + 1) >> 1", "_mm256_avg_epu16", "vol. 2B, PAVGW")
VPMULHRSW = _two("vpmulhrsw", "int16_t", 16, "((A[i] * B[i] >> 14) + 1) >> 1", "_mm256_mulhrs_epi16",
                 "vol. 2B, PMULHRSW", cost=MULTIPLIED)
VPMULHW = _two("vpmulhw", "int16_t", 16, "A[i] * B[i] >> 16", "_mm256_mulhi_epi16", "vol. 2B, PMULHW", cost=MULTIPLIED)
VPADDSW = _two("vpaddsw", "int16_t", 16, "sat_i16(A[i] + B[i])", "_mm256_adds_epi16", "vol. 2B, PADDSW")
VPADDUSB = _two("vpaddusb", "uint8_t", 32, "sat_u8(A[i] + B[i])", "_mm256_adds_epu8", "vol. 2B, PADDUSB")
VPSUBUSB = _two("vpsubusb", "uint8_t", 32, "sat_u8(A[i] - B[i])", "_mm256_subs_epu8", "vol. 2B, PSUBUSB")
VPCMPGTB = _two("vpcmpgtb", "int8_t", 32, "A[i] > B[i] ? -1 : 0", "_mm256_cmpgt_epi8", "vol. 2B, PCMPGTB")
EXTREMA = tuple(
    _two(f"vp{kind}{suffix}", c_type, lanes, f"A[i] {op} B[i] ? A[i] : B[i]", f"_mm256_{kind}_{intel}",
         f"vol. 2B, P{kind.upper()}{suffix.upper()}")
    for kind, op in (("min", "<"), ("max", ">"))
    for suffix, c_type, lanes, intel in (("ub", "uint8_t", 32, "epu8"), ("sb", "int8_t", 32, "epi8"),
                                         ("uw", "uint16_t", 16, "epu16"), ("sw", "int16_t", 16, "epi16"),
                                         ("ud", "uint32_t", 8, "epu32"), ("sd", "int32_t", 8, "epi32")))
# both ends of a pair, as sorting networks compare and exchange them
EXCHANGES = tuple(
    _unit(f"compare_exchange_{suffix}_avx2", f"{c_type} L[{lanes}], {c_type} H[{lanes}], const {c_type} A[{lanes}], "
          f"const {c_type} B[{lanes}]",
          f"""for (int i = 0; i < {lanes}; i++) {{
        L[i] = A[i] < B[i] ? A[i] : B[i];
        H[i] = A[i] > B[i] ? A[i] : B[i];
    }}""", f"{{L}} = _mm256_min_{intel}({{A}}, {{B}}); {{H}} = _mm256_max_{intel}({{A}}, {{B}});",
          f"vol. 2B, PMIN{suffix.upper()} and PMAX{suffix.upper()}",
          cost=Cost(issue_cycles=1, latency_cycles=1, source=COST.source))
    for suffix, c_type, lanes, intel in (("ub", "uint8_t", 32, "epu8"), ("sw", "int16_t", 16, "epi16"),
                                         ("sd", "int32_t", 8, "epi32")))
BUTTERFLIES = tuple(
    _unit(f"butterfly_{name}_avx2", f"{c_type} P[{lanes}], {c_type} Q[{lanes}]",
          f"""for (int i = 0; i < {lanes}; i++) {{
        {c_type} t = P[i];
        P[i] = t + Q[i];
        Q[i] = t - Q[i];
    }}""", f"{{ __m256i ps_t = _mm256_sub_{intel}({{P}}, {{Q}}); {{P}} = _mm256_add_{intel}({{P}}, {{Q}}); "
          "{Q} = ps_t; }", f"vol. 2B, PADD{section} and PSUB{section}",
          cost=Cost(issue_cycles=1, latency_cycles=1, source=COST.source))
    for name, c_type, lanes, intel, section in (("i16", "int16_t", 16, "epi16", "W"),
                                                ("i32", "int32_t", 8, "epi32", "D")))
VPABSB = _unit("vpabsb", "uint8_t O[32], const int8_t A[32]", each(32, "abs_i32(A[i])"),
               "{O} = _mm256_abs_epi8({A});", "vol. 2B, PABSB")
VPABSD = _unit("vpabsd", "int32_t O[8], const int32_t A[8]", each(8, "abs_i32(A[i])"),
               "{O} = _mm256_abs_epi32({A});", "vol. 2B, PABSD")
VPBLENDVB = _unit("vpblendvb", "int8_t O[32], const int8_t A[32], const int8_t B[32], const int8_t M[32]",
                  each(32, "M[i] < 0 ? B[i] : A[i]"),
                  "{O} = _mm256_blendv_epi8({A}, {B}, {M});", "vol. 2B, PBLENDVB")


def _pack(name: str, narrow: str, wide: str, lanes: int, function: str, call: str, section: str) -> Intrinsic:
    """Two registers into one of half the width; each half of 128 bits has elements of A, then of B."""
    return _unit(name, f"{narrow} O[2][2][{lanes}], const {wide} A[2][{lanes}], const {wide} B[2][{lanes}]",
                 f"""for (int h = 0; h < 2; h++)
        for (int i = 0; i < {lanes}; i++) {{
            O[h][0][i] = {function}(A[h][i]);
            O[h][1][i] = {function}(B[h][i]);
        }}""", f"{{O}} = {call}({{A}}, {{B}});", section, cost=SHUFFLED)


VPACKSSDW = _pack("vpackssdw", "int16_t", "int32_t", 4, "sat_i16", "_mm256_packs_epi32", "vol. 2B, PACKSSDW")
VPACKSSWB = _pack("vpacksswb", "int8_t", "int16_t", 8, "sat_i8", "_mm256_packs_epi16", "vol. 2B, PACKSSWB")
VPACKUSDW = _pack("vpackusdw", "uint16_t", "int32_t", 4, "sat_u16", "_mm256_packus_epi32", "vol. 2B, PACKUSDW")
VPACKUSWB = _pack("vpackuswb", "uint8_t", "int16_t", 8, "sat_u8", "_mm256_packus_epi16", "vol. 2B, PACKUSWB")
VPSHUFB = _unit("vpshufb", "uint8_t O[2][16], const uint8_t A[2][16], const uint8_t I[2][16]",
                """for (int h = 0; h < 2; h++)
        for (int i = 0; i < 16; i++)
            O[h][i] = I[h][i] & 128 ? 0 : A[h][I[h][i] & 15];""",
                "{O} = _mm256_shuffle_epi8({A}, {I});", "vol. 2B, PSHUFB", cost=SHUFFLED)
VPERMD = _unit("vpermd", "int32_t O[8], const int32_t A[8], const int32_t I[8]",
               each(8, "A[I[i] & 7]"),
               "{O} = _mm256_permutevar8x32_epi32({A}, {I});", "vol. 2C, VPERMD", cost=SHUFFLED)
VPMOVSXBW = _unit("vpmovsxbw", "int16_t O[16], const int8_t A[16]", each(16, "A[i]"),
                  "{O} = _mm256_cvtepi8_epi16({A});", "vol. 2B, PMOVSX", cost=SHUFFLED, registers={"A": XMM})
VPMOVZXBW = _unit("vpmovzxbw", "int16_t O[16], const uint8_t A[16]", each(16, "A[i]"),
                  "{O} = _mm256_cvtepu8_epi16({A});", "vol. 2B, PMOVZX", cost=SHUFFLED, registers={"A": XMM})
VCVTDQ2PS = _unit("vcvtdq2ps", "float O[8], const int32_t A[8]", each(8, "A[i]"),
                  "{O} = _mm256_cvtepi32_ps({A});", "vol. 2A, CVTDQ2PS", cost=CONVERTED, registers={"O": YMM_F32})
VCVTPS2DQ = _unit("vcvtps2dq", "int32_t O[8], const float A[8]",
                  each(8, "cvt_f32_i32(A[i])"),
                  "{O} = _mm256_cvtps_epi32({A});", "vol. 2A, CVTPS2DQ", cost=CONVERTED, registers={"A": YMM_F32})
VCVTPH2PS = _unit("vcvtph2ps", "float O[8], const f16 A[8]",
                  each(8, "f16_to_f32(A[i])"), "{O} = _mm256_cvtph_ps({A});",
                  "vol. 2C, VCVTPH2PS", cost=CONVERTED, isa=F16C, registers={"O": YMM_F32, "A": XMM})
VCVTPS2PH = _unit("vcvtps2ph", "f16 O[8], const float A[8]",
                  each(8, "f32_to_f16(A[i])"), "{O} = _mm256_cvtps_ph({A}, 0);",
                  "vol. 2C, VCVTPS2PH", cost=CONVERTED, isa=F16C, registers={"O": XMM, "A": YMM_F32})
VROUNDPS = _unit("vroundps", "float O[8], const float A[8]", each(8, "rintf(A[i])"),
                 "{O} = _mm256_round_ps({A}, 0);", "vol. 2B, ROUNDPS", cost=CONVERTED,
                 registers={"O": YMM_F32, "A": YMM_F32})
# of pairs (real, imaginary): the products with the imaginary part, then one fused subtraction and addition
COMPLEX_F32 = _unit(
    "complex_f32_avx2", "float O[4][2], const float A[4][2], const float B[4][2]",
    """for (int i = 0; i < 4; i++) {
        O[i][0] = fma_f32(A[i][0], B[i][0], -(A[i][1] * B[i][1]));
        O[i][1] = fma_f32(A[i][0], B[i][1], A[i][1] * B[i][0]);
    }""",
    "{O} = _mm256_fmaddsub_ps(_mm256_moveldup_ps({A}), {B}, "
    "_mm256_mul_ps(_mm256_movehdup_ps({A}), _mm256_permute_ps({B}, 0xB1)));",
    "vol. 2C, VFMADDSUB132PS, MOVSLDUP, MOVSHDUP, VPERMILPS", isa=FMA,
    cost=Cost(issue_cycles=3, latency_cycles=9, source="uops.info, three shuffles on one port, VMULPS and VFMADDSUB"),
    registers=dict.fromkeys("OAB", YMM_F32))
# of split pairs, from three products: (a + b) (c + d) - ac - bd is ad + bc modulo 2^32
COMPLEX_I32 = _unit(
    "complex_i32_avx2", "int32_t P[8], int32_t Q[8], const int32_t A[8], const int32_t B[8], const int32_t C[8], "
    "const int32_t D[8]",
    """for (int i = 0; i < 8; i++) {
        P[i] += A[i] * C[i] - B[i] * D[i];
        Q[i] += A[i] * D[i] + B[i] * C[i];
    }""",
    "{ __m256i ps_x = _mm256_mullo_epi32({A}, {C}), ps_y = _mm256_mullo_epi32({B}, {D}); "
    "__m256i ps_z = _mm256_mullo_epi32(_mm256_add_epi32({A}, {B}), _mm256_add_epi32({C}, {D})); "
    "{P} = _mm256_add_epi32({P}, _mm256_sub_epi32(ps_x, ps_y)); "
    "{Q} = _mm256_add_epi32({Q}, _mm256_sub_epi32(ps_z, _mm256_add_epi32(ps_x, ps_y))); }",
    "vol. 2B, PMULLD (three), PADDD and PSUBD",
    cost=Cost(issue_cycles=3, latency_cycles=13, source="uops.info, three VPMULLD (YMM) of two uops, Ice Lake"))

ALL = (VPAVGB, VPAVGW, VPMULHRSW, VPMULHW, VPADDSW, VPADDUSB, VPSUBUSB, VPCMPGTB, *EXTREMA, *EXCHANGES, *BUTTERFLIES,
       VPABSB, VPABSD, VPBLENDVB, VPACKSSDW, VPACKSSWB, VPACKUSDW, VPACKUSWB, VPSHUFB, VPERMD, VPMOVSXBW, VPMOVZXBW,
       VCVTDQ2PS, VCVTPS2DQ, VCVTPH2PS, VCVTPS2PH, VROUNDPS, COMPLEX_F32, COMPLEX_I32)
