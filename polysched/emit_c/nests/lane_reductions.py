"""Reductions in vector lanes: partial results per lane, combined in a fixed order behind the loop.

Rewrite:  for (k = a; k < b; k++) s += x[k]
      ->  parts = {identity}; for (k = a; k + W * U <= b; k += W * U) parts[u] += x[k + u * W ... ] for every u < U;
          s = s + (all lanes of all parts);  the last iterations: s += x[k]

Which loops qualify is decided by the dependences, composed with the loops that were generated: the loop may carry
pairs of updates of the reduction and nothing else, so nobody sees an intermediate value.  Only reductions whose
result does not depend on the order are taken, unless the user allows sums of floats to be rounded differently.
The order of the partial results is fixed: every run gives the same bits.

Source: the manner of Doerfert, Streit, Hack and Benaissa, "Polly's polyhedral scheduling in the presence of
reductions", IMPACT 2015 (partial results in lanes), with the operators of `dependence.reductions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from polysched.dependence.dependences import Dependences
from polysched.dependence.reductions import Reduction
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, depends_on, map_inside
from polysched.emit_c.loop_ir.index import Comparison, constant, remainder, variable
from polysched.emit_c.loop_ir.leaves import Leaf, leaves_of
from polysched.emit_c.loop_ir.loops import (
    Block,
    Edge,
    For,
    If,
    Node,
    Partial,
    RegisterTile,
    block,
    instances,
    straight,
    variables_set_by,
    walk_nodes,
)
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.nests.row_lengths import most_iterations
from polysched.scop.scop import Scop

VECTORS = LIMITS.reduction_vectors


@dataclass(frozen=True, kw_only=True)
class LaneReductions:
    """What the rewriting asks of others.

    Parameters
    ----------
    dependences : of the program.
    reductions : those that may be computed in any order, by statement.
    width : lanes for a tile with these partial results; 0 when it has no form.
    """

    dependences: Dependences
    reductions: dict[str, Reduction]
    width: Callable[[RegisterTile, Facts], int]

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
    """The loop over vectors, the combination and the loop over the rest; None when the loop does not qualify."""
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
    step = _step(how.width(tile, facts), most_iterations(loop, how.scop))
    if not step:
        return None
    whole = replace(tile.loops[0], upper=loop.upper - (step - 1), step=step)
    full = replace(tile, loops=(whole,), edges=(replace(tile.edges[0], count=step),))
    length = loop.upper - loop.lower
    rest = replace(loop, lower=loop.upper - remainder(length, step))
    if length.is_constant:
        if length.constant < step:
            return None
        return full if length.constant % step == 0 else block((full, rest))
    enough = Comparison(">=", length, constant(step))
    return If(enough, block((full, rest)), loop)


def _step(lanes: int, most: int | None) -> int:
    """Iterations that all partial results take at once; 0 without lanes, or where the loop never has so many."""
    if lanes < 2:
        return 0
    return lanes * (VECTORS if most is None else min(VECTORS, most // lanes))


def _partials(loop: For, how: LaneReductions) -> tuple[Partial, ...]:
    """The reductions of the body into elements that stay while the loop runs; empty when there are none."""
    found: list[Partial] = []
    for instance in instances(loop.body):
        reduction = how.reductions.get(instance.statement)
        if reduction is None:
            continue
        statement = how.scop.statement(instance.statement)
        values = dict(zip(statement.iterators, instance.iterators, strict=True))
        for part in reduction.accumulators:
            access = statement.access(part.write)
            forms = [linear_form(s, values) for s in access.subscripts]
            if any(form is None or depends_on(form, frozenset({loop.variable})) for form in forms):
                continue
            users = {a.reference for i in instances(loop.body) for a in how.scop.statement(i.statement).accesses
                     if a.array == access.array}
            if users != part.own:
                return ()
            found.append(Partial(array=access.array, operator=part.operator,
                                 subscripts=tuple(form for form in forms if form is not None)))
    return tuple(found) if len({p.array for p in found}) == len(found) else ()
