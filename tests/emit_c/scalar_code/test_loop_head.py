"""Heads of C loops run over what the loop of the IR runs over."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from polysched.emit_c.generation.loop_run import run_loops
from polysched.emit_c.loop_ir.index import Choice, Comparison, Junction, Linear, constant, extreme, variable
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.loop_head import loop_head
from polysched.scop.dtypes import INT32
from tests.emit_c.compiled import load

I_, N, M = variable("i"), variable("n"), variable("m")
BODY = parse_loops("S(i)")
LOOPS = {
    "plain": For("i", constant(0), N, 1, BODY),
    "with a constant": For("i", constant(2), N + 1, 1, BODY),
    "with a step": For("i", N - 9, N + 3, 4, BODY),
    "of several bounds": For("i", extreme("max", (constant(0), M - 3)), extreme("min", (N + 1, M + 1)), 1, BODY),
    "ended by a condition": For("i", constant(0), N, 1, BODY, guard=Comparison("<", I_, M)),
    "that a choice ends": For("i", constant(0), Linear(((Choice(Comparison("<", N, M), N, M), 1),)), 1, BODY),
    "ended by one of two conditions": For("i", constant(0), N, 1, BODY, guard=Junction(
        "||", (Comparison("<", I_, M), Comparison("<", I_, constant(2))))),
}


def printer(macros: HelperMacros) -> IndexPrinter:
    values = (INT32, INT32.value_range())
    return IndexPrinter(parameters={"n": values, "m": values}, spellings={"n": CText("n"), "m": CText("m")},
                        macros=macros)


def test_every_head_visits_what_the_loop_visits(tmp_path: Path) -> None:
    macros = HelperMacros(TakenNames(used=frozenset(), visible=frozenset()))
    heads = [loop_head(loop, printer(macros)) for loop in LOOPS.values()]
    functions = "".join(
        f"int f{k}(int n, int m, long *out) {{ int count = 0; {head} out[count++] = i; return count; }}\n"
        for k, head in enumerate(heads))
    library = load("\n".join([*macros.definitions(), functions]), tmp_path)
    seen = (ctypes.c_long * 64)()
    for k, loop in enumerate(LOOPS.values()):
        for n, m in ((0, 5), (1, 1), (7, 4), (12, 20)):
            count = getattr(library, f"f{k}")(n, m, seen)
            assert [("S", (seen[at],)) for at in range(count)] == run_loops(loop, {"n": n, "m": m}), heads[k]


def test_a_loop_can_run_backwards(tmp_path: Path) -> None:
    macros = HelperMacros(TakenNames(used=frozenset(), visible=frozenset()))
    head = loop_head(LOOPS["with a constant"], printer(macros), down=True)
    library = load(f"int f(int n, long *out) {{ int count = 0; {head} out[count++] = i; return count; }}\n", tmp_path)
    seen = (ctypes.c_long * 64)()
    for n in (0, 2, 9):
        assert [seen[at] for at in range(library.f(n, seen))] == list(range(n, 1, -1))


@pytest.mark.parametrize(("upper", "text"), [(N, "i < n"), (N + 1, "i <= n"), (N - 1, "i < (long)n - 1")])
def test_the_comparison_spares_constants(upper, text: str) -> None:
    index = printer(HelperMacros(TakenNames(used=frozenset(), visible=frozenset())))
    assert f"; {text}; i++)" in loop_head(For("i", constant(0), upper, 1, BODY), index)
