"""Rows that read their neighbours, several side by side: what two rows read is loaded once for both.

Rewrite:  for i: { for j: b[i][j] = f(a[i - 1][j], a[i][j]);  if (i > 1) for j: c[i - 1][j] = f(b[i - 2][j]); }
      ->  for i by 2: for j: { b[i][j] = ...;  b[i + 1][j] = ...; }
          for i > 1 by 2: for j: { c[i - 1][j] = ...;  c[i][j] = ...; }

Several loops over columns are distributed first, where no row of an earlier one needs a row before of a later one.
Between the rows and the columns there may be further loops, over the rows of a plane: planes then go side by side, and
what two planes share comes from the second cache once for both, where the first one does not hold a plane.
The loops over columns become vectors afterwards (`vector_loops`).  Every number is computed as before.

Vectors as wide as a line save loads along the row beside it (`overlapping_reads`).

Source: unroll-and-jam; S. Carr, K. Kennedy, "Improving the ratio of memory operations to floating-point operations in
loops", TOPLAS 16(6), 1994; loop distribution, R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures",
Morgan Kaufmann 2002, section 2.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, arms_of, depends_on
from polysched.emit_c.loop_ir.index import (
    Comparison,
    Condition,
    Linear,
    extreme,
    junction,
    substitute,
    variable,
    variables,
)
from polysched.emit_c.loop_ir.loops import Block, For, If, Node
from polysched.emit_c.loop_ir.named_bounds import named_bounds
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.split_loops import at_least, limits_of
from polysched.emit_c.loop_ir.statement_instances import Leaf
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import block, instances, straight
from polysched.emit_c.nests.unroll_and_jam import Site, in_blocks, is_plain
from polysched.records import dataclass
from polysched.scheduling.marks import Role
from polysched.scop.scop import Scop

ROWS = LIMITS.neighbour_rows


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

    def jam(self, site: Site) -> Node | None:
        """The rows of a tile that read elements of each other's rows, some at a time."""
        loop = site.loop
        found = _parts(loop.body) if _is_over_rows(loop) else None
        if not found or not all(_shares(part.row, loop.variable, self.dependences.scop) for part in found):
            return None
        parts = [_apart(loop, part, site.facts) for part in found]
        if None in parts or not _may_go_apart(site, found, self.dependences):
            return None
        return block(tuple(_blocks(*part, self.taken) for part in parts if part is not None))


