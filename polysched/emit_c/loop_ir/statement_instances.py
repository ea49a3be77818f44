"""Where statements stand in a loop nest, as relations between the values of the loops and the instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import islpy as isl

from polysched.emit_c.loop_ir.facts import Facts, IslNames
from polysched.emit_c.loop_ir.loops import (
    Block,
    For,
    If,
    Let,
    Local,
    Node,
    OnCopy,
    Packed,
    StatementInstance,
    ThreadReduction,
)
from polysched.records import dataclass
from polysched.scop.budget import require_budget
from polysched.scop.scop import Scop


@dataclass(frozen=True, eq=False)
class Leaf:
    """One place at which a statement stands: the loops around it, outermost first, and what holds there."""

    instance: StatementInstance
    around: tuple[str, ...]
    facts: Facts
    _relations: dict[Scop, isl.Map] = field(default_factory=dict, init=False, repr=False)


def leaves_of(node: Node, around: tuple[str, ...], facts: Facts) -> Iterator[Leaf]:
    """Every leaf below a node, in textual order; register tiles, which come later, have none."""
    match node:
        case StatementInstance():
            yield Leaf(node, around, facts)
        case Block():
            for child in node.children:
                yield from leaves_of(child, around, facts)
        case For():
            yield from leaves_of(node.body, (*around, node.variable), facts.inside(node))
        case Let():
            yield from leaves_of(node.body, (*around, node.variable), facts.where(node))
        case If():
            yield from leaves_of(node.then, around, facts.given(node.condition))
            if node.otherwise is not None:
                yield from leaves_of(node.otherwise, around, facts)
        case Local() | Packed() | OnCopy():
            yield from leaves_of(node.body, around, facts)
        case ThreadReduction():
            yield from leaves_of(node.loop, (*around, node.first, node.end), facts.inside_part(node))
        case _:
            return


def leaf_relation(leaf: Leaf, scop: Scop) -> isl.Map:
    """`{ [loops around] -> S[iterators] }` of one leaf; what has no affine form is left out.

    Raises
    ------
    isl.Error : the budget around is spent.
    """
    if scop not in leaf._relations:
        made = _relation(leaf, scop)
        require_budget()   # a part of it is not kept
        leaf._relations[scop] = made
    return leaf._relations[scop]


def _relation(leaf: Leaf, scop: Scop) -> isl.Map:
    statement = scop.statement(leaf.instance.statement)
    names = IslNames(leaf.facts.context)
    dims = [names.loop(v) for v in leaf.around]
    told = [text for c in leaf.facts.constraints if (text := names.condition(c)) is not None]
    outs = [f"x{k}" for k in range(statement.depth)]
    told += [f"{out} = {text}" for out, form in zip(outs, leaf.instance.iterators, strict=True)
             if (text := names.form(form)) is not None]
    relation = isl.Map.read_from_str(
        isl.DEFAULT_CONTEXT, f"[{', '.join(names.parameters)}] -> {{ [{', '.join(dims)}] -> [{', '.join(outs)}] : "
        f"{' and '.join(told) or '1 = 1'} }}")
    return relation.set_tuple_name(isl.dim_type.out, statement.name).intersect_params(leaf.facts.context)
