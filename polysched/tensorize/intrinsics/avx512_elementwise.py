"""AVX-512: averages and rounding high products of 64 bytes, counted bits, bytes chosen from a table of 64, bf16."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand, Register
from polysched.tensorize.intrinsics.repeated import each
from polysched.tensorize.intrinsics.x86_registers import ZMM, ZMM_F32

MANUAL = "Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2"
YMM_STORED = Register(c_type="__m256i", load="{register} = _mm256_loadu_si256((const __m256i *)({pointer}));",
                      store="_mm256_storeu_si256((__m256i *)({pointer}), {register});")


def _isa(name: str) -> Isa:
    return Isa(name=name, machine="x86_64", headers=("immintrin.h",), manual=MANUAL,
               flags=tuple(dict.fromkeys(("-mavx512f", "-m" + name.replace("_", "")))),
               compilers=("x86_64-linux-gnu-gcc",))


def _unit(name: str, isa: str, parameters: str, body: str, template: str, section: str, cycles: tuple[float, float],
          registers: dict[str, Register] | None = None) -> Intrinsic:
    names = [p.split("[")[0].split()[-1] for p in parameters.split(",")]
    return Intrinsic(name=name, isa=_isa(isa), section=section, template=template,
                     cost=Cost(issue_cycles=cycles[0], latency_cycles=cycles[1], source="uops.info, ZMM, Ice Lake"),
                     semantics=f"\nvoid {name}({parameters}) {{\n    {body}\n}}",
                     operands=tuple(Operand(name=n, register=(registers or {}).get(n, ZMM)) for n in names))


VPAVGB_512 = _unit("vpavgb_512", "avx512bw", "uint8_t O[64], const uint8_t A[64], const uint8_t B[64]",
                   each(64, "(A[i] + B[i] + 1) >> 1"),
                   "{O} = _mm512_avg_epu8({A}, {B});", "vol. 2B, PAVGB (EVEX.512)", (1, 1))
VPMULHRSW_512 = _unit("vpmulhrsw_512", "avx512bw", "int16_t O[32], const int16_t A[32], const int16_t B[32]",
                      each(32, "((A[i] * B[i] >> 14) + 1) >> 1"),
                      "{O} = _mm512_mulhrs_epi16({A}, {B});", "vol. 2B, PMULHRSW (EVEX.512)", (1, 5))
VPOPCNTD = _unit("vpopcntd", "avx512_vpopcntdq", "uint32_t O[16], const uint32_t A[16]",
                 each(16, "popcount_u32(A[i])"),
                 "{O} = _mm512_popcnt_epi32({A});", "vol. 2C, VPOPCNT", (1, 3))
VPOPCNTQ = _unit("vpopcntq", "avx512_vpopcntdq", "uint64_t O[8], const uint64_t A[8]",
                 each(8, "popcount_u64(A[i])"),
                 "{O} = _mm512_popcnt_epi64({A});", "vol. 2C, VPOPCNT", (1, 3))
VPERMB = _unit("vpermb", "avx512_vbmi", "uint8_t O[64], const uint8_t T[64], const uint8_t I[64]",
               each(64, "T[I[i] & 63]"),
               "{O} = _mm512_permutexvar_epi8({I}, {T});", "vol. 2C, VPERMB", (1, 3))
VCVTNEPS2BF16 = _unit("vcvtneps2bf16", "avx512_bf16", "bf16 O[16], const float A[16]",
                      each(16, "f32_to_bf16(flush(A[i]))"),
                      "{O} = (__m256i)_mm512_cvtneps_pbh({A});", "vol. 2C, VCVTNEPS2BF16", (1, 7),
                      {"O": YMM_STORED, "A": ZMM_F32})

ALL = (VPAVGB_512, VPMULHRSW_512, VPOPCNTD, VPOPCNTQ, VPERMB, VCVTNEPS2BF16)
