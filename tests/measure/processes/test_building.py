"""Compiling to shared objects: refusals carry the compiler's message, and nothing is left behind."""

import ctypes
from pathlib import Path

import pytest

from polysched.errors import CompileError
from polysched.measure.processes.building import compile_shared, compiles, first_lines
from polysched.measure.processes.workspace import workspace
from polysched.target import find_compiler

EXPORTED = '__attribute__((visibility("default"))) '


def test_only_what_is_marked_is_exported(tmp_path: Path) -> None:
    binary = compile_shared(EXPORTED + "int seen(void) { return 7; } int hidden(void) { return 8; }", name="a",
                            folder=tmp_path, compiler=find_compiler(), flags=("-O1",))
    loaded = ctypes.CDLL(str(binary.path))
    assert loaded.seen() == 7
    assert not hasattr(loaded, "hidden")
    assert binary.flags[0] == "-O1"
    assert binary.compile_seconds > 0


def test_a_function_that_is_not_needed_may_call_what_does_not_exist(tmp_path: Path) -> None:
    text = "int missing(void); int unused(void) { return missing(); } " + EXPORTED + "int used(void) { return 3; }"
    binary = compile_shared(text, name="a", folder=tmp_path, compiler=find_compiler())
    assert ctypes.CDLL(str(binary.path)).used() == 3


def test_libraries_among_the_flags_serve_the_calls_of_the_source(tmp_path: Path) -> None:
    compile_shared(EXPORTED + "int two(void) { return 2; }", name="libtwo", folder=tmp_path, compiler=find_compiler())
    flags = ("-O1", f"-L{tmp_path}", "-ltwo", f"-Wl,-rpath,{tmp_path}")
    binary = compile_shared("int two(void); " + EXPORTED + "int four(void) { return two() + two(); }", name="a",
                            folder=tmp_path, compiler=find_compiler(), flags=flags)
    assert ctypes.CDLL(str(binary.path)).four() == 4
    assert binary.flags[:4] == flags


def test_a_refusal_carries_the_compilers_message(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as refusal:
        compile_shared("int f(void) { return undeclared; }", name="a", folder=tmp_path, compiler=find_compiler(),
                       what="the code of f")
    assert "refused the code of f" in refusal.value.problem
    assert "undeclared" in (refusal.value.witness or "")
    assert str(tmp_path) not in str(refusal.value)


def test_a_missing_header_gets_a_hint(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="name the folder of the missing header with -I"):
        compile_shared('#include "no_such_header.h"\n', name="a", folder=tmp_path, compiler=find_compiler())


def test_a_missing_library_is_named(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="the linker does not find a library") as refusal:
        compile_shared("int x;", name="a", folder=tmp_path, compiler=find_compiler(), flags=("-lno_such_library",))
    assert "no_such_library" in (refusal.value.witness or "")


def test_a_missing_cuda_library_is_told_from_a_header(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="CUDA toolkit"):
        compile_shared("int x;", name="a", folder=tmp_path, compiler=find_compiler(), flags=("-lcuda_no_such",))


def test_probing_compiles_nothing(tmp_path: Path) -> None:
    assert compiles("int x;", folder=tmp_path, compiler=find_compiler())
    assert not compiles("int x = ;", folder=tmp_path, compiler=find_compiler())


def test_long_messages_start_at_the_first_error() -> None:
    message = "\n".join(["a.c: warning: w"] * 30 + ["/t/a.c:3: error: wrong"] + ["more"] * 30)
    assert first_lines(message, "/t").splitlines()[0] == "a.c:3: error: wrong"
    assert len(first_lines(message, "/t").splitlines()) == 12


def test_the_report_of_a_crash_says_nothing_of_the_machine() -> None:
    message = """PLEASE submit a bug report to https://example.org/ and include the crash backtrace.
Stack dump:
0.\tProgram arguments: /usr/lib/clang/bin/clang -cc1 -I /home/somebody/suite -o /tmp/x-1.o
1.\t<eof> parser at end of file
 #0 0x00007f5a /usr/lib/libLLVM.so.19.1(+0x1)
clang: error: clang frontend command failed; /home/somebody/suite/adi.c is next to it
"""
    assert first_lines(message, "/t") == "clang: error: clang frontend command failed; adi.c is next to it"
    assert first_lines("a.c:1: error: a / b and c//d", "/t") == "a.c:1: error: a / b and c//d"


def test_a_workspace_is_private_and_goes_away() -> None:
    seen = []

    def fail_inside() -> None:
        with workspace() as folder:
            (folder / "sub").mkdir()
            (folder / "sub" / "file").write_text("x")
            assert folder.stat().st_mode & 0o077 == 0
            seen.append(folder)
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail_inside()
    assert not seen[0].exists()
