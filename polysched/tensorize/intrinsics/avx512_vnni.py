"""AVX-512 VNNI: sixteen lanes of four u8*s8 or two s16*s16 products, wrapping or saturating once per execution."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics.x86_registers import ZMM, ZMM_REPEAT_32

ISA = Isa(name="avx512_vnni", machine="x86_64", headers=("immintrin.h",), flags=("-mavx512f", "-mavx512vnni"),
          compilers=("x86_64-linux-gnu-gcc",),
          manual="Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2")
# gcc 12 copies every accumulator before it is added to, unless something depends on its place
IN_PLACE = ' asm("" : "+v"({C}));'
COST = Cost(issue_cycles=0.5, latency_cycles=5, source="uops.info, VPDPBUSD (ZMM), two 512-bit ports")
REPEATED = (Operand(name="C", register=ZMM), Operand(name="A", register=ZMM_REPEAT_32, mode=LoadMode.BROADCAST),
            Operand(name="B", register=ZMM, mode=LoadMode.PACKED))

VPDPBUSD = Intrinsic(
    name="vpdpbusd", isa=ISA, cost=COST, section="vol. 2C, VPDPBUSD", operands=REPEATED,
    semantics="""
void vpdpbusd(int32_t C[16], const uint8_t A[4], const int8_t B[16][4]) {
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[k] * B[i][k];
}""",
    template="{C} = _mm512_dpbusd_epi32({C}, {A}, {B});" + IN_PLACE)

VPDPBUSD_VECTOR = Intrinsic(
    name="vpdpbusd_vector", isa=ISA, cost=COST, section="vol. 2C, VPDPBUSD",
    semantics="""
void vpdpbusd_vector(int32_t C[16], const uint8_t A[16][4], const int8_t B[16][4]) {
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[i][k] * B[i][k];
}""",
    operands=(Operand(name="C", register=ZMM), Operand(name="A", register=ZMM, mode=LoadMode.PACKED),
              Operand(name="B", register=ZMM, mode=LoadMode.PACKED)),
    template="{C} = _mm512_dpbusd_epi32({C}, {A}, {B});" + IN_PLACE)

VPDPBUSD_M32BCST = Intrinsic(
    name="vpdpbusd_m32bcst", isa=ISA, cost=COST, section="vol. 2C, VPDPBUSD zmm1, zmm2, m32bcst",
    semantics="""
void vpdpbusd_m32bcst(int32_t C[16], const uint8_t A[16][4], const int8_t B[4]) {
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[i][k] * B[k];
}""",
    operands=(Operand(name="C", register=ZMM), Operand(name="A", register=ZMM, mode=LoadMode.PACKED),
              Operand(name="B", register=ZMM_REPEAT_32, mode=LoadMode.BROADCAST)),
    template="{C} = _mm512_dpbusd_epi32({C}, {A}, {B});" + IN_PLACE)

VPDPBUSDS = Intrinsic(
    name="vpdpbusds", isa=ISA, cost=COST, section="vol. 2C, VPDPBUSDS", operands=REPEATED,
    semantics="""
void vpdpbusds(int32_t C[16], const uint8_t A[4], const int8_t B[16][4]) {
    for (int i = 0; i < 16; i++) {
        int64_t t = 0;
        for (int k = 0; k < 4; k++)
            t += A[k] * B[i][k];
        C[i] = sat_i32(C[i] + t);
    }
}""",
    template="{C} = _mm512_dpbusds_epi32({C}, {A}, {B});" + IN_PLACE)

VPDPWSSD = Intrinsic(
    name="vpdpwssd", isa=ISA, cost=COST, section="vol. 2C, VPDPWSSD", operands=REPEATED,
    semantics="""
void vpdpwssd(int32_t C[16], const int16_t A[2], const int16_t B[16][2]) {
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 2; k++)
            C[i] += A[k] * B[i][k];
}""",
    template="{C} = _mm512_dpwssd_epi32({C}, {A}, {B});" + IN_PLACE)

VPDPWSSDS = Intrinsic(
    name="vpdpwssds", isa=ISA, cost=COST, section="vol. 2C, VPDPWSSDS", operands=REPEATED,
    semantics="""
void vpdpwssds(int32_t C[16], const int16_t A[2], const int16_t B[16][2]) {
    for (int i = 0; i < 16; i++) {
        int64_t t = 0;
        for (int k = 0; k < 2; k++)
            t += (int64_t)A[k] * B[i][k];
        C[i] = sat_i32(C[i] + t);
    }
}""",
    template="{C} = _mm512_dpwssds_epi32({C}, {A}, {B});" + IN_PLACE)

ALL = (VPDPBUSD, VPDPBUSD_VECTOR, VPDPBUSD_M32BCST, VPDPBUSDS, VPDPWSSD, VPDPWSSDS)
