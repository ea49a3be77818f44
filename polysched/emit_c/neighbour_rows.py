"""Rows that read their neighbours, several side by side: what two rows read is loaded once for both.

Rewrite:  for i: { for j: b[i][j] = f(a[i - 1][j], a[i][j]);  if (i > 1) for j: c[i - 1][j] = f(b[i - 2][j]); }
      ->  for i by 2: for j: { b[i][j] = ...;  b[i + 1][j] = ...; }
          for i > 1 by 2: for j: { c[i - 1][j] = ...;  c[i][j] = ...; }

Several loops over columns are distributed first, where no row of an earlier one needs a row before of a later one.
The loops over columns become vectors afterwards (`vector_loops`).  Every number is computed as before.

Where vectors are narrower than a cache line, most stencils wait for loads.  Vectors as wide as a line save loads along
the row instead (`overlapping_reads`), and gained nothing from rows side by side.

Source: unroll-and-jam; S. Carr, K. Kennedy, "Improving the ratio of memory operations to floating-point operations in
loops", TOPLAS 16(6), 1994; loop distribution, R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures",
Morgan Kaufmann 2002, section 2.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from polysched.dependence.dependences import Dependences
from polysched.emit_c.ast_reader import substitute_node
from polysched.emit_c.carried import carried_pairs
from polysched.emit_c.expressions import linear_form
from polysched.emit_c.facts import Facts, depends_on, map_inside
from polysched.emit_c.index import (
    Comparison,
    Condition,
    Linear,
    Remainder,
    extreme,
    junction,
    of_atom,
    substitute,
    variable,
    variables,
)
from polysched.emit_c.leaves import Leaf, leaves_of
from polysched.emit_c.loops import Block, For, If, Node, block, instances, straight, variables_set_by
from polysched.emit_c.named_bounds import named_bounds
from polysched.emit_c.names import TakenNames
from polysched.emit_c.split_loops import limits_of
from polysched.scheduling.marks import Role
from polysched.scop.scop import Scop

ROWS = 2


@dataclass(frozen=True, kw_only=True)
class NeighbourRows:
    """What the rewriting asks of others.

    Parameters
    ----------
    dependences : of the program.
    taken : names that must not be made up.
    """

    dependences: Dependences
    taken: TakenNames


@dataclass(frozen=True)
class _Part:
    """A loop over the columns of a row, and when it runs: conditions on the row, and others."""

    row: For
    on_row: tuple[Comparison, ...] = ()
    others: tuple[Condition, ...] = ()


def neighbours_in_step(node: Node, facts: Facts, how: NeighbourRows) -> Node:
    """Rewrite every loop over the rows of a tile that read elements of each other's rows."""
    return _rewritten(node, facts, how, tuple(leaves_of(node, (), facts)), 0)


def _rewritten(node: Node, facts: Facts, how: NeighbourRows, leaves: tuple[Leaf, ...], depth: int) -> Node:
    changed = _in_step(node, how, leaves, depth) if isinstance(node, For) else None
    below = depth + len(variables_set_by(node))
    return changed or map_inside(node, facts, lambda child, inside: _rewritten(child, inside, how, leaves, below))


def _in_step(loop: For, how: NeighbourRows, leaves: tuple[Leaf, ...], depth: int) -> Node | None:
    if loop.mark.role is not Role.POINT or not _is_plain(loop) or loop.mark.simd:
        return None
    children = loop.body.children if isinstance(loop.body, Block) else (loop.body,)
    found = [_part(child, loop.variable) for child in children]
    parts = [part for part in found if part is not None]
    if not parts or len(parts) < len(found) or not all(
            _shares(part.row, loop.variable, how.dependences.scop) for part in parts):
        return None
    own = [[leaf for leaf in leaves if any(leaf.instance is i for i in instances(part.row))] for part in parts]
    together = [leaf for some in own for leaf in some]
    if len(together) != len(list(instances(loop))) or any(leaf.instance.temporaries for leaf in together):
        return None
    if any(_orders(together, source, sink, depth, how.dependences)
           for k, source in enumerate(own) for sink in own[:k + 1]):
        return None
    loops = [_of_part(loop, part) for part in parts]
    return None if None in loops else block(tuple(
        _blocks(made, part, how.taken) for made, part in zip(loops, parts, strict=True) if made is not None))


