"""Reductions in vector lanes: partial results per lane, combined in a fixed order behind the loop.

Rewrite:  for (k = a; k < b; k++) s += x[k]
      ->  parts = {identity}; for (k = a; k + W * U <= b; k += W * U) parts[u] += x[k + u * W ... ] for every u < U;
          s = s + (all lanes of all parts);  the last iterations: s += x[k]

Which loops qualify is decided by the dependences, composed with the loops that were generated: the loop may carry
pairs of updates of the reduction and nothing else, so nobody sees an intermediate value.  Only reductions whose
result does not depend on the order are taken, unless the user allows sums of floats to be rounded differently.
The order of the partial results is fixed: every run gives the same bits.

A sum that has to keep its order can have its addends in lanes:

Rewrite:  for (k = a; k < b; k++) s += c[k] ? x[k] : y[k]
      ->  sum = s;
          for (k = a; k + W <= b; k += W) { t = c[k ...] ? x[k ...] : y[k ...]; sum += t[0]; ... sum += t[W - 1]; }
          s = sum;  the last iterations: s += c[k] ? x[k] : y[k]

Source: the manner of Doerfert, Streit, Hack and Benaissa, "Polly's polyhedral scheduling in the presence of
reductions", IMPACT 2015 (partial results in lanes), with the operators of `dependence.reductions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.dependence.reductions import Reduction
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, depends_on, map_inside
from polysched.emit_c.loop_ir.index import (
    Comparison,
    Linear,
    constant,
    direction,
    growth,
    remainder,
    substitute,
    variable,
)
from polysched.emit_c.loop_ir.loops import Block, Edge, For, If, Node, Partial, RegisterTile
from polysched.emit_c.loop_ir.statement_instances import Leaf, leaves_of
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import block, instances, straight, variables_set_by, walk_nodes
from polysched.emit_c.nests.row_lengths import most_iterations
from polysched.emit_c.nests.thread_reductions import PLACES
from polysched.records import dataclass
from polysched.scop.body import Cast, IteratorRef, Load, Select, assignments, walk
from polysched.scop.dtypes import INT32, DType, Kind
from polysched.scop.scop import Access, Scop, Statement

COUNTED = frozenset({"last", "first"})


@dataclass(frozen=True, kw_only=True)
class LaneReductions:
    """What the rewriting asks of others.

    Parameters
    ----------
    dependences : of the program.
    reductions : those that may be computed in any order, by statement; with `in_order`, those that may not.
    width : lanes for a tile with these partial results; 0 when it has no form.
    vectors : how many of an iteration lie side by side, at most: a processor can begin an addition in each cycle.
    in_order : lanes compute the addends alone.
    """

    dependences: Dependences
    reductions: dict[str, Reduction]
    width: Callable[[RegisterTile, Facts], int]
    vectors: int
    in_order: bool = False

    @property
    def scop(self) -> Scop:
        return self.dependences.scop


def reduce_in_lanes(node: Node, facts: Facts, how: LaneReductions) -> Node:
    """Rewrite every innermost loop that does nothing but reductions across its iterations."""
    leaves = tuple(leaves_of(node, (), facts)) if how.reductions else ()
    return _rewritten(node, facts, how, leaves, 0) if leaves else node


def _rewritten(node: Node, facts: Facts, how: LaneReductions, leaves: tuple[Leaf, ...], depth: int) -> Node:
    if isinstance(node, For) and not any(isinstance(n, For | RegisterTile) for n in walk_nodes(node.body)):
        return _in_lanes(node, facts, how, leaves, depth) or node
    below = depth + len(variables_set_by(node))
    return map_inside(node, facts, lambda child, inside: _rewritten(child, inside, how, leaves, below))


def _in_lanes(loop: For, facts: Facts, how: LaneReductions, leaves: tuple[Leaf, ...], depth: int) -> Node | None:
    """The loops over several vectors and over one, with their combinations, and the loop over the rest.

    None when the loop does not qualify.
    """
    plain = straight(loop.body)
    marked = loop.mark.simd or loop.mark.parallel or loop.mark.register
    if plain is None or marked or not loop.is_canonical or loop.step != 1:
        return None
    partials = _partials(loop, how)
    own = [x for x in leaves if any(x.instance is i for i in instances(loop.body))]
    if not partials or len(own) != len(list(instances(loop.body))) or any(
            True for _ in carried_pairs(own, depth, how.dependences, updates_of=how.reductions)):
        return None
    tile = RegisterTile(loops=(replace(loop, body=Block(())),), body=plain[0], private=plain[1], partials=partials,
                        edges=(Edge(variable=loop.variable, base=variable(loop.variable), count=2, simd=True),))
    lanes = how.width(tile, facts)
    step = _step(lanes, most_iterations(loop, how.scop), how.vectors)
    return _split(tile, loop, lanes, step) if step else None


def _split(tile: RegisterTile, loop: For, lanes: int, step: int) -> Node | None:
    """A loop as tiles of a step, of one vector, and the rest; None where it is too short.

    Parameters
    ----------
    lanes, step : iterations of one vector, and of all vectors side by side.
    """
    length = loop.upper - loop.lower
    rest = replace(loop, lower=loop.upper - remainder(length, step))
    full = _in_steps(tile, loop, step)
    if length.is_constant:
        if length.constant < step:
            return None
        return full if length.constant % step == 0 else block((full, rest))
    if step == lanes:
        return If(Comparison(">=", length, constant(step)), block((full, rest)), loop)
    single = If(Comparison(">=", remainder(length, step), constant(lanes)), _in_steps(tile, rest, lanes))
    last = replace(loop, lower=loop.upper - remainder(length, lanes))
    several = If(Comparison(">=", length, constant(step)), full)
    return If(Comparison(">=", length, constant(lanes)), block((several, single, last)), loop)


def _in_steps(tile: RegisterTile, loop: For, step: int) -> RegisterTile:
    """A tile for so many iterations of a loop at once, from the loop's first one on."""
    whole = replace(tile.loops[0], lower=loop.lower, upper=loop.upper - (step - 1), step=step)
    return replace(tile, loops=(whole,), edges=(replace(tile.edges[0], count=step),))


