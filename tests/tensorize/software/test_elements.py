"""Arrays whose elements are reached by sums of parameters, lie inside structures, or behind pointers."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.target import find_compiler
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.options import TensorizeOptions
from polysched.tensorize.software.elements import linear_form
from tests.tensorize.compiled import call, compiled

SIZES = {"m": 11, "n": 19, "q": 13, "la": 14, "lb": 21, "lc": 23}
LINEARISED = """#include <stdint.h>
void f(int m, int n, int q, const int16_t *a, int la, const int16_t *b, int lb, int *c, int lc) {
#pragma scop
    for (int i = 0; i < m; i++)
        for (int k = 0; k < q; k++)
            for (int j = 0; j < n; j++)
                c[i * lc + j] += %s * b[%s];
#pragma endscop
}
"""


@pytest.mark.parametrize(("left", "right"), [("a[i * la + k]", "k * lb + j"), ("a[i * la + (q - 1 - k)]", "k * lb + j"),
                                             ("a[i * la + k]", "j * la + k")])
def test_rows_of_linearised_arrays_are_subscripts(left: str, right: str, tmp_path: Path) -> None:
    """`c[i * lc + j]` of rows that are longer than what is used of them, forwards, reversed and transposed."""
    scop = from_c_text(LINEARISED % (left, right))
    chooser = np.random.default_rng(7)
    lines = {"a": 11 * 14, "b": 19 * 21, "c": 11 * 23}
    kinds = {"a": np.int16, "b": np.int16, "c": np.int32}
    given = {x: chooser.integers(-9999, 9999, size).astype(kinds[x]) for x, size in lines.items()}
    a, c = given["a"].reshape(11, 14)[:, :13].astype(np.int32), given["c"].reshape(11, 23).copy()
    transposed, plain = given["b"][:19 * 14].reshape(19, 14)[:, :13].T, given["b"].reshape(19, 21)[:13, :19]
    b = transposed if right.startswith("j") else plain
    c[:, :19] += (a[:, ::-1] if "q - 1" in left else a) @ b.astype(np.int32)
    sizes = {n: v for n, v in SIZES.items() if n in {p.name for p in scop.parameters}}
    found = match(scop, find_intrinsic("vpmaddwd"), sizes=sizes).matches
    assert any(all(m.loops) for m in found)
    functions = [emit_match(m, f"f{at}", EmissionOptions(emulated=True)) for at, m in enumerate(found)]
    library = compiled(functions, tmp_path)
    for function in functions:
        arrays = {name: values.copy() for name, values in given.items()}
        call(library, function, arrays)
        assert np.array_equal(arrays["c"].reshape(11, 23), c), function.plan.match


@pytest.mark.parametrize(("declared", "element", "why"), [
    ("struct z { float re, im; }; struct z a[16][16]", "a[i][k].re", "a[][].re lie inside structures"),
    ("struct block { float d; float q[16]; }; struct block *a", "a[i].q[k]", "a[].q[] lie inside structures"),
    ("float **a", "a[i][k]", "the rows of a[][] lie where pointers in memory say"),
    ("float *a[16]", "a[i][k]", "the rows of a[][] lie where pointers in memory say")])
def test_distances_that_memory_does_not_tell_are_no_match(declared: str, element: str, why: str) -> None:
    """Functions read arrays from the address of the first element on, with the distances of the array's extents."""
    structure, parameter = declared.split("}; ") if "{" in declared else ("", declared)
    scop = from_c_text(f"""{structure and structure + "};"}
void f(float c[16][16], float b[16][16], {parameter}) {{
#pragma scop
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 16; k++)
                c[i][j] += {element} * b[k][j];
#pragma endscop
}}
""")
    for instruction in ("fma_f32_avx2", "cblas_sgemm"):
        found = match(scop, find_intrinsic(instruction))
        assert not found.count
        assert why in found.explanations[0].conflicts[0]
        assert "an array of its own" in str(found.explanations[0])


IN_A_STRUCTURE = """struct matrix { int rows; short q[4][16]; };
struct view { int size; short *t; };
static int c[4];
void f(int c[4], struct matrix *p, struct view *w) {
#pragma scop
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 16; k++)
            c[i] += p->q[i][k] * w->t[k];
#pragma endscop
}
int main(void) {
    short t[16];
    struct matrix m;
    struct view v = { 16, t };
    for (int k = 0; k < 16; k++)
        t[k] = 3 * k - 7;
    for (int i = 0; i < 64; i++)
        m.q[i / 16][i % 16] = 5 * i - 3 * (i / 16) * (i / 16);
    f(c, &m, &v);
    for (int i = 0; i < 64; i++)
        c[i / 16] -= m.q[i / 16][i % 16] * t[i % 16];
    return c[0] || c[1] || c[2] || c[3];
}
"""


def test_an_array_in_one_structure_lies_as_arrays_do(tmp_path: Path) -> None:
    """`p->q[i][k]` and `w->t[k]` begin where the addresses of their first elements say."""
    path = tmp_path / "given.c"
    path.write_text(IN_A_STRUCTURE)
    done = transform_file(path, PipelineOptions(tensorize=TensorizeOptions(intrinsic="rvv_vwmacc_i16")))
    assert "by rvv_vwmacc_i16 */" in done.text
    compiler = find_compiler()
    for text in (IN_A_STRUCTURE, done.text):
        path.write_text(text)
        built = compiler.run(["-O1", "-w", *compiler.openmp_compile, str(path), "-o", str(tmp_path / "run"),
                              *compiler.openmp_link, "-lm"])
        assert built.returncode == 0, built.stderr
        assert subprocess.run([tmp_path / "run"], check=False).returncode == 0


def test_elements_that_only_fixed_sizes_tell_are_named_so() -> None:
    scop = from_c_text("""void f(int n, int q, int c[n], short *a, short b[q]) {
#pragma scop
    for (int i = 0; i < n; i++)
        for (int k = 0; k < q; k++)
            c[i] += a[i * n + i * q + k] * b[k];
#pragma endscop
}
""")
    why = str(match(scop, find_intrinsic("vpmaddwd"), sizes={"n": 8, "q": 16}).explanations[0])
    assert "depends on data" not in why


@pytest.mark.parametrize("n", [0, 1, 7, 8, -7])
def test_sizes_are_divided_as_in_c(n: int) -> None:
    """`n / 2` and `n % 3` stand still, whatever the size; what an iterator moves in steps has no form."""
    scop = from_c_text("""void f(int n, short a[99], short b[99]) {
#pragma scop
    for (int i = 0; i < 9; i++)
        a[2 * i + n / 2 - n % 3 + 20] = b[i / 2 + 3];
#pragma endscop
}
""")
    statement = scop.statement("S0")
    (written,), (read,) = statement.writes, statement.reads
    half, rest = abs(n) // 2 * (1 if n > 0 else -1), abs(n) % 3 * (1 if n > 0 else -1)
    assert linear_form(written.subscripts[0], {"n": n}) == {"": half - rest + 20, "i": 2}
    assert linear_form(read.subscripts[0], {"n": n}) is None
