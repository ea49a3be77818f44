"""A product of tensor cores as CUDA: tiles of both operands in shared memory, fragments of each warp, its instruction.

Which lane holds what: PTX ISA, section "Matrix Fragments for mma.m16n8k16 with floating point type", and those of the
other shapes.  With g = lane / 4 and t = lane % 4 a lane has rows g and g + 8 of the left operand and of the result, and
column g of the right one; along the sum it has what fills 32 bits from t on.  Fragments of WMMA are not documented:
`loaded_text`.
"""

from __future__ import annotations

from typing import ClassVar

from polysched.emit_c.loop_ir.index import Linear
from polysched.emit_c.scalar_code.c_text import Level
from polysched.emit_c.scalar_code.expressions import element_template, fill_element
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_gpu.body_text import BodyPrinter
from polysched.emit_gpu.dialect import device_type
from polysched.emit_gpu.names import DeviceNames
from polysched.emit_gpu.tensor_cores.loops import TensorLoops, TensorMatrix
from polysched.gpu.mapping import Launch
from polysched.gpu.staging import Names
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32
from polysched.tensorize.description.intrinsic import Intrinsic

WORD = 4
"""Bytes of a register of a lane."""


def function_name(intrinsic: Intrinsic) -> str:
    """The function of an instruction in the program of the device."""
    return f"polysched_{intrinsic.name}"


def function_text(intrinsic: Intrinsic) -> str:
    """The function of an instruction: by its described text, or by a header in the place of NVIDIA's."""
    sums = "float" if intrinsic.output.dtype == FLOAT32 else "int"
    shape = intrinsic.name.removeprefix("mma_")
    asm = intrinsic.template
    for name, text in (("C", "c"), ("A", "a"), ("B", "b")):
        asm = asm.replace(f"{{{name}}}.v", text)
    return by_asm(function_name(intrinsic), f"{sums} *c, const unsigned *a, const unsigned *b", asm,
                  f"mma_{shape}(c, a, b);")


