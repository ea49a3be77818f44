"""RISC-V vector extension: widening multiply-accumulate, described for 128-bit vector registers."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register

ISA = Isa(name="riscv_v128", machine="riscv64", flags=("-march=rv64gcv", "-mabi=lp64d"),
          compilers=("riscv64-linux-gnu-gcc",),
          runner=("qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=128,elen=64"),
          manual="The RISC-V Vector Extension, version 1.0")
COST = Cost(issue_cycles=2, latency_cycles=6, source="assumed: two operations per result of LMUL 2")


def _group(width: int, lanes: int, lmul: int, first: int, *, stored: bool = False) -> Register:
    """The register group that starts at `v<first>`; registers are named in the text of the assembly."""
    setting = f"vsetivli zero, {lanes}, e{width}, m{lmul}, ta, ma\\n\\t"
    return Register(
        c_type="", count=32 // lmul,
        load=f'asm volatile("{setting}vle{width}.v v{first}, (%0)" :: "r"({{pointer}}) : "memory");',
        store=f'asm volatile("{setting}vse{width}.v v{first}, (%0)" :: "r"({{pointer}}) : "memory");' if stored else "",
        zero=f'asm volatile("{setting}vmv.v.i v{first}, 0");' if stored else "")


def _widening(name: str, operation: str, left: str, right: str, lanes: int) -> Intrinsic:
    """`vwmacc*.vx`: a scalar times a vector of half the width of the accumulator."""
    wide, narrow = 128 * 2 // lanes, 128 // lanes
    setting = f"vsetivli zero, {lanes}, e{narrow}, m1, ta, ma\\n\\t"
    return Intrinsic(
        name=name, isa=ISA, cost=COST, section="11.14, Vector Widening Integer Multiply-Add Instructions",
        semantics=f"""
void {name}(int{wide}_t C[{lanes}], const {left} A[1], const {right} B[{lanes}]) {{
    for (int i = 0; i < {lanes}; i++)
        C[i] += A[0] * B[i];
}}""",
        operands=(Operand(name="C", register=_group(wide, lanes, 2, 8, stored=True)),
                  Operand(name="A", mode=LoadMode.BROADCAST, register=Register(
                      c_type="long", load=f"{{register}} = *(const {left} *)({{pointer}});")),
                  Operand(name="B", register=_group(narrow, lanes, 1, 24))),
        template=f'asm volatile("{setting}{operation}.vx v8, %0, v24" :: "r"({{A}}));')


RVV_VWMACC = _widening("rvv_vwmacc_i16", "vwmacc", "int16_t", "int16_t", 8)
RVV_VWMACC_I8 = _widening("rvv_vwmacc_i8", "vwmacc", "int8_t", "int8_t", 16)
RVV_VWMACCSU = _widening("rvv_vwmaccsu_i16", "vwmaccsu", "int16_t", "uint16_t", 8)
RVV_VWMACCUS = _widening("rvv_vwmaccus_i16", "vwmaccus", "uint16_t", "int16_t", 8)

ALL = (RVV_VWMACC, RVV_VWMACC_I8, RVV_VWMACCSU, RVV_VWMACCUS)
