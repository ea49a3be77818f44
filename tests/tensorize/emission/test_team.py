"""Copies, sums and the nest of a match are steps of one team of threads; results are the program's for any team."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polysched.target import Target, host
from polysched.target.costs import Costs
from polysched.tensorize import match
from polysched.tensorize.emission import Emitted, emit_match
from polysched.tensorize.emission.function import EmissionOptions
from polysched.tensorize.emission.team import ALWAYS, NEVER, Step, in_team, region, worth_from
from polysched.tensorize.software.sizes import Conditions, Size
from tests.tensorize.compiled import call, compiled
from tests.tensorize.described import program
from tests.tensorize.emission.native import FOUR, expected, matrices, product
from tests.tensorize.emission.test_corrected_blocks import MIXED

READY = replace(host(), costs=Costs(team_worth=1e-9), cores=3)   # a team pays for whatever is shared


def test_steps_wait_for_each_other_in_one_region() -> None:
    steps = [Step(lines=("a();", "b();"), worth=("n >= 9", NEVER)), Step(lines=()),
             Step(lines=("c();",), worth=("m >= 2",))]
    assert list(region(steps, parallel=True)) == [
        "#pragma omp parallel if(n >= 9 || m >= 2)", "{", "    a();", "    b();", "    #pragma omp barrier", "    c();",
        "}"]


@pytest.mark.parametrize(("worth", "head"), [
    (("n >= 9", ALWAYS), "#pragma omp parallel"), ((NEVER,), "#pragma omp parallel if(0)"),
    ((), "#pragma omp parallel if(0)")])
def test_a_team_starts_where_a_step_pays_for_it(worth: tuple[str, ...], head: str) -> None:
    steps = [Step(lines=("a();",), worth=worth)]
    assert next(region(steps, parallel=True)) == head
    assert list(region(steps, parallel=False)) == ["a();"]


def test_one_thread_does_what_is_not_shared() -> None:
    shared = ["#pragma omp for nowait", "for (long i = 0; i < 9; i++)", "    a[i] = 0;"]
    assert in_team(shared) == shared
    assert in_team(["a[0] = 1;"]) == ["#pragma omp single nowait", "{", "    a[0] = 1;", "}"]


def test_a_sample_says_whether_a_count_may_pay() -> None:
    conditions = Conditions()
    long, short = (Size(n, "ps_size_n", least=2, conditions=conditions) for n in (100, 10))
    assert [worth_from(n, 50) for n in (100, 10, long, short)] == [ALWAYS, NEVER, "ps_size_n >= 50", NEVER]
    assert not conditions.texts


def test_a_call_by_every_thread_of_a_team_is_a_call(tmp_path: Path) -> None:
    """Whatever is worth a team, one block of registers, too: threads share what one of them called."""
    cases = [(9, 7, READY), (9, 7, Target(cores=2)), (2, 4, Target(cores=2))]
    functions = [emit_match(match(product(m, n, 5), FOUR).matches[0], f"f{at}", EmissionOptions(target=t, zero=True))
                 for at, (m, n, t) in enumerate(cases)]
    calls = "".join(f"void all_{f.name}(int *C, const int *A, const int *B) {{\n#pragma omp parallel num_threads(3)\n"
                    f"{{ int own[63] = {{0}}; {f.name}(own, A, B);\n#pragma omp critical\n"
                    f"for (int i = 0; i < {m * n}; i++) C[i] += own[i]; }}\n}}\n"
                    for f, (m, n, _) in zip(functions, cases, strict=True))
    functions[-1] = replace(functions[-1], text=functions[-1].text + calls)
    library = compiled(functions, tmp_path)
    for function, (m, n, _) in zip(functions, cases, strict=True):
        given = matrices(m, n, 5)
        with np.errstate(over="ignore"):
            wanted = 3 * expected(given, zero=True)
        given["C"][:] = 0
        getattr(library, f"all_{function.name}")(*(ctypes.c_void_p(given[n].ctypes.data) for n in "CAB"))
        np.testing.assert_array_equal(given["C"], wanted)


def library_of(functions: list[Emitted], folder: Path, threads: int) -> ctypes.CDLL:
    made = compiled(functions, folder)
    made.omp_set_num_threads(threads)
    return made


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_teams_of_every_size(threads: int, tmp_path: Path) -> None:
    """Right operands that lie in both orders are packed; the buffers of a call are filled anew in the next."""
    cases = [(m, n, k, turned, zero) for m, n, k in ((2, 3, 5), (19, 23, 29), (64, 40, 33)) for turned in (True, False)
             for zero in (True, False)]
    functions = [emit_match(match(product(m, n, k, turned=turned), FOUR).matches[0], f"f{at}", EmissionOptions(
        target=READY, zero=zero)) for at, (m, n, k, turned, zero) in enumerate(cases)]
    library = library_of(functions, tmp_path, threads)
    for function, (m, n, k, turned, zero) in zip(functions, cases, strict=True):
        assert function.text.count("#pragma omp parallel") <= 1
        for _ in range(3):
            given = matrices(m, n, k, turned=turned)
            wanted = expected(given, turned=turned, zero=zero)
            call(library, function, given)
            np.testing.assert_array_equal(given["C"], wanted, err_msg=f"{m} {n} {k} {turned} {zero}")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("zero", [True, False])
def test_corrected_sums_in_teams(threads: int, zero: bool, tmp_path: Path) -> None:
    """Both operands are added up by the team that packs them, and blocks or a last step have what these add."""
    m, n, k = 37, 50, 41
    scop = program(f"int C[{m}][{n}], unsigned char A[{m}][{k}], signed char B[{k}][{n}]",
                   f"for (int i = 0; i < {m}; i++) for (int j = 0; j < {n}; j++) for (int k = 0; k < {k}; k++) "
                   "C[i][j] += (A[i][k] - 7) * (B[k][j] + 3);")
    functions = [emit_match(found, f"f{at}", EmissionOptions(target=READY, zero=zero))
                 for at, found in enumerate(match(scop, MIXED).with_mirrors)]
    library = library_of(functions, tmp_path, threads)
    for function in functions:
        assert ("_correct(" in function.text) is not zero
        for seed in range(3):
            chooser = np.random.default_rng(seed)
            a, b = chooser.integers(0, 256, (m, k), np.uint8), chooser.integers(-128, 128, (k, n), np.int8)
            c = chooser.integers(-99, 99, (m, n)).astype(np.int32)
            wanted = (0 if zero else c) + (a.astype(np.int32) - 7) @ (b.astype(np.int32) + 3)
            call(library, function, {"C": c, "A": a, "B": b})
            np.testing.assert_array_equal(c, wanted)
