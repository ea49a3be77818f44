"""isl's AST as loop IR: every operation of an index, bounds, and loops of one iteration."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.generation.ast_build import build_ast
from polysched.emit_c.generation.ast_reader import read_ast, read_condition, read_function
from polysched.emit_c.loop_ir.text import condition_text, linear_text, loop_text
from polysched.errors import UnsupportedScopError

BUDGET = 100_000


@pytest.mark.parametrize(("function", "text"), [
    ("[n] -> { [3] }", "3"),
    ("[n] -> { [2n - 5] }", "2*n - 5"),
    ("[n] -> { [-n] }", "-n"),
    ("[n] -> { [floor(n/4)] }", "floord(n, 4)"),
    ("[n] -> { [n mod 4] : n >= 0 }", "rem(n, 4)"),
    ("[n, m] -> { [n] : n <= m; [m] : n > m }", "choose(m >= n, n, m)"),
])
def test_functions_of_parameters(function: str, text: str) -> None:
    made = isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, function)
    assert linear_text(read_function(made)) == text


def test_a_function_in_pieces_becomes_choices() -> None:
    made = isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { [7] : n >= 9; [n] : n <= 3 }")
    text = linear_text(read_function(made))
    assert text.startswith("choose(n ")
    assert "7" in text


@pytest.mark.parametrize(("domain", "text"), [
    ("[n] -> { : n >= 3 }", "n >= 3"),
    ("[n] -> { : n = 3 }", "n == 3"),
    ("[n, m] -> { : n >= 3 and m >= 4 }", "all(n >= 3, m >= 4)"),
    ("[n, m] -> { : n >= 3 or m >= 4 }", "any(n >= 3, m >= 4)"),
])
def test_conditions(domain: str, text: str) -> None:
    made = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, domain)
    universe = isl.Set.universe(made.get_space())
    assert condition_text(read_condition(isl.AstBuild.from_context(universe).expr_from_set(made))) == text


def loops(domain: str, schedule: str, context: str = "[n] -> { : n >= 1 }") -> str:
    text = f'{{ domain: "{domain}", child: {{ schedule: "{schedule}" }} }}'
    built = build_ast(isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text),
                      context=isl.Set.read_from_str(isl.DEFAULT_CONTEXT, context), max_operations=BUDGET)
    assert built.fallbacks == ()
    return loop_text(read_ast(built.root))


def test_a_loop_ends_before_its_upper_bound() -> None:
    text = loops("[n] -> { S[i] : 0 <= i < n and i <= 99 }", "[n] -> [{ S[i] -> [i] }]")
    assert text == "for polysched_c0 in range(0, min(100, n)):\n    S(polysched_c0)\n"


def test_a_stride_becomes_the_step() -> None:
    text = loops("[n] -> { S[i] : 0 <= i < n and i mod 3 = 0 }", "[n] -> [{ S[i] -> [i] }]")
    assert text.startswith("for polysched_c0 in range(0, n, 3):")


def test_a_loop_of_one_iteration_is_none() -> None:
    text = loops("[n] -> { S[i, j] : 0 <= i < n and j = i + 2 }", "[n] -> [{ S[i, j] -> [i] }, { S[i, j] -> [j] }]")
    assert text == "for polysched_c0 in range(0, n):\n    S(polysched_c0, polysched_c0 + 2)\n"


def test_a_loop_of_one_value_that_is_a_quotient_is_none() -> None:
    text = loops("[n] -> { S[i] : 0 <= 3i - n <= 2 }", "[n] -> [{ S[i] -> [i] }]")
    assert text == "S(quot(n - 1, 3) + 1)\n"


def test_a_loop_without_an_end_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="has no upper bound") as refused:
        loops("[n] -> { S[i] : i >= n }", "[n] -> [{ S[i] -> [i] }]")
    assert "for (" in refused.value.witness
