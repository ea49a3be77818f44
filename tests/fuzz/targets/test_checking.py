"""Programs on targets beside their originals; a wrong result is a finding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.fuzz.targets import checking
from polysched.fuzz.targets.checking import check_on_target
from polysched.fuzz.targets.programs import TargetProgram
from tests.emit_gpu.emitted import needs_device
from tests.measure.mpi import needs_mpi

LINE = TargetProgram(
    text="void f(int n, int t, unsigned x[n + 6], unsigned y[n + 6]) {\n#pragma scop\n"
         "for (int i = 0; i < n; i++) y[i + 3] = x[i + 2];\nfor (int i = 0; i < n; i++) x[i + 3] = y[i + 4];\n"
         "#pragma endscop\n}\n", axes=("j", "i"), sizes=({"n": 9, "t": 1}, {"n": 14, "t": 2}))
"""No loop is called j: the second one that is named is taken."""


@needs_mpi
def test_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "target_program", lambda _: LINE)
    seed = next(s for s in range(99) if checking.random.Random(~s).randint(1, 4) == 3)
    assert check_on_target(seed, "mpi").verdict == "right"
    real = checking.distribute_file
    monkeypatch.setattr(checking, "distribute_file", lambda *given, **named: replace(
        found := real(*given, **named), text=found.text.replace("polysched_e0] /* - */", "")
        .replace("const long polysched_e0 = ", "const long polysched_e0 = -1 + ", 1)))
    assert check_on_target(seed, "mpi").verdict == "wrong"


def test_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "target_program", lambda _: LINE)
    assert check_on_target(3, "cuda").verdict == "right"
    real = checking.transform_file
    monkeypatch.setattr(checking, "transform_file", lambda *given: replace(
        found := real(*given), text=found.text.replace("x[", "y[", 1)))


def test_what_is_refused_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "target_program", lambda _: replace(LINE, axes=("q",)))
    found = check_on_target(1, "mpi")
    assert (found.verdict, "no loop q" in found.reason) == ("refused", True)


def test_opencl() -> None:
    needs_device()
    assert check_on_target(2, "opencl").verdict in ("right", "refused")
