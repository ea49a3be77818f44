"""Functions for vectors wider than the compiler's own, chosen at run time: same results, ours once in the file."""

from __future__ import annotations

import ctypes
import platform
import subprocess
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
    return transform_file(file, PipelineOptions(vector_bits=bits)).text


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
    ("extern void f", ""),
    ("__attribute__((constructor)) void f", ""),
    ("__attribute__((noinline, weak)) void f", ""),
    ("void __attribute ((weak)) f", ""),
    ("#define ONCE __attribute__((weak))\nONCE void f", ""),
    ("#define TYPE void __attribute__((weak))\nTYPE f", ""),
    ("#define TYPE static void\nTYPE f", ""),
    ("#define TYPE(a) void\nTYPE(1) f", ""),
    ("#  define ONCE extern\nONCE void f", ""),
    ("void f", 'static double far[1 << 26]; __asm__("");'),
    ("void f", "struct box c; c.f = 1; (void)c;"),
    ("void f", "const char *name = __func__; (void)name;")])
def test_functions_that_cannot_stand_twice_stay_alone_and_are_named(tmp_path: Path, head: str, first: str) -> None:
    text = transformed(tmp_path, text_of(head, first), 256)
    assert "vector_size(32)" in text
    assert "POLYSCHED_WIDE" not in text
    assert text.startswith("/* polysched: fastest with -O3 -march=native -fopenmp; without AVX2 told, vectors are "
                           "taken apart in f. */\n")


@ONLY_X86
@pytest.mark.parametrize(("head", "first"), [
    ("__attribute__((noinline)) void f", ""),
    ("void __attribute__((noinline, hot)) f", ""),
    ("#define TYPE void\nTYPE f", ""),
    ("#define TYPE inline void\nstatic TYPE f", ""),
    ("#define LIST(n, ...) n, __VA_ARGS__\nvoid f", "")])
def test_functions_that_may_stand_twice(tmp_path: Path, head: str, first: str) -> None:
    text = transformed(tmp_path, text_of(head, first) + "void *address(void) { return f; }\n")
    assert "POLYSCHED_WIDE" in text
    load(text, tmp_path, flags=("-O2", "-Wall", "-Wextra", "-Werror"))


@ONLY_X86
def test_parameters_whose_names_a_macro_hides(tmp_path: Path) -> None:
    text = text_of().replace("float a[n][n], float b[n][n]", "ARRAY(a, n), ARRAY(b, n)").replace(
        "struct box", "#define ARRAY(x, n) float x[n][n]\nstruct box")
    made = transformed(tmp_path, text)
    assert "polysched_wide_f(n, a, b)" in made
    library = load(made, tmp_path, flags=("-O2",))
    a, b = np.zeros((9, 9), np.float32), np.full((9, 9), 3, np.float32)
    library.f(ctypes.c_int(9), ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data))
    np.testing.assert_array_equal(a, np.full((9, 9), 9, np.float32))


MAIN = """#include <stdio.h>
int main(int count, char **given)
{
  static float a[64][64], b[64][64];
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      b[i][j] = i - j;
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      a[i][j] = a[i][j] * 0.5f + b[i][j] * b[i][j];
#pragma endscop
  (void)given;
  printf("%g %d\\n", (double)a[3][40], count);
}
"""


@ONLY_X86
@pytest.mark.parametrize("flags", [["-O2"], ["-O2", "-march=native"], ["-O0", "-std=c11", "-Wall", "-Werror"]])
def test_main_with_static_arrays_ends_with_zero(tmp_path: Path, flags: list[str]) -> None:
    text = transformed(tmp_path, MAIN)
    assert "polysched_wide_main(count, given)" in text
    (tmp_path / "out.c").write_text(text)
    program = tmp_path / "program"
    done = find_compiler(None).run([*flags, "-fopenmp", "-o", str(program), str(tmp_path / "out.c")])
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([str(program), "x"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "1369 2\n")


@ONLY_X86
def test_a_main_that_is_called_stays_alone(tmp_path: Path) -> None:
    text = MAIN.replace("(void)given;", "if (count > 5) return main(1, given);")
    assert "taken apart in main. */" in transformed(tmp_path, text)


@ONLY_X86
@pytest.mark.parametrize(("extent", "twice"), [("1 << 12", True), ("1 << 14", False)])
def test_large_static_arrays_are_not_doubled(tmp_path: Path, extent: str, twice: bool) -> None:
    text = f"""void f(void)
{{
  static double a[{extent}][{extent}];
#pragma scop
  for (int i = 0; i < {extent}; i++)
    for (int j = 0; j < {extent}; j++)
      a[i][j] = a[i][j] * 0.5 + i;
#pragma endscop
}}
"""
    assert ("POLYSCHED_WIDE" in transformed(tmp_path, text)) == twice


@pytest.mark.parametrize("bits", [0, 128])
def test_vectors_that_all_machines_have_need_no_choice(tmp_path: Path, bits: int) -> None:
    made = transformed(tmp_path, text_of(), bits)
    assert "POLYSCHED_WIDE" not in made
    assert "polysched:" not in made


def test_files_are_not_wrapped_where_that_is_not_wanted(tmp_path: Path) -> None:
    file = tmp_path / "in.c"
    file.write_text(text_of())
    made = transform_file(file, PipelineOptions(vector_bits=256, portable=False)).text
    assert "vector_size(32)" in made
    assert "polysched:" not in made


SIZED = """#include <stdio.h>
{head}(int n, double a[n][n], double b[n])
{{
  {first}
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i] += a[j][i] * 0.5;
#pragma endscop
  {last}
}}
"""
LARGE = "polysched_large_f(n, a, b)"
SMALL = "polysched_small_f(n, a, b)"


def sized(folder: Path, head: str = "void f", first: str = "", last: str = "", bits: int = 256) -> str:
    file = folder / "in.c"
    file.write_text(SIZED.format(head=head, first=first, last=last))
    return transform_file(file, PipelineOptions(vector_bits=bits, safe=True)).text


@ONLY_X86
@pytest.mark.parametrize("bits", [0, 256])
@pytest.mark.parametrize(("head", "last"), [("void f", ""), ("int f", "return n + 1;"), ("static void f", "")])
@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-march=native")])
def test_the_original_of_small_sizes_stands_alone(tmp_path: Path, bits: int, head: str, last: str,
                                                  flags: tuple[str, ...]) -> None:
    call = "int g(int n, double *a, double *b) { f(n, (void *)a, (void *)b); return n; }\n"
    made = sized(tmp_path, head, last=last, bits=bits)
    assert LARGE in made
    chooser = made[made.rindex("#pragma pop_macro"):]   # calls one or the other, and computes nothing
    assert SMALL in chooser
    assert "for (" not in chooser
    library = load(made + call, tmp_path, flags=(*flags, "-Wall", "-Wextra", "-Werror"))
    for n in (0, 1, 5, 300):
        a, b = np.random.default_rng(n).random((n, n)), np.zeros(n)
        library.g(ctypes.c_int(n), ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data))
        np.testing.assert_allclose(b, a.sum(axis=0) * 0.5)


