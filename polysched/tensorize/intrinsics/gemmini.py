"""Gemmini: a 16x16 weight-stationary array, int8 in, int32 accumulators, with explicit moves.

Its instructions are RoCC commands in the custom-3 opcode of RISC-V, written here as `.insn`, so that any RISC-V
assembler takes them; the operands' bits are those of the Gemmini README, section ISA.
"""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register, Scratchpad

CONFIG, MVIN, MVOUT, COMPUTE_PRELOADED, PRELOAD, MVIN3 = 0, 2, 3, 4, 6, 14
TILE = "(16ull << 48 | 16ull << 32 | (uint64_t)({}))"       # rows, columns and local address
ONE = "0x3f800000ull"                                       # a scale of 1, as float
DISCARD = "0xffffffffu"
ACCUMULATOR_ADDRESS, ADDED_TO, FULL_WIDTH = 1 << 31, 1 << 30, 1 << 29
MEMORY = ' : "memory"'


def _command(function: int, first: str, second: str) -> str:
    """One RoCC command with two source registers."""
    return (f'asm volatile(".insn r 0x7b, 0x3, {function}, x0, %0, %1" :: "r"((uint64_t)({first})), '
            f'"r"((uint64_t)({second})){MEMORY});')


ISA = Isa(name="gemmini", machine="gemmini", headers=("stdint.h",),
          manual="Gemmini README and ISA (Genc et al., DAC 2021)",
          compilers=("riscv64-unknown-elf-gcc", "riscv64-linux-gnu-gcc"), flags=("-march=rv64gc",))
ROWS = "rows apart by the configured stride"
SCRATCHPAD = Scratchpad(name="scratchpad", capacity_bytes=256 * 1024)
ACCUMULATOR = Scratchpad(name="accumulator", capacity_bytes=64 * 1024)
# Registers are local row addresses: one tile of sixteen rows per operand, each in a region of its own.
INPUT_A = Register(c_type="uint32_t", count=3,
                   load="{register} = 0; " + _command(MVIN, "{pointer}", TILE.format("{register}")))
INPUT_B = Register(c_type="uint32_t", count=3,
                   load="{register} = 8192; " + _command(MVIN, "{pointer}", TILE.format("{register}")))
RESULT = Register(
    c_type="uint32_t", count=3,
    load=f"{{register}} = {ACCUMULATOR_ADDRESS}u; " + _command(MVIN3, "{pointer}", TILE.format("{register}")),
    store=_command(MVOUT, "{pointer}", TILE.format(f"{{register}} | {FULL_WIDTH}u")),
    zero=f"{{register}} = {ACCUMULATOR_ADDRESS}u; " + _command(MVIN3, "0", TILE.format("{register}")))

GEMMINI_MATMUL = Intrinsic(
    name="gemmini_matmul", isa=ISA, section="Core Matmul Sequences: preload, compute.preloaded",
    cost=Cost(issue_cycles=16, latency_cycles=48, source="16 rows through a 16-deep array, Gemmini README"),
    scratchpads=(SCRATCHPAD, ACCUMULATOR),
    configure="\n".join((
        _command(CONFIG, f"{ONE} << 32 | 1 << 16 | 1 << 2", "1ull << 48"),                # weights stay, no activation
        _command(CONFIG, f"{ONE} << 32 | 16 << 16 | 1 << 8 | 0 << 3 | 1", "16"),          # mvin: rows of 16 bytes
        _command(CONFIG, f"{ONE} << 32 | 16 << 16 | 1 << 8 | 2 << 3 | 1", "64"),          # mvin3: rows of 16 sums
        _command(CONFIG, "2", f"{ONE} << 32 | 64"))),                                     # mvout: rows of 16 sums
    finish='asm volatile("fence" ::: "memory");',
    semantics="""
void gemmini_matmul(int32_t C[16][16], const int8_t A[16][16], const int8_t B[16][16]) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 16; k++)
                C[i][j] += A[i][k] * B[k][j];
}""",
    operands=(Operand(name="C", register=RESULT, mode=LoadMode.SCRATCHPAD, stride=ROWS,
                      scratchpad="accumulator"),
              Operand(name="A", register=INPUT_A, mode=LoadMode.SCRATCHPAD, stride=ROWS,
                      scratchpad="scratchpad"),
              Operand(name="B", register=INPUT_B, mode=LoadMode.SCRATCHPAD, stride=ROWS,
                      scratchpad="scratchpad")),
    template=_command(PRELOAD, TILE.format("{B}"), TILE.format(f"{{C}} | {ADDED_TO}u")) + " "
    + _command(COMPUTE_PRELOADED, TILE.format("{A}"), TILE.format(DISCARD)))

ALL = (GEMMINI_MATMUL,)
