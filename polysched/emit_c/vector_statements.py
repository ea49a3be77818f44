"""Statement bodies at one point of a register tile -> lines over scalars and vectors.

A condition on data becomes a mask: every assignment below it keeps the old value in the lanes where it does
not hold.
"""

from __future__ import annotations

from polysched.emit_c.array_bounds import inside_array
from polysched.emit_c.c_text import CText, Level, binary, other_lanes
from polysched.emit_c.tile_accesses import Lanes, Reach
from polysched.emit_c.tile_scope import Piece
from polysched.emit_c.vector_expressions import NotVectorised, VectorPrinter
from polysched.scop.body import Assign, BodyStatement, If
from polysched.scop.dtypes import BY_NAME, promote, usual_conversion
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
                printer.scope.lines.extend(_assignment(item, printer))
            case If() if printer.lanes > 1:
                _conditional(item, printer, None)
            case _:
                raise NotVectorised(f"{type(item).__name__} has no form in registers")


def _conditional(item: If, printer: VectorPrinter, outer: CText | None) -> None:
    """Both branches under masks of one width, that of the widest target."""
    bits = _mask_bits(item)
    if outer is not None:
        printer.require_always(item.condition)
    mask = printer.mask(item.condition, bits)
    kind = printer.types.mask(bits, printer.lanes)
    dtype = BY_NAME[f"int{bits}"]
    held = printer.scope.declare("mask", Piece(mask, dtype, True), kind).text
    for branch, lanes in ((item.then, held), (item.otherwise, other_lanes(held))):
        whole = lanes if outer is None else binary("&", outer, lanes)
        for inner in branch:
            match inner:
                case Assign():
                    printer.scope.lines.extend(_masked(inner, printer, whole, bits))
                case If():
                    _conditional(inner, printer, whole)
                case _:
                    raise NotVectorised(f"{type(inner).__name__} has no form in registers")


def _mask_bits(item: If) -> int:
    widths = {inner.dtype.bits for branch in (item.then, item.otherwise) for inner in branch
              if isinstance(inner, Assign)}
    widths |= {_mask_bits(inner) for branch in (item.then, item.otherwise) for inner in branch
               if isinstance(inner, If)}
    if len(widths) != 1:
        raise NotVectorised("the branches write elements of several widths")
    return widths.pop()


def _masked(item: Assign, printer: VectorPrinter, mask: CText, bits: int) -> list[str]:
    access = printer.scalar.statement.access(item.target)
    where = printer.reach(access)
    held = printer.scope.held(where)
    if where.lanes is not Lanes.UNIT or item.dtype.bits != bits:
        raise NotVectorised("a conditional assignment does not move by one element")
    if item.op in ("/", "%") and item.dtype.is_integer:
        raise NotVectorised("a conditional integer division may trap")
    if held is None and not inside_array(printer.scop, access):
        raise NotVectorised("a conditional assignment may lie outside its array")
    printer.require_always(item.value)
    old = held or printer.loaded(access, where, item.dtype)
    new = _new_value(item, printer, old)
    place = held.text if held else printer.memory(access, where, item.dtype)
    return [f"{place} = {printer.blend(mask, new, old).text};"]


def _new_value(item: Assign, printer: VectorPrinter, old: Piece) -> Piece:
    value = printer.value(item.value)
    if item.op is None:
        return printer.converted(value, item.dtype)
    common = promote(item.dtype) if item.op in ("<<", ">>") else usual_conversion(item.dtype, value.dtype)
    combined = printer.combined(item.op, printer.converted(old, common), printer.converted(value, common), common)
    return printer.converted(combined, item.dtype)


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
        common = promote(item.dtype) if item.op in ("<<", ">>") else usual_conversion(item.dtype, value.dtype)
        if common == item.dtype:
            place = held.text if held else printer.memory(access, where, item.dtype)
            return [f"{place} {item.op}= {printer.converted(value, common).text.at(Level.ASSIGNMENT)};"]
    new = _new_value(item, printer, held or printer.loaded(access, where, item.dtype))
    return _stored(access, where, held, new, printer)


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
