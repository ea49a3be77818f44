"""Panels that the threads share: what every iteration of a parallel loop would pack anew is packed once before it.

Rewrite:  parallel for i_block: for k_block: { copy B(k_block) to B_panel;  tiles reading B_panel }
      ->  for k_block: copy B(k_block) to B_panel[k_block];
          parallel for i_block: for k_block: tiles reading B_panel[k_block]

The threads share the work of the copy, and smaller pieces of the parallel loop cost no further copies.  What only one
thread reads is kept by it: a panel that a loop around it leaves alone is packed in front of that loop.

Rewrite:  for i_block: { start values;  copy B to B_panel;  tiles reading B_panel }
      ->  copy B to B_panel;  for i_block: { start values;  tiles reading B_panel }

Source: T. M. Smith, R. van de Geijn, M. Smelyanskiy, J. R. Hammond, F. G. Van Zee, "Anatomy of High-Performance
Many-Threaded Matrix Multiplication", IPDPS 2014, section 3 (one packed panel for all threads).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import prod

from polysched.emit_c.loop_ir.facts import Facts, arms_of, depends_on, map_inside
from polysched.emit_c.loop_ir.index import Comparison, Linear, junction, variable, variables
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Local, Node, Packed, Panel, RegisterTile
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances, map_children, walk_nodes
from polysched.emit_c.register_tiles.packing import constant_extent
from polysched.emit_c.register_tiles.tile_accesses import Point, iterators_at
from polysched.emit_c.scalar_code.heap import ALIGNMENT_BYTES, STACK_BYTES, Memory, choice, few_bytes
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark, Role
from polysched.scop.body import Load, walk
from polysched.scop.scop import Scop
from polysched.tiling.rewriting.copies import LARGEST_COPY_BYTES

_POINT = LoopMark(role=Role.POINT)


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """What the rewrite asks of others.

    Parameters
    ----------
    scop : holds the bodies.
    fresh : makes a C name that nothing in the region has.
    size : the C text of a number that only parameters decide, at least one; None where it has none.
    """

    scop: Scop
    fresh: Callable[[str], str]
    size: Callable[[Linear], str | None]


@dataclass(frozen=True)
class _Found:
    """A panel inside a parallel loop, the loops between the two, outermost first, and the variables declared there."""

    node: Packed
    between: tuple[For, ...]
    declared: frozenset[str]


def share_panels(node: Node, facts: Facts, how: Sharing) -> Node:
    """Move the panels that a loop leaves alone in front of it.

    In front of a parallel loop come all the values of the loops between, for all threads.
    """
    return _kept(_with_shared(node, facts, how), facts, how)


def _with_shared(node: Node, facts: Facts, how: Sharing) -> Node:
    match node:
        case For():
            if node.mark.parallel and node.is_canonical:
                return _shared(node, facts, how)
            return replace(node, body=_with_shared(node.body, facts.inside(node), how))
        case Block():
            return Block(tuple(_with_shared(child, facts, how) for child in node.children))
        case If():
            otherwise = None if node.otherwise is None else _with_shared(node.otherwise, facts, how)
            return replace(node, then=_with_shared(node.then, facts.given(node.condition), how), otherwise=otherwise)
        case Let():
            return replace(node, body=_with_shared(node.body, facts.where(node), how))
        case Local() | Packed():
            return replace(node, body=_with_shared(node.body, facts, how))
        case _:
            return node


def shared_panels(node: Node) -> tuple[Panel, ...]:
    """The shared panels of a region."""
    return tuple(n.panel for n in walk_nodes(node) if isinstance(n, Packed) and n.panel.shared)


def stack_declaration(panel: Panel) -> str:
    """The declaration of a shared panel as a local array; empty where its size is not known, or large."""
    if panel.outer or panel.bytes > STACK_BYTES:
        return ""
    rows = "".join(f"[{extent}]" for extent in panel.extents)
    return f"{panel.value.dtype.c_name} {panel.name}{rows} __attribute__((aligned({ALIGNMENT_BYTES})));"


def memory_of(panel: Panel, few: str) -> Memory:
    """The memory of a shared panel.

    Parameters
    ----------
    few : C name of an array on the stack, where the panel stands for sizes for which it is as small.
    """
    c_name = panel.value.dtype.c_name
    rows = "".join(f"[{extent}]" for extent in (*panel.outer, *map(str, panel.extents))[1:])
    size = f"({panel.bytes_text} + {ALIGNMENT_BYTES - 1}) / {ALIGNMENT_BYTES} * {ALIGNMENT_BYTES}"
    given = f"{choice(panel.bytes_text, few)}aligned_alloc({ALIGNMENT_BYTES}, {size})"
    return Memory(array=panel.name, name=panel.name, few=few, few_declaration=few_bytes(panel.value.dtype, few),
                  declaration=f"{c_name} (*{panel.name}){rows} = {given};")


def _shared(loop: For, facts: Facts, how: Sharing) -> Node:
    extent = constant_extent(loop)
    if extent is not None and extent[1] <= loop.step:
        return loop   # nothing would be packed twice
    written = {access.array for i in instances(loop) for access in statement_at(how.scop, i).writes}
    node, moved, runs = loop, list[Packed](), [loop]
    while True:
        found = next(_movable(node, facts, written, how), None)
        if found is None:
            break
        place, panel, around = found
        node = replace(node, body=_reading(node.body, place.node, panel))
        moved.append(replace(place.node, panel=panel))
        runs += around
    result: Node = node
    for packed in reversed(moved):
        result = replace(packed, body=result)
    unsure = dict.fromkeys(c for f in runs for c in _runs(f) if not facts.imply(c))
    return If(junction("&&", [*unsure]), result) if moved and unsure else result


def _movable(loop: For, facts: Facts, written: set[str], how: Sharing) -> Iterator[
        tuple[_Found, Panel, tuple[For, ...]]]:
    """The panels that can be filled before a parallel loop, and the loops that have to run for it to do anything."""
    for found in _panels(loop.body, (), frozenset()):
        asked, panel = _asked(loop, found, facts, how), _panel(loop, found, written, how)
        if asked is not None and panel is not None:
            yield found, panel, asked


def _asked(loop: For, found: _Found, facts: Facts, how: Sharing) -> tuple[For, ...] | None:
    """The loops between that have to run, or the parallel loop does nothing; None where it does something without them.

    A loop that moves a panel is one of those that fill it: where it does not run, nothing is copied.
    """
    names, everything = _names(found.node, how.scop), len([*instances(loop)])
    asked = []
    for between in found.between:
        if len([*instances(between)]) == everything:
            asked.append(between)
        elif between.variable not in names and not all(map(facts.imply, _runs(between))):
            return None
    return tuple(asked)


def _kept(node: Node, facts: Facts, how: Sharing) -> Node:
    """The panels of one thread in front of the loops that leave them alone, the innermost loops first."""
    node = map_inside(node, facts, partial(_kept, how=how))
    if not isinstance(node, For) or node.mark.parallel or not node.is_canonical:
        return node
    written = {access.array for i in instances(node) for access in statement_at(how.scop, i).writes}
    loop, moved = node, list[Packed]()
    while (packed := _left_alone(loop, written, how)) is not None:
        panel = replace(packed.panel, name=how.fresh(packed.panel.name))
        loop = replace(loop, body=_reading(loop.body, packed, panel))
        moved.append(replace(packed, panel=panel))
    result: Node = loop
    for packed in reversed(moved):
        result = replace(packed, body=result)
    unsure = [condition for condition in _runs(loop) if moved and not facts.imply(condition)]
    return If(junction("&&", unsure), result) if unsure else result


def _left_alone(loop: For, written: set[str], how: Sharing) -> Packed | None:
    """A panel of one thread that is the same in every iteration of a loop, and filled in all of them."""
    return next((found.node for found in _panels(loop.body, (), frozenset())
                 if not found.between and not found.node.panel.shared
                 and not _names(found.node, how.scop) & (found.declared | {loop.variable})
                 and not _changes(found.node, written, how)), None)


def _runs(loop: For) -> Iterator[Comparison]:
    """The conditions under which a loop runs at all."""
    return (Comparison("<", low, high) for low in arms_of(loop.lower, "max") for high in arms_of(loop.upper, "min"))


def _panels(node: Node, between: tuple[For, ...], declared: frozenset[str]) -> Iterator[_Found]:
    """The panels below a node that are filled whenever the loops around them run."""
    match node:
        case Packed():
            yield _Found(node, between, declared)
            yield from _panels(node.body, between, declared)
        case For() if node.is_canonical and node.step == 1:
            yield from _panels(node.body, (*between, node), declared)
        case Block():
            for child in node.children:
                yield from _panels(child, between, declared)
        case Let():
            yield from _panels(node.body, between, declared | {node.variable})
        case Local():
            yield from _panels(node.body, between, declared)


def _panel(loop: For, found: _Found, written: set[str], how: Sharing) -> Panel | None:
    """The panel for all values of the loops between; None where it cannot be filled before the parallel loop."""
    panel = found.node.panel
    if _changes(found.node, written, how):
        return None
    names = _names(found.node, how.scop)
    if names & (found.declared | {loop.variable}) or not _is_box(loop, found):
        return None
    moving = [f for f in found.between if f.variable in names]
    places = [_place(f, how) for f in moving]
    known = [place for place in places if place is not None]
    shared = len(moving) + (len(panel.loops) > 1)
    blocks = prod(int(size) if size.isdecimal() else 1 for _, size in known)
    if not shared or len(known) < len(places) or panel.bytes * blocks > LARGEST_COPY_BYTES:
        return None
    around = [replace(f, body=Block(()), mark=_POINT) for f in moving]
    return replace(
        panel, name=how.fresh(panel.name), loops=(*around, *panel.loops), shared=shared,
        outer=tuple(size for _, size in known),
        subscripts=(*(variable(f.variable) - low for f, (low, _) in zip(moving, known, strict=True)),
                    *panel.subscripts))


def _is_box(loop: For, found: _Found) -> bool:
    """Whether the bounds of the loops between are the same in every iteration of all loops."""
    inside = found.declared | {loop.variable} | {f.variable for f in found.between}
    return not any(depends_on(bound, inside) for f in found.between for bound in (f.lower, f.upper))


def _changes(node: Packed, written: set[str], how: Sharing) -> bool:
    """Whether something that a panel is filled with is written, or declared further inside."""
    statement = how.scop.statement(node.panel.statement)
    arrays = {statement.access(e.reference).array for e in walk(node.panel.value) if isinstance(e, Load)}
    return bool(arrays & (written | {temporary.array for temporary in node.source.temporaries}))


def _place(loop: For, how: Sharing) -> tuple[Linear, str] | None:
    """The first value of a loop and the C text of its number of iterations."""
    found = constant_extent(loop)
    if found is not None:
        return found[0], str(found[1])
    size = how.size(loop.upper - loop.lower)
    return None if size is None else (loop.lower, size)


def _names(node: Packed, scop: Scop) -> frozenset[str]:
    """The variables from around a panel that decide where it is and what is in it."""
    panel = node.panel
    statement = scop.statement(panel.statement)
    iterators = iterators_at(scop, node.source, Point(()))
    forms = [linear_form(s, iterators) for e in walk(panel.value) if isinstance(e, Load)
             for s in statement.access(e.reference).subscripts]
    forms += [*panel.subscripts, *(bound for loop in panel.loops for bound in (loop.lower, loop.upper))]
    used = frozenset().union(*(variables(form) for form in forms if form is not None))
    return used - {loop.variable for loop in panel.loops}


def _reading(node: Node, old: Packed, panel: Panel, *, below: bool = False) -> Node:
    """The node without the copy `old`, the tiles below it reading the shared panel.

    Parameters
    ----------
    below : the node stands below the copy.
    """
    def changed(child: Node) -> Node:
        return _reading(child, old, panel, below=below)

    match node:
        case Packed() if node is old:
            return _reading(node.body, old, panel, below=True)
        case RegisterTile() if below:
            return replace(node, panels=tuple(panel if p == old.panel else p for p in node.panels))
        case _:
            return map_children(node, changed)
