"""Partial results of a reduction in vector lanes: where they begin, and how they are combined."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from polysched.dependence.reductions.reduction import NAN_WINS
from polysched.emit_c.bodies.wrapping_sums import can_overflow, unsigned
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Linear
from polysched.emit_c.loop_ir.loops import Partial, RegisterTile
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of
from polysched.emit_c.register_tiles.tile_accesses import Reach, partial_reach, points
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_code.tile_scope import Piece
from polysched.emit_c.vector_code.vector_expressions import NotVectorised
from polysched.emit_c.vector_math import VectorMath
from polysched.records import dataclass
from polysched.scop.dtypes import INT32, DType, Kind
from polysched.scop.scop import Scop

SYMBOLS = {"sum": "+", "product": "*", "and": "&", "or": "|", "xor": "^"}
COMPARISONS = {"min": "<", "max": ">", "minimum": "<", "maximum": ">"}
SHORTEST_BITS = LIMITS.shortest_register_bits
OPERATORS = frozenset(SYMBOLS) | frozenset(COMPARISONS)
_UNSIGNED = {16: "unsigned short", 32: "unsigned int", 64: "unsigned long long"}
IN_ORDER = frozenset({"any", "last", "first", "argmin", "argmax"})
"""Those whose lanes are combined by when they got their values."""


def better(operator: str, new: str, old: str, *, either: str = "||") -> str:
    """C of whether a value replaces an extremum.

    Parameters
    ----------
    either : the disjunction, `|` of vectors.
    """
    found = f"{new} {COMPARISONS[operator]} {old}"
    if operator not in NAN_WINS:
        return found
    return f"{found} || {new} != {new}" if either == "||" else f"({found}) {either} ({new} != {new})"


def other_bits(new: str, old: str, dtype: DType) -> str:
    """C of whether two values differ, the signs of zeros and the bits of what is no number included.

    Numbers that no integer is as wide as have bits without a meaning, too (x87): what is no number always differs.
    """
    if dtype.is_integer:
        return f"{new} != {old}"
    if dtype.bits in _UNSIGNED:
        kind = f"(union {{ {dtype.c_name} f; {_UNSIGNED[dtype.bits]} u; }})"
        return f"{kind}{{{new}}}.u != {kind}{{{old}}}.u"
    sides = [f"({dtype.c_name})({side})" for side in (new, old)]
    return " || ".join(
        f"{part}{sides[0]} != {part}{sides[1]} || "
        f"!__builtin_signbit({part}{sides[0]}) != !__builtin_signbit({part}{sides[1]})"
        for part in (("__real__ ", "__imag__ ") if dtype.is_complex else ("",)))


def neutral(operator: str, dtype: DType) -> str:
    """The value that changes nothing, in C."""
    largest = (1 << (dtype.bits - (dtype.kind is Kind.SIGNED))) - 1
    suffix = ("u" if dtype.kind is Kind.UNSIGNED else "") + ("l" if dtype.bits > 32 else "")
    match operator:
        case "sum":
            return "-0.0" if dtype.is_float else "0"     # 0.0 would change a sum of negative zeros
        case "product":
            return "1"
        case "and":
            return f"({dtype.c_name})-1"
        case "or" | "xor":
            return "0"
        case "max" | "maximum":
            if dtype.is_float:
                return "-__builtin_inf()"
            return f"-{largest}{suffix} - 1" if dtype.kind is Kind.SIGNED else "0"
        case "min" | "minimum":
            return "__builtin_inf()" if dtype.is_float else f"{largest}{suffix}"
        case _:
            raise ValueError(f"no neutral value of {operator}")


@dataclass(frozen=True, kw_only=True)
class PartialResults:
    """The vectors into which one tile reduces: one per point of its simd edge.

    Parameters
    ----------
    element : the C text of the element that a reduction is into.
    form : the C text of a linear form.
    math : declares the larger and the smaller of two vectors; None for a comparison and a choice.
    sometimes : the arrays whose elements the program writes under conditions only: they are written where they change.
    in_use : names of the loop variables around and inside the tile.
    """

    tile: RegisterTile
    scop: Scop
    types: VectorTypes
    taken: TakenNames
    in_use: frozenset[str]
    lanes: int
    element: Callable[[Partial], CText]
    form: Callable[[Linear], CText]
    math: VectorMath | None = None
    sometimes: frozenset[str] = frozenset()

    def at_point(self, number: int) -> dict[Reach, Piece]:
        """The vectors of one point, by what the accesses reach."""
        edge = next((edge.variable for edge in self.tile.edges if edge.simd), None)
        return {partial_reach(p, self.scop.array(p.array), edge, self.lanes):
                Piece(CText(self._name(p, number)), self._dtype(p), not p.in_order, p.in_order)
                for p in self.tile.partials}

    def beginnings(self) -> Iterator[str]:
        """The declarations, each lane with the value that changes nothing."""
        for partial in self.tile.partials:
            if partial.in_order:
                name, dtype = self._name(partial, 0), self._dtype(partial).c_name
                yield f"{dtype} {name} = {self.element(partial)};"
                if partial.array in self.sometimes:
                    yield f"const {dtype} {self._before(partial)} = {name};"
                continue
            if self._tells(partial):
                yield f"const {self._dtype(partial).c_name} {self._before(partial)} = {self._start(partial)};"
            for number in range(self._count):
                yield f"{self._type(partial)} {self._name(partial, number)} = {self._neutral(partial)};"

    def combinations(self) -> Iterator[str]:
        """The vectors into one, its lanes pair by pair (of integers halves first), and the result into the element."""
        for partial in self.tile.partials:
            if partial.in_order:
                change = f"{self.element(partial)} = {self._name(partial, 0)};"
                changes = other_bits(self._name(partial, 0), self._before(partial), self._dtype(partial))
                yield f"if ({changes}) {change}" if partial.array in self.sometimes else change
                continue
            if partial.operator in IN_ORDER:
                yield from self._in_order(partial)
            if partial.operator in IN_ORDER or partial.leader:      # places go with their extremum
                continue
            step = 1
            while step < self._count:
                for number in range(0, self._count - step, 2 * step):
                    left, right = self._name(partial, number), self._name(partial, number + step)
                    yield f"{left} = {self._both(partial, left, right)};"
                step *= 2
            element, first = self.element(partial), self._name(partial, 0)
            if partial.operator in COMPARISONS:
                lane = self.taken.fresh("lane", self.in_use)
                new = f"{first}[{lane}]"
                yield f"for (int {lane} = 0; {lane} < {self.lanes}; {lane}++)"
                is_better = better(partial.operator, new, str(element))
                yield (f"  if ({is_better}) {element} = {new};" if partial.array in self.sometimes
                       else f"  {element} = {is_better} ? {new} : {element};")
            else:
                lanes, whole = self.lanes, self._name(partial, 0)
                while self._dtype(partial).is_integer and lanes * self._dtype(partial).bits > SHORTEST_BITS:
                    lanes, half = lanes // 2, self.taken.fresh(f"{whole}_of_{lanes // 2}", self.in_use)
                    sides = [f"__builtin_shufflevector({whole}, {whole}, {', '.join(map(str, at))})"
                             for at in (range(lanes), range(lanes, 2 * lanes))]
                    kind = self.types.name(self._dtype(partial), lanes)
                    yield f"const {kind} {half} = {self._both(partial, *sides)};"
                    whole = half
                yield from self._into(element, partial, self._tree(partial, whole, 0, lanes))

    def _into(self, element: CText, partial: Partial, whole: str) -> Iterator[str]:
        """The result of all lanes into an element; if that is written sometimes, where it is not the neutral one."""
        symbol, dtype = SYMBOLS[partial.operator], self._dtype(partial)
        if partial.array not in self.sometimes:
            yield f"{element} {symbol}= {whole};"
            return
        result = self.taken.fresh(f"{identifier_of(partial.array)}_change", self.in_use)
        operand = f"(unsigned int){result}" if _may_overflow_int(partial, dtype) else result
        yield f"const {dtype.c_name} {result} = {whole};"
        yield f"if ({other_bits(result, neutral(partial.operator, dtype), dtype)}) {element} {symbol}= {operand};"

    def _in_order(self, leading: Partial) -> Iterator[str]:
        """What an element and its places end with: vectors into one, then lane by lane, then into the elements."""
        group = (leading, *(p for p in self.tile.partials if p.leader == leading.array))
        step = 1
        while step < self._count:
            for number in range(0, self._count - step, 2 * step):
                yield from self._merged(group, number, number + step)
            step *= 2
        lane = self.taken.fresh("lane", self.in_use)
        found = {p.array: self.taken.fresh(f"{identifier_of(p.array)}_found", self.in_use) for p in group}
        for p in group:
            yield f"{self._dtype(p).c_name} {found[p.array]} = {self._name(p, 0)}[0];"
        condition = self._comes_later(
            group, lambda p: found[p.array], lambda p: f"{self._name(p, 0)}[{lane}]", lambda text, _: text, "&&", "||")
        changes = " ".join(f"{found[p.array]} = {self._name(p, 0)}[{lane}];" for p in group)
        yield f"for (int {lane} = 1; {lane} < {self.lanes}; {lane}++)"
        yield f"  if ({condition}) {{ {changes} }}"
        tells = next(p for p in group if self._tells(p))
        yield f"if ({found[tells.array]} != {self._before(tells)}) {{"
        yield from (f"  {self.element(p)} = {found[p.array]};" for p in group)
        yield "}"

    def _merged(self, group: tuple[Partial, ...], left: int, right: int) -> Iterator[str]:
        """One vector of each takes the lanes of another that count more."""
        widest = max(self._dtype(p).bits for p in group)

        def sized(mask: str, partial: Partial) -> str:
            return self._resized(mask, self._dtype(partial).bits, widest)

        condition = self._comes_later(group, lambda p: self._name(p, left), lambda p: self._name(p, right), sized,
                                      "&", "|")
        mask = self.taken.fresh(f"{identifier_of(group[0].array)}_later", self.in_use)
        yield "{"
        yield f"  const {self.types.mask(widest, self.lanes)} {mask} = {condition};"
        for p in group:
            own = self._resized(mask, widest, self._dtype(p).bits)
            kind, bits = self._type(p), self.types.mask(self._dtype(p).bits, self.lanes)
            both = [f"({bits}){self._name(p, number)}" for number in (left, right)]
            yield f"  {self._name(p, left)} = ({kind})(({both[1]} & {own}) | ({both[0]} & ~{own}));"
        yield "}"

    def _resized(self, mask: str, have: int, want: int) -> str:
        return mask if have == want else f"__builtin_convertvector({mask}, {self.types.mask(want, self.lanes)})"

    def _comes_later(self, group: tuple[Partial, ...], left: Callable[[Partial], str],
                     right: Callable[[Partial], str], sized: Callable[[str, Partial], str], both: str, either: str
                     ) -> str:
        """Whether the right value counts rather than the left one, for a lane or for vectors of them."""
        leading, tells = group[0], next(p for p in group if self._tells(p))

        def test(partial: Partial, first: str, sign: str, second: str) -> str:
            return sized(f"({first} {sign} {second})", partial)

        before = self._before(tells)
        there = test(tells, right(tells), "!=", before)
        if leading.operator == "any":
            return there
        wants_later = leading.operator == "last" or leading.ties == "last"
        sign = ">" if wants_later == tells.grows else "<"
        wins = test(tells, right(tells), sign, left(tells))
        if tells is not leading:
            better = test(leading, right(leading), COMPARISONS[leading.operator.removeprefix("arg")], left(leading))
            equal = test(leading, right(leading), "==", left(leading))
            if leading.nan_first:
                no_number, another = (test(leading, side(leading), "!=", side(leading)) for side in (right, left))
                number = test(leading, left(leading), "==", left(leading))
                better = f"({better} {either} ({no_number} {both} {number}))"
                equal = f"({equal} {either} ({no_number} {both} {another}))"
            wins = f"({better} {either} ({equal} {both} {wins}))"
        nothing = test(tells, left(tells), "==", before)
        return f"({there} {both} ({nothing} {either} {wins}))"

    def _tells(self, partial: Partial) -> bool:
        """Whether a value other than the first one says that a lane has got one."""
        return partial.operator in ("any", "first") or partial.start is not None

    def _before(self, partial: Partial) -> str:
        return self.taken.fresh(f"{identifier_of(partial.array)}_before", self.in_use)

    def _start(self, partial: Partial) -> str:
        if partial.operator in ("any", "first"):
            return self.element(partial).code
        assert partial.start is not None
        return f"({self._dtype(partial).c_name})({self.form(partial.start)})"

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
        if partial.in_order:
            return self.taken.fresh(f"{identifier_of(partial.array)}_in_order", self.in_use)
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
            case _ if self._tells(partial):
                return f"{self._before(partial)} - {zeros}"
            case "place":
                return zeros
            case "min" | "max" | "minimum" | "maximum" | "argmin" | "argmax":
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
        chosen = f"({better(partial.operator, left, right, either='|')})"
        return f"({self._type(partial)})((({mask}){left} & {chosen}) | (({mask}){right} & ~{chosen}))"

    def _tree(self, partial: Partial, name: str, first: int, count: int) -> str:
        if count == 1:
            return f"{'(unsigned int)' if _may_overflow_int(partial, self._dtype(partial)) else ''}{name}[{first}]"
        half = count // 2
        sides = self._tree(partial, name, first, half), self._tree(partial, name, first + half, half)
        return f"({sides[0]} {SYMBOLS[partial.operator]} {sides[1]})"


def _may_overflow_int(partial: Partial, dtype: DType) -> bool:
    """Whether C multiplies in `int`, which may not hold the product."""
    return partial.operator == "product" and dtype.is_integer and dtype.bits < INT32.bits
