"""AVX-512 FMA: sixteen f32 or eight f64 products, the left operand broadcast or a full vector."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics.x86_registers import ZMM_F32, ZMM_F64, ZMM_REPEAT_F32, ZMM_REPEAT_F64

ISA = Isa(name="avx512f", machine="x86_64", headers=("immintrin.h",), flags=("-mavx512f",),
          compilers=("x86_64-linux-gnu-gcc",),
          manual="Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2")
COST = Cost(issue_cycles=0.5, latency_cycles=4, source="uops.info, VFMADD231PS (ZMM), two 512-bit ports")
SECTION = "vol. 2C, VFMADD132PS/VFMADD213PS/VFMADD231PS"

FMA_F32_AVX512 = Intrinsic(
    name="fma_f32_avx512", isa=ISA, cost=COST, section=SECTION,
    semantics="""
void fma_f32_avx512(float C[16], const float A[1], const float B[16]) {
    for (int i = 0; i < 16; i++)
        C[i] = fma_f32(A[0], B[i], C[i]);
}""",
    operands=(Operand(name="C", register=ZMM_F32),
              Operand(name="A", register=ZMM_REPEAT_F32, mode=LoadMode.BROADCAST),
              Operand(name="B", register=ZMM_F32)),
    template="{C} = _mm512_fmadd_ps({A}, {B}, {C});")

FMA_F64_AVX512 = Intrinsic(
    name="fma_f64_avx512", isa=ISA, cost=COST, section="vol. 2C, VFMADD132PD/VFMADD213PD/VFMADD231PD",
    semantics="""
void fma_f64_avx512(double C[8], const double A[1], const double B[8]) {
    for (int i = 0; i < 8; i++)
        C[i] = fma_f64(A[0], B[i], C[i]);
}""",
    operands=(Operand(name="C", register=ZMM_F64),
              Operand(name="A", register=ZMM_REPEAT_F64, mode=LoadMode.BROADCAST),
              Operand(name="B", register=ZMM_F64)),
    template="{C} = _mm512_fmadd_pd({A}, {B}, {C});")

MUL_ADD_F32_AVX512 = Intrinsic(
    name="mul_add_f32_avx512", isa=ISA, cost=COST, section=SECTION,
    semantics="""
void mul_add_f32_avx512(float C[16], const float A[16], const float B[16]) {
    for (int i = 0; i < 16; i++)
        C[i] = fma_f32(A[i], B[i], C[i]);
}""",
    operands=(Operand(name="C", register=ZMM_F32), Operand(name="A", register=ZMM_F32),
              Operand(name="B", register=ZMM_F32)),
    template="{C} = _mm512_fmadd_ps({A}, {B}, {C});")
MUL_ADD_F64_AVX512 = Intrinsic(
    name="mul_add_f64_avx512", isa=ISA, cost=COST, section="vol. 2C, VFMADD132PD/VFMADD213PD/VFMADD231PD",
    semantics="""
void mul_add_f64_avx512(double C[8], const double A[8], const double B[8]) {
    for (int i = 0; i < 8; i++)
        C[i] = fma_f64(A[i], B[i], C[i]);
}""",
    operands=(Operand(name="C", register=ZMM_F64), Operand(name="A", register=ZMM_F64),
              Operand(name="B", register=ZMM_F64)),
    template="{C} = _mm512_fmadd_pd({A}, {B}, {C});")

ALL = (FMA_F32_AVX512, FMA_F64_AVX512, MUL_ADD_F32_AVX512, MUL_ADD_F64_AVX512)
