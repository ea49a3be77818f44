"""Copies of boxes to shared memory as text: dealt out to the work items of a block, in vectors where rows allow it."""

from __future__ import annotations

from math import prod

from polysched.emit_c.loop_ir.index import Linear
from polysched.emit_c.scalar_code.c_text import CText, Level
from polysched.emit_c.scalar_code.expressions import element_template, fill_element
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_gpu.body_text import BodyPrinter
from polysched.emit_gpu.interface import Interface
from polysched.emit_gpu.limits import LIMITS
from polysched.emit_gpu.loop_printer import indented
from polysched.emit_gpu.names import DeviceNames
from polysched.emit_gpu.phases import StagedTile
from polysched.gpu.mapping import Launch
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32, FLOAT64, INT32, UINT32

VECTOR_OF = {FLOAT32: "float", FLOAT64: "double", INT32: "int", UINT32: "uint"}
"""How both languages call vectors of a type, in front of the number of lanes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CopyPrinter:
    """Prints how a block fills its shared memory.

    Parameters
    ----------
    body : prints loops and values.
    launch : that the block is of.
    interface : the language.
    names : of device code.
    item : the number of a work item in its block.
    """

    body: BodyPrinter
    launch: Launch
    interface: Interface
    names: DeviceNames
    item: str

    def declared(self, tile: StagedTile) -> str:
        """The box, aligned where vectors may fill it."""
        own, aligned = tile.temporary, ""
        if self._vector(tile) is not None:
            aligned = self.interface.aligned.format(bytes=LIMITS.vector_bytes) + " "
        extents = "".join(f"[{extent}]" for extent in own.extents)
        return f"{self.interface.shared} {aligned}{self._c_type(tile)} {own.name}{extents};"

    def lines(self, tile: StagedTile) -> list[str]:
        """The elements of a box in the order of memory: vectors where every row starts at one, else one by one."""
        vector = self._vector(tile)
        one_by_one = self._loop(tile, 1, self._one_by_one(tile))
        if vector is None:
            return one_by_one
        by_vectors = self._loop(tile, vector[1], self._by_vectors(tile, *vector))
        return [f"if ({self._rows_aligned(tile)})", *indented(by_vectors), "else", *indented(one_by_one)]

    def _vector(self, tile: StagedTile) -> tuple[str, int] | None:
        """The vector that fills whole rows of a box, with its lanes; None where no type does."""
        dtype = self.body.scop.array(tile.temporary.array).dtype
        lanes = LIMITS.vector_bytes // dtype.bytes
        whole = dtype in VECTOR_OF and tile.temporary.extents[-1] % lanes == 0
        return (f"{VECTOR_OF[dtype]}{lanes}", lanes) if whole else None

    def _loop(self, tile: StagedTile, lanes: int, body: list[str]) -> list[str]:
        """Over the elements of a box, as many at a time, dealt out to the work items."""
        element, count, step = self._taken("element"), prod(tile.temporary.extents), prod(self.launch.block) * lanes
        first = self.item if lanes == 1 else f"{self.item} * {lanes}"
        return [f"for (int {element} = {first}; {element} < {count}; {element} += {step}) {{", *indented(body), "}"]

    def _one_by_one(self, tile: StagedTile) -> list[str]:
        lines, subscripts, local = self._place(tile)
        guard = self._within(tile, subscripts, 1)
        return [*lines, f"if ({guard}) {local} = {self._element(tile, subscripts)};"]

    def _by_vectors(self, tile: StagedTile, vector: str, lanes: int) -> list[str]:
        """A vector where all of it is touched, else the elements of it that are."""
        lines, subscripts, local = self._place(tile)
        part = self._taken("part")
        shifted = [*subscripts[:-1], f"{subscripts[-1]} + {part}"]
        own = f"{local[:-1]} + {part}]"
        to = self.interface.shared_vector.format(type=vector)
        source = self.interface.global_vector.format(type=vector)
        return [*lines, f"if ({self._within(tile, subscripts, lanes)})",
                f"{INDENT}*({to})&{local} = *({source})&{self._element(tile, subscripts)};", "else",
                f"{INDENT}for (int {part} = 0; {part} < {lanes}; {part}++)",
                f"{INDENT * 2}if ({self._within(tile, shifted, 1)}) {own} = {self._element(tile, shifted)};"]

    def _place(self, tile: StagedTile) -> tuple[list[str], list[str], str]:
        """Declarations of the subscripts of element number `element`, their names, and its place in the box."""
        own, element = tile.temporary, self._taken("element")
        rest, places, subscripts, lines = prod(own.extents), "", [], []
        for k, extent in enumerate(own.extents):
            rest //= extent
            local = element if rest == 1 else f"{element} / {rest}"
            local = local if k == 0 else f"{local} % {extent}"
            subscripts.append(self._taken(f"at{k}"))
            lines.append(f"const long {subscripts[-1]} = {self._bound(own.bases[k])} + {local};")
            places += f"[{local}]"
        return lines, subscripts, f"{own.name}{places}"

    def _within(self, tile: StagedTile, subscripts: list[str], lanes: int) -> str:
        """That work items touch an element, or as many neighbours of it as a vector has lanes."""
        there = () if tile.condition is None else (self.body.index.condition(tile.condition).at(Level.LOGICAL_AND),)
        last = [*subscripts[:-1], subscripts[-1] if lanes == 1 else f"{subscripts[-1]} + {lanes - 1}"]
        return " && ".join((*there, *(f"{name} >= {self._bound(first)} && {behind} < {self._bound(end)}"
                                      for name, behind, (first, end) in zip(subscripts, last, tile.ends, strict=True))))

    def _rows_aligned(self, tile: StagedTile) -> str:
        """That the box's first element starts at a vector, and so do the next ones along all but the last dimension."""
        bases = [self._bound(base) for base in tile.temporary.bases]
        starts = [bases, *([*bases[:k], f"{bases[k]} + 1", *bases[k + 1:]] for k in range(len(bases) - 1))]
        places = " | ".join(f"(unsigned long)&{self._element(tile, start)}" for start in starts)
        return f"(({places}) & {LIMITS.vector_bytes - 1}) == 0"

    def _element(self, tile: StagedTile, subscripts: list[str]) -> str:
        template = element_template(self.body.scop.array(tile.temporary.array), len(subscripts), {})
        return fill_element(template, [CText(text, Level.PRIMARY if text.isidentifier() else Level.ADDITIVE)
                                       for text in subscripts]).code

    def _c_type(self, tile: StagedTile) -> str:
        return self.body.scop.array(tile.temporary.array).dtype.c_name

    def _bound(self, value: Linear) -> str:
        """As an operand of a comparison or a sum."""
        return self.body.index.bound(value).at(Level.ADDITIVE)

    def _taken(self, wish: str) -> str:
        return self.names.taken.fresh(wish)
