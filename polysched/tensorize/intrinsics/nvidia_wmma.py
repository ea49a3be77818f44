"""The text of WMMA: loads, stores and products of fragments of which only the hardware knows which lane holds what.

Sources: PTX ISA, 9.7.14.4.1 (fragments), 9.7.14.4.2 (storage and alignment), 9.7.14.4.3 to 9.7.14.4.5 (wmma.load,
wmma.store, wmma.mma).
"""

from __future__ import annotations

from dataclasses import dataclass

ROW, COLUMN = "row", "col"
"""Whether the rows or the columns of a matrix are consecutive in memory."""
RESULTS = 8
"""Registers of a lane for 16 x 16 results."""
ALIGNMENT = 32
"""Bytes of the largest fragment of a lane; rows in memory begin at a multiple of a fragment's size."""


@dataclass(frozen=True, kw_only=True)
class Wmma:
    """A shape and its types.

    Parameters
    ----------
    sums : what a product sums over; it has 16 rows and 16 columns.
    operands, results : types as PTX spells them.
    operand_bytes : of an element of an operand.
    registers : of a lane for an operand.
    """

    sums: int
    operands: str
    results: str
    operand_bytes: int
    registers: int

    @property
    def _shape(self) -> str:
        return f"m16n16k{self.sums}"

    @property
    def _constraint(self) -> str:
        """Of a result, in inline assembly."""
        return "f" if self.results == "f32" else "r"

    @property
    def operation(self) -> str:
        """What the names of types are in the product: of half precision only those of the sums."""
        return f"{self.results}.{self.results}" if self.operands == "f16" else (
            f"{self.results}.{self.operands}.{self.operands}.{self.results}")

    def load(self, matrix: str, fragment: str, pointer: str, stride: str, layout: str = ROW) -> str:
        """C that fills the array `fragment` of a matrix `a`, `b` or `c` from memory.

        Parameters
        ----------
        stride : C of the elements from one row, or column, to the next.
        """
        count, kind, of = (RESULTS, self.results, self._constraint) if matrix == "c" else (
            self.registers, self.operands, "r")
        outputs = ", ".join(f'"={of}"({fragment}[{i}])' for i in range(count))
        return (f'asm volatile("wmma.load.{matrix}.sync.aligned.{layout}.{self._shape}.{kind} {{{_listed(0, count)}}}, '
                f'[%{count}], %{count + 1};" : {outputs} : "l"({pointer}), "r"((int)({stride})) : "memory");')

    def store(self, fragment: str, pointer: str, stride: str) -> str:
        """C that writes a fragment of results to memory, row by row."""
        inputs = ", ".join(f'"{self._constraint}"({fragment}[{i}])' for i in range(RESULTS))
        return (f'asm volatile("wmma.store.d.sync.aligned.row.{self._shape}.{self.results} [%0], '
                f'{{{_listed(1, RESULTS)}}}, %{RESULTS + 1};" : : "l"({pointer}), {inputs}, "r"((int)({stride})) '
                ': "memory");')

    def product(self, sums: str, left: str, right: str, right_layout: str = ROW) -> str:
        """C that adds the product of two fragments to one of results."""
        count = self.registers
        results, first, second = (_listed(at, own) for at, own in (
            (0, RESULTS), (RESULTS, count), (RESULTS + count, count)))
        outputs = ", ".join(f'"+{self._constraint}"({sums}[{i}])' for i in range(RESULTS))
        inputs = ", ".join(f'"r"({own}[{i}])' for own in (left, right) for i in range(count))
        return (f'asm volatile("wmma.mma.sync.aligned.row.{right_layout}.{self._shape}.{self.operation} {{{results}}}, '
                f'{{{first}}}, {{{second}}}, {{{results}}};" : {outputs} : {inputs});')


def _listed(first: int, count: int) -> str:
    """Numbers of operands of inline assembly, with commas."""
    return ", ".join(f"%{first + i}" for i in range(count))


BY_NAME = {
    "mma_16x16x16": Wmma(sums=16, operands="f16", results="f32", operand_bytes=2, registers=8),
    "mma_16x16x16_bf16": Wmma(sums=16, operands="bf16", results="f32", operand_bytes=2, registers=4),
    "mma_16x16x8_tf32": Wmma(sums=8, operands="tf32", results="f32", operand_bytes=4, registers=4),
    "mma_16x16x16_s8": Wmma(sums=16, operands="s8", results="s32", operand_bytes=1, registers=2),
    "mma_16x16x16_u8": Wmma(sums=16, operands="u8", results="s32", operand_bytes=1, registers=2)}
"""By the name of the instruction."""
