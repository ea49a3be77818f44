"""AVX2 FMA: eight f32 or four f64 products, the left operand broadcast or a full vector."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics.x86_registers import YMM_F32, YMM_F64, YMM_REPEAT_F32, YMM_REPEAT_F64

ISA = Isa(name="avx2_fma", machine="x86_64", headers=("immintrin.h",), flags=("-mavx2", "-mfma"),
          compilers=("x86_64-linux-gnu-gcc",), runner=("qemu-x86_64", "-cpu", "max"),
          manual="Intel 64 and IA-32 Architectures Software Developer's Manual, vol. 2")
COST = Cost(issue_cycles=0.5, latency_cycles=4, source="uops.info, VFMADD231PS (YMM), Ice Lake and later")
SECTION = "vol. 2C, VFMADD132PS/VFMADD213PS/VFMADD231PS"

FMA_F32_AVX2 = Intrinsic(
    name="fma_f32_avx2", isa=ISA, cost=COST, section=SECTION,
    semantics="""
void fma_f32_avx2(float C[8], const float A[1], const float B[8]) {
    for (int i = 0; i < 8; i++)
        C[i] = fma_f32(A[0], B[i], C[i]);
}""",
    operands=(Operand(name="C", register=YMM_F32),
              Operand(name="A", register=YMM_REPEAT_F32, mode=LoadMode.BROADCAST),
              Operand(name="B", register=YMM_F32)),
    template="{C} = _mm256_fmadd_ps({A}, {B}, {C});")

FMA_F64_AVX2 = Intrinsic(
    name="fma_f64_avx2", isa=ISA, cost=COST, section="vol. 2C, VFMADD132PD/VFMADD213PD/VFMADD231PD",
    semantics="""
void fma_f64_avx2(double C[4], const double A[1], const double B[4]) {
    for (int i = 0; i < 4; i++)
        C[i] = fma_f64(A[0], B[i], C[i]);
}""",
    operands=(Operand(name="C", register=YMM_F64),
              Operand(name="A", register=YMM_REPEAT_F64, mode=LoadMode.BROADCAST),
              Operand(name="B", register=YMM_F64)),
    template="{C} = _mm256_fmadd_pd({A}, {B}, {C});")

MUL_ADD_F32_AVX2 = Intrinsic(
    name="mul_add_f32_avx2", isa=ISA, cost=COST, section=SECTION,
    semantics="""
void mul_add_f32_avx2(float C[8], const float A[8], const float B[8]) {
    for (int i = 0; i < 8; i++)
        C[i] = fma_f32(A[i], B[i], C[i]);
}""",
    operands=(Operand(name="C", register=YMM_F32), Operand(name="A", register=YMM_F32),
              Operand(name="B", register=YMM_F32)),
    template="{C} = _mm256_fmadd_ps({A}, {B}, {C});")
MUL_ADD_F64_AVX2 = Intrinsic(
    name="mul_add_f64_avx2", isa=ISA, cost=COST, section=SECTION,
    semantics="""
void mul_add_f64_avx2(double C[4], const double A[4], const double B[4]) {
    for (int i = 0; i < 4; i++)
        C[i] = fma_f64(A[i], B[i], C[i]);
}""",
    operands=(Operand(name="C", register=YMM_F64), Operand(name="A", register=YMM_F64),
              Operand(name="B", register=YMM_F64)),
    template="{C} = _mm256_fmadd_pd({A}, {B}, {C});")

ALL = (FMA_F32_AVX2, FMA_F64_AVX2, MUL_ADD_F32_AVX2, MUL_ADD_F64_AVX2)
