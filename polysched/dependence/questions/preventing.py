"""Which pairs prevent a loop of a tree from running in parallel, in lanes, from an interchange, and from tiles.

| wish | pairs that prevent it |
|---|---|
| parallel | those that the loop carries |
| lanes | of these, those that what is inside does not run in their order when all iterations step together |
| interchange | those that the inner loop of the two runs backward |
| tiles | of those that some loop of the perfect nest runs backward, the ones at two values of the loop |

Source: R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures", chapters 2, 5 and 6; M. Wolf, M. Lam,
"A Data Locality Optimizing Algorithm", PLDI 1991 (full permutability).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.dependence.legality import (
    Active,
    active_below,
    backward,
    carried,
    equal_parts,
    filtered_sets,
    total_values,
    within,
)
from polysched.dependence.questions.program_loops import ProgramLoop, active_in
from polysched.scop.body import Assign
from polysched.scop.schedule_nodes import NodeKind, kind_of


def across(dependences: Dependences, loop: ProgramLoop) -> list[Active]:
    """What the loop carries: pairs in two of its iterations, in the same ones of all loops around."""
    values = loop.values
    return _nonempty((part, carried(part, values)) for part in active_in(dependences, loop))


def against_lanes(dependences: Dependences, loop: ProgramLoop) -> list[Active]:
    """The carried pairs that are not in order where all iterations of the loop take every step together."""
    node = loop.node
    active = across(dependences, loop)
    partial = node.band_get_partial_schedule()
    found: list[Active] = []
    for member in range(loop.member + 1, node.band_n_member()):
        active = _through_member(active, total_values(partial, member), found)
    _collect(dependences, node.child(0), active, found)
    return merged(found)


def against_interchange(dependences: Dependences, outer: ProgramLoop, inner: ProgramLoop) -> list[Active]:
    """The pairs that would run in the wrong order if the two loops changed places."""
    values = inner.values
    return _nonempty((part, backward(part, values)) for part in active_in(dependences, outer) if part.ordered)


def against_tiles(dependences: Dependences, nest: tuple[ProgramLoop, ...], loop: ProgramLoop) -> list[Active]:
    """The pairs because of which the loop is in no band of tiles with all loops of its nest."""
    own = loop.values
    active = [part for part in active_in(dependences, nest[0]) if part.ordered]
    found = [piece for other in nest
             for piece in _nonempty((part, backward(part, other.values)) for part in active)]
    return merged(_nonempty((part, carried(part, own)) for part in found))


def merged(parts: list[Active]) -> list[Active]:
    """One entry per dependence, in the order of the first."""
    found: dict[int, Active] = {}
    for part in parts:
        before = found.get(id(part.dependence))
        found[id(part.dependence)] = part if before is None else replace(
            part, relation=before.relation.union(part.relation).coalesce())
    return list(found.values())


def _nonempty(pieces: Iterable[tuple[Active, isl.Map]]) -> list[Active]:
    return [replace(part, relation=relation) for part, relation in pieces if not relation.is_empty()]


def _through_member(active: list[Active], values: dict[str, isl.PwAff], found: list[Active]) -> list[Active]:
    """What a loop inside leaves unordered; what it runs backward is found."""
    found += _nonempty((part, backward(part, values)) for part in active if part.ordered)
    return equal_parts(active, values)


def _collect(dependences: Dependences, node: isl.ScheduleNode, active: list[Active], found: list[Active]) -> None:
    """Find every pair that the nodes below do not run in its order."""
    if not active:
        return
    kind = kind_of(node)
    if kind == NodeKind.leaf:
        found += [part for part in active if not _reads_first(dependences, part)]
    elif kind == NodeKind.band:
        partial = node.band_get_partial_schedule()
        for member in range(node.band_n_member()):
            active = _through_member(active, total_values(partial, member), found)
        _collect(dependences, node.child(0), active, found)
    elif kind in (NodeKind.sequence, NodeKind.set):
        _collect_children(dependences, node, active, found)
    else:
        _collect(dependences, node.child(0), active_below(node, active, 0), found)


def _collect_children(dependences: Dependences, node: isl.ScheduleNode, active: list[Active],
                      found: list[Active]) -> None:
    """A pair across two children is in order where the first of them runs first."""
    chosen = [filtered_sets(node.child(k).filter_get_filter()) for k in range(node.n_children())]
    ordered = kind_of(node) == NodeKind.sequence
    for first, sources in enumerate(chosen):
        for last, sinks in enumerate(chosen):
            if first == last or (ordered and first < last):
                continue
            parts = (within(part, sources, sinks) for part in active if part.ordered or not ordered)
            found += [part for part in parts if part is not None]
    for position, sets in enumerate(chosen):
        inside = [part for each in active if (part := within(each, sets, sets)) is not None]
        _collect(dependences, node.child(position).child(0), inside, found)


def _reads_first(dependences: Dependences, part: Active) -> bool:
    """Whether a statement of one assignment reads before it writes: in lanes, too."""
    pair = part.dependence
    if pair.kind is not DependenceKind.ANTI or pair.source != pair.sink:
        return False
    body = dependences.scop.statement(pair.source).body
    return len(body) == 1 and isinstance(body[0], Assign)
