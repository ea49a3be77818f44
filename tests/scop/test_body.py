"""Statement bodies: operators that exist, walks in pre-order, and trees that are rebuilt only where they change."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polysched.scop.body import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    Select,
    Unary,
    distinct,
    rebuild,
    rebuild_shared,
    walk,
    written_out,
)
from polysched.scop.body import children as below
from polysched.scop.dtypes import FLOAT32, INT32

ONE, X = Literal("1.0f", 1.0, FLOAT32), Load("S0_r0", FLOAT32)
TREE = Select(Binary("<", X, ONE, INT32), Cast(Unary("-", X, FLOAT32), FLOAT32), Call("expf", (X,), FLOAT32), FLOAT32)


@pytest.mark.parametrize("make", [
    lambda: Unary("*", X, FLOAT32), lambda: Binary("**", X, X, FLOAT32), lambda: Binary("=", X, X, FLOAT32),
    lambda: Assign("S0_w0", X, FLOAT32, op="+"), lambda: Assign("S0_w0", X, FLOAT32, read="S0_r0"),
    lambda: Assign("S0_w0", X, FLOAT32, op="<", read="S0_r0")])
def test_what_means_nothing_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"operator|assignment"):
        make()


def test_a_walk_goes_through_everything_in_order() -> None:
    found = list(walk(TREE))
    assert found[0] is TREE
    assert [type(e).__name__ for e in found] == ["Select", "Binary", "Load", "Literal", "Cast", "Unary", "Load", "Call",
                                                 "Load"]
    assert below(TREE) == (TREE.condition, TREE.then, TREE.otherwise)
    assert below(X) == ()


def test_a_tree_that_nothing_changes_is_the_same_one() -> None:
    assert rebuild(TREE, lambda e: e) is TREE


def test_operands_are_changed_before_their_operator() -> None:
    seen: list[Expr] = []

    def change(e: Expr) -> Expr:
        seen.append(e)
        return IteratorRef("i", FLOAT32) if e == X else e
    made = rebuild(TREE, change)
    assert not any(e == X for e in walk(made))
    assert sum(isinstance(e, IteratorRef) for e in walk(made)) == 3
    assert seen[0] == X
    assert seen[-1] == made


def test_trees_are_values() -> None:
    again = Select(Binary("<", X, ONE, INT32), Cast(Unary("-", X, FLOAT32), FLOAT32), Call("expf", (X,), FLOAT32),
                   FLOAT32)
    assert again == TREE
    assert hash(again) == hash(TREE)


def test_what_places_share_is_changed_once_and_stays_shared() -> None:
    shared = Binary("*", X, X, FLOAT32)
    for _ in range(40):
        shared = Binary("+", shared, shared, FLOAT32)
    assert sum(1 for _ in distinct(shared)) == 42
    made = rebuild_shared(shared, lambda e: ONE if e is X else e)
    assert sum(1 for _ in distinct(made)) == 42
    assert not any(e is X for e in distinct(made))


def test_what_is_written_out_is_counted_without_going_through_it() -> None:
    assert written_out(TREE) == sum(1 for _ in walk(TREE))
    doubled: Expr = X
    for _ in range(100):
        doubled = Binary("+", doubled, doubled, FLOAT32)
    assert written_out(doubled) == 2 ** 101 - 1
