"""Finding a C compiler: the order, the refusals, and the compiler from PyPI for real."""

import ctypes
import importlib.util
import os
import stat
import sys
from pathlib import Path

import pytest

from polysched.errors import CompileError, NoCompilerError
from polysched.target import Compiler, find_compiler
from polysched.target import compiler as compiler_module

needs_zig = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None,
                               reason="the extra polysched[compiler] is not installed")

PARALLEL_SUM = """
int add(int n) {
  int total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < n; i++) total += i;
  return total;
}
int threads(void) {
  int count = 0;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  count += 1;
  return count;
}
"""


@pytest.fixture(autouse=True)
def no_cc_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)


def fake_compiler(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


ANSWERS_LIKE = """case "$1" in
--version) echo "{version}" ;;
*) echo "#define __STDC__ 1"; echo "{macro}" ;;
esac"""


def run_parallel_sum(compiler: Compiler, folder: Path) -> None:
    source, library = folder / "sum.c", folder / "sum.so"
    source.write_text(PARALLEL_SUM)
    done = compiler.run(["-O2", "-fPIC", "-shared", *compiler.openmp_compile, str(source), "-o", str(library),
                         *compiler.openmp_link], folder=folder)
    assert done.returncode == 0, done.stderr
    loaded = ctypes.CDLL(str(library))
    assert loaded.add(1000) == 499500
    assert loaded.threads() == 2


def test_order_of_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fake_compiler(tmp_path, "cc", ANSWERS_LIKE.format(version="cc 1", macro="#define __GNUC__ 4"))
    assert find_compiler().command == ("cc",)
    fake_compiler(tmp_path, "clang", ANSWERS_LIKE.format(version="clang 2", macro="#define __clang__ 1"))
    compiler_module._probe.cache_clear()
    assert (find_compiler().command, find_compiler().kind) == (("clang",), "clang")
    fake_compiler(tmp_path, "gcc", ANSWERS_LIKE.format(version="gcc 3", macro="#define __GNUC__ 12"))
    compiler_module._probe.cache_clear()
    assert (find_compiler().kind, find_compiler().version) == ("gcc", "gcc 3")
    monkeypatch.setenv("CC", "clang")
    assert find_compiler().version == "clang 2"
    assert find_compiler("gcc").version == "gcc 3"


def test_a_broken_compiler_on_the_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fake_compiler(tmp_path, "gcc", "exit 1")
    fake_compiler(tmp_path, "cc", ANSWERS_LIKE.format(version="cc 1", macro="#define __GNUC__ 4"))
    assert find_compiler().command == ("cc",)


def test_a_named_compiler_with_options(tmp_path: Path) -> None:
    path = fake_compiler(tmp_path, "wrap", ANSWERS_LIKE.replace("$1", "$2").format(
        version="wrapped", macro="#define __clang__ 1"))
    assert find_compiler(f"{path} -m64").command == (str(path), "-m64")


@pytest.mark.parametrize("by_variable", [False, True])
def test_a_named_compiler_that_does_not_run_is_refused(monkeypatch: pytest.MonkeyPatch, by_variable: bool) -> None:
    if by_variable:
        monkeypatch.setenv("CC", "no-such-cc")
    with pytest.raises(NoCompilerError) as refusal:
        find_compiler(None if by_variable else "no-such-cc")
    origin = "$CC" if by_variable else "--cc"
    assert f"'no-such-cc' that {origin} names does not run" in str(refusal.value)


def test_something_that_is_no_compiler_is_refused() -> None:
    with pytest.raises(NoCompilerError, match="does not run"):
        find_compiler("true")


def test_no_compiler_is_said_in_one_line_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NoCompilerError) as refusal:
        find_compiler()
    assert "polysched[compiler]" in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


def test_the_compiler_found_here_builds_openmp_code(tmp_path: Path) -> None:
    run_parallel_sum(find_compiler(), tmp_path)


@needs_zig
def test_the_compiler_from_pypi_is_used_when_there_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    compiler = find_compiler()
    assert compiler.kind == "zig"
    assert compiler.command[0] == sys.executable
    run_parallel_sum(compiler, tmp_path)


@needs_zig
def test_the_compiler_from_pypi_preprocesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    source = tmp_path / "in.c"
    source.write_text("#define TWICE(x) ((x) + (x))\n#pragma scop\nint a = TWICE(N);\n#pragma endscop\n")
    done = find_compiler().run(["-E", "-P", "-nostdinc", "-DN=3", str(source)])
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-4:-1] == ["#pragma scop", "int a = ((3) + (3));", "#pragma endscop"]


@needs_zig
def test_the_compiler_from_pypi_works_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = compiler_module.run_environment("zig", {"HOME": str(tmp_path / "missing")}, tmp_path)
    assert "polysched-zig-cache" in environment["ZIG_GLOBAL_CACHE_DIR"]
    assert environment["ZIG_LOCAL_CACHE_DIR"] == str(tmp_path / "zig-cache")
    kept = compiler_module.run_environment("zig", {"HOME": str(tmp_path), "ZIG_GLOBAL_CACHE_DIR": "/x"}, None)
    assert kept["ZIG_GLOBAL_CACHE_DIR"] == "/x"


def test_a_compiler_that_hangs_is_refused() -> None:
    compiler = Compiler(command=(sys.executable, "-c", "import time; time.sleep(60)"), kind="gcc", version="slow")
    with pytest.raises(CompileError, match=r"did not end within 0\.2 seconds"):
        compiler.run([], timeout_seconds=0.2)


def test_a_compiler_that_vanished_is_refused(tmp_path: Path) -> None:
    compiler = Compiler(command=(str(tmp_path / "gone"),), kind="gcc", version="gone")
    with pytest.raises(CompileError, match="could not be started"):
        compiler.run(["-c", os.devnull])


def test_messages_are_in_english() -> None:
    assert compiler_module.run_environment("gcc", {"LC_ALL": "de_DE.UTF-8"}, None)["LC_ALL"] == "C"
