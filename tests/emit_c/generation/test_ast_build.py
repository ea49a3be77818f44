"""isl's AST within a budget: chains of bands as one, contexts without limits of types, and what is given up."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.generation.ast_build import TYPE_LIMIT, build_ast, with_long_bands, without_type_ranges
from polysched.errors import BudgetExceededError
from polysched.scheduling.marks import LoopMark, Role

TREE = """{{ domain: "[n] -> {{ S[i, j] : 0 <= i < n and 0 <= j < n }}",
  child: {{ mark: "{outer}", child: {{ schedule: "[n] -> [{{ S[i, j] -> [floor(i/8)] }}]",
  child: {{ mark: "{inner}", child: {{ schedule: "[n] -> [{{ S[i, j] -> [i] }}, {{ S[i, j] -> [j] }}]"{options}
  }} }} }} }} }}"""
CONTEXT = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { : n >= 1 }")


def tree(options: str = "") -> isl.Schedule:
    text = TREE.format(outer=LoopMark(role=Role.TILE).to_text(), inner=LoopMark(role=Role.POINT).to_text(),
                       options=options)
    return isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text)


def kinds(schedule: isl.Schedule) -> list[str]:
    found, node = [], schedule.get_root()
    while True:
        found.append(str(node.get_type()).rpartition('.')[2])
        if not node.n_children():
            return found
        node = node.child(0)


def test_a_chain_of_bands_is_one_below_its_marks() -> None:
    made = with_long_bands(tree())
    assert kinds(made) == ["domain", "mark", "mark", "band", "leaf"]
    assert made.get_map().is_equal(tree().get_map())


def test_a_band_with_options_stays_as_it_is() -> None:
    kept = tree(', options: "{ separate[x] }"')
    assert kinds(with_long_bands(kept)) == kinds(kept)


@pytest.mark.parametrize(("given", "left"), [
    (f"[n] -> {{ : 1 <= n <= {2**31 - 1} }}", "[n] -> { : n >= 1 }"),
    (f"[n] -> {{ : 1 <= n < {TYPE_LIMIT} }}", f"[n] -> {{ : 1 <= n < {TYPE_LIMIT} }}"),
    (f"[n] -> {{ : 1 <= n <= {TYPE_LIMIT} }}", "[n] -> { : n >= 1 }"),
    ("[n, m] -> { : n = 2m or n > 9 }", "[n, m] -> { : n = 2m or n > 9 }"),
])
def test_limits_of_types_are_left_out(given: str, left: str) -> None:
    read = [isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text) for text in (given, left)]
    assert without_type_ranges(read[0]).is_equal(read[1])
    assert read[0].is_subset(without_type_ranges(read[0]))


def test_marks_say_which_dimensions_they_speak_of() -> None:
    text = build_ast(tree(), context=CONTEXT, max_operations=100_000).root.to_C_str()
    assert "depth=0 members=1" in text
    assert "depth=1 members=2" in text


def test_what_does_not_fit_the_budget_is_refused() -> None:
    with pytest.raises(BudgetExceededError, match="generating the loops takes more than") as refused:
        build_ast(tree(), context=CONTEXT, max_operations=3)
    assert "max_operations" in refused.value.hint


def test_unrolling_without_an_end_is_given_up_and_said(caplog: pytest.LogCaptureFixture) -> None:
    text = TREE.format(outer="a", inner="b", options=', options: "{ unroll[x] }"')
    built = build_ast(isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text), context=CONTEXT, max_operations=100_000)
    (lost,) = built.fallbacks
    assert "isl unrolls none of them" in lost
    assert "no single lower bound" in lost
    assert lost in caplog.text
