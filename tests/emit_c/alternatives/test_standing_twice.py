"""Functions that need their own name, or whose text means something else the second time, stand in a file once."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from polysched.pipeline import PipelineOptions, transform_file
from polysched.target import find_compiler

ONLY_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="these vectors are x86-64's")
HEADER = """#define WEAK __attribute__((weak))
#define ONCE extern
#define FIRST __attribute__((constructor))
#define VARIABLE(x) int variable_##x = 3;
#define TRACE() puts(__func__)
"""
TEXT = """#include <stdio.h>
#include "header.h"
struct f {{ int f; }};
struct box {{ int f; }};
#define MEMBER(x) (x).f
#define STEP 1
typedef void (*function)(int n, float *a);
static function known;
{head}(int n, float *a)
{{
  {first}
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 0.5f + 1;
#pragma endscop
  {last}
}}
int main(void)
{{
  float a[50] = {{0}};
  known = f;
  f(50, a);
  printf("%g %g %g\\n", a[0], a[1], a[49]);
}}
"""
CASES = {
    "its own struct": ("void f", "struct f own = {2}; a[0] += own.f;", ""),
    "a member of a macro": ("void f", "struct box box = {3}; a[0] += MEMBER(box);", ""),
    "its address": ("void f", 'printf("%d\\n", known == f);', ""),
    "its name in a header": ("void f", "TRACE();", ""),
    "an attribute of a header": ("WEAK void f", "", ""),
    "extern of a header": ("ONCE void f", "", ""),
    "called before main": ("FIRST void g(void) { puts(__func__); }\nWEAK void f", "", ""),
    "a declaration of a header": ("VARIABLE(x)\nvoid f", "", ""),
    "simd clones": ("#pragma omp declare simd\nvoid f", "", ""),
    "no return": ("#include <stdlib.h>\n_Noreturn void f", "", 'printf("%g\\n", a[3]); exit(0);'),
    "a name of a macro": ("#define f called_f\nvoid f", "", ""),
    "a macro changes": ("void f", "a[0] += STEP;\n#undef STEP\n#define STEP 2\n  a[1] += STEP;", ""),
    "a macro ends": ("void f", "a[0] += STEP;\n#undef STEP\n", ""),
    "a comment inside a macro": ("#define HERE /* in this file */ __attribute__((weak))\nHERE void f", "", ""),
    "half a directive": ("#if 1\nstatic\n#endif\nvoid f", "", ""),
}


def results(folder: Path, text: str, flags: list[str]) -> list[str]:
    (folder / "made.c").write_text(text)
    found = []
    for further in ([], ["-D__builtin_cpu_supports(x)=0"]):
        done = find_compiler(None).run([*flags, *further, "-o", str(folder / "made"), str(folder / "made.c")])
        assert done.returncode == 0, done.stderr
        ran = subprocess.run([str(folder / "made")], capture_output=True, text=True, check=False)
        found.append(f"{ran.returncode} {ran.stdout}")
    return found


def both(folder: Path, head: str, first: str, last: str) -> str:
    (folder / "header.h").write_text(HEADER)
    file = folder / "in.c"
    text = TEXT.format(head=head, first=first, last=last)
    file.write_text(text)
    made = transform_file(file, PipelineOptions(vector_bits=256, tile="off", parallel=False)).text
    flags = ["-O1", "-Wall", "-Werror", "-Wno-unknown-pragmas"]
    assert results(folder, made, flags) == results(folder, text, flags)
    return made


@ONLY_X86
@pytest.mark.parametrize("case", CASES)
def test_one_that_stands_alone(tmp_path: Path, case: str) -> None:
    made = both(tmp_path, *CASES[case])
    assert "POLYSCHED_WIDE" not in made
    assert "taken apart in" in made.splitlines()[0]


@ONLY_X86
@pytest.mark.parametrize(("head", "first"), [
    ("void f", "\n#define OWN 3\n  a[0] += OWN;\n#undef OWN\n#if 1\n  a[1] += 1;\n#else\n  a[1] += 2;\n#endif"),
    ("void f", "\n#define OWN 3\n  a[0] += OWN;"),
    ("#define NOTHING\nNOTHING static void f", ""),
    ("__attribute__((__noinline__)) void f", ""),
    ("void f", "if (n > 10) f(n - 10, a);")])
def test_one_that_stands_twice(tmp_path: Path, head: str, first: str) -> None:
    assert "polysched_wide_f(n, a)" in both(tmp_path, head, first, "")


@ONLY_X86
def test_an_output_is_transformed_once_more(tmp_path: Path) -> None:
    made = both(tmp_path, "void f", "", "")
    text = made.replace("  for (int i = 0; i < n; i++)\n    a[i] = a[i]",
                        "#pragma scop\n  for (int i = 0; i < n; i++)\n    a[i] = a[i]").replace(
        "* 0.5f + 1;\n  \n}\n#endif", "* 0.5f + 1;\n#pragma endscop\n}\n#endif")
    (tmp_path / "in.c").write_text(text)
    again = transform_file(tmp_path / "in.c", PipelineOptions(vector_bits=256, tile="off", parallel=False)).text
    assert "taken apart in f. */" in again
    assert results(tmp_path, again, ["-O1"]) == results(tmp_path, made, ["-O1"])
