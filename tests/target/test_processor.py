"""What the system lists of the processor: flags of x86, features of ARM, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from polysched.target import processor


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    processor.processor_flags.cache_clear()
    yield
    processor.processor_flags.cache_clear()


@pytest.mark.parametrize(("text", "flags"), [
    ("processor\t: 0\nflags\t\t: fpu sse avx2\n\nprocessor : 1\nflags : other\n", {"fpu", "sse", "avx2"}),
    ("processor : 0\nFeatures\t: fp asimd asimddp\n", {"fp", "asimd", "asimddp"}),
    ("processor : 0\nisa : rv64imafdcv\n", set()),
    ("", set())])
def test_the_first_list_counts(text: str, flags: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(text)
    monkeypatch.setattr(processor, "FILE", path)
    assert processor.processor_flags() == flags


def test_a_system_without_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "FILE", tmp_path / "none")
    assert processor.processor_flags() == frozenset()
