"""Functions for vectors wider than the compiler's own, chosen at run time: same results, ours once in the file."""

from __future__ import annotations

import ctypes
import platform
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import PipelineOptions, transform_file
from polysched.target import find_compiler
from tests.emit_c.compiled import load

TEXT = """#include <math.h>

struct box {{ int f; }};
{head}(int n, float a[n][n], float b[n][n])
{{
  {first}
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i][j] * 0.5f + b[i][j] * b[i][j];
#pragma endscop
  {last}
}}
"""
ONLY_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="these vectors are x86-64's")


def transformed(folder: Path, text: str, bits: int = 256) -> str:
    file = folder / "in.c"
    file.write_bytes(text.encode())
    return transform_file(file, PipelineOptions(vector_bits=bits, portable=True)).text


def text_of(head: str = "void f", first: str = "", last: str = "") -> str:
    return TEXT.format(head=head, first=first, last=last)


@ONLY_X86
@pytest.mark.parametrize(("head", "last"), [("void f", ""), ("int f", "return n + 1;"), ("static void f", "")])
@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-march=native")])
def test_results_are_those_of_the_original(tmp_path: Path, head: str, last: str, flags: tuple[str, ...]) -> None:
    call = "int g(int n, float *a, float *b) { f(n, (void *)a, (void *)b); return n; }\n"
    text = text_of(head, last=last)
    results = []
    for one in (text, transformed(tmp_path, text)):
        library = load(one + call, tmp_path, flags=flags)
        a, b = np.random.default_rng(3).random((2, 37, 37)).astype(np.float32)
        library.g(ctypes.c_int(37), ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data))
        results.append(a)
    np.testing.assert_array_equal(results[0], results[1])


@ONLY_X86
def test_a_function_keeps_the_name_that_a_macro_gives_it(tmp_path: Path) -> None:
    library = load(transformed(tmp_path, text_of()), tmp_path, flags=("-O2", "-Df=renamed"))
    a, b = np.zeros((4, 4), np.float32), np.full((4, 4), 3, np.float32)
    library.renamed(ctypes.c_int(4), ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data))
    np.testing.assert_array_equal(a, np.full((4, 4), 9, np.float32))
    assert not hasattr(library, "f")


@ONLY_X86
@pytest.mark.parametrize(("bits", "register"), [(256, "ymm"), (512, "zmm")])
def test_plain_compilers_make_wide_code_in_one_function(tmp_path: Path, bits: int, register: str) -> None:
    made = tmp_path / "out.c"
    made.write_text(transformed(tmp_path, text_of(), bits))
    done = find_compiler(None).run(["-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-S", "-o", "-", str(made)])
    assert done.returncode == 0, done.stderr
    plain, _, _ = done.stdout.partition("\nf:\n")[2].partition(".size\tf,")
    assert plain
    assert register not in plain
    assert "polysched_wide_f" in plain
    assert register in done.stdout.replace(plain, "")
    assert "vfmadd" not in done.stdout


def test_ours_stands_once_and_the_top_names_the_flags(tmp_path: Path) -> None:
    text = transformed(tmp_path, text_of(), 256)
    assert text.startswith("/* polysched: fastest with -O3 -march=native -fopenmp; functions for AVX2 are chosen")
    assert text.count("typedef float polysched_f32x8") == 1
    assert text.count("a[i][j] = a[i][j] * 0.5f + b[i][j] * b[i][j];") >= 1
    assert "#pragma scop" not in text


def test_line_ends_stay(tmp_path: Path) -> None:
    text = transformed(tmp_path, text_of().replace("\n", "\r\n"), 256)
    assert text.count("\n") == text.count("\r\n")
    assert text.replace("\r\n", "\n") == transformed(tmp_path, text_of(), 256)


def test_functions_that_share_their_lines_with_others(tmp_path: Path) -> None:
    body = text_of().split("struct box", 1)[1].split("\n", 1)[1].rstrip()
    text = f"/* begins\n here */ int before; {body} int behind;\n"
    made = transformed(tmp_path, text)
    assert "POLYSCHED_WIDE" in made
    load(made, tmp_path, flags=("-O2",))


@pytest.mark.parametrize(("head", "first"), [
    ("void f", "static int calls; calls++;"),
    ("extern void f", ""),
    ("int main", "if (n < 0) return 1;"),
    ("__attribute__((constructor)) void f", ""),
    ("void __attribute ((weak)) f", ""),
    ("#define ONCE __attribute__((weak))\nONCE void f", ""),
    ("#  define ONCE extern\nONCE void f", ""),
    ("void f", "struct box c; c.f = 1; (void)c;"),
    ("void f", "const char *name = __func__; (void)name;")])
def test_functions_that_cannot_stand_twice_stay_alone(tmp_path: Path, head: str, first: str) -> None:
    text = transformed(tmp_path, text_of(head, first), 256)
    assert "vector_size(32)" in text
    assert "POLYSCHED_WIDE" not in text
    assert "polysched:" not in text


@pytest.mark.parametrize("bits", [0, 128])
def test_vectors_that_all_machines_have_need_no_choice(tmp_path: Path, bits: int) -> None:
    assert "POLYSCHED_WIDE" not in transformed(tmp_path, text_of(), bits)


def test_files_are_not_wrapped_unless_asked(tmp_path: Path) -> None:
    file = tmp_path / "in.c"
    file.write_text(text_of())
    assert "POLYSCHED_WIDE" not in transform_file(file, PipelineOptions(vector_bits=256)).text
