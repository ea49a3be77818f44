"""Spills are counted in what compilers print, and not by the stores to memory of the program."""

from __future__ import annotations

import ctypes
import platform

import pytest

from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.spills import spilled_vectors
from polysched.target import find_compiler

EXPORTED = '__attribute__((visibility("default"))) '


@pytest.mark.parametrize(("line", "count"), [
    ("\tvmovaps\t%zmm2, 1216(%rsp)", 1), ("\tvmovupd %ymm3, -48(%rbp)", 1), ("\tmovaps\t%xmm0, (%rsp)", 1),
    ("\tvmovdqu64 %zmm17, 64(%rsp)", 1), ("\tvmovaps\t1216(%rsp), %zmm2", 0), ("\tvmovups\t%zmm2, 64(%rdi)", 0),
    ("\tmovq\t%rax, 8(%rsp)", 0), ("\tvmovaps\t%zmm1, 64(%rsp,%rax)", 0),
    ("\tstr\tq0, [sp, 16]", 1), ("\tstp\tq8, q9, [sp, 32]", 1), ("\tstr\tq0, [x1]", 0), ("\tstr\tx0, [sp, 16]", 0)])
def test_one_line(line, count):
    assert spilled_vectors(f"f:\n{line}\n\tret\n") == count


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64", "aarch64", "arm64"),
                    reason="the stores of other processors are not known")
def test_more_values_than_registers_are_spilled(tmp_path):
    def text(count: int) -> str:
        names = range(count)
        loads = " ".join(f"v a{k} = p[{k}];" for k in names)
        sums = " ".join(f"a{k} += q[i * {count} + {k}] * q[i];" for k in names)
        stores = " ".join(f"p[{k}] = a{k};" for k in names)
        return (f"typedef double v __attribute__((vector_size(16)));\n{EXPORTED}void f(v *restrict p, "
                f"const v *restrict q, long n) {{ {loads} for (long i = 0; i < n; i++) {{ {sums} }} {stores} }}\n")

    few, many = (compile_shared(text(count), name=f"f{count}", folder=tmp_path, compiler=find_compiler(),
                                flags=("-O2",), count_spills=True) for count in (4, 60))
    assert few.spills == 0
    assert many.spills is not None
    assert many.spills >= 20
    plain = compile_shared(text(4), name="g", folder=tmp_path, compiler=find_compiler(), flags=("-O2",))
    assert plain.spills is None


def test_the_object_is_linked_with_the_flags_that_it_was_compiled_with(tmp_path):
    made = compile_shared(f"{EXPORTED}int f(int x) {{ return x + 1; }}\n", name="f", folder=tmp_path,
                          compiler=find_compiler(), flags=("-O2", "--coverage"), count_spills=True)
    assert ctypes.CDLL(str(made.path)).f(3) == 4
