"""ARM dot product (FEAT_DotProd): four 32-bit lanes of four int8 products each."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics.arm_registers import neon, neon_repeat

ISA = Isa(name="arm_dotprod", machine="aarch64", headers=("arm_neon.h",), flags=("-march=armv8.2-a+dotprod",),
          compilers=("aarch64-linux-gnu-gcc",), runner=("qemu-aarch64", "-cpu", "max"),
          manual="Arm Architecture Reference Manual for A-profile (DDI 0487)")
COST = Cost(issue_cycles=0.5, latency_cycles=3, source="Arm Neoverse V1 Software Optimization Guide, SDOT and UDOT")

ARM_SDOT = Intrinsic(
    name="arm_sdot", isa=ISA, cost=COST, section="C7.2, SDOT",
    semantics="""
void arm_sdot(int32_t C[4], const int8_t A[4], const int8_t B[4][4]) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[k] * B[i][k];
}""",
    operands=(Operand(name="C", register=neon("s32", 4)),
              Operand(name="A", register=neon_repeat("s8", 16), mode=LoadMode.BROADCAST),
              Operand(name="B", register=neon("s8", 16), mode=LoadMode.PACKED)),
    template="{C} = vdotq_s32({C}, {A}, {B});")

ARM_UDOT = Intrinsic(
    name="arm_udot", isa=ISA, cost=COST, section="C7.2, UDOT",
    semantics="""
void arm_udot(uint32_t C[4], const uint8_t A[4], const uint8_t B[4][4]) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[k] * B[i][k];
}""",
    operands=(Operand(name="C", register=neon("u32", 4)),
              Operand(name="A", register=neon_repeat("u8", 16), mode=LoadMode.BROADCAST),
              Operand(name="B", register=neon("u8", 16), mode=LoadMode.PACKED)),
    template="{C} = vdotq_u32({C}, {A}, {B});")

ALL = (ARM_SDOT, ARM_UDOT)
