"""SVE dot products, described for 256-bit vectors; the vector length is a precondition checked at run time."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand
from polysched.tensorize.intrinsics.arm_registers import sve

ISA = Isa(name="arm_sve256", machine="aarch64", headers=("arm_sve.h",), flags=("-march=armv8.2-a+sve+i8mm",),
          compilers=("aarch64-linux-gnu-gcc",), runner=("qemu-aarch64", "-cpu", "max,sve-max-vq=2"),
          prepare="if (svcntb() != 32) {refuse}; /* described for 256-bit vectors */",
          manual="Arm Architecture Reference Manual for A-profile (DDI 0487)")
COST = Cost(issue_cycles=0.5, latency_cycles=3, source="Arm Neoverse V1 Software Optimization Guide, SVE SDOT")


def _dot(name: str, left: str, right: str, out: str, call: str) -> Intrinsic:
    """One of SDOT, UDOT, USDOT on eight lanes of four bytes."""
    c_type = {"s8": "int8_t", "u8": "uint8_t", "s32": "int32_t", "u32": "uint32_t"}
    return Intrinsic(
        name=f"sve256_{name}", isa=ISA, cost=COST, section=f"C8.2, {name.upper()}",
        semantics=f"""
void sve256_{name}({c_type[out]} C[8], const {c_type[left]} A[8][4], const {c_type[right]} B[8][4]) {{
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 4; k++)
            C[i] += A[i][k] * B[i][k];
}}""",
        operands=(Operand(name="C", register=sve(out)), Operand(name="A", register=sve(left), mode=LoadMode.PACKED),
                  Operand(name="B", register=sve(right), mode=LoadMode.PACKED)),
        template=f"{{C}} = {call}({{C}}, {{A}}, {{B}});")


SVE_SDOT = _dot("sdot", "s8", "s8", "s32", "svdot_s32")
SVE_UDOT = _dot("udot", "u8", "u8", "u32", "svdot_u32")
SVE_USDOT = _dot("usdot", "u8", "s8", "s32", "svusdot_s32")

ALL = (SVE_SDOT, SVE_UDOT, SVE_USDOT)
