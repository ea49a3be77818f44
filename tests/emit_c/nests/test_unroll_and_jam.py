"""The engine behind all rows that go side by side: blocks, the rows that are left, and where it looks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import islpy as isl
import pytest

from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.generation.unit_steps import count_by_one
from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import constant, variable
from polysched.emit_c.loop_ir.loops import Block, For, Node, StatementInstance
from polysched.emit_c.loop_ir.named_bounds import NamedBounds
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_c.nests.unroll_and_jam import Site, in_blocks, is_plain, unroll_and_jam
from polysched.scheduling.marks import LoopMark

FACTS = Facts(context=isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : }"))


def rows(name: str, upper: int | str, body: Node, *, lower: int = 0) -> For:
    end = constant(upper) if isinstance(upper, int) else variable(upper)
    return For(name, constant(lower), end, 1, body)


def instance(*names: str) -> StatementInstance:
    return StatementInstance("S", tuple(variable(name) for name in names))


@dataclass
class Unrolled:
    """A policy that takes innermost loops of some name and puts `count` iterations one after the other."""

    name: str
    count: int
    seen: list[tuple[str, int]] = field(default_factory=list)

    def jam(self, site: Site) -> Node | None:
        self.seen.append((site.loop.variable, site.depth))
        if site.loop.variable != self.name:
            return None
        loop = site.loop
        together = Block(tuple(substitute_node(loop.body, {loop.variable: variable(loop.variable) + k})
                               for k in range(self.count)))
        return in_blocks(loop, NamedBounds(lower=loop.lower, upper=loop.upper, names=()), together, self.count)


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 7, 8, 9, 17])
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("known", [True, False])
def test_every_row_is_there_once_and_in_order(length: int, count: int, known: bool) -> None:
    loops = rows("i", length if known else "n", instance("i"))
    made = unroll_and_jam(loops, FACTS, Unrolled("i", count))
    expected = [("S", (k,)) for k in range(length)]
    assert run_loops(made, {"n": length}) == expected


def test_a_known_multiple_leaves_no_rows() -> None:
    made = unroll_and_jam(rows("i", 8, instance("i")), FACTS, Unrolled("i", 4))
    assert [n.step for n in walk_nodes(made) if isinstance(n, For)] == [4]
    made = unroll_and_jam(rows("i", 9, instance("i")), FACTS, Unrolled("i", 4))
    assert [n.step for n in walk_nodes(made) if isinstance(n, For)] == [4, 1]


def test_blocks_take_fewer_iterations_for_a_team_and_the_rest_takes_none() -> None:
    loop = replace(rows("i", "n", instance("i")), mark=LoopMark(parallel=True, least_iterations=17))
    made = unroll_and_jam(loop, FACTS, Unrolled("i", 8))
    marks = [n.mark for n in walk_nodes(made) if isinstance(n, For)]
    assert [(m.parallel, m.least_iterations) for m in marks] == [(True, 3), (False, 17)]


def test_the_outermost_loop_that_a_policy_takes_is_rewritten_and_nothing_inside() -> None:
    inner = rows("j", "n", rows("k", "n", instance("j", "k")))
    policy = Unrolled("j", 2)
    unroll_and_jam(rows("i", "n", Block((inner, rows("k", 3, instance("i", "k"))))), FACTS, policy)
    assert policy.seen == [("i", 0), ("j", 1), ("k", 1)]


def test_a_site_knows_the_places_of_its_own_statements() -> None:
    found: list[tuple[int, int]] = []

    class Looks:
        def jam(self, site: Site) -> Node | None:
            leaves = site.leaves(site.loop)
            found.append((len(leaves), len(leaves[0].around)))
            return None

    first = rows("j", "n", instance("i", "j"))
    unroll_and_jam(rows("i", "n", Block((first, instance("i", "i")))), FACTS, Looks())
    assert found == [(2, 2), (1, 2)]


def test_copies_of_a_statement_elsewhere_are_other_places() -> None:
    """One body stands in several nests where loops are copied in other orders, below other numbers of loops."""
    found: list[tuple[tuple[str, ...], ...]] = []

    class Looks:
        def jam(self, site: Site) -> Node | None:
            found.append(tuple(leaf.around for leaf in site.leaves(site.loop)))
            return None

    shared = instance("j")
    unroll_and_jam(Block((rows("j", "n", shared), rows("i", 3, rows("j", 4, shared)))), FACTS, Looks())
    assert found == [(("j",),), (("i", "j"),), (("i", "j"),)]


@pytest.mark.parametrize(("loop", "plain"), [
    (rows("i", 4, instance("i")), True),
    (replace(rows("i", 4, instance("i")), step=2), False),
    (replace(rows("i", 4, instance("i")), mark=LoopMark(parallel=True)), False),
    (replace(rows("i", 4, instance("i")), mark=LoopMark(register=True)), False),
    (count_by_one(rows("i", 4, instance("i"))), True),
])
def test_plain_loops(loop: Node, plain: bool) -> None:
    assert isinstance(loop, For)
    assert is_plain(loop) == plain
