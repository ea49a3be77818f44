"""Advanced SIMD: rounding halving additions, the rounding doubling high product, which saturates once, and clz."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand
from polysched.tensorize.intrinsics.arm_registers import neon

ISA = Isa(name="arm_simd", machine="aarch64", headers=("arm_neon.h",), flags=("-march=armv8-a",),
          compilers=("aarch64-linux-gnu-gcc",), runner=("qemu-aarch64", "-cpu", "max"),
          manual="Arm Architecture Reference Manual for A-profile (DDI 0487)")


def _two(name: str, element: str, lanes: int, value: str, call: str, latency: int) -> Intrinsic:
    """An instruction of two operands, element by element."""
    c_type = {"s16": "int16_t", "s32": "int32_t", "u8": "uint8_t"}[element]
    return Intrinsic(
        name=name, isa=ISA, section=f"C7.2, {name.split('_')[1].upper()} (vector)",
        cost=Cost(issue_cycles=0.5, latency_cycles=latency, source="Arm Neoverse V1 Software Optimization Guide"),
        semantics=f"""
void {name}({c_type} O[{lanes}], const {c_type} A[{lanes}], const {c_type} B[{lanes}]) {{
    for (int i = 0; i < {lanes}; i++)
        O[i] = {value};
}}""",
        operands=tuple(Operand(name=n, register=neon(element, lanes)) for n in "OAB"),
        template=f"{{O}} = {call}({{A}}, {{B}});")


ARM_SQRDMULH_16 = _two("arm_sqrdmulh_16", "s16", 8, "sat_i16(((int64_t)A[i] * B[i] + (1 << 14)) >> 15)",
                       "vqrdmulhq_s16", 4)
ARM_SQRDMULH_32 = _two("arm_sqrdmulh_32", "s32", 4, "sat_i32(((int64_t)A[i] * B[i] + (1 << 30)) >> 31)",
                       "vqrdmulhq_s32", 4)
ARM_URHADD = _two("arm_urhadd", "u8", 16, "(A[i] + B[i] + 1) >> 1", "vrhaddq_u8", 2)
ARM_CLZ = Intrinsic(
    name="arm_clz", isa=ISA, section="C7.2, CLZ (vector)",
    cost=Cost(issue_cycles=0.5, latency_cycles=2, source="Arm Neoverse V1 Software Optimization Guide"),
    semantics="""
void arm_clz(int32_t O[4], const uint32_t A[4]) {
    for (int i = 0; i < 4; i++)
        O[i] = clz_u32(A[i]);
}""",
    operands=(Operand(name="O", register=neon("s32", 4)), Operand(name="A", register=neon("u32", 4))),
    template="{O} = vreinterpretq_s32_u32(vclzq_u32({A}));")

ALL = (ARM_SQRDMULH_16, ARM_SQRDMULH_32, ARM_URHADD, ARM_CLZ)
