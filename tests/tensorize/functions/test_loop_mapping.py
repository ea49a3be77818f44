"""Bijections of loops, point by point: every instance of the program has its own of the function's, and all are met."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.scop.points import fix_parameters, pairs_of, points_of
from polysched.tensorize.functions.loop_mapping import loop_mappings
from polysched.tensorize.functions.state import State

EVERYTHING = isl.Set("{ : }")
FOUND = {   # domain of the program, of the function; what the function's parameters are, per mapping
    "the same": ("[n] -> { [i] : 0 <= i < n }", "[_f_k] -> { [i] : 0 <= i < _f_k }", [{"k": {("n",): 1}}]),
    "shifted": ("[n] -> { [i] : 3 <= i <= n + 4 }", "[_f_k] -> { [i] : 0 <= i < _f_k }",
                [{"k": {("n",): 1, (): 2}}]),
    "by a parameter": ("[n, m] -> { [i] : m <= i < m + n }", "[_f_k] -> { [i] : 0 <= i < _f_k }", [{"k": {("n",): 1}}]),
    "half of one": ("[n] -> { [i] : 0 <= i < 2n }", "[_f_k] -> { [i] : 0 <= i < 2 _f_k }", [{"k": {("n",): 1}}]),
    "of numbers": ("{ [i, j] : 0 <= i < 4 and 1 <= j < 4 }", "{ [i, j] : 0 <= i < 3 and 2 <= j < 6 }", [{}]),
    "in both orders": ("[n, m] -> { [i, j] : 0 <= i < n and 0 <= j < m }",
                       "[_f_k, _f_l] -> { [i, j] : 0 <= i < _f_k and 0 <= j < _f_l }",
                       [{"k": {("n",): 1}, "l": {("m",): 1}}, {"k": {("m",): 1}, "l": {("n",): 1}}]),
    "one parameter for two": ("[n] -> { [i, j] : 0 <= i < n and 1 <= j <= n }",
                              "[_f_k] -> { [i, j] : 0 <= i < _f_k and 0 <= j < _f_k }",
                              [{"k": {("n",): 1}}, {"k": {("n",): 1}}]),
    "a triangle": ("[n] -> { [i, j] : 0 <= i < n and 0 <= j <= i }",
                   "[_f_k] -> { [i, j] : 0 <= i < _f_k and 0 <= j <= i }", [{"k": {("n",): 1}}]),
    "no loops": ("{ [] }", "{ [] }", [{}]),
}
NONE = {
    "another depth": ("{ [i] : 0 <= i < 4 }", "{ [i, j] : 0 <= i < 4 and j = 0 }"),
    "another number": ("{ [i] : 0 <= i < 4 }", "{ [i] : 0 <= i < 5 }"),
    "holes": ("{ [i] : 0 <= i < 8 and i mod 2 = 0 }", "{ [i] : 0 <= i < 7 }"),
    "no half": ("[n] -> { [i] : 0 <= i < n }", "[_f_k] -> { [i] : 0 <= i < 2 _f_k }"),
    "a triangle for a box": ("[n] -> { [i, j] : 0 <= i < n and 0 <= j <= i }",
                             "[_f_k, _f_l] -> { [i, j] : 0 <= i < _f_k and 0 <= j < _f_l }"),
    "the other triangle": ("[n] -> { [i, j] : 0 <= i < n and i <= j < n }",
                           "[_f_k] -> { [i, j] : 0 <= i < _f_k and 0 <= j <= i and j < 2 }"),
    "no end": ("{ [i] : i >= 0 }", "[_f_k] -> { [i] : 0 <= i < _f_k }"),
}


@pytest.mark.parametrize("name", FOUND)
def test_mappings_are_bijections_and_tell_the_parameters(name: str) -> None:
    ours, theirs, expected = FOUND[name]
    found = list(loop_mappings(State(context=EVERYTHING), isl.Set(ours), isl.Set(theirs)))
    assert [dict(after.values) for after, _ in found] == expected
    for after, mapping in found:
        sizes = {"n": 4, "m": 3}
        given = {f"_f_{n}": sum(c * (sizes[k[0]] if k else 1) for k, c in v.items()) for n, v in after.values.items()}
        pairs = list(pairs_of(fix_parameters(mapping, sizes)))
        assert sorted(a for a, _ in pairs) == sorted(points_of(fix_parameters(isl.Set(ours), sizes)))
        assert sorted(b for _, b in pairs) == sorted(points_of(fix_parameters(isl.Set(theirs), given)))


@pytest.mark.parametrize("name", NONE)
def test_other_loops_have_none(name: str) -> None:
    ours, theirs = NONE[name]
    assert not list(loop_mappings(State(context=EVERYTHING), isl.Set(ours), isl.Set(theirs)))


def test_what_is_known_of_a_parameter_is_not_told_anew() -> None:
    state = State(context=EVERYTHING).with_value("k", {("n",): 1})
    wanted = isl.Set("[_f_k] -> { [i] : 0 <= i < _f_k }")
    assert len(list(loop_mappings(state, isl.Set("[n] -> { [i] : 1 <= i <= n }"), wanted))) == 1
    assert not list(loop_mappings(state, isl.Set("[n, m] -> { [i] : 1 <= i <= m }"), wanted))
    assert not list(loop_mappings(state, isl.Set("[n] -> { [i] : 1 <= i < n }"), wanted))
