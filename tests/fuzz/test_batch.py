"""The compilers that random programs are built with."""

import shutil
from pathlib import Path

import pytest

from polysched.fuzz import batch
from polysched.target import find_compiler


@pytest.mark.parametrize("links", [True, False])
def test_a_clang_without_openmp_is_not_used(links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another compiler in its place, which refuses OpenMP as a clang without the library does."""
    real = shutil.which(find_compiler().command[0])
    refusal = "" if links else 'case " $* " in *" -fopenmp "*) echo "cannot find -lomp" >&2; exit 1;; esac\n'
    script = tmp_path / "clang-there"
    script.write_text(f'#!/bin/sh\n{refusal}exec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(batch, "CLANG_NAMES", ("clang-nowhere", str(script)))
    batch._clang.cache_clear()
    try:
        assert (batch._clang() is not None) == links
    finally:
        batch._clang.cache_clear()
