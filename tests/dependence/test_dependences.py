"""The Dependences value: unions by kind, what orders and what is relaxed, and one line for people."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import DependenceKind, Dependences
from tests.scheduling.primitives.programs import product, stencil


def relaxed() -> Dependences:
    """The updates of a sum: marked as those of a reduction whose order does not matter."""
    made = product().dependences
    return replace(made, pairs=tuple(replace(p, reduction=True) for p in made.pairs), relaxed=("S0",))


def test_kinds_are_unions_of_their_pairs() -> None:
    made = stencil().dependences
    for kind, union in ((DependenceKind.FLOW, made.flow), (DependenceKind.ANTI, made.anti),
                        (DependenceKind.OUTPUT, made.output)):
        assert union.is_equal(made.of_kind(kind))
        assert all(isl.UnionMap.from_map(p.relation).is_subset(union) for p in made.pairs if p.kind is kind)
    assert made.validity.is_equal(made.flow.union(made.anti).union(made.output))
    assert made.unordered.is_empty()


def test_updates_of_a_relaxed_reduction_are_unordered_and_not_free() -> None:
    made, strict = relaxed(), product().dependences
    assert made.validity.is_empty()
    assert made.unordered.is_equal(strict.validity)
    assert all(made.is_relaxed(p) and not made.orders(p) for p in made.pairs)
    assert all(not strict.is_relaxed(p) and strict.orders(p) for p in strict.pairs)


def test_a_reduction_of_another_statement_keeps_its_order() -> None:
    made = replace(relaxed(), relaxed=("S1",))
    assert made.unordered.is_empty()


def test_input_dependences_order_nothing() -> None:
    made = analyse(product().scop, inputs=True)
    inputs = [p for p in made.pairs if p.kind is DependenceKind.INPUT]
    assert inputs
    assert not any(made.orders(p) for p in inputs)
    assert made.validity.is_equal(product().dependences.validity)


def test_one_line() -> None:
    made = stencil().dependences
    flow = sum(p.kind is DependenceKind.FLOW for p in made.pairs)
    assert f"{flow} flow" in made.headline()
    assert "of test" in made.headline()
    assert len(repr(made)) <= 300
    assert str(made.pairs[0]).startswith(f"{made.pairs[0].kind.value} S0_")
