"""What may be thrown away and done again, against running it twice with a stop at every instance."""

import contextlib

import islpy as isl
import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.dependence.questions.restarting import restartable
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.points import instances_in_order
from polysched.scop.scop import Scop

PROGRAMS = {
    "product from zero": ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { C[i][j] = 0; "
                          "for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j]; }", True),
    "product onto what is there": ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
                                   "for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];", False),
    "from one array to the other": ("for (int i = 1; i < n - 1; i++) for (int j = 0; j < n; j++) "
                                    "B[i][j] = A[i - 1][j] + A[i + 1][j];", True),
    "to and fro": ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = A[i][j];"
                   "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = B[i][j] + 1;", False),
    "written ahead of reading": ("for (int i = 0; i < n; i++) A[i][0] = 2; "
                                 "for (int i = 0; i < n; i++) A[i][0] += 1;", True),
    "from the first": ("for (int i = 1; i < n; i++) A[i][0] = A[i - 1][0];", True),
    "in place": ("for (int i = 0; i < n - 1; i++) A[i][0] = A[i + 1][0];", False),
    "on a condition": ("for (int i = 0; i < n; i++) if (B[i][0] > 1) A[i][0] = A[i][0] + 1;", False),
}


def scop_of(name: str) -> Scop:
    return from_c_text("void f(int n, int A[n][n], int B[n][n], int C[n][n]) {\n#pragma scop\n"
                       f"{PROGRAMS[name][0]}\n#pragma endscop\n}}\n")


class Stopped(Exception):
    pass


def survives_every_stop(scop: Scop) -> bool:
    """Whether a run after a run that was stopped gives what one run gives, wherever it was stopped."""
    sizes = {"n": 3}
    chooser = np.random.default_rng(7)
    start = {name: chooser.integers(-5, 9, (3, 3)).astype(np.int32) for name in "ABC"}
    arrays = [a.name for a in scop.arrays]
    wanted = {name: start[name].copy() for name in arrays}
    execute(scop, sizes, wanted)
    count = len(instances_in_order(scop.domain, scop.schedule, sizes, [s.name for s in scop.statements]))
    for stop in range(1, count + 1):
        found, done = {name: start[name].copy() for name in arrays}, [0]

        def trace(name: str, point: tuple[int, ...], stop: int = stop, done: list[int] = done) -> None:
            if done[0] == stop:
                raise Stopped
            done[0] += 1

        with contextlib.suppress(Stopped):
            execute(scop, sizes, found, trace=trace)
        execute(scop, sizes, found)
        if any((found[name] != wanted[name]).any() for name in arrays):
            return False
    return True


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_decision_is_what_stopping_shows(name: str) -> None:
    scop = scop_of(name)
    found = restartable(analyse(scop), scop.domain)
    assert bool(found) == PROGRAMS[name][1] == survives_every_stop(scop)
    assert found.exact == (name != "on a condition")
    assert ("may be done again" in str(found)) == bool(found)


def test_a_part_may_be_done_again_where_the_whole_may_not() -> None:
    scop = scop_of("to and fro")
    one = isl.UnionSet.from_set(scop.statements[0].domain)
    assert restartable(analyse(scop), one)
    (what, *_) = restartable(analyse(scop), scop.domain).overwritten
    assert (what.array, what.reader, what.writer) == ("A", "S0", "S1")
    assert what.element.count("A[") == 1


def test_a_tile_of_which_parameters_tell_the_place() -> None:
    scop = scop_of("in place")
    for rows, allowed in (("i = t", True), ("t <= i <= t + 1", False)):
        tile = isl.UnionSet(f"[n, t] -> {{ S0[i] : {rows} and 0 <= i < n - 1 }}")
        assert bool(restartable(analyse(scop), tile)) == allowed


def test_unknown_last_writers_count_as_before() -> None:
    from dataclasses import replace
    scop = scop_of("written ahead of reading")
    dependences = analyse(scop)
    found = restartable(replace(dependences, by_memory=("A",)), scop.domain)
    assert not found
    assert not found.exact


@pytest.mark.parametrize(("body", "allowed"), [
    ("A[0] = 1; for (int i = 0; i < 3; i++) B[i] = A[x[i]]; A[1] = 3;", False),
    ("for (int i = 0; i < 3; i++) B[i] = A[x[i]];", True)])
def test_a_writer_of_one_element_that_may_be_read_says_nothing_of_the_others(body: str, allowed: bool) -> None:
    scop = from_c_text(f"void f(int x[3], int A[3], int B[3]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    found = restartable(analyse(scop), scop.domain)
    assert bool(found) == allowed
    assert not found.exact
