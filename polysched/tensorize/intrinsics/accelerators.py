"""Accelerator units without a public toolchain: a DaVinci-like cube, a GEMV unit and an AXPY unit."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register, Scratchpad

CUBE = Isa(name="davinci", machine="davinci",
           manual="Liao et al., DaVinci: A Scalable Architecture for Neural Network Computing, Hot Chips 2019")
UNIT = Isa(name="virtual_units", machine="virtual",
           manual="Zheng et al., AMOS, ISCA 2022, section 7.5 (virtual accelerators)")
BUFFERS = (Scratchpad(name="L0A", capacity_bytes=64 * 1024), Scratchpad(name="L0B", capacity_bytes=64 * 1024),
           Scratchpad(name="L0C", capacity_bytes=256 * 1024))
MEMORY = Register(c_type="void *", load="load({register}, {pointer});", store="store({pointer}, {register});")


def _operands(names: str) -> tuple[Operand, ...]:
    return tuple(Operand(name=n, register=MEMORY) for n in names)


DAVINCI_CUBE = Intrinsic(
    name="davinci_cube", isa=CUBE, section="cube unit: 16x16x16 f16 per cycle", scratchpads=BUFFERS,
    cost=Cost(issue_cycles=1, latency_cycles=16, source="4096 f16 multiply-adds per cycle, Hot Chips 2019"),
    semantics="""
void davinci_cube(float C[16][16], const f16 A[16][16], const f16 B[16][16]) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 16; k++)
                C[i][j] = fma_f32(f16_to_f32(A[i][k]), f16_to_f32(B[k][j]), C[i][j]);
}""",
    operands=tuple(Operand(name=n, register=MEMORY, mode=LoadMode.SCRATCHPAD, scratchpad=f"L0{n}") for n in "CAB"),
    template="mad({C}, {A}, {B}, 16, 16, 16, 0);", any_order=True)

GEMV_UNIT = Intrinsic(
    name="gemv_unit", isa=UNIT, section="GEMV unit",
    cost=Cost(issue_cycles=16, latency_cycles=20, source="one row per cycle"),
    semantics="""
void gemv_unit(float Y[16], const float A[16][16], const float X[16]) {
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++)
            Y[i] += A[i][k] * X[k];
}""",
    operands=_operands("YAX"), template="gemv({Y}, {A}, {X});", any_order=True)

AXPY_UNIT = Intrinsic(
    name="axpy_unit", isa=UNIT, section="AXPY unit",
    cost=Cost(issue_cycles=1, latency_cycles=5, source="16 lanes"),
    semantics="""
void axpy_unit(float Y[16], const float A[1], const float X[16]) {
    for (int i = 0; i < 16; i++)
        Y[i] += A[0] * X[i];
}""",
    operands=_operands("YAX"), template="axpy({Y}, {A}, {X});")

ALL = (DAVINCI_CUBE, GEMV_UNIT, AXPY_UNIT)
