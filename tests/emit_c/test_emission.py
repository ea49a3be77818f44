"""Emitted loops visit exactly the instances of the schedule, in its order, at positive and negative bounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polysched.emit_c import EmitOptions, emit, printed
from polysched.errors import BudgetExceededError
from polysched.pipeline.way import lowered_with_fallbacks
from polysched.scop.body import Assign, Call, Cast
from polysched.scop.dtypes import INT32, INT64
from polysched.scop.points import instances_in_order
from polysched.scop.scop import Array, Parameter, Scop, Statement
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import trace
from tests.emit_c.small_scops import access, it, num, scop, statement, tiled
from tests.scop_builder import tree_of

SINK = Array(name="sink", dtype=INT32, c_element="sink")


def visiting(domains: tuple[str, ...], context: str = "{ : }") -> Scop:
    """A Scop whose statement number s calls `visit(s, iterators...)`."""
    made = tuple(_visitor(number, text) for number, text in enumerate(domains))
    names = sorted({s.domain.get_dim_name(isl.dim_type.param, i) for s in made
                    for i in range(s.domain.dim(isl.dim_type.param))})
    return scop(made, (SINK,), parameters=tuple(Parameter(n, INT32) for n in names), context=context)


def _visitor(number: int, text: str) -> Statement:
    domain = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)
    name = domain.get_tuple_name()
    iterators = [domain.get_dim_name(isl.dim_type.set, i) for i in range(domain.dim(isl.dim_type.set))]
    values = [Cast(it(i), INT64) for i in iterators] + [num(0)] * (3 - len(iterators))
    body = (Assign(target=f"{name}_w0", value=Call("visit", (num(number), *values), INT32), dtype=INT32),)
    return statement(text, body, access(f"{name}_w0", f"{{ {name}[{', '.join(iterators)}] -> sink[] }}"))


CASES = {
    "negative floor division": (
        ("[n, m] -> { S0[i] : m <= i <= n }",),
        "[n, m] -> { S0[i] -> [floor(i/3), i] }", {"m": -10, "n": 7}),
    "negative parameter inside a quotient": (
        ("[n] -> { S0[i] : n <= 4i <= n + 40 }",), "[n] -> { S0[i] -> [-i] }", {"n": -17}),
    "strided and reversed": (
        ("[n] -> { S0[i, j] : 0 <= i < n and exists (e : i = 3e + 1) and -i <= j <= i }",),
        "[n] -> { S0[i, j] -> [-j, i] }", {"n": 11}),
    "skewed tiles": (
        ("[n] -> { S0[t, i] : 0 <= t < n and 1 <= i < 2n }",),
        "[n] -> { S0[t, i] -> [floor(t/4), floor((t + i)/5), t, t + i] }", {"n": 9}),
    "union of domains": (
        ("[n, m] -> { S0[i] : (0 <= i < n and i <= 3) or m <= i < n }",), "[n, m] -> { S0[i] -> [i] }",
        {"m": 6, "n": 9}),
    "constants only": (("{ S0[i, j] : -3 <= i <= 2 and i <= j <= 1 }",), "{ S0[i, j] -> [i + j, i] }", {}),
    "fused with a shift": (
        ("[n] -> { S0[i] : 0 <= i < n }", "[n] -> { S1[i, j] : 0 <= i < n and 0 <= j < i }"),
        "[n] -> { S0[i] -> [i + 2, 0]; S1[i, j] -> [i, j + 1] }", {"n": 7}),
    "parity of a sum": (
        ("[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < n and (i + j + n) mod 2 = 0 }",),
        "[n] -> { S0[i, j] -> [i - j, i] }", {"n": 8}),
}


@pytest.mark.parametrize("case", CASES)
def test_visits_the_schedule_in_order(case: str, tmp_path: Path) -> None:
    domains, members, values = CASES[case]
    made = visiting(domains)
    tree = tree_of(isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, members), made.domain)
    source = emit(tiled(made, str(tree)))
    expected = instances_in_order(made.domain, tree, values, [s.name for s in made.statements])
    padded = [(int(name[1:]), (*point, 0, 0, 0)[:3]) for name, point in expected]
    ordered = {name: values[name] for name in (p.name for p in made.parameters)}
    assert padded, "an empty case proves nothing"
    assert trace(source.text, ordered, tmp_path) == padded, source.text


def test_too_small_a_budget_is_refused() -> None:
    made = visiting(("[n] -> { S0[t, i] : 0 <= t < n and 1 <= i < 2n }",))
    tree = tree_of(isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, CASES["skewed tiles"][1]), made.domain)
    with pytest.raises(BudgetExceededError, match="more than 10 isl operations"):
        emit(tiled(made, str(tree)), options=EmitOptions(max_operations=10))
    assert emit(tiled(made, str(tree))).fallbacks == ()


def test_a_budget_that_only_fits_without_unrolling_is_reported() -> None:
    made = visiting(("[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < 400 }",))
    text = """domain: "[n] -> { S0[i, j] : 0 <= i < n and 0 <= j < 400 }"
child: { schedule: "[n] -> [{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]", options: "{ unroll[1] }" }"""
    source = emit(tiled(made, "{ " + text.replace("\nchild", ", child") + " }"),
                  options=EmitOptions(max_operations=100_000))
    assert source.fallbacks == (
        "full and partial tiles share their loops, and isl unrolls none of them: the AST took more than "
        "100000 isl operations or 0.25 s",)
    assert source.text.count("visit") == 1


def test_the_tiles_are_given_up_where_isl_finds_no_end_of_them() -> None:
    made = visiting(("[n] -> { S0[t, i] : 0 <= t < n and 1 <= i < 2n }",))
    tree = tree_of(isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "[n] -> { S0[t, i] -> [t, t + i] }"), made.domain)
    permutable = tree.get_root().child(0).band_set_permutable(1).get_schedule()
    tiles = tile(replace(tiled(made).schedule, tree=permutable), TilingOptions(sizes=(7, 5)))
    whole, cut = emit(tiles), printed(lowered_with_fallbacks(tiles, EmitOptions(max_operations=7000)))
    assert cut.fallbacks == ("the tiles were given up: generating the loops takes more than 7000 isl operations "
                             "or 0.25 s",)
    assert whole.text.count("for (") > cut.text.count("for (") == 2
