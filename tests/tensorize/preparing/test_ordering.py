"""Loops stay outside exactly as far as dependences demand, found again by running the distributed program."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop
from polysched.tensorize.preparing.ordering import (
    keeps_temporaries_inside,
    loops_kept_outside,
    order_that_is_lost,
    own_dependences,
    same_tile_dependence,
)
from polysched.tensorize.program import part
from polysched.tensorize.software.fragment import fragments
from tests.tensorize.preparing.kept import program

ARRAYS = "int A[6][6], int B[6], int C[6], int D[6]"
NEST = "for (int i = 0; i < 6; i++) {{ {} for (int k = 0; k < 6; k++) C[i] += A[i][k] * B[k]; {} }}"
PROGRAMS = {
    "nothing else": ("", ""), "cleared before": ("C[i] = 0;", ""), "used behind": ("", "D[i] = C[i];"),
    "reads what comes later": ("D[i] = C[(i + 1) % 6];", ""), "feeds an operand": ("", "B[0] = C[i];"),
    "needs the row before": ("B[i] = C[(i + 5) % 6];", ""), "other data": ("D[i] = i;", "A[i][0] = 7;"),
    "changes a row behind": ("", "A[(i + 1) % 6][0] = D[i];"), "writes the result again": ("", "C[5 - i] = 1;")}


def distributed(scop: Scop, name: str, arrays: dict[str, np.ndarray]) -> None:
    """What is written before, then the statement alone, then what is written behind."""
    names = [s.name for s in scop.statements]
    at = names.index(name)
    for group in (names[:at], [name], names[at + 1:]):
        if (own := part(scop, group)) is not None:
            execute(own, {}, {a.name: arrays[a.name] for a in own.arrays}, wrap_signed=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_statement_may_run_alone_only_where_all_values_stay(name: str) -> None:
    scop = program(ARRAYS, NEST.format(*PROGRAMS[name]))
    fragment = next(f for f in fragments(scop) if f.statement.depth == 2)
    reasons, impossible = loops_kept_outside(fragment, analyse(scop))
    same = True
    for seed in range(3):
        chooser = np.random.default_rng(seed)
        first = {a.name: chooser.integers(-9, 9, (6, 6) if a.name == "A" else 6).astype(np.int32) for a in scop.arrays}
        wanted, found = ({n: a.copy() for n, a in first.items()} for _ in range(2))
        execute(scop, {}, wanted, wrap_signed=True)
        distributed(scop, fragment.statement.name, found)
        same = same and all((wanted[n] == found[n]).all() for n in wanted)
    assert same is not bool(reasons or impossible), reasons
    assert list(reasons) in ([], ["i"])
    assert impossible == ""
    for words in reasons.values():
        assert words.startswith("loop i carries a dependence between S")


def test_a_dependence_inside_one_iteration_of_all_loops_has_no_legal_place() -> None:
    scop = program(ARRAYS, "for (int i = 0; i < 6; i++) for (int k = 0; k < 6; k++) "
                           "{ D[k] = C[i]; C[i] += A[i][k] * B[k]; B[k] = C[i]; }")
    fragment = next(f for f in fragments(scop) if f.statement.name == "S1")
    reasons, impossible = loops_kept_outside(fragment, analyse(scop))
    assert list(reasons) == ["i", "k"]
    assert not impossible


@pytest.mark.parametrize(("body", "lost"), [
    ("C[i] += A[i][k] * B[k];", False), ("C[i] += A[i][k] * C[(i + 1) % 6];", True),
    ("A[i][k] += A[i][(k + 1) % 6];", True), ("A[i][k] += A[i][k] * B[k];", False),
    ("A[i][k] = A[k][i] * 2;", True), ("C[i] = C[i] * 2 + B[k];", False)])
def test_operands_that_other_iterations_write_cannot_be_read_ahead(body: str, lost: bool) -> None:
    scop = program(ARRAYS, f"for (int i = 0; i < 6; i++) for (int k = 0; k < 6; k++) {body}")
    why = order_that_is_lost(fragments(scop)[0], analyse(scop))
    assert bool(why) is lost
    assert not lost or "its other iterations write" in why


@pytest.mark.parametrize(("body", "extents", "loops", "refused"), [
    ("A[i][k] = A[i][k] + B[k];", (2, 2), (("i",), ("k",)), False),
    ("C[i] = C[i] * 2 + A[i][k];", (2, None), (("i",), ()), False),
    ("C[i] = C[i] * 2 + A[i][k];", (2, 2), (("i",), ("k",)), True),
    ("C[k] = C[k] * 2 + A[i][k];", (2, 2), (("i",), ("k",)), True),
    ("C[k] = C[k] * 2 + A[i][k];", (1, 2), (("i",), ("k",)), False),
    ("C[k] = C[k] * 2 + A[i][k];", (None, 2), ((), ("k",)), False)])
def test_one_execution_holds_no_dependent_iterations(body: str, extents: tuple[int | None, ...],
                                                     loops: tuple[tuple[str, ...], ...], refused: bool) -> None:
    scop = program(ARRAYS, f"for (int i = 0; i < 6; i++) for (int k = 0; k < 6; k++) {body}")
    (fragment,) = fragments(scop)
    own = own_dependences(fragment, analyse(scop), ordered=True)
    refusal = same_tile_dependence(fragment, own, extents, loops)
    assert (refusal is not None) is refused
    if refusal is not None:
        assert refusal.loops <= {n for m in loops for n in m}
        assert "one execution would hold dependent iterations of S0" in refusal.reason


@pytest.mark.parametrize(("body", "inside"), [
    ("for (int t = 0; t < 6; t++) { int s[6]; for (int i = 0; i < 6; i++) s[i] = A[t][i]; "
     "for (int i = 0; i < 6; i++) C[i] += s[i]; }", True),
    ("int s = 0; for (int t = 0; t < 6; t++) { B[t] = s; s = A[t][0]; }", False),
    ("for (int t = 0; t < 6; t++) { C[t] = B[t]; B[5 - t] = C[t]; }", True)])
def test_temporaries_may_carry_values_from_one_iteration_to_another(body: str, inside: bool) -> None:
    assert keeps_temporaries_inside(analyse(program(ARRAYS, body))) is inside
