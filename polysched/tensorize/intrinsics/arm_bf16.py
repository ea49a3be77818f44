"""ARM BF16 (FEAT_BF16, without FEAT_EBF16): products and sums rounded to odd, denormals flushed."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics.arm_registers import neon, neon_repeat

ISA = Isa(name="arm_bf16", machine="aarch64", headers=("arm_neon.h",), flags=("-march=armv8.2-a+bf16",),
          compilers=("aarch64-linux-gnu-gcc",), runner=("qemu-aarch64", "-cpu", "max"),
          manual="Arm Architecture Reference Manual for A-profile (DDI 0487)")
COST = Cost(issue_cycles=0.5, latency_cycles=4, source="Arm Neoverse V1 Software Optimization Guide, BFDOT")

ARM_BFDOT = Intrinsic(
    name="arm_bfdot", isa=ISA, cost=COST, section="C7.2, BFDOT; shared pseudocode BFDotAdd",
    semantics="""
void arm_bfdot(float C[4], const bf16 A[2], const bf16 B[4][2]) {
    for (int i = 0; i < 4; i++) {
        float p[2];
        for (int k = 0; k < 2; k++)
            p[k] = mul_odd(bf16_to_f32(A[k]), bf16_to_f32(B[i][k]));
        C[i] = add_odd(C[i], add_odd(p[0], p[1]));
    }
}""",
    operands=(Operand(name="C", register=neon("f32", 4)),
              Operand(name="A", register=neon_repeat("bf16", 8), mode=LoadMode.BROADCAST),
              Operand(name="B", register=neon("bf16", 8), mode=LoadMode.PACKED)),
    template="{C} = vbfdotq_f32({C}, {A}, {B});")

ARM_BFMMLA = Intrinsic(
    name="arm_bfmmla", isa=ISA, cost=COST, section="C7.2, BFMMLA; shared pseudocode BFMatMulAdd",
    semantics="""
void arm_bfmmla(float C[2][2], const bf16 A[2][4], const bf16 B[2][4]) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int h = 0; h < 2; h++) {
                float p[2];
                for (int k = 0; k < 2; k++)
                    p[k] = mul_odd(bf16_to_f32(A[i][2 * h + k]), bf16_to_f32(B[j][2 * h + k]));
                C[i][j] = add_odd(C[i][j], add_odd(p[0], p[1]));
            }
}""",
    operands=(Operand(name="C", register=neon("f32", 4)),
              Operand(name="A", register=neon("bf16", 8), mode=LoadMode.PACKED),
              Operand(name="B", register=neon("bf16", 8), mode=LoadMode.PACKED)),
    template="{C} = vbfmmlaq_f32({C}, {A}, {B});")

ALL = (ARM_BFDOT, ARM_BFMMLA)
