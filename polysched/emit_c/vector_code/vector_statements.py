"""Statement bodies at one point of a register tile -> lines over scalars and vectors.

A condition on data becomes a mask: every assignment below it keeps the old value in the lanes where it does
not hold.  A register that accumulates takes the operand that changes nothing there, so that an update waits for the
one before it no longer than without a condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polysched.emit_c.bodies.array_bounds import can_be_written
from polysched.emit_c.bodies.operations import is_product
from polysched.emit_c.bodies.wrapping_sums import OVERFLOWING, unsigned
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach
from polysched.emit_c.scalar_code.c_text import CText, Level, binary, other_lanes
from polysched.emit_c.vector_code.tile_scope import Piece
from polysched.emit_c.vector_code.vector_expressions import NotVectorised, VectorPrinter
from polysched.emit_c.vector_math import is_approximated
from polysched.scop.body import Assign, BodyStatement, Call, Cast, Expr, If, assignments, walk
from polysched.scop.dtypes import BY_NAME, DType, Kind, common_type, usual_conversion
from polysched.scop.scop import Access


def add_statements(body: tuple[BodyStatement, ...], printer: VectorPrinter) -> None:
    """Add the lines of a body to the printer's scope.

    Raises
    ------
    NotVectorised : some part has no form at this point.
    """
    for item in body:
        match item:
            case Assign():
                total = printer.scope.held(printer.reach(printer.scalar.statement.access(item.target)))
                printer.scope.lines.extend(_added_in_order(item, total, printer) if total and total.in_order
                                           else _assignment(item, printer))
            case If() if printer.lanes > 1:
                _conditional(item, printer, {})
            case _:
                raise NotVectorised(f"{type(item).__name__} has no form in registers")


def _conditional(item: If, printer: VectorPrinter, outer: Mapping[int, CText]) -> None:
    """Both branches under masks, one for each width of a target."""
    if outer:
        printer.require_always(item.condition)

    def declared(mask: CText, bits: int) -> CText:
        if mask.code.isidentifier():
            return mask
        kind = printer.types.mask(bits, printer.lanes)
        return printer.scope.declare("mask", Piece(mask, BY_NAME[f"int{bits}"], True), kind).text

    condition = printer.always(item.condition) if outer else item.condition
    holds: dict[int, CText] = {}
    for bits in _widths((item,)):
        widest = next(iter(holds), bits)
        holds[bits] = declared(printer.resized(holds[widest], widest, bits) if holds
                               else printer.mask(condition, bits), bits)
    for branch in (item.then, item.otherwise):
        masks: dict[int, CText] = {}
        for bits in _widths(branch):
            own = holds[bits] if branch is item.then else other_lanes(holds[bits])
            masks[bits] = declared(binary("&", outer[bits], own) if outer else own, bits)
        for inner in branch:
            match inner:
                case Assign():
                    printer.scope.lines.extend(_masked(inner, printer, masks[inner.dtype.bits]))
                case If():
                    _conditional(inner, printer, masks)
                case _:
                    raise NotVectorised(f"{type(inner).__name__} has no form in registers")


def _widths(body: tuple[BodyStatement, ...]) -> list[int]:
    """Bits of the elements that a body assigns to, the most first."""
    return sorted({item.dtype.bits for item in assignments(body)}, reverse=True)


def _masked(item: Assign, printer: VectorPrinter, mask: CText) -> list[str]:
    access = printer.scalar.statement.access(item.target)
    where = printer.reach(access)
    held = printer.scope.held(where)
    if where.lanes is not Lanes.UNIT:
        raise NotVectorised("a conditional assignment does not move by one element")
    if item.op in ("/", "%") and item.dtype.is_integer:
        raise NotVectorised("a conditional integer division may trap")
    printer.require_always(item.value)
    if not _may_be_written(access, where, item, printer):
        return _lane_by_lane(item, access, held, printer, mask)
    neutral = None if held is None or item.op is None else _changes_nothing(item.op, held.dtype)
    if held is not None and neutral is not None and not is_product(item.value):
        value = printer.value(printer.always(item.value))
        if _common(item, value) == held.dtype:
            operand = printer.blend(mask, printer.converted(value, held.dtype), neutral)
            return [f"{held.text} {item.op}= {operand.text.at(Level.ASSIGNMENT)};"]
    old = held or printer.loaded(access, where, item.dtype)
    new = _new_value(item, printer, old, always=True)
    place = held.text if held else printer.memory(access, where, item.dtype)
    return [f"{place} = {printer.blend(mask, new, old).text};"]


def _lane_by_lane(item: Assign, access: Access, held: Piece | None, printer: VectorPrinter, mask: CText) -> list[str]:
    """The value in lanes, and an assignment in each where the mask holds: the others may be another thread's to write.

    It pays where the value takes a function that compilers leave scalar; they have masked stores for the rest.
    """
    pays = any(isinstance(e, Call) and is_approximated(e.function) for e in walk(item.value))
    if held is not None or item.op is not None or not pays:
        raise NotVectorised("a conditional assignment may be to an element that is not the program's to write")
    value = printer.converted(printer.value(printer.always(item.value)), item.dtype)
    kind = printer.types.name(item.dtype, printer.lanes)
    vector = printer.scope.declare(access.array, printer.broadcast(value), kind)
    return [f"if ({mask.at(Level.POSTFIX)}[{n}]) {printer.lane(access, n)} = {vector.text}[{n}];"
            for n in range(printer.lanes)]


def _may_be_written(access: Access, where: Reach, item: Assign, printer: VectorPrinter) -> bool:
    """Whether a masked assignment may write the old value in the other lanes."""
    held = printer.scope.held(where)
    return where in printer.scope.own or (held is not None and _accumulates(held, item, printer)) or can_be_written(
        printer.scop, printer.scalar.statement, access)


def _accumulates(held: Piece, item: Assign, printer: VectorPrinter) -> bool:
    """Whether what is held in a register is updated from its own value, as the accumulator of a reduction is."""
    return item.op is not None or any(printer.scope.held(printer.reach(read)) is held
                                      for read in printer.scalar.statement.reads)


def _changes_nothing(op: str, dtype: DType) -> Piece | None:
    """The operand with which an operator leaves every number as it is, the sign of a zero included."""
    values = {"+": "-0.0" if dtype.is_float else "0", "-": "0", "|": "0", "^": "0", "*": "1", "&": "-1"}
    return Piece(CText(f"({dtype.c_name}){values[op]}"), dtype, False) if op in values else None


def _new_value(item: Assign, printer: VectorPrinter, old: Piece, *, always: bool = False) -> Piece:
    """What an assignment writes, in the type of the place; `always`: in lanes for which C would skip it, too."""
    value = printer.value(printer.always(item.value) if always else item.value)
    if item.op is None:
        return printer.converted(value, old.dtype)
    common = _common(item, value)
    if always and item.op in OVERFLOWING:
        common = unsigned(common)
    combined = printer.combined(item.op, printer.converted(old, common), printer.converted(value, common), common)
    return printer.converted(combined, old.dtype)


def _assignment(item: Assign, printer: VectorPrinter) -> list[str]:
    """`target op= value` at one point."""
    access = printer.scalar.statement.access(item.target)
    where = printer.reach(access)
    held = printer.scope.held(where)
    if item.op is not None and printer.lanes > 1 and where.lanes is Lanes.UNIFORM and not (held and held.vector):
        raise NotVectorised("lanes update one element")
    shared = item.op == "/" and printer.shares_divisors
    if item.op is not None and not shared and (where.lanes in (Lanes.UNIT, Lanes.UNIFORM) or (held and held.vector)):
        value = printer.value(item.value)
        common = _common(item, value)
        if _in_place(item, common, held):
            if held is not None and not held.vector and held.dtype == common:
                value = _without_cast(item.value, printer, value, common)
            place = held.text if held else printer.memory(access, where, common)
            return [f"{place} {item.op}= {printer.converted(value, common).text.at(Level.ASSIGNMENT)};"]
    new = _new_value(item, printer, held or printer.loaded(access, where, item.dtype))
    return _stored(access, where, held, new, printer)


def _added_in_order(item: Assign, total: Piece, printer: VectorPrinter) -> list[str]:
    """The operand in lanes, and the update by each of them in turn.

    A product may be rounded together with the sum by compilers, which lanes would part.
    """
    value = printer.value(item.value)
    if item.op is None or not value.vector or not value.dtype.is_float or is_product(item.value):
        raise NotVectorised("nothing to compute in lanes ahead of an update")
    kind = printer.types.name(value.dtype, printer.lanes)
    addends = printer.scope.declare("addends", value, kind)
    return [f"{total.text} {item.op}= {addends.text}[{n}];" for n in range(printer.lanes)]


def _common(item: Assign, value: Piece) -> DType:
    """The type in which a compound assignment computes; no more bits than it keeps, where the others have no say."""
    is_number = item.dtype.kind in (Kind.SIGNED, Kind.UNSIGNED)
    if item.op in OVERFLOWING and is_number and value.dtype == unsigned(item.dtype):
        return value.dtype
    return common_type(item.op or "", item.dtype, value.dtype)


def _without_cast(expr: Expr, printer: VectorPrinter, value: Piece, common: DType) -> Piece:
    """The value before a conversion to the type in which the assignment computes, which C does by itself.

    Another type's values are others: `(unsigned)-1` added to a `long` is no -1.
    """
    if isinstance(expr, Cast) and expr.operand.dtype.kind is Kind.SIGNED and not value.vector and (
            usual_conversion(value.dtype, expr.operand.dtype) == expr.dtype == value.dtype == common):
        return replace(printer.value(expr.operand), dtype=value.dtype)
    return value


def _in_place(item: Assign, common: DType, held: Piece | None) -> bool:
    """Whether C's compound assignment to the place computes in this type.

    A vector in memory can have the other signedness, and a scalar is converted there and back.
    """
    if held is not None and held.vector:
        return held.dtype == common
    return common == item.dtype or (item.op in OVERFLOWING and common == unsigned(item.dtype))


def _stored(access: Access, where: Reach, held: Piece | None, new: Piece, printer: VectorPrinter) -> list[str]:
    if held is None and where.lanes in (Lanes.SPREAD, Lanes.REVERSED, Lanes.STRIDED):
        kind = printer.types.name(new.dtype, printer.lanes)
        vector = printer.scope.declare(access.array, printer.broadcast(new), kind)
        return [f"{printer.lane(access, n)} = {vector.text}[{n}];" for n in range(printer.lanes)]
    if where.lanes is Lanes.UNKNOWN and printer.lanes > 1:
        raise NotVectorised(f"the subscripts of {access.array} are not linear")
    if where.lanes is Lanes.UNIT:
        new = printer.broadcast(new)
    if new.vector and where.lanes is Lanes.UNIFORM:
        raise NotVectorised("lanes write one element")
    place = held.text if held else printer.memory(access, where, new.dtype)
    if not held and new.vector and access.array == printer.past_caches:
        store = printer.scalar.index.macros.use(f"store_past_caches_{printer.lanes * new.dtype.bytes}")
        return [f"{store}({place}, {new.text.at(Level.ASSIGNMENT)});"]
    return [f"{place} = {new.text.at(Level.ASSIGNMENT)};"]
