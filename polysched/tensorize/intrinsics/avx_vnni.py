"""AVX-VNNI: the 256-bit VEX forms of the VNNI dot products."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics.x86_registers import YMM, YMM_REPEAT_32

ISA = Isa(name="avx_vnni", machine="x86_64", headers=("immintrin.h",), flags=("-mavx2", "-mavxvnni"),
          compilers=("x86_64-linux-gnu-gcc",),
          manual="Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2")
# gcc 12 copies every accumulator before it is added to, unless something depends on its place
IN_PLACE = ' asm("" : "+x"({C}));'
COST = Cost(issue_cycles=0.5, latency_cycles=5, source="uops.info, VPDPBUSD (YMM, VEX), Alder Lake P")
OPERANDS = (Operand(name="C", register=YMM), Operand(name="A", register=YMM_REPEAT_32, mode=LoadMode.BROADCAST),
            Operand(name="B", register=YMM, mode=LoadMode.PACKED))

VPDPBUSD_AVX = Intrinsic(
    name="vpdpbusd_avx", isa=ISA, cost=COST, section="vol. 2C, VPDPBUSD (VEX.256)", operands=OPERANDS,
    semantics="""
void vpdpbusd_avx(int32_t C[8], const uint8_t A[4], const int8_t B[8][4]) {
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[k] * B[i][k];
}""",
    template="{C} = _mm256_dpbusd_avx_epi32({C}, {A}, {B});" + IN_PLACE)

VPDPBUSDS_AVX = Intrinsic(
    name="vpdpbusds_avx", isa=ISA, cost=COST, section="vol. 2C, VPDPBUSDS (VEX.256)", operands=OPERANDS,
    semantics="""
void vpdpbusds_avx(int32_t C[8], const uint8_t A[4], const int8_t B[8][4]) {
    for (int i = 0; i < 8; i++) {
        int64_t t = 0;
        for (int k = 0; k < 4; k++)
            t += A[k] * B[i][k];
        C[i] = sat_i32(C[i] + t);
    }
}""",
    template="{C} = _mm256_dpbusds_avx_epi32({C}, {A}, {B});" + IN_PLACE)

VPDPWSSD_AVX = Intrinsic(
    name="vpdpwssd_avx", isa=ISA, cost=COST, section="vol. 2C, VPDPWSSD (VEX.256)", operands=OPERANDS,
    semantics="""
void vpdpwssd_avx(int32_t C[8], const int16_t A[2], const int16_t B[8][2]) {
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 2; k++)
            C[i] += A[k] * B[i][k];
}""",
    template="{C} = _mm256_dpwssd_avx_epi32({C}, {A}, {B});" + IN_PLACE)

VPDPWSSDS_AVX = Intrinsic(
    name="vpdpwssds_avx", isa=ISA, cost=COST, section="vol. 2C, VPDPWSSDS (VEX.256)", operands=OPERANDS,
    semantics="""
void vpdpwssds_avx(int32_t C[8], const int16_t A[2], const int16_t B[8][2]) {
    for (int i = 0; i < 8; i++) {
        int64_t t = 0;
        for (int k = 0; k < 2; k++)
            t += (int64_t)A[k] * B[i][k];
        C[i] = sat_i32(C[i] + t);
    }
}""",
    template="{C} = _mm256_dpwssds_avx_epi32({C}, {A}, {B});" + IN_PLACE)

ALL = (VPDPBUSD_AVX, VPDPBUSDS_AVX, VPDPWSSD_AVX, VPDPWSSDS_AVX)
