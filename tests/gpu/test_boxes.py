"""Boxes of constant extents, compared with all elements of small cases."""

from __future__ import annotations

import itertools

import islpy as isl
import pytest

from polysched.gpu.boxes import Edge, box_elements, box_of
from polysched.scop.points import fix_parameters

CASES = [
    "[n, y, t] -> { A[i, k] : 0 <= i < n and y <= i < y + 8 and 0 <= k < n and t <= k < t + 32 }",
    "[n, y, t] -> { A[i, k] : y - 1 <= i < y + 9 and i <= k < n and t <= k < t + 5 }",
    "[n, y, t] -> { A[i] : exists e : i = 2e + t and 0 <= i < n and y <= e < y + 3 }",
    "[n, y, t] -> { A[i, j] : j = n - y and i = 3 }",
    "[n, y, t] -> { A[i] : n - 1 - t - 4 < i <= n - 1 - t + y and 0 <= y < 3 }"]


@pytest.mark.parametrize("text", CASES)
def test_a_box_holds_all_elements_for_all_parameters(text: str) -> None:
    elements = isl.Set(text)
    box = box_of(elements)
    assert box is not None
    for n, y, t in itertools.product((4, 9), (0, 2, 5), (0, 3)):
        values = {"n": n, "y": y, "t": t}
        least = [sum(f * values[name] for name, f in edge.factors) + edge.constant for edge in box]
        fixed = fix_parameters(elements, values)
        inside = [f"{least[k]} <= i{k} < {least[k] + edge.extent}" for k, edge in enumerate(box)]
        names = ", ".join(f"i{k}" for k in range(len(box)))
        assert fixed.is_subset(isl.Set(f"{{ A[{names}] : {' and '.join(inside)} }}")), values


def test_extents_are_the_least_ones() -> None:
    assert [[edge.extent for edge in box_of(isl.Set(text)) or ()] for text in CASES] == [
        [8, 32], [10, 5], [5], [1, 1], [6]]


@pytest.mark.parametrize("text", ["[n] -> { A[i] : 0 <= i < n }", "[n, y] -> { A[i, j] : i = y and j >= y }"])
def test_what_grows_with_the_parameters_has_no_box(text: str) -> None:
    assert box_of(isl.Set(text)) is None


def test_elements_of_a_box() -> None:
    assert box_elements((Edge(factors=(), constant=0, extent=3), Edge(factors=(), constant=1, extent=4))) == 12


def test_a_dimension_that_no_bound_follows_is_whole() -> None:
    elements = isl.Set("[x] -> { [i, j] : 0 <= x < 32 and x <= 3i < 2x + 8 and x <= j < x + 4 }")
    assert box_of(isl.Set("[x] -> { [i] : x >= 0 and x <= 3i < 2x + 8 }"), whole=True) is None   # it has no end
    found = box_of(elements, whole=True)
    assert found is not None
    assert [edge.extent for edge in found][1] == 4
    assert found[0].constant <= 0
    assert found[0].extent <= 24