@dataclass(frozen=True)
class _Part:
    """A loop over the columns of a row, the loops between it and the rows, and when it runs: conditions on the row, on
    these loops, and others.
    """

    row: For
    between: tuple[For, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def on(self, *names: str) -> tuple[Condition, ...]:
        """The conditions on the first variable, and not on any of the others, whose loops stand inside of its loop."""
        return tuple(c for c in self.conditions if names[0] in variables(c) and variables(c).isdisjoint(names[1:]))


def _is_over_rows(loop: For) -> bool:
    return loop.mark.role is Role.POINT and is_plain(loop) and not loop.mark.simd


def _may_go_apart(site: Site, found: Sequence[_Part], dependences: Dependences) -> bool:
    """Whether all parts of a row may wait for those of the rows before, and planes for planes."""
    own = [site.leaves(part.row) for part in found]
    together = [leaf for some in own for leaf in some]
    if len(together) != len(list(instances(site.loop))) or any(leaf.instance.temporaries for leaf in together):
        return False
    if any(_orders(together, source, sink, site.depth, dependences)
           for k, source in enumerate(own) for sink in own[:k + 1]):
        return False
    inner = range(site.depth + 1, site.depth + 1 + max(len(part.between) for part in found))
    return not any(_orders(together, source, sink, level, dependences)
                   for level in inner for k, source in enumerate(own) for sink in own[:k])


def _parts(node: Node) -> list[_Part] | None:
    """Loops over columns below conditions and further loops; None where there is anything else."""
    match node:
        case Block():
            below = [_parts(child) for child in node.children]
            return None if None in below else [part for some in below for part in some or ()]
        case If(otherwise=None):
            inner, arms = _parts(node.then), _conjuncts(node.condition)
            return None if inner is None else [replace(p, conditions=(*arms, *p.conditions)) for p in inner]
        case For() if is_plain(node) and node.mark.simd:
            plain = straight(node.body)
            return None if plain is None or plain[1] else [_Part(node)]
        case For() if is_plain(node) and node.mark.role is Role.POINT:
            inner = _parts(node.body)
            return None if inner is None else [replace(p, between=(node, *p.between)) for p in inner]
        case _:
            return None


def _conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The conditions that all hold where this one does."""
    return (condition,) if isinstance(condition, Comparison) or condition.op != "&&" else condition.arms


def _apart(loop: For, part: _Part, facts: Facts) -> tuple[For, _Part] | None:
    """The rows of one part alone, and the part with limits in place of its conditions; None where it has no such form.

    The loops inside are the same for all rows: what else bounds them follows from the limits of the rows.
    """
    names = [inner.variable for inner in part.between]
    rows = _limited(loop, part.on(loop.variable, *names))
    if rows is None:
        return None
    place, between = facts.inside(rows), []
    for level, inner in enumerate(part.between):
        limited = _limited(inner, part.on(*names[level:]))
        lower = None if limited is None else _for_all_rows(limited.lower, "max", loop.variable, place)
        upper = None if limited is None else _for_all_rows(limited.upper, "min", loop.variable, place)
        if limited is None or lower is None or upper is None:
            return None
        between.append(replace(limited, lower=lower, upper=upper))
        place = place.inside(between[-1])
    if any(depends_on(bound, frozenset({loop.variable})) for bound in (part.row.lower, part.row.upper)):
        return None
    others = tuple(c for c in part.conditions if variables(c).isdisjoint((loop.variable, *names)))
    return rows, _Part(part.row, tuple(between), others)


def _limited(loop: For, conditions: Sequence[Condition]) -> For | None:
    """A loop that runs where inequalities on its variable alone hold; None where there are others."""
    ordered = [part for c in conditions if isinstance(c, Comparison) and c.op != "==" for part in at_least(c)]
    limits = limits_of(loop.variable, ordered) if len(ordered) == len(conditions) else None
    if limits is None:
        return None
    lowers, uppers = limits
    return replace(loop, lower=extreme("max", (loop.lower, *lowers)), upper=extreme("min", (loop.upper, *uppers)))


def _for_all_rows(bound: Linear, kind: str, name: str, facts: Facts) -> Linear | None:
    """The bound without what depends on the row, where another one of its values decides in every row."""
    arms = arms_of(bound, kind)
    kept = [arm for arm in arms if not depends_on(arm, frozenset({name}))]
    op = ">=" if kind == "max" else "<="
    if not kept or not all(any(facts.imply(Comparison(op, other, arm)) for other in kept)
                           for arm in arms if depends_on(arm, frozenset({name}))):
        return None
    return extreme(kind, kept)


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
        statement = statement_at(scop, instance)
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


def _blocks(loop: For, part: _Part, taken: TakenNames) -> Node:
    """Several rows at a time, and the last ones one by one."""
    bounds = named_bounds(replace(loop, body=_around(part, part.row)), taken)
    together = block(tuple(substitute_node(part.row.body, {loop.variable: variable(loop.variable) + k})
                           for k in range(ROWS)))
    alone = replace(part.row, body=substitute_node(part.row.body, {}))
    node = in_blocks(loop, bounds, _around(part, replace(part.row, body=together)), ROWS, last=_around(part, alone))
    return If(junction("&&", part.conditions), node) if part.conditions else node


def _around(part: _Part, row: For) -> Node:
    """A row inside of the loops between it and the others."""
    node: Node = row
    for loop in reversed(part.between):
        node = replace(loop, body=node)
    return node
