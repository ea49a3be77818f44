"""Regions that calls of a described function compute in part, as C, and the check of these calls."""

from __future__ import annotations

from polysched.emit_c.alternatives.function_calls import with_calls
from polysched.emit_c.alternatives.plain_arrays import as_written
from tests.emit_c.alternatives.called_programs import called


def text(body: str) -> str:
    made = called(body)
    ordinary = as_written(made.match.dependences.scop)
    return with_calls(ordinary, made, [as_written(part) for part in made.parts]).text


def test_one_call_stands_for_the_loops() -> None:
    made = text("for (int i = 0; i < n; i++) y[i] = 2 * x[i] + y[i];")
    assert "doubled(" in made
    assert made.startswith("/* S0 by doubled */")
    assert "for (" not in made


def test_loops_around_stay_loops() -> None:
    made = text("for (int r = 0; r < m; r++) for (int i = 0; i < n; i++) Y[r][i] = 2 * X[r][i] + Y[r][i];")
    assert made.count("for (") == 1
    assert "doubled(" in made


def test_what_runs_before_and_behind_stays_there() -> None:
    made = text("for (int i = 0; i < n; i++) x[i] = 1; for (int i = 0; i < n; i++) y[i] = 2 * x[i] + y[i]; "
                "for (int i = 0; i < n; i++) z[i] = y[i] / 3;")
    assert made.index("x[i] = 1;") < made.index("doubled(") < made.index("z[i] = y[i] / 3;")


def test_sizes_that_the_calls_depend_on_are_asked_for() -> None:
    program = called("for (int i = 0; i < n; i++) y[i] = 2 * x[i] + y[i];")
    ordinary = as_written(program.match.dependences.scop)
    made = with_calls(ordinary, program, [], {"n": 40}).text
    assert made.startswith("if (n == 40")
    assert "} else {" in made
    assert made.index("doubled(") < made.index("else") < made.index("for (")
