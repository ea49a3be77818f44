"""Loops whose iterations may run twice, and where in memory they write."""

from __future__ import annotations

from collections.abc import Mapping

from polysched.emit_c.loop_ir.facts import depends_on
from polysched.emit_c.loop_ir.index import Linear, ToBoundary, differ
from polysched.emit_c.loop_ir.loops import For, StatementInstance
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances, straight
from polysched.emit_c.register_tiles.tile_accesses import Lanes, reach
from polysched.emit_c.scalar_code.expressions import element_template
from polysched.scop.scop import Access, Scop

_Forms = tuple[Linear | None, ...]


def anchor(scop: Scop, local_names: Mapping[str, str], loop: For, width: int) -> ToBoundary | None:
    """How far the first element that is written at the loop's variable is from a boundary of `width` elements.

    None when an iteration that runs a second time would give something else: when the loop reads what it writes (two
    places of an array that differ in a subscript which the loop leaves alone, like two buffers, are told apart); when
    something is written that no vector is stored to; and for temporaries, which have a place of their own.
    """
    plain = straight(loop.body)
    if plain is None:
        return None
    own = {temporary.array for temporary in plain[1]}
    places: list[ToBoundary] = []
    read: list[tuple[str, _Forms]] = []
    written: list[tuple[str, _Forms]] = []
    for instance in instances(loop.body):
        for access in statement_at(scop, instance).accesses:
            if access.array in own:
                continue
            (written if access.is_write else read).append((access.array, _still(scop, loop, instance, access)))
            if access.is_write:
                place = _place(scop, local_names, loop, instance, access, width)
                if place is None:
                    return None
                places.append(place)
    meet = any(name == other and not any(
        a is not None and b is not None and differ(a, b) for a, b in zip(first, second, strict=True))
        for name, first in written for other, second in read)
    return places[0] if places and not meet else None


def _still(scop: Scop, loop: For, instance: StatementInstance, access: Access) -> _Forms:
    """The subscripts of an access that are the same in all iterations of a loop; None for the others."""
    statement = statement_at(scop, instance)
    iterators = dict(zip(statement.iterators, instance.iterators, strict=True))
    forms = (linear_form(subscript, iterators) for subscript in access.subscripts)
    return tuple(None if form is None or depends_on(form, frozenset({loop.variable})) else form for form in forms)


def _place(scop: Scop, local_names: Mapping[str, str], loop: For, instance: StatementInstance, access: Access,
           width: int) -> ToBoundary | None:
    array, statement = scop.array(access.array), statement_at(scop, instance)
    iterators = dict(zip(statement.iterators, instance.iterators, strict=True))
    where = reach(array, access, iterators, loop.variable, width)
    forms = [linear_form(subscript, iterators) for subscript in access.subscripts]
    template = element_template(array, len(forms), local_names)
    buffered = any(temporary.array == access.array for temporary in instance.temporaries)
    if where.lanes is not Lanes.UNIT or buffered or template.count("[{}]") != len(forms):
        return None
    size = array.dtype.bytes
    return ToBoundary(template=template, subscripts=tuple(form for form in forms if form is not None),
                      element_bytes=size, boundary_bytes=size * width)
