"""What stands in the place of `Compiler.run`: the same outputs, from fewer compilations."""

from __future__ import annotations

import ctypes
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from polysched.measure.processes.building import compile_shared
from polysched.target import Compiler, find_compiler
from polysched.target.build_cache import ENVIRONMENT as CACHE
from tests.cli.command import SCALING, polysched
from tests.compilations import AS_ASKED, KEPT, SHARED, STUBS, Compilation, Compilations, head_of
from tests.tiers import ROOT

NUMBER = '__attribute__((visibility("default"))) int number(void) { static int calls; return VALUE + calls++; }\n'

HEAD = "#include <smmintrin.h>\n#define _IMMINTRIN_H_INCLUDED\n#include <avxintrin.h>\n"
"""The smallest of those that count as large."""


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


def test_forks_that_become_commands_take_part(tmp_path: Path, compilations: Compilations) -> None:
    (tmp_path / "scaling.c").write_text(SCALING.replace("2 * A", "2.125 * A"))
    (tmp_path / "shared").mkdir()
    done = polysched("run", "scaling.c", "--size", "n=17", "--pairs", "1", folder=tmp_path,
                     environment={CACHE: str(tmp_path / "cache"), SHARED: str(tmp_path / "shared")})
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "shared").iterdir()) != []


def test_other_options_compile_again(counted: Counted, tmp_path: Path) -> None:
    library(7, tmp_path / "one")
    library(7, tmp_path / "two", flags=("-O2",))
    assert len(counted.asked) == 2


