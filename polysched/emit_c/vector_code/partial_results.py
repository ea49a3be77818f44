"""Partial results of a reduction in vector lanes: where they begin, and how they are combined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from polysched.emit_c.bodies.wrapping_sums import can_overflow, unsigned
from polysched.emit_c.loop_ir.loops import Partial, RegisterTile
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of
from polysched.emit_c.register_tiles.tile_accesses import Reach, points, private_reach
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_code.tile_scope import Piece
from polysched.emit_c.vector_code.vector_expressions import NotVectorised
from polysched.emit_c.vector_math import VectorMath
from polysched.scop.dtypes import DType
from polysched.scop.scop import Scop

SYMBOLS = {"sum": "+", "product": "*", "and": "&", "or": "|", "xor": "^"}
COMPARISONS = {"min": "<", "max": ">"}
OPERATORS = frozenset(SYMBOLS) | frozenset(COMPARISONS)


@dataclass(frozen=True, kw_only=True)
class PartialResults:
    """The vectors into which one tile reduces: one per point of its simd edge.

    Parameters
    ----------
    element : the C text of the element that a reduction is into.
    math : declares the larger and the smaller of two vectors; None for a comparison and a choice.
    in_use : names of the loop variables around and inside the tile.
    """

    tile: RegisterTile
    scop: Scop
    types: VectorTypes
    taken: TakenNames
    in_use: frozenset[str]
    lanes: int
    element: Callable[[Partial], CText]
    math: VectorMath | None = None

    def at_point(self, number: int) -> dict[Reach, Piece]:
        """The vectors of one point, by what the accesses reach."""
        edge = next((edge.variable for edge in self.tile.edges if edge.simd), None)
        return {private_reach(self.scop.array(p.array), edge, self.lanes):
                Piece(CText(self._name(p, number)), self._dtype(p), True) for p in self.tile.partials}

    def beginnings(self) -> Iterator[str]:
        """The declarations, each lane with the value that changes nothing."""
        for partial in self.tile.partials:
            for number in range(self._count):
                yield f"{self._type(partial)} {self._name(partial, number)} = {self._neutral(partial)};"

    def combinations(self) -> Iterator[str]:
        """The vectors into one, its lanes pair by pair, and the result into the element."""
        for partial in self.tile.partials:
            step = 1
            while step < self._count:
                for number in range(0, self._count - step, 2 * step):
                    left, right = self._name(partial, number), self._name(partial, number + step)
                    yield f"{left} = {self._both(partial, left, right)};"
                step *= 2
            element, first = self.element(partial), self._name(partial, 0)
            if partial.operator in COMPARISONS:
                sign = COMPARISONS[partial.operator]
                lane = self.taken.fresh("lane", self.in_use)
                yield f"for (int {lane} = 0; {lane} < {self.lanes}; {lane}++)"
                yield f"  {element} = {first}[{lane}] {sign} {element} ? {first}[{lane}] : {element};"
            else:
                yield f"{element} {SYMBOLS[partial.operator]}= {self._tree(partial, 0, self.lanes)};"

    @property
    def _count(self) -> int:
        return len(points(self.tile.edges, self.lanes))

    def _dtype(self, partial: Partial) -> DType:
        """The type of a lane: partial sums may leave the range of a signed type."""
        dtype = self.scop.array(partial.array).dtype
        return unsigned(dtype) if can_overflow(partial.operator, dtype) else dtype

    def _type(self, partial: Partial) -> str:
        return self.types.name(self._dtype(partial), self.lanes)

    def _name(self, partial: Partial, number: int) -> str:
        return self.taken.fresh(f"{identifier_of(partial.array)}_part_{number}", self.in_use)

    def _neutral(self, partial: Partial) -> str:
        dtype, zeros = self._dtype(partial), f"({self._type(partial)}){{0}}"
        match partial.operator:
            case "sum" if dtype.is_float:
                return f"({dtype.c_name})-0.0 - {zeros}"     # 0.0 would change a sum of negative zeros
            case "product":
                return f"({dtype.c_name})1 - {zeros}"
            case "and":
                return f"~{zeros}"
            case "sum" | "or" | "xor":
                return zeros
            case "min" | "max":
                conversion = "" if self.scop.array(partial.array).own_type else f"({dtype.c_name})"
                return f"{conversion}{self.element(partial)} - {zeros}"
            case _:
                raise NotVectorised(f"no lanes for a reduction by {partial.operator}")

    def _both(self, partial: Partial, left: str, right: str) -> str:
        if partial.operator in SYMBOLS:
            return f"{left} {SYMBOLS[partial.operator]} {right}"
        extreme = self.math and self.math.extreme(partial.operator, self._dtype(partial), self.lanes)
        if extreme:
            macro, kinds = extreme
            return f"{macro}({', '.join([*kinds, right, left])})"
        mask = self.types.mask(self._dtype(partial).bits, self.lanes)
        chosen = f"({left} {COMPARISONS[partial.operator]} {right})"
        return f"({self._type(partial)})((({mask}){left} & {chosen}) | (({mask}){right} & ~{chosen}))"

    def _tree(self, partial: Partial, first: int, count: int) -> str:
        if count == 1:
            short = partial.operator == "product" and self._dtype(partial).bits < 32   # products of ints overflow
            return f"{'(unsigned int)' if short else ''}{self._name(partial, 0)}[{first}]"
        half = count // 2
        sides = self._tree(partial, first, half), self._tree(partial, first + half, half)
        return f"({sides[0]} {SYMBOLS[partial.operator]} {sides[1]})"