def _step(lanes: int, most: int | None, vectors: int) -> int:
    """Iterations that all partial results take at once; 0 without lanes, or where the loop never has so many."""
    if lanes < 2:
        return 0
    return lanes * (vectors if most is None else min(vectors, most // lanes))


def _partials(loop: For, how: LaneReductions) -> tuple[Partial, ...]:
    """The reductions of the body into elements that stay while the loop runs; empty when there are none."""
    found: list[Partial] = []
    for instance in instances(loop.body):
        reduction = how.reductions.get(instance.statement)
        if reduction is None:
            continue
        statement = statement_at(how.scop, instance)
        values = dict(zip(statement.iterators, instance.iterators, strict=True))
        for part in reduction.accumulators:
            made = _of_accumulator(part, statement, values, loop, how)
            if made is None:
                return ()
            found += made
    return tuple(found) if len({p.array for p in found}) == len(found) else ()


def _of_accumulator(part: Reduction, statement: Statement, values: Mapping[str, Linear], loop: For,
                    how: LaneReductions) -> tuple[Partial, ...] | None:
    """The element of one accumulator, and its places; none where it moves, None where it has no form in lanes."""
    accesses = [statement.access(r) for r in (part.write, *_written_places(part, statement))]
    elements = [_staying(access, values, loop) for access in accesses]
    if elements[0] is None:
        return ()
    if not _are_alone(part, accesses, loop, how):
        return None
    made = tuple(Partial(array=access.array, operator=part.operator, subscripts=element, in_order=how.in_order)
                 for access, element in zip(accesses, elements, strict=True) if element is not None)
    if len(made) < len(elements):
        return None
    numbers = [_form(statement, access.reference, values) for access in accesses]
    if part.operator in COUNTED:
        counted = _counted(made[0], numbers[0], loop)
        return None if counted is None else (counted,)
    return _with_places(part, made, numbers, loop) if part.operator in PLACES else made


def _are_alone(part: Reduction, accesses: Sequence[Access], loop: For, how: LaneReductions) -> bool:
    """Whether an accumulator and its places are in arrays of their own that nothing else in the loop uses."""
    arrays = {access.array for access in accesses}
    users = {a.reference for i in instances(loop.body) for a in statement_at(how.scop, i).accesses
             if a.array in arrays}
    return users == part.own and len(arrays) == len(accesses)


def _with_places(part: Reduction, made: Sequence[Partial], numbers: Sequence[Linear | None], loop: For
                 ) -> tuple[Partial, ...] | None:
    """An extremum and its places, one of which tells which of two lanes came first; None without such a one."""
    leading = replace(made[0], ties=part.ties, nan_first=part.nan_first)
    places = [replace(p, operator="place", leader=leading.array) for p in made[1:]]
    for n, (place, number) in enumerate(zip(places, numbers[1:], strict=True)):
        telling = _counted(place, number, loop) if _moves(number, loop) else None
        if telling is not None:
            return leading, *places[:n], telling, *places[n + 1:]
    return None


def _written_places(part: Reduction, statement: Statement) -> tuple[str, ...]:
    return tuple(r for r in part.places if statement.access(r).is_write)


def _staying(access: Access, values: Mapping[str, Linear], loop: For) -> tuple[Linear, ...] | None:
    """The subscripts of an element that stays while the loop runs; None for another."""
    forms = [linear_form(s, values) for s in access.subscripts]
    if any(form is None or depends_on(form, frozenset({loop.variable})) for form in forms):
        return None
    return tuple(form for form in forms if form is not None)


def _form(statement: Statement, reference: str, values: Mapping[str, Linear]) -> Linear | None:
    """The number by loop counters that overwrites an element, in whose type such numbers compare as they do.

    None for another value, for several assignments, and where both sides of a choice may be meant.
    """
    items = [item for item in assignments(statement.body) if item.target == reference]
    if len(items) != 1 or items[0].op is not None or items[0].dtype.bits < INT32.bits:
        return None
    value, dtype = items[0].value, items[0].dtype
    while isinstance(value, Select | Cast):
        if isinstance(value, Select):
            sides = [side for side in (value.then, value.otherwise) if not any(isinstance(e, Load) for e in walk(side))]
            if len(sides) != 1:
                return None
            value = sides[0]
        elif not _keeps_order(value.dtype, dtype):
            return None
        else:
            dtype, value = value.dtype, value.operand
    if not _keeps_order(value.dtype, dtype):
        return None
    return values[value.name] if isinstance(value, IteratorRef) else linear_form(value, values)


def _keeps_order(old: DType, new: DType) -> bool:
    """Whether numbers of one integer type compare in another as in their own."""
    return (new.kind is old.kind and new.bits >= old.bits) or (
        old.kind is Kind.UNSIGNED and new.kind is Kind.SIGNED and new.bits > old.bits)


def _moves(number: Linear | None, loop: For) -> bool:
    """Whether every iteration has another number."""
    return number is not None and growth(number, loop.variable) not in (None, 0)


def _counted(partial: Partial, number: Linear | None, loop: For) -> Partial | None:
    """The element with a number that no iteration of the loop overwrites it with; None for other values."""
    way = None if number is None else direction(number, loop.variable)
    if number is None or way is None:
        return None
    start = substitute(number, {loop.variable: loop.lower})
    return replace(partial, start=start + constant(1 if way < 0 else -1), grows=way >= 0)
