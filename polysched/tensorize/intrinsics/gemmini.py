"""Gemmini: a 16x16 weight-stationary array, int8 in, int32 accumulators, with explicit moves."""

from polysched.tensorize.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register, Scratchpad

ISA = Isa(name="gemmini", machine="gemmini", headers=("include/gemmini.h",), compilers=("riscv64-unknown-elf-gcc",),
          manual="Gemmini README and ISA (Genc et al., DAC 2021)")
ROWS = "rows apart by the configured stride"
SCRATCHPAD = Scratchpad(name="scratchpad", capacity_bytes=256 * 1024)
ACCUMULATOR = Scratchpad(name="accumulator", capacity_bytes=64 * 1024)
INPUT = Register(c_type="uint32_t", load="gemmini_mvin({pointer}, {register});", count=SCRATCHPAD.capacity_bytes // 256)
RESULT = Register(c_type="uint32_t", load="gemmini_mvin3({pointer}, {register});",
                  store="gemmini_mvout({pointer}, {register});", zero="gemmini_mvin3(NULL, {register});",
                  count=ACCUMULATOR.capacity_bytes // 1024)

GEMMINI_MATMUL = Intrinsic(
    name="gemmini_matmul", isa=ISA, section="Core Matmul Sequences: preload, compute.preloaded",
    cost=Cost(issue_cycles=16, latency_cycles=48, source="16 rows through a 16-deep array, Gemmini README"),
    scratchpads=(SCRATCHPAD, ACCUMULATOR),
    configure="""gemmini_config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 0);
    gemmini_config_ld(16); gemmini_config_st(16 * sizeof(int32_t));""",
    semantics="""
void gemmini_matmul(int32_t C[16][16], const int8_t A[16][16], const int8_t B[16][16]) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 16; k++)
                C[i][j] += A[i][k] * B[k][j];
}""",
    operands=(Operand(name="C", register=RESULT, mode=LoadMode.SCRATCHPAD, stride=ROWS),
              Operand(name="A", register=INPUT, mode=LoadMode.SCRATCHPAD, stride=ROWS),
              Operand(name="B", register=INPUT, mode=LoadMode.SCRATCHPAD, stride=ROWS)),
    template="gemmini_preload({B}, {C} | (1u << 30)); gemmini_compute_preloaded({A}, GARBAGE_ADDR);")

ALL = (GEMMINI_MATMUL,)
