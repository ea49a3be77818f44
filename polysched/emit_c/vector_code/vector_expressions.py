"""Body expressions at one point of a register tile -> C text over scalars and vectors.

Every vector has the same number of lanes, whatever its element type, so that conversions keep lanes in place
(`__builtin_convertvector`).  A value that is the same in all lanes stays a scalar, which GCC's operators accept
beside a vector of its own type.
"""

from __future__ import annotations

import re
from dataclasses import replace

from polysched.emit_c.bodies.array_bounds import can_be_read, inside_array
from polysched.emit_c.bodies.wrapping_sums import without_overflow
from polysched.emit_c.loop_ir.index import Variable, substitute, variable, variables
from polysched.emit_c.register_tiles.strided_reads import strided_vector
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach, packed_reach, private_reach, reach
from polysched.emit_c.scalar_code.c_text import CText, Level, binary, call, cast, conditional, other_lanes, unary
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter
from polysched.emit_c.scalar_code.helper_macros import WIDENINGS
from polysched.emit_c.scalar_code.vector_types import VectorTypes, has_vectors
from polysched.emit_c.vector_code.conversion_steps import conversion_steps
from polysched.emit_c.vector_code.tile_scope import Piece, TileScope
from polysched.emit_c.vector_math import VectorMath, has_vector_function
from polysched.records import dataclass
from polysched.scop.body import (
    ARITHMETIC,
    COMPARISON,
    LOGICAL,
    Binary,
    Call,
    Cast,
    Expr,
    IteratorRef,
    Load,
    Select,
    Unary,
    children,
    walk,
)
from polysched.scop.dtypes import BY_NAME, FLOAT32, FLOAT64, INT32, UINT64, DType, common_type, usual_conversion
from polysched.scop.scop import Access, Scop

_VECTOR_CAST = re.compile(r"\(polysched_[fiu]\d+x\d+\)")


class NotVectorised(Exception):
    """This body has no vector form here; the reason is the message, and the loops stay scalar."""


