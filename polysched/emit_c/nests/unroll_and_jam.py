"""Unroll-and-jam: several iterations of a loop, its rows, go side by side through the loop inside.

Rewrite:  for i in [L, U): S(i)
      ->  for i in [L, U - 7) by 8: S(i), ..., S(i + 7) together;   for i in [U - (U - L) % 8, U): S(i)

One engine walks over the loops, cuts the one that a policy takes into blocks, and leaves the last rows as they were.
A policy says which loops it takes, how many rows make a block, what a block is, and why that is legal:

| policy | rows that |
|---|---|
| `independent_rows` | do not depend on each other, each with elements in registers |
| `recurrent_rows` | do not depend on each other, each waiting for its own last element |
| `lagging_rows` | depend on the row before, some columns behind |
| `growing_rows` | get longer, and wait for the rows before at their ends only |
| `summed_rows` | are added to one row |
| `neighbour_rows` | read elements that the next row reads as well |

Source: S. Carr, K. Kennedy, "Improving the ratio of memory operations to floating-point operations in loops", TOPLAS
16(6), 1994.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Protocol

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, map_inside
from polysched.emit_c.loop_ir.index import Linear, Remainder, of_atom
from polysched.emit_c.loop_ir.loops import For, Node
from polysched.emit_c.loop_ir.named_bounds import NamedBounds
from polysched.emit_c.loop_ir.statement_instances import Leaf, leaves_of
from polysched.emit_c.loop_ir.traversal import block, instances, variables_set_by
from polysched.records import dataclass


@dataclass(frozen=True, eq=False, kw_only=True)
class Site:
    """A loop that a policy may take.

    Parameters
    ----------
    loop : the loop over rows.
    facts : what holds around it.
    around : the variables that are set around it, outermost first.
    """

    loop: For
    facts: Facts
    around: tuple[str, ...]

    @property
    def depth(self) -> int:
        """How many variables are set around it."""
        return len(self.around)

    @property
    def inside(self) -> Facts:
        """What holds in an iteration."""
        return self.facts.inside(self.loop)

    def leaves(self, node: Node) -> list[Leaf]:
        """The places of the statements below a node of the loop; copies of them elsewhere are other places."""
        below = list(instances(node))
        return [leaf for leaf in self._leaves if any(leaf.instance is i for i in below)]

    @cached_property
    def _leaves(self) -> tuple[Leaf, ...]:
        return tuple(leaves_of(self.loop, self.around, self.facts))


class Policy(Protocol):
    """Which rows go side by side, how, and why that is legal."""

    def jam(self, site: Site) -> Node | None:
        """What takes the place of the loop; None where its rows are no such rows."""


def unroll_and_jam(node: Node, facts: Facts, policy: Policy) -> Node:
    """Rewrite every outermost loop that the policy takes."""
    return _rewritten(node, facts, policy, ())


def _rewritten(node: Node, facts: Facts, policy: Policy, around: tuple[str, ...]) -> Node:
    changed = policy.jam(Site(loop=node, facts=facts, around=around)) if isinstance(node, For) else None
    below = (*around, *variables_set_by(node))
    return changed or map_inside(node, facts, partial(_rewritten, policy=policy, around=below))


def in_blocks(loop: For, bounds: NamedBounds, together: Node, count: int, *, variable: str | None = None,
              last: Node | None = None) -> Node:
    """A loop over blocks of rows, and one over the rows that are left.

    Parameters
    ----------
    bounds : those of the loop.
    together : a block, which the loop's variable, or `variable`, is the first row of.
    last : a row alone; that of the loop unless given.
    """
    length = bounds.upper - bounds.lower
    mark = replace(loop.mark, least_iterations=-(-loop.mark.least_iterations // count))
    node: Node = replace(loop, variable=variable or loop.variable, lower=bounds.lower,
                         upper=bounds.upper - (count - 1), step=count, body=together, mark=mark)
    if not (length.is_constant and length.constant % count == 0):
        rest = replace(loop, lower=_without_remainder(bounds, length, count), upper=bounds.upper,
                       body=last or loop.body, mark=replace(loop.mark, parallel=False))
        node = block((node, rest))
    return bounds.around(node)


def _without_remainder(bounds: NamedBounds, length: Linear, count: int) -> Linear:
    """The end of the last block; behind the end of a loop of negative length, as C's remainder is negative then."""
    return bounds.upper - of_atom(Remainder(length, count))


def is_plain(loop: For) -> bool:
    """Whether a loop goes through its iterations one by one, in order, in no register block."""
    return loop.step == 1 and loop.is_canonical and not (loop.mark.parallel or loop.mark.register)


def waits(own: Sequence[Leaf], depth: int, dependences: Dependences) -> bool:
    """Whether iterations of a loop, `depth` variables being set around it, use what earlier ones of it computed."""
    flow = replace(dependences, pairs=tuple(p for p in dependences.pairs if p.kind is DependenceKind.FLOW))
    return any(pairs is not None for pairs in carried_pairs(own, depth, flow))
