"""ARM int8 matrix multiplication (FEAT_I8MM): a 2x2 accumulator and rows of eight bytes, and the mixed dot product."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics.arm_registers import neon, neon_repeat

ISA = Isa(name="arm_i8mm", machine="aarch64", headers=("arm_neon.h",), flags=("-march=armv8.2-a+dotprod+i8mm",),
          compilers=("aarch64-linux-gnu-gcc",), runner=("qemu-aarch64", "-cpu", "max"),
          manual="Arm Architecture Reference Manual for A-profile (DDI 0487)")
COST = Cost(issue_cycles=0.5, latency_cycles=3, source="Arm Neoverse V1 Software Optimization Guide, SMMLA")


def _matrix(name: str, left: str, right: str, out: str) -> Intrinsic:
    """One of SMMLA, UMMLA, USMMLA; `left` and `right` are `s8` or `u8`, `out` is `s32` or `u32`."""
    c_type = {"s8": "int8_t", "u8": "uint8_t", "s32": "int32_t", "u32": "uint32_t"}
    return Intrinsic(
        name=f"arm_{name}", isa=ISA, cost=COST, section=f"C7.2, {name.upper()}",
        semantics=f"""
void arm_{name}({c_type[out]} C[2][2], const {c_type[left]} A[2][8], const {c_type[right]} B[2][8]) {{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 8; k++)
                C[i][j] += A[i][k] * B[j][k];
}}""",
        operands=(Operand(name="C", register=neon(out, 4)),
                  Operand(name="A", register=neon(left, 16), mode=LoadMode.PACKED),
                  Operand(name="B", register=neon(right, 16), mode=LoadMode.PACKED)),
        template=f"{{C}} = v{'us' if left != right else ''}mmlaq_{out}({{C}}, {{A}}, {{B}});")


ARM_SMMLA = _matrix("smmla", "s8", "s8", "s32")
ARM_UMMLA = _matrix("ummla", "u8", "u8", "u32")
ARM_USMMLA = _matrix("usmmla", "u8", "s8", "s32")

ARM_USDOT = Intrinsic(
    name="arm_usdot", isa=ISA, cost=COST, section="C7.2, USDOT",
    semantics="""
void arm_usdot(int32_t C[4], const uint8_t A[4], const int8_t B[4][4]) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[k] * B[i][k];
}""",
    operands=(Operand(name="C", register=neon("s32", 4)),
              Operand(name="A", register=neon_repeat("u8", 16), mode=LoadMode.BROADCAST),
              Operand(name="B", register=neon("s8", 16), mode=LoadMode.PACKED)),
    template="{C} = vusdotq_s32({C}, {A}, {B});")

ALL = (ARM_SMMLA, ARM_UMMLA, ARM_USMMLA, ARM_USDOT)
