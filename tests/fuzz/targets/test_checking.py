"""Programs on targets beside their originals; a wrong result is a finding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.fuzz.targets import checking
from polysched.fuzz.targets.checking import check_on_target
from polysched.fuzz.targets.programs import ARRAYS, TargetProgram
from tests.emit_gpu.emitted import needs_device
from tests.measure.mpi import needs_mpi

LINE = TargetProgram(text="\n".join([
    "void f(int n, int t, unsigned A[n + 10][n + 10], unsigned B[n + 10][n + 10], unsigned C[n + 10][n + 10], unsigned",
    "x[n + 10], unsigned y[n + 10], unsigned z[n + 10], unsigned r[2], unsigned char m[n + 10]) {", "#pragma scop",
    "for (int i = 0; i < n; i++) y[i + 3] = x[i + 2];",
    "for (int i = 0; i < n; i++) if (m[i] & 1) x[i + 3] = y[i + 4];",
    "#pragma endscop", "}", ""]), types={name: "unsigned char" if name == "m" else "unsigned" for name in ARRAYS},
    shapes={name: ("n + 10", "n + 10") if name in "ABC" else ("2",) if name == "r" else ("n + 10",) for name in ARRAYS},
    axes=("j", "i"), sizes=({"n": 9, "t": 1}, {"n": 14, "t": 2}))
"""No loop is called j: the second one that is named is taken."""


@pytest.fixture(autouse=True)
def one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "target_program", lambda _: LINE)


def spoilt(monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    """Let the emitted code have something else in place of a text."""
    def changed(*given: object) -> str:
        text = real(*given)
        assert before in text
        return text.replace(before, after)

    real = checking.harness
    monkeypatch.setattr(checking, "harness", changed)


@needs_mpi
def test_a_message_that_is_not_taken_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = next(s for s in range(99) if checking.random.Random(~s).randint(1, 4) == 3)
    assert check_on_target(seed, "mpi").verdict == "right"
    spoilt(monkeypatch, "  memcpy(to, polysched_taken(from, bytes), bytes);", "  polysched_taken(from, bytes);")
    found = check_on_target(seed, "mpi")
    assert (found.verdict, "3 ranks, i in" in found.reason) == ("wrong", True)


def test_an_old_value_that_comes_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_on_target(3, "cuda").verdict == "right"
    spoilt(monkeypatch, "if (is != was) memcpy", "memcpy")
    found = check_on_target(3, "cuda")
    assert (found.verdict, "an old value: x[" in found.reason) == ("wrong", True)


def test_what_is_refused_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "target_program", lambda _: replace(LINE, axes=("q",)))
    found = check_on_target(1, "mpi")
    assert (found.verdict, "no loop q" in found.reason) == ("refused", True)


def test_a_machine_without_a_device_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "opencl_device", lambda: None)
    found = check_on_target(1, "opencl")
    assert (found.verdict, found.reason) == ("refused", "there is no OpenCL device")


def test_text_that_does_not_compile_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_device()
    spoilt(monkeypatch, "own_bad", "own bad")
    assert check_on_target(2, "opencl").verdict == "wrong"
