"""Sketches match what they say, and lead to terms that a search without a goal does not reach within its bound."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import UsageError
from polysched.scop.expression import axis, compute, placeholder
from polysched.scop.expression import sum as sum_over
from polysched.search.rewriting.rewriter import variants
from polysched.search.rewriting.sketches import anything, apply, contains, guided, source, stage, total
from polysched.search.rewriting.terms import key
from tests.search.rewriting.programs import matrix_product, run, values_of


def product_of_three(dtype: str = "float32"):
    a, b, c = placeholder("A", (3, 64), dtype), placeholder("B", (64, 5), dtype), placeholder("C", (5, 2), dtype)
    return matrix_product(matrix_product(a, b, "T"), c, "O")


def value_of(output):
    return output.definition.value


@pytest.mark.parametrize(("sketch", "matches"), [
    (anything, True), (~anything, False), (total(), True), (total(extents=(5,)), True), (total(extents=(64,)), False),
    (total(extents=(5, 5)), False), (total(extents=(None,)), True), (contains(total(extents=(64,))), True),
    (total(apply("*", stage(), source("C"))), True), (total(apply("*", source("C"), stage())), True),
    (total(apply("*", source("A"), anything)), False), (contains(source("A")), True), (contains(source("D")), False),
    (contains(stage(total(extents=(64,)), shape=(3, 5))), True), (contains(stage(shape=(3, None))), True),
    (contains(stage(shape=(5, None))), False), (total(apply("+", anything, anything)), False),
    (total() & contains(source("B")), True), (source("A") | total(), True), (source("A") & total(), False)])
def test_what_a_form_matches(sketch, matches):
    assert sketch.matches(value_of(product_of_three())) is matches


def test_an_operation_that_does_not_commute_has_its_operands_in_order():
    a, b = placeholder("A", (4,)), placeholder("B", (4,))
    value = value_of(compute((4,), lambda i: a[i] - b[i], name="O"))
    assert apply("-", source("A"), source("B")).matches(value)
    assert not apply("-", source("B"), source("A")).matches(value)


STEPS = (contains(stage(total(extents=(5,)))),                                   # B C first
         contains(total(extents=(16,))) & ~contains(total(extents=(64,))),       # the long sum in parts of 16
         contains(stage(source("A"), shape=(64, 3))))                            # A with its dimensions exchanged


@pytest.mark.parametrize("dtype", ["uint64", "float64"])
def test_sketches_lead_to_what_a_search_without_a_goal_does_not_reach(dtype):
    output = product_of_three(dtype)
    assert not any(all(s.matches(value_of(t.output)) for s in STEPS) for t in variants(output, reassociate=True))
    found = guided(output, STEPS, reassociate=True)
    assert found
    assert len({key(term.output) for term in found}) == len(found)
    for term in found:
        assert len(term.history) == 3
        assert all(sketch.matches(value_of(term.output)) for sketch in STEPS)
    values = values_of(output, 7)
    right = run(output, values)
    for term in found:
        assert np.allclose(run(term.output, values), right, rtol=1e-12), str(term)


def test_what_has_the_form_already_stays():
    output = product_of_three()
    (only,) = guided(output, [total()])
    assert only.history == ()
    assert guided(output, [])[0].output is output


def test_a_form_that_no_term_has_is_refused_with_what_to_try():
    with pytest.raises(UsageError, match="no term has the form of sketch 2") as refusal:
        guided(product_of_three("int32"), [total(), total(extents=(7,))], depth=1)
    assert refusal.value.witness == "total(anything, extents=(7,))"
    assert "need reassociate" in (refusal.value.hint or "")


def test_the_bound_holds():
    with pytest.raises(UsageError, match="no term") as refusal:
        guided(product_of_three(), [source("A")], reassociate=True, most=5)
    assert "5 terms were looked at" in (refusal.value.hint or "")


def test_a_text_says_what_was_meant():
    sketch = contains(total(apply("*", source("A"), anything), extents=(4, None))) | ~stage(shape=(2,))
    assert str(sketch) == ("(contains(total(apply('*', source('A'), anything), extents=(4, None))) | "
                           "~stage(anything, shape=(2,)))")


def test_a_sum_of_one_input_is_none_of_a_stage():
    a, k = placeholder("A", (3, 4)), axis("k")
    output = compute((3,), lambda i: sum_over(a[i, k], over=k), name="O")
    assert total(source("A"), extents=(4,)).matches(value_of(output))
    assert not contains(stage()).matches(value_of(output))