def by_asm(name: str, parameters: str, asm: str, on_cpu: str = "") -> str:
    """A function by inline assembly, or by a header in the place of NVIDIA's; there it may do nothing."""
    return "\n".join([f"__device__ __forceinline__ void {name}({parameters})", "{", "#ifdef POLYSCHED_MMA_ON_CPU",
                      *([f"{INDENT}polysched::{on_cpu}"] if on_cpu else ()), "#else", f"{INDENT}{asm}", "#endif", "}",
                      ""])


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorPrinter:
    """Prints what a block computes on tensor cores.

    Parameters
    ----------
    body : prints values.
    launch : of the block.
    places : names of its places.
    names : of device code.
    item : the name of the number of a work item.
    barrier : text of one.
    """

    body: BodyPrinter
    launch: Launch
    places: Names
    names: DeviceNames
    item: str
    barrier: str

    sum_registers: ClassVar[int] = 4
    """Of a lane, for the results of an instruction."""

    @staticmethod
    def functions(intrinsic: Intrinsic) -> str:
        """Those of an instruction in the program of the device."""
        return function_text(intrinsic)

    def declared(self, loops: TensorLoops) -> list[str]:
        """The tiles in shared memory, as words of which each row has some more: no two rows of a warp share banks."""
        words = loops.product.row_bytes // WORD
        return [f"__shared__ unsigned {own.shared}[{edge}][{words}];"
                for own, edge in zip((loops.right, loops.left), self.launch.edges, strict=False)]

    def lane_row(self, lane: str) -> str:
        """C of the row of the first fragment that a lane has, behind that of its warp."""
        return f" + {lane} / 4"

    def lines(self, loops: TensorLoops) -> list[str]:
        """The whole product."""
        product, tile = loops.product, self.places.tile
        (first, end), fresh = (self._bound(own) for own in loops.steps), self.names.taken.fresh
        down, across = product.warps
        rows, columns = self.launch.edges[1] // down, self.launch.edges[0] // across
        counts = rows // product.rows, columns // product.columns
        lane, warp = fresh("lane"), fresh("warp")
        head = "{" if loops.condition is None else f"if ({self.body.index.condition(loops.condition).code}) {{"
        return [head, *indented([
            f"const int {lane} = {self.item} % 32, {warp} = {self.item} / {32 * product.together};",
            f"const int {self.row} = {warp} / {across} * {rows}{self.lane_row(lane)};",
            f"const int {self.column} = {warp} % {across} * {columns};",
            f"{self.sum_type(loops)} {self.sums}[{counts[0]}][{counts[1]}][{self.sum_registers}];",
            *self.over_sums(loops, counts, load=True),
            f"for (long {tile} = {first}; {tile} < {end}; {tile} += {product.step}) {{", *indented([
                *self._copy(loops, loops.left, 1), *self._copy(loops, loops.right, 0), *self.shown(loops), self.barrier,
                *self.products(loops, counts), self.barrier]), "}",
            *self.over_sums(loops, counts, load=False)]), "}"]

    @property
    def row(self) -> str:
        return self.names.taken.fresh("row")

    @property
    def column(self) -> str:
        return self.names.taken.fresh("column")

    @property
    def sums(self) -> str:
        return self.names.taken.fresh("sums")

    def row_bytes(self, loops: TensorLoops) -> int:
        return loops.product.step * self.body.scop.array(loops.left.operand.array).dtype.bytes

    def sum_type(self, loops: TensorLoops) -> str:
        return self.body.scop.array(loops.result.operand.array).dtype.c_name

    def _copy(self, loops: TensorLoops, matrix: TensorMatrix, coordinate: int) -> list[str]:
        """A tile of an operand, dealt out to the work items in the order of memory, with zeros where there is none."""
        fresh, edge, steps = self.names.taken.fresh, self.launch.edges[coordinate], loops.product.step
        element, row, column = fresh("element"), fresh("at0"), fresh("at1")
        along, across = (f"{element} % {steps}", f"{element} / {steps}") if matrix.operand.along_step else (
            f"{element} / {edge}", f"{element} % {edge}")
        own, first = self.places.coordinates[coordinate], self.places.firsts[coordinate]
        ways = (coordinate, *range(2, len(loops.ranges)))
        there = *(self.there(k, loops) for k in ways), f"{loops.step} < {self._bound(loops.steps[1])}"
        return [f"for (int {element} = {self.item}; {element} < {edge * steps}; {element} += {self.launch.items}) {{",
                *indented([
                    f"const int {row} = {across}, {column} = {along};",
                    f"const long {own} = {first} + {row}, {loops.step} = {self.places.tile} + {column};",
                    f"{self.place(matrix, row, column)} = {' && '.join(there)} ? {self.element(matrix)} : 0;"]), "}"]

    def place(self, matrix: TensorMatrix, row: str, column: str) -> str:
        """An element of a tile."""
        c_type = device_type(self.body.scop.array(matrix.operand.array).dtype)
        return f"(({c_type} *){matrix.shared}[{row}])[{column}]"

    def shown(self, loops: TensorLoops) -> list[str]:
        """What copies need before the barrier behind them."""
        return []

    def products(self, loops: TensorLoops, counts: tuple[int, int]) -> list[str]:
        """The tile's steps, those of an instruction at a time."""
        product, fresh, lane = loops.product, self.names.taken.fresh, self.names.taken.fresh("lane")
        dtype = self.body.scop.array(loops.left.operand.array).dtype
        words = product.sums * dtype.bytes // WORD   # of a row, in one instruction
        first, word = fresh("first"), fresh("word")
        down, across, part = fresh("down"), fresh("across"), fresh("part")
        left, right, halves = fresh("left"), fresh("right"), words // 4
        half, more = f"{part} / 2 * 4" if halves > 1 else "0", f"{part} * 4" if halves > 1 else "0"
        return [
            f"for (int {first} = 0; {first} < {self.row_bytes(loops) // WORD}; {first} += {words}) {{", *indented([
                f"const int {word} = {first} + {lane} % 4;",
                f"unsigned {left}[{counts[0]}][{2 * halves}], {right}[{counts[1]}][{halves}];", *unrolled([
                    (down, counts[0]), (part, 2 * halves)],
                    f"{left}[{down}][{part}] = {loops.left.shared}[{self.row} + {down} * {product.rows} + "
                    f"{part} % 2 * 8][{word} + {half}];"), *unrolled([(across, counts[1]), (part, halves)],
                    f"{right}[{across}][{part}] = {loops.right.shared}[{self.column} + {across} * {product.columns} + "
                    f"{lane} / 4][{word} + {more}];"), *unrolled([(down, counts[0]), (across, counts[1])],
                    f"{function_name(product.intrinsic)}({self.sums}[{down}][{across}], {left}[{down}], "
                    f"{right}[{across}]);")]), "}"]

    def over_sums(self, loops: TensorLoops, counts: tuple[int, int], *, load: bool) -> list[str]:
        """Every result of a lane with its element."""
        product, fresh, lane = loops.product, self.names.taken.fresh, self.names.taken.fresh("lane")
        down, across, part = fresh("down"), fresh("across"), fresh("part")
        x, y = self.places.coordinates[:2]
        first_x, first_y = self.places.firsts[:2]
        own, element = f"{self.sums}[{down}][{across}][{part}]", self.element(loops.result)
        there = " && ".join(self.there(k, loops) for k in range(len(loops.ranges)))
        moved = f"{own} = {there} ? {element} : 0;" if load else f"if ({there}) {element} = {own};"
        return unrolled([(down, counts[0]), (across, counts[1]), (part, self.sum_registers)],
                        f"const long {y} = {first_y} + {self.row} + {down} * {product.rows} + {part} / 2 * 8;",
                        f"const long {x} = {first_x} + {self.column} + {across} * {product.columns} + "
                        f"{lane} % 4 * 2 + {part} % 2;", moved)

    def there(self, coordinate: int, loops: TensorLoops) -> str:
        """Whether a coordinate has a value of the product."""
        own = self.places.coordinates[coordinate]
        first, end = (self._bound(value) for value in loops.ranges[coordinate])
        return f"{own} >= {first} && {own} < {end}"

    def _bound(self, value: Linear) -> str:
        return self.body.index.bound(value).at(Level.ADDITIVE)

    def element(self, matrix: TensorMatrix) -> str:
        array = self.body.scop.array(matrix.operand.array)
        template = element_template(array, len(matrix.subscripts), {})
        return fill_element(template, [self.body.index.bound(own) for own in matrix.subscripts]).code


def unrolled(loops: list[tuple[str, int]], *lines: str) -> list[str]:
    """Loops of constant lengths, which keep their variables in registers once they are unrolled."""
    found = list(lines)
    for name, count in reversed(loops):
        found = ["#pragma unroll", f"for (int {name} = 0; {name} < {count}; {name}++) {{", *indented(found), "}"]
    return found


def indented(lines: list[str]) -> list[str]:
    return [line if line.startswith("#") else INDENT + line for line in lines]