@pytest.mark.parametrize(("head", "first"), [
    ("void f", "n = n - 1;"),                  # the test would take another size
    ("static inline void f", ""),              # it is not to be a function of its own
    ("static __inline__ void f", ""),
    ("#define TYPE inline void\nstatic TYPE f", ""),
    ("void f", 'puts(__func__);'),
    ("void f", "static int calls; calls++;"),  # both would count
    ("#define KEPT static\nvoid f", "KEPT int calls; calls++;"),
    ("__attribute__((constructor)) void f", "")])
def test_functions_whose_sizes_are_not_tested_at_their_beginning(tmp_path: Path, head: str, first: str) -> None:
    made = sized(tmp_path, head, first)
    assert "polysched_large_" not in made
    assert made.count("b[i] += a[j][i] * 0.5;") >= 1


def test_sizes_that_are_no_numbers_among_the_parameters(tmp_path: Path) -> None:
    file = tmp_path / "in.c"
    file.write_text("static int n;\nvoid f(double a[restrict 900][900], double b[restrict 900])\n{\n#pragma scop\n"
                    "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      b[i] += a[j][i];\n"
                    "#pragma endscop\n}\n")
    made = transform_file(file, PipelineOptions(vector_bits=256, safe=True)).text
    assert "polysched_large_" not in made
    assert "if (" in made


@ONLY_X86
@pytest.mark.parametrize("bits", [256, 512])
def test_files_that_include_one_another(tmp_path: Path, bits: int) -> None:
    texts = [transformed(tmp_path, text_of(), 256), transformed(tmp_path, text_of("void g").partition("};\n")[2], bits)]
    library = load("".join(texts), tmp_path, flags=("-O2", "-Wall", "-Wextra", "-Werror"))
    for name in ("f", "g"):
        a, b = np.zeros((9, 9), np.float32), np.full((9, 9), 3, np.float32)
        getattr(library, name)(ctypes.c_int(9), ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data))
        np.testing.assert_array_equal(a, np.full((9, 9), 9, np.float32))


@ONLY_X86
def test_parameters_with_attributes_of_macros(tmp_path: Path) -> None:
    text = text_of().replace("b[n][n])", "b[n][n] UNUSED)").replace(
        "struct box", "#define UNUSED __attribute__((unused))\nstruct box")
    made = transformed(tmp_path, text)
    assert "polysched_wide_f(n, a, b)" in made
    load(made, tmp_path, flags=("-O2",))


@ONLY_X86
def test_a_mark_of_the_byte_order_stays_first(tmp_path: Path) -> None:
    made = transformed(tmp_path, "\ufeff" + text_of())
    assert made.startswith("\ufeff/* polysched: ")
    load(made, tmp_path, flags=("-O2",))


@ONLY_X86
@pytest.mark.parametrize(("before", "after"), [
    ("void f(int n, float a[n][n], float b[n][n])", "void (*f(int n, float a[n][n], float b[n][n]))(int)"),
    ("void f(int n, float a[n][n], float b[n][n])", "void f(n, a, b) int n; float (*a)[n], (*b)[n];"),
    ("void f(int n", "void f(int, int n")])
def test_functions_whose_heads_are_not_understood_are_named(tmp_path: Path, before: str, after: str) -> None:
    last = "return 0;" if "(*f(" in after else ""
    text = transformed(tmp_path, text_of(last=last).replace(before, after))
    assert "vector_size(32)" in text
    assert "POLYSCHED_WIDE" not in text
    assert "taken apart in f. */\n" in text