def test_the_programs_own_flags_optimise_less_and_others_stay(
        counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library(7, tmp_path / "asked")
    monkeypatch.delenv(KEPT)
    library(7, tmp_path / "less")
    library(7, tmp_path / "other", flags=("-O3",))
    assert [asked[:2] for asked in counted.asked] == [["-O3", "-march=native"], ["-O2", "-march=native"],
                                                     ["-O3", counted.asked[2][1]]]


def test_what_is_compiled_as_asked_is_there() -> None:
    assert [name for name in AS_ASKED if not (ROOT / name).exists()] == []


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


def read(text: str, folder: Path, *options: str, mode: str = "-E", name: str = "f.c"
         ) -> subprocess.CompletedProcess[str]:
    (folder / name).write_bytes(text.encode())
    return find_compiler().run([mode, "-x", "c", "-nostdinc", "-isystem", STUBS, *options, str(folder / name)])


def test_what_is_read_again_has_its_own_path(counted: Counted, tmp_path: Path) -> None:
    text = "#include <math.h>\n#define A 1\nint a = A + B;\n"
    first, again = read(text, tmp_path, "-DB=2"), read(text, tmp_path, "-DB=2", name="other.c")
    assert len(counted.asked) == 1
    assert "int a = 1 + 2;" in again.stdout
    assert f'"{tmp_path}/other.c"' in again.stdout
    assert again.stdout == first.stdout.replace("f.c", "other.c")
    assert "int a = 1 + 3;" in read(text, tmp_path, "-DB=3").stdout
    assert read(text.replace("\n", "\r\n"), tmp_path, "-DB=2").returncode == 0
    assert len(counted.asked) == 3


@pytest.mark.parametrize(("text", "options"), [
    ('#include "own.h"\n', ()), ("# include OWN\n", ('-DOWN="own.h"',)), ("#\\\ninclude \"own.h\"\n", ()),
    ("char *f = __FILE__;\n", ()), ("#line 3\n", ()), ("int a;\n", ("-I", ".")), ("int a;\n", ("-include", "own.h")),
    ("int f(void) { return; }\n#warning a\n", ()), ("#error a\n", ())])
def test_what_reads_more_than_one_text_or_says_something_is_read_every_time(
        text: str, options: tuple[str, ...], counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.h").write_text("int a;\n")
    said = [(d.returncode, d.stdout, d.stderr) for d in (read(text, tmp_path, *options) for _ in range(2))]
    assert said[0] == said[1]
    assert len(counted.asked) == 2


def test_a_text_that_is_right_is_looked_at_once(counted: Counted, tmp_path: Path) -> None:
    assert [read("int f(void);\n", tmp_path, "-w", mode="-fsyntax-only").returncode for _ in range(2)] == [0, 0]
    assert [read("int f(void;\n", tmp_path, "-w", mode="-fsyntax-only").returncode for _ in range(2)] == [1, 1]
    assert len(counted.asked) == 3


@pytest.mark.parametrize(("text", "head"), [
    (f"{HEAD}int f;\n#include <math.h>\n", HEAD), ("#include <math.h>\nint f;\n", ""), ("", ""),
    ("int f;\n#include <immintrin.h>\n", ""), (f"/* a\n   b */\n\n// c\n{HEAD}", HEAD),
    (f"#define A 1\n{HEAD}", f"#define A 1\n{HEAD}"), (f"#define A \\\n 1\n{HEAD}", ""),
    (f"#if defined(__x86_64__)\n{HEAD}#ifndef A\n#define A\n", f"#if defined(__x86_64__)\n{HEAD}#endif\n"),
    (f"#if 0\n#endif\n{HEAD}", ""), (f"#ifdef A\n{HEAD}", ""),
    (f"#if defined(__x86_64__) && A\n{HEAD}", ""), (f"{HEAD}#pragma GCC optimize(\"O0\")\n#define A 1\n", HEAD)])
def test_a_text_begins_with_its_includes(text: str, head: str) -> None:
    assert head_of(text) == head


def compiled_beside(texts: Sequence[str], folder: Path, *options: str) -> list[subprocess.CompletedProcess[str]]:
    found = []
    for at, text in enumerate(texts):
        (folder / f"f{at}.c").write_text(text)
        found.append(find_compiler().run([*options, "-shared", "-fPIC", str(folder / f"f{at}.c"), "-o",
                                          str(folder / f"f{at}.so")]))
    return found


@pytest.mark.skipif(find_compiler().kind != "gcc" or platform.machine() != "x86_64", reason="GCC's headers of x86")
class TestLargeHeaders:
    TEXT = f'{HEAD}int f(__m128i a) {{ return _mm_cvtsi128_si32(a) + VALUE; }}\n'

    def test_they_are_read_once_for_the_same_options(self, counted: Counted, tmp_path: Path) -> None:
        texts = [self.TEXT.replace("VALUE", str(k)) for k in range(4)]
        # were it not fit, the compiler would say so
        assert {d.returncode for d in compiled_beside(texts, tmp_path, "-Winvalid-pch", "-Werror")} == {0}
        assert ["-include" in a for a in counted.asked] == [False, False, True, True, True]
        assert "c-header" in counted.asked[1]
        compiled_beside(texts, tmp_path, "-O2")
        assert ["-include" in a for a in counted.asked[5:]] == [False, False, True, True, True]

    def test_what_is_refused_is_refused_in_the_same_words(self, counted: Counted, tmp_path: Path) -> None:
        wrong = [self.TEXT.replace("VALUE", f"nothing + {k}") for k in range(3)]
        said = [d.stderr.replace(f"f{k}.c", "f.c").replace(f"nothing + {k}", "nothing")
                for k, d in enumerate(compiled_beside(wrong, tmp_path, "-O1"))]
        assert "-include" in counted.asked[2]
        assert said[0] == said[1] == said[2] != ""

    def test_a_macro_of_the_text_is_read_before_its_headers(self, counted: Counted, tmp_path: Path) -> None:
        texts = [f"#define _GNU_SOURCE\n#include <sched.h>\n{self.TEXT.replace('VALUE', 'CPU_SETSIZE * 0')}int k{k};\n"
                 for k in range(3)]
        assert {d.stderr for d in compiled_beside(texts, tmp_path, "-Werror", "-Wall")} == {""}
        assert "-include" in counted.asked[-1]

    def test_they_are_removed(self, tmp_path: Path, compilations: Compilations, monkeypatch: pytest.MonkeyPatch
                              ) -> None:
        own = Compilations(run=compilations.run, folder=tmp_path)
        monkeypatch.setattr(Compiler, "run", lambda self, arguments, **others: own(self, arguments, **others))
        texts = [self.TEXT.replace("VALUE", str(k)) for k in range(3)]
        compiled_beside(texts[:2], tmp_path)
        assert len(list(tmp_path.glob("*.gch"))) == 1
        own.remove_precompiled()
        assert list(tmp_path.glob("*.gch")) == []
        assert compiled_beside(texts[2:], tmp_path)[0].returncode == 0
