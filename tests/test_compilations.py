"""What stands in the place of `Compiler.run`: the same outputs, from fewer compilations."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from polysched.measure.processes.building import compile_shared
from polysched.target import Compiler, find_compiler
from tests.compilations import Compilation, Compilations

NUMBER = '__attribute__((visibility("default"))) int number(void) { static int calls; return VALUE + calls++; }\n'


class Counted:
    """A compiler's run that notes what it was asked for."""

    def __init__(self, run: object) -> None:
        self.run, self.asked = run, []

    def __call__(self, compiler: Compiler, arguments: Sequence[str], **others: object
                 ) -> subprocess.CompletedProcess[str]:
        self.asked.append(list(arguments))
        return self.run(compiler, arguments, **others)


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: Compilations) -> Counted:
    """Compilations of this test's own, around the compiler's method itself."""
    calls = Counted(compilations.run)
    (tmp_path / "kept").mkdir()
    own = Compilations(run=calls, folder=tmp_path / "kept")
    monkeypatch.setattr(Compiler, "run", lambda self, arguments, **others: own(self, arguments, **others))
    return calls


def library(value: int, folder: Path, **options: object) -> ctypes.CDLL:
    folder.mkdir(exist_ok=True)
    return ctypes.CDLL(str(compile_shared(NUMBER.replace("VALUE", str(value)), name="number", folder=folder,
                                          compiler=find_compiler(), **options).path))


def test_the_same_text_is_compiled_once_and_every_library_has_its_own_variables(
        counted: Counted, tmp_path: Path) -> None:
    one, again = library(7, tmp_path / "one"), library(7, tmp_path / "again")
    assert (one.number(), one.number(), again.number()) == (7, 8, 7)
    assert len(counted.asked) == 1


def test_a_library_that_is_loaded_stays_as_it_is(counted: Counted, tmp_path: Path) -> None:
    """Its file is replaced, not written over."""
    first = library(7, tmp_path / "here")
    for value in (8, 7):
        library(value, tmp_path / "here")
    assert first.number() == 7
    assert len(counted.asked) == 2


def test_other_options_compile_again(counted: Counted, tmp_path: Path) -> None:
    library(7, tmp_path / "one")
    library(7, tmp_path / "two", flags=("-O2",))
    assert len(counted.asked) == 2


def test_what_is_refused_is_refused_again(counted: Counted, tmp_path: Path) -> None:
    compiler, file = find_compiler(), tmp_path / "wrong.c"
    file.write_text("int f(void) { return nothing; }\n")
    for _ in range(2):
        assert compiler.run(["-c", str(file), "-o", str(tmp_path / "wrong.o")]).returncode != 0
    assert len(counted.asked) == 2


@pytest.mark.parametrize(("arguments", "text"), [
    (["-E", "f.c"], ""), (["-c", "f.c", "-I", ".", "-o", "f.o"], ""), (["-c", "f.c", "g.c", "-o", "f.o"], ""),
    (["-c", "f.c", "-o", "f.o"], '#include "own.h"\n'), (["-c", "f.c", "-o", "f.o"], "char *f = __FILE__;\n"),
    (["-c", "f.c", "-g", "-o", "f.o"], ""), (["-c", "missing.c", "-o", "f.o"], "")])
def test_what_reads_more_than_one_file_is_compiled_every_time(arguments: list[str], text: str, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(text)
    assert Compilation.of(find_compiler(), arguments, None, tmp_path) is None
    assert Compilation.of(find_compiler(), ["-c", "f.c", "-o", "f.o"], "", tmp_path) is None, "it reads its input"


def test_the_folder_is_no_part_of_the_key(tmp_path: Path) -> None:
    keys = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.c").write_text("int f;\n")
        found = Compilation.of(find_compiler(), ["-c", f"{tmp_path / name / 'f.c'}", "-o",
                                                 f"{tmp_path / name / 'f.o'}"], None, None)
        assert found is not None
        keys.add(found.key)
    assert len(keys) == 1
