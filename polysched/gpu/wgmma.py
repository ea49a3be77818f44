"""NVIDIA's asynchronous products of a warpgroup, four warps: 64 rows, both operands in shared memory (sm_90a).

Operands lie as the manual's canonical layout without swizzling has them, sums along rows (PTX ISA, "Shared Memory
Matrix Layout"): cores of 8 rows of 16 bytes, one row behind the other; a descriptor says how far the next core is
along the sum, and how far along the rows.  A thread holds the results that the manual gives it ("Register Fragments"):
of each eight columns four, so that an instruction of 64 columns is eight of 8 whose registers follow one another.
Described is the one of 8 columns.

The order and rounding of the inner additions are not documented; the text adds in increasing k with one rounding each.
They are no instructions of the registry: what fills shared memory is made by `emit_gpu` alone.
"""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.gpus import SM_90
from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register, Scratchpad

ROWS, COLUMNS = 64, 8
"""Of the described instruction."""
RESULTS = 4
"""Registers of a thread for them."""
JOINED = 8
"""Described instructions that one of 64 columns is."""
CORE_ROWS, CORE_BYTES = 8, 16
"""Of a core: rows, and bytes of each."""
SUM_BYTES = 2 * CORE_BYTES
"""Of a row of an operand that a product sums over."""

ISA = Isa(name="nvidia_wgmma", machine="cuda", manual="PTX ISA 8.x")


@dataclass(frozen=True, kw_only=True)
class Wgmma:
    """A shape and its types.

    Parameters
    ----------
    sums : what a product sums over, 32 bytes of a row.
    operands, results : types as PTX spells them.
    c_type, value : of an operand in the described text.
    """

    sums: int
    operands: str
    results: str
    c_type: str
    value: str = "{}"

    @property
    def constraint(self) -> str:
        """Of a result, in inline assembly."""
        return "f" if self.results == "f32" else "r"

    def product(self, sums: str, left: str, right: str, joined: int = 1) -> str:
        """C that adds products side by side to the array `sums`, later than it returns.

        Parameters
        ----------
        left, right : descriptors.
        joined : so many times 8 columns.
        """
        count = RESULTS * joined
        listed = ", ".join(f"%{k}" for k in range(count))
        outputs = ", ".join(f'"+{self.constraint}"({sums}[{k}])' for k in range(count))
        ways = {"f16": ", 1, 1, 0, 0", "bf16": ", 1, 1, 0, 0", "tf32": ", 1, 1"}.get(self.operands, "")
        shape = f"m{ROWS}n{COLUMNS * joined}k{self.sums}.{self.results}.{self.operands}.{self.operands}"
        return (f'asm volatile("{{ .reg .pred adds; setp.ne.b32 adds, %{count + 2}, 0; '
                f'wgmma.mma_async.sync.aligned.{shape} {{{listed}}}, %{count}, %{count + 1}, adds{ways}; }}" '
                f': {outputs} : "l"({left}), "l"({right}), "r"(1));')


WGMMA_BY_NAME = {
    "wgmma_64x8x16": Wgmma(sums=16, operands="f16", results="f32", c_type="f16", value="f16_to_f32({})"),
    "wgmma_64x8x16_bf16": Wgmma(sums=16, operands="bf16", results="f32", c_type="bf16", value="bf16_to_f32({})"),
    "wgmma_64x8x8_tf32": Wgmma(sums=8, operands="tf32", results="f32", c_type="float", value="f32_to_tf32({})"),
    "wgmma_64x8x32_s8": Wgmma(sums=32, operands="s8", results="s32", c_type="int8_t"),
    "wgmma_64x8x32_u8": Wgmma(sums=32, operands="u8", results="s32", c_type="uint8_t")}
"""By the name of the instruction."""


def _unit(name: str) -> Intrinsic:
    own = WGMMA_BY_NAME[name]
    is_float = own.results == "f32"
    a, b = (own.value.format(x) for x in ("A[i][k]", "B[k][j]"))
    update = f"C[i][j] = fma_f32({a}, {b}, C[i][j]);" if is_float else f"C[i][j] += {a} * {b};"
    accumulator = "float" if is_float else "int32_t"
    held = Register(c_type=f"struct {{ {'float' if is_float else 'int'} v[{RESULTS}]; }}", load="", store="", count=6)
    shared = Register(c_type="unsigned long long", load="")
    return Intrinsic(
        name=name, isa=ISA, template=own.product("{C}.v", "{A}", "{B}"),
        operands=(Operand(name="C", register=held, mode=LoadMode.TILE),
                  *(Operand(name=x, register=shared, mode=LoadMode.SCRATCHPAD, alignment_bytes=CORE_BYTES,
                            scratchpad="shared") for x in "AB")),
        scratchpads=(Scratchpad(name="shared", capacity_bytes=SM_90.shared_bytes - SM_90.reserved_bytes),),
        section="Asynchronous Warpgroup Level Matrix Instructions",
        cost=Cost(issue_cycles=ROWS * COLUMNS * SUM_BYTES / 4096, latency_cycles=33,
                  source="NVIDIA H100 Tensor Core GPU Architecture: products of 4096 bytes of an operand a cycle; "
                         "latency of HMMA.16816 on A100, Sun et al., TPDS 2023"),
        semantics=f"""
void {name}({accumulator} C[{ROWS}][{COLUMNS}],
            const {own.c_type} A[{ROWS}][{own.sums}], const {own.c_type} B[{own.sums}][{COLUMNS}]) {{
    for (int i = 0; i < {ROWS}; i++)
        for (int j = 0; j < {COLUMNS}; j++)
            for (int k = 0; k < {own.sums}; k++)
                {update}
}}""", any_order=True)


_UNITS = {name: _unit(name) for name in WGMMA_BY_NAME}
WGMMA_BY_KIND = {"int8": (_UNITS["wgmma_64x8x32_s8"], _UNITS["wgmma_64x8x32_u8"]),
                 "float16": (_UNITS["wgmma_64x8x16"],), "bfloat16": (_UNITS["wgmma_64x8x16_bf16"],),
                 "tf32": (_UNITS["wgmma_64x8x8_tf32"],)}
"""By the type of the operands."""