@dataclass(frozen=True, kw_only=True)
class VectorPrinter:
    """Prints expressions at one point.

    Parameters
    ----------
    scalar : prints the statement's scalar expressions with the iterators of the point's first lane.
    types : declares vector types.
    lanes : lanes of every vector; 1 for scalar code.
    edge : the variable that advances from lane to lane; None for scalar code.
    scope : elements held in registers, and values that were computed before.
    math : declares functions of math.h on vectors; None leaves calls to the C library, and their loops scalar.
    shares_divisors : what is the same in all lanes divides many vectors, and the divider is what they wait for.
    reads_once, shared : compilers would read panels again for every use, and those vectors of other arrays.
    past_caches : an array whose vectors lie at boundaries and are stored past the caches; "" for none.
    sums_up : lanes have partial results, and what the program reads without a condition somewhere is read in every
        lane.  Elsewhere such a choice is left to compilers, which know the minimum of two integers.
    """

    scalar: ExpressionPrinter
    types: VectorTypes
    lanes: int
    edge: str | None
    scope: TileScope
    math: VectorMath | None = None
    shares_divisors: bool = False
    reads_once: bool = False
    shared: frozenset[Reach] = frozenset()
    past_caches: str = ""
    sums_up: bool = False

    @property
    def scop(self) -> Scop:
        return self.scalar.scop

    def value(self, expr: Expr) -> Piece:
        """The value of an expression."""
        if expr in self.scalar.packed:
            return self._packed(expr)
        if isinstance(expr, Load):
            return self._load(expr)
        if self._is_uniform(expr):
            return self._uniform(expr)
        match expr:
            case IteratorRef():
                return self._iterator(expr)
            case Unary(op="-" | "+" | "~"):
                operand = self.converted(self.value(expr.operand), expr.dtype)
                return Piece(unary(expr.op, operand.text), expr.dtype, operand.vector)
            case Binary() if expr.op in ARITHMETIC:
                return self._arithmetic(expr)
            case Cast():
                return self.converted(self.value(expr.operand), expr.dtype)
            case Select():
                return self._select(expr)
            case Call() if self._is_vector_call(expr):
                return self._vector_call(expr)
            case Binary() | Unary(op="!") if self.lanes > 1 and expr.dtype == INT32:
                kind = self.types.name(INT32, self.lanes)
                return Piece(unary("-", cast(kind, self.mask(expr, INT32.bits))), INT32, True)
            case _:
                return self._scalar_only(expr)

    def _scalar_only(self, expr: Expr) -> Piece:
        """Comparisons as numbers in scalar code, and calls: only where every operand is one value for all lanes."""
        pieces = [self.value(child) for child in children(expr)]
        if any(piece.vector for piece in pieces):
            raise NotVectorised(f"{type(expr).__name__} has no vector form")
        texts = [piece.text for piece in pieces]
        match expr:
            case Binary():
                return Piece(binary(expr.op, *texts), expr.dtype, False)
            case Unary():
                return Piece(unary(expr.op, *texts), expr.dtype, False)
            case Call():
                return Piece(call(expr.function, texts), expr.dtype, False)
            case _:
                raise NotVectorised(f"{type(expr).__name__} has no vector form")

    def _is_vector_call(self, expr: Expr) -> bool:
        return self.math is not None and isinstance(expr, Call) and has_vector_function(expr.function)

    def _vector_call(self, expr: Call) -> Piece:
        """The same function for all lanes and for one, so that a value does not depend on where it is computed."""
        assert self.math is not None
        self._require(expr.dtype)
        pieces = [self.converted(self.value(argument), expr.dtype) for argument in expr.arguments]
        vector = any(piece.vector for piece in pieces)
        if vector:
            pieces = [self.broadcast(piece) for piece in pieces]
        macro, kinds = self.math.use(expr.function, self.lanes if vector else 1)
        return Piece(call(macro, [*(CText(kind) for kind in kinds), *(_guarded(p.text) for p in pieces)]),
                     expr.dtype, vector)

    def converted(self, piece: Piece, dtype: DType) -> Piece:
        """The piece converted to another element type."""
        if piece.dtype == dtype:
            return piece
        if not piece.vector:
            return Piece(cast(dtype.c_name, piece.text), dtype, False)
        self._require(dtype)
        text = piece.text
        if piece.dtype.is_integer and dtype.is_integer and piece.dtype.bits == dtype.bits:
            return Piece(same_bits(self.types.name(dtype, self.lanes), text), dtype, True)
        have = piece.dtype
        for step in conversion_steps(have, dtype):
            text, have = self._step(text, have, step, CText(self.types.name(step, self.lanes))), step
        return Piece(text, dtype, True)

    def _step(self, text: CText, have: DType, want: DType, kind: CText) -> CText:
        """A vector converted to another type, by an instruction that gcc does not find where there is one."""
        wanted = f"int{want.bits}" if want.is_integer else want.name
        widening = f"{have.name}_{wanted}_{self.lanes}"
        if widening in WIDENINGS:
            return call(self.scalar.index.macros.use(widening), [kind, _guarded(text)])
        return call("__builtin_convertvector", [text, kind])

    def broadcast(self, piece: Piece) -> Piece:
        """A vector with the value in every lane; `x - 0` keeps the sign of a zero."""
        if piece.vector or self.lanes == 1:
            return piece
        self._require(piece.dtype)
        zero = CText(f"({self.types.name(piece.dtype, self.lanes)}){{0}}", Level.POSTFIX)
        return Piece(binary("-", piece.text, zero), piece.dtype, True)

    def memory(self, access: Access, where: Reach, dtype: DType) -> CText:
        """The lvalue of an access: an element, or a vector of neighbours."""
        element = self.scalar.element(access)
        if where.lanes is not Lanes.UNIT:
            return element
        self._require(dtype)
        return vector_at(element, self.types.name(dtype, self.lanes))

    def _load(self, expr: Load) -> Piece:
        access = self.scalar.statement.access(expr.reference)
        where = self.reach(access)
        held = self.scope.held(where)
        if held is not None:
            return self.converted(held, expr.dtype)
        piece = self.loaded(access, where, expr.dtype)
        if where.lanes is Lanes.UNIFORM or not self.scope.is_read_only(access.array):
            return piece
        if where in self.shared:
            kind = self.types.name(expr.dtype, self.lanes)
            piece = replace(piece, text=vector_at(self.scalar.element(access), f"volatile {kind}"))
        return self.scope.bind(access.array, piece, self._type_name(piece))

    def _packed(self, expr: Expr) -> Piece:
        operand = self.scalar.packed[expr]
        element = self.scalar.panel_element(operand)
        in_lanes = operand.in_lanes and self.lanes > 1
        if in_lanes:
            self._require(expr.dtype)
            kind = self.types.name(expr.dtype, self.lanes)
            element = vector_at(element, f"volatile {kind}" if self.reads_once else kind)
        piece = Piece(element, expr.dtype, in_lanes)
        return self.scope.bind(operand.name.removesuffix("_panel"), piece, self._type_name(piece))

    def reach(self, access: Access) -> Reach:
        """Where an access of the statement goes at this point."""
        packed = self.scalar.packed_access(access)
        if packed is not None:
            return packed_reach(packed, self.lanes)
        array = self.scop.array(access.array)
        for own in (private_reach(array, self.edge, self.lanes), private_reach(array, None, self.lanes)):
            if self.scope.held(own) is not None:
                return own
        temporary = next((t for t in self.scalar.temporaries if t.array == array.name), None)
        return reach(array, access, self.scalar.iterators, self.edge, self.lanes, temporary=temporary)

    def loaded(self, access: Access, where: Reach, dtype: DType) -> Piece:
        """The element or vector that an access reads from memory."""
        match where.lanes:
            case Lanes.UNIFORM:
                element = self.scalar.element(access)
                own = self.scop.array(access.array).own_type   # C does not convert an enumeration to a vector
                return Piece(element if own else cast(dtype.c_name, element), dtype, False)
            case Lanes.UNIT:
                return Piece(self.memory(access, where, dtype), dtype, True)
            case Lanes.STRIDED if self.lanes > 1:
                return self._strided(access, where, dtype)
            case Lanes.SPREAD | Lanes.REVERSED | Lanes.STRIDED:
                self._require(dtype)
                lanes = ", ".join(self.lane(access, n).code for n in range(self.lanes))
                return Piece(CText(f"({self.types.name(dtype, self.lanes)}){{{lanes}}}", Level.POSTFIX), dtype, True)
            case Lanes.UNKNOWN if self.lanes > 1:
                raise NotVectorised(f"the subscripts of {access.array} are not linear")
            case Lanes.UNKNOWN:
                return Piece(self.scalar.element(access), dtype, False)

    def _strided(self, access: Access, where: Reach, dtype: DType) -> Piece:
        """Elements of one row that lie apart, out of whole vectors of the row."""
        self._require(dtype)
        kind = self.types.name(dtype, self.lanes)
        lowest = self.lane(access, 0 if where.step > 0 else self.lanes - 1)

        def named(vector: CText) -> CText:
            return self.scope.declare(access.array, Piece(vector, dtype, True), kind).text
        return Piece(strided_vector(lowest, where.step, self.lanes, kind, named), dtype, True)

    def lane(self, access: Access, number: int) -> CText:
        """The element that one lane reaches."""
        assert self.edge is not None
        move = {self.edge: variable(self.edge) + number}
        iterators = {name: substitute(form, move) for name, form in self.scalar.iterators.items()}
        return replace(self.scalar, iterators=iterators).element(access)

    def _is_uniform(self, expr: Expr) -> bool:
        """Whether no lane differs, no part is held in a register, and no call has a vector form."""
        for part in walk(expr):
            if self._is_vector_call(part):
                return False
            if isinstance(part, IteratorRef) and self._moves(part.name):
                return False
            if isinstance(part, Load):
                where = self.reach(self.scalar.statement.access(part.reference))
                if where.lanes is not Lanes.UNIFORM or self.scope.held(where) is not None:
                    return False
        return True

    def _uniform(self, expr: Expr) -> Piece:
        piece = Piece(self.scalar.value(expr), expr.dtype, False)
        loads = [self.scalar.statement.access(p.reference).array for p in walk(expr) if isinstance(p, Load)]
        if self.lanes > 1 and loads and all(self.scope.is_read_only(array) for array in loads):
            return self.scope.bind(loads[-1], piece, expr.dtype.c_name)
        return piece

    def _type_name(self, piece: Piece) -> str:
        return self.types.name(piece.dtype, self.lanes) if piece.vector else piece.dtype.c_name

    def _moves(self, iterator: str) -> bool:
        return self.edge is not None and self.edge in variables(self.scalar.iterators[iterator])

    def _iterator(self, expr: IteratorRef) -> Piece:
        assert self.edge is not None
        step = self.scalar.iterators[expr.name].coefficient(Variable(self.edge))
        self._require(expr.dtype)
        first = self.scalar.value(expr)
        steps = ", ".join(str(step * n) for n in range(self.lanes))
        offsets = CText(f"({self.types.name(expr.dtype, self.lanes)}){{{steps}}}", Level.POSTFIX)
        return Piece(binary("+", first, offsets), expr.dtype, True)

    def _arithmetic(self, expr: Binary) -> Piece:
        left, right = self.value(expr.left), self.value(expr.right)
        common = common_type(expr.op, left.dtype, right.dtype)
        return self.combined(expr.op, self.converted(left, common), self.converted(right, common), common)

    def combined(self, op: str, left: Piece, right: Piece, dtype: DType) -> Piece:
        """`left op right` of two values of one type."""
        vector = left.vector or right.vector
        if vector:
            self._require(dtype)
        if op == "/" and left.vector and not right.vector and self.shares_divisors and self.math is not None:
            found = self.math.quotient(dtype, self.lanes)
            if found is not None:
                macro, kinds = found
                operands = [_guarded(left.text), _guarded(right.text)]
                return Piece(call(macro, [*(CText(kind) for kind in kinds), *operands]), dtype, True)
        return Piece(binary(op, left.text, right.text), dtype, vector)

    def _select(self, expr: Select) -> Piece:
        for side in (expr.then, expr.otherwise):
            self.require_always(side)  # also in scalar code: loads may be bound in front of the statement
        then = self.converted(self.value(expr.then), expr.dtype)
        otherwise = self.converted(self.value(expr.otherwise), expr.dtype)
        if self.lanes == 1 or self._is_uniform(expr.condition):
            sides = [self.broadcast(side).text for side in (then, otherwise)]
            if self.lanes > 1:   # one type: gcc tells a vector type from that of a computed vector
                sides = [cast(self.types.name(expr.dtype, self.lanes), side) for side in sides]
            return Piece(conditional(self.value(expr.condition).text, *sides), expr.dtype, self.lanes > 1)
        extreme = self._extreme(expr, then, otherwise)
        if extreme is not None:
            return extreme
        changed = [(side, self.always(side)) for side in (expr.then, expr.otherwise)]
        then, otherwise = (piece if new is old else self.converted(self.value(new), expr.dtype)
                           for piece, (old, new) in zip((then, otherwise), changed, strict=True))
        return self.blend(self.mask(expr.condition, expr.dtype.bits), then, otherwise)

    def _extreme(self, expr: Select, then: Piece, otherwise: Piece) -> Piece | None:
        """`a > b ? a : b`, or another spelling of a larger or smaller value, by the instruction that has its value."""
        condition, kinds_of = expr.condition, ("max", "min")
        compared_with_itself: tuple[Expr, ...] = ()
        match expr:
            case Select(condition=Binary(op="!=") as unequal, otherwise=Select() as numbers):
                condition, otherwise = numbers.condition, self.converted(self.value(numbers.otherwise), expr.dtype)
                compared_with_itself = (unequal.left, unequal.right, numbers.then)
            case Select(condition=Binary(op="||", left=better, right=Binary(op="!=") as unequal)):
                condition, compared_with_itself = better, (unequal.left, unequal.right)
        if compared_with_itself:
            kinds_of = ("maximum", "minimum")
            if any(self.value(e) != then for e in compared_with_itself):
                return None
        if self.math is None or not isinstance(condition, Binary) or condition.op not in ("<", ">"):
            return None
        compared = self.value(condition.left), self.value(condition.right)
        if compared not in ((then, otherwise), (otherwise, then)):
            return None
        kind = kinds_of[(condition.op == ">") != (compared == (then, otherwise))]
        found = self.math.extreme(kind, expr.dtype, self.lanes)
        if found is None:
            return None
        macro, kinds = found
        # The second of the compared values is the result where neither is larger, or one is no number.
        operands = [_guarded(self.broadcast(piece).text) for piece in (otherwise, then)]
        return Piece(call(macro, [*(CText(kind) for kind in kinds), *operands]), expr.dtype, True)

    def blend(self, mask: CText, then: Piece, otherwise: Piece) -> Piece:
        """The lanes of `then` where the mask is -1, of `otherwise` where it is 0."""
        dtype = then.dtype
        self._require(dtype)
        whole = self.types.name(dtype, self.lanes)
        if dtype == FLOAT64 and any(array.dtype == FLOAT32 for array in self.scop.arrays):
            # gcc 12 fails on the bits of widened floats beside a comparison of the same type, where vectors are twice
            # as wide as the machine's
            bits = self.types.name(UINT64, self.lanes)
            mask = cast(bits, mask)
        else:
            bits = self.types.mask(dtype.bits, self.lanes)
        sides = [same_bits(bits, self.broadcast(side).text) for side in (then, otherwise)]
        picked = binary("&", sides[0], mask)
        if otherwise.text.code != f"({dtype.c_name})0":
            picked = binary("|", picked, binary("&", sides[1], other_lanes(mask)))
        return Piece(cast(whole, picked), dtype, True)

    def mask(self, condition: Expr, bits: int) -> CText:
        """A condition as a vector of 0 and -1 with lanes of `bits` bits."""
        match condition:
            case Unary(op="!", operand=operand):
                return other_lanes(self.mask(operand, bits))
            case Binary(op=op) if op in LOGICAL:
                self.require_always(condition.right)
                sign = "&" if op == "&&" else "|"
                return binary(sign, self.mask(condition.left, bits), self.mask(self.always(condition.right), bits))
            case Binary(op=op) if op in COMPARISON:
                left, right = self.value(condition.left), self.value(condition.right)
                common = usual_conversion(left.dtype, right.dtype)
                left, right = self.converted(left, common), self.converted(right, common)
                if not left.vector and not right.vector:
                    left = self.broadcast(left)
                self._require(common)
                return self.resized(binary(op, left.text, right.text), common.bits, bits)
            case _:
                piece = self.value(condition)
                zero = Piece(CText("0"), INT32, False)
                whole = self.broadcast(piece)
                different = binary("!=", whole.text, self.converted(zero, piece.dtype).text)
                return self.resized(different, piece.dtype.bits, bits)

    def resized(self, mask: CText, have: int, want: int) -> CText:
        """A mask whose lanes have `have` bits, with lanes of `want` bits."""
        for step in conversion_steps(BY_NAME[f"int{have}"], BY_NAME[f"int{want}"]) if have != want else ():
            kind = CText(self.types.mask(step.bits, self.lanes))
            mask, have = self._step(mask, BY_NAME[f"int{have}"], step, kind), step.bits
        return mask

    def require_always(self, expr: Expr) -> None:
        """Lanes that C would skip are computed too: they must not trap or read outside an array."""
        for part in walk(expr):
            if isinstance(part, Load) and not self._exists(self.scalar.statement.access(part.reference)):
                raise NotVectorised("a conditional load may lie outside its array")
            if isinstance(part, Binary) and part.op in ("/", "%") and part.dtype.is_integer:
                raise NotVectorised("a conditional integer division may trap")
            if isinstance(part, Call) and not self._is_vector_call(part):
                raise NotVectorised("a conditional call")

    def always(self, expr: Expr) -> Expr:
        """The expression for lanes that C would skip."""
        return without_overflow(expr, but=self.scalar.packed) if self.lanes > 1 else expr

    def _exists(self, access: Access) -> bool:
        """Whether what an access reads is there in every lane: in a register, or in memory."""
        if self.scope.held(self.reach(access)) is not None:
            return True
        return can_be_read(self.scop, access) if self.sums_up else inside_array(self.scop, access)

    def _require(self, dtype: DType) -> None:
        if self.lanes > 1 and not has_vectors(dtype):
            raise NotVectorised(f"{dtype} has no vector form")


def _guarded(text: CText) -> CText:
    """A macro argument; braces do not keep its commas together."""
    return CText(f"({text})") if "{" in text.code else text


def same_bits(type_name: str, vector: CText) -> CText:
    """The bits of a vector as those of another type; what they were taken for before does not matter."""
    earlier = _VECTOR_CAST.match(vector.code) if vector.level is Level.UNARY else None
    return cast(type_name, CText(vector.code[earlier.end():], Level.UNARY) if earlier else vector)


def vector_at(element: CText, type_name: str) -> CText:
    """The vector in memory that starts at an element."""
    return unary("*", cast(f"{type_name} *", unary("&", element)))
