"""What this machine executes is tried once and kept by description and kernel; damaged answers are asked anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polysched.errors import NoCompilerError
from polysched.tensorize import find_intrinsic, probes
from polysched.tensorize.conformance.conformance import Verdict
from polysched.tensorize.description.intrinsic import Intrinsic


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The instructions that are tried, in an empty store; they conform."""
    asked: list[str] = []

    class Result:
        verdict, how = Verdict.CONFORMS, "native"

    def conformance(intrinsic: Intrinsic, *, trials: int) -> Result:
        assert trials == probes.PROBE_TRIALS
        asked.append(intrinsic.name)
        return Result()

    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(probes, "conformance", conformance)
    monkeypatch.setattr(probes.platform, "machine", lambda: "x86_64")
    probes.executes_here.cache_clear()
    return asked


MINE = find_intrinsic("vpmaddwd")


def test_a_later_process_does_not_try_again(tried: list[str]) -> None:
    assert probes.executes_here(MINE)
    probes.executes_here.cache_clear()
    assert probes.executes_here(MINE)
    assert tried == ["vpmaddwd"]


def test_another_description_or_kernel_is_tried(tried: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert probes.executes_here(MINE)
    assert probes.executes_here(replace(MINE, section="elsewhere"))
    monkeypatch.setattr(probes.platform, "release", lambda: "another")
    probes.executes_here.cache_clear()
    assert probes.executes_here(MINE)
    assert len(tried) == 3


def test_a_damaged_answer_is_asked_for_again(tried: list[str], tmp_path: Path) -> None:
    assert probes.executes_here(MINE)
    (kept,) = tmp_path.rglob(probes.FILE)
    for text in ("{", "[]", '{"other": 1}'):
        for file in tmp_path.rglob(probes.FILE):
            file.write_text(text)
        probes.executes_here.cache_clear()
        assert probes.executes_here(MINE), text
    assert len(tried) == 4
    assert kept.name == probes.FILE


def test_what_belongs_to_another_machine_is_never_tried(tried: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert not probes.executes_here(find_intrinsic("arm_sdot"))
    assert not probes.executes_here(find_intrinsic("cblas_dgemm")), "a library function is no instruction"
    monkeypatch.setattr(probes.platform, "machine", lambda: "aarch64")
    assert not probes.may_execute_here(MINE)
    assert probes.may_execute_here(find_intrinsic("arm_sdot"))
    assert tried == []


def test_without_a_compiler_nothing_is_executed(tried: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise NoCompilerError("no compiler")
    monkeypatch.setattr(probes, "find_compiler", none)
    assert not probes.executes_here(MINE)
    assert tried == []


def test_what_the_system_lists_is_no_proof(tried: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "processor_flags", lambda: frozenset({"avx2"}))
    assert probes.is_listed_here(MINE)
    monkeypatch.setattr(probes, "processor_flags", frozenset)
    assert not probes.is_listed_here(MINE)
    assert tried == []