def _is_plain(loop: For) -> bool:
    return loop.step == 1 and loop.is_canonical and not (loop.mark.parallel or loop.mark.register)


def _part(node: Node, name: str) -> _Part | None:
    """A loop over columns that are the same for all rows, below conditions or not."""
    conditions: list[Condition] = []
    while isinstance(node, If) and node.otherwise is None:
        joined = not isinstance(node.condition, Comparison) and node.condition.op == "&&"
        conditions += node.condition.arms if joined and not isinstance(node.condition, Comparison) else (
            node.condition,)
        node = node.then
    if not isinstance(node, For) or not _is_plain(node) or not node.mark.simd or any(
            depends_on(bound, frozenset({name})) for bound in (node.lower, node.upper)):
        return None
    plain = straight(node.body)
    if plain is None or plain[1]:
        return None
    on_row = [c for c in conditions if name in variables(c)]
    ordered = [_at_least(c) for c in on_row if isinstance(c, Comparison) and c.op != "=="]
    others = tuple(c for c in conditions if name not in variables(c))
    return _Part(node, tuple(ordered), others) if len(ordered) == len(on_row) else None


def _at_least(condition: Comparison) -> Comparison:
    """The same inequality with `>=`."""
    left, right = condition.left, condition.right
    match condition.op:
        case "<":
            return Comparison(">=", right, left + 1)
        case "<=":
            return Comparison(">=", right, left)
        case ">":
            return Comparison(">=", left, right + 1)
        case _:
            return condition


def _shares(row: For, name: str, scop: Scop) -> bool:
    """Whether a row reads an element in lanes that the next row reads as another one's neighbour."""
    read, written = set(_forms(row, scop, writes=False)), {array for array, _ in _forms(row, scop, writes=True)}
    above = {name: variable(name) + 1}
    for array, forms in read:
        next_row = (array, tuple(substitute(form, above) for form in forms))
        if array not in written and next_row != (array, forms) and next_row in read and any(
                depends_on(form, frozenset({row.variable})) for form in forms):
            return True
    return False


def _forms(row: For, scop: Scop, *, writes: bool) -> Iterator[tuple[str, tuple[Linear, ...]]]:
    """The elements that a row reads or writes."""
    for instance in instances(row):
        statement = scop.statement(instance.statement)
        iterators = dict(zip(statement.iterators, instance.iterators, strict=True))
        for access in statement.accesses:
            forms = [linear_form(subscript, iterators) for subscript in access.subscripts]
            known = tuple(form for form in forms if form is not None)
            if access.is_write == writes and len(known) == len(forms):
                yield access.array, known


def _orders(own: Sequence[Leaf], sources: Sequence[Leaf], sinks: Sequence[Leaf], depth: int,
            dependences: Dependences) -> bool:
    """Whether a row of the sinks may have to wait for a row before of the sources."""
    return any(True for _ in carried_pairs(own, depth, dependences, sources=sources, sinks=sinks))


def _of_part(loop: For, part: _Part) -> For | None:
    """The rows of one part."""
    limits = limits_of(loop.variable, part.on_row)
    if limits is None:
        return None
    lowers, uppers = limits
    return replace(loop, lower=extreme("max", (loop.lower, *lowers)), upper=extreme("min", (loop.upper, *uppers)),
                   body=part.row)


def _blocks(loop: For, part: _Part, taken: TakenNames) -> Node:
    """Several rows at a time, and the last ones one by one."""
    bounds = named_bounds(loop, taken)
    length = bounds.upper - bounds.lower
    together = block(tuple(substitute_node(part.row.body, {loop.variable: variable(loop.variable) + k})
                           for k in range(ROWS)))
    node: Node = replace(loop, lower=bounds.lower, upper=bounds.upper - (ROWS - 1), step=ROWS,
                         body=replace(part.row, body=together))
    if not (length.is_constant and length.constant % ROWS == 0):   # C's remainder of a negative length is negative too
        rest = replace(loop, lower=bounds.upper - of_atom(Remainder(length, ROWS)), upper=bounds.upper,
                       body=substitute_node(part.row, {}))
        node = block((node, rest))
    node = bounds.around(node)
    return If(junction("&&", part.others), node) if part.others else node
