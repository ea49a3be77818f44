"""A guarded region takes the original code exactly where an assumption of the extraction fails."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.errors import UsageError
from polysched.pipeline import source_to_source
from polysched.pipeline.options import PipelineOptions
from polysched.scop.expression import build, compute, placeholder
from polysched.target import find_compiler
from tests.scop.c_frontend.same_output import SANITIZED, same_output

SHIFT = """\
void shift(int n, unsigned m, double *A, double *B)
{
    #pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 2.0 * B[i + m];
    #pragma endscop
}
"""


FLAT = """\
void shift(int n, unsigned m, double *A, double *B)
{
    #pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            A[i * m + j] = 2.0 * A[i * m + j] + B[j];
    #pragma endscop
}
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return compiled(SHIFT, tmp_path_factory.mktemp("guard"))


def compiled(program, folder):
    (folder / "shift.c").write_text(program)
    text = source_to_source(folder / "shift.c", PipelineOptions(guard=True, scheduler="pluto", tile="off"))
    functions = []
    for name, code in (("original", program), ("guarded", text)):
        (folder / f"{name}.c").write_text(code)
        library = folder / f"{name}.so"
        done = find_compiler().run(["-O2", "-fopenmp-simd", "-shared", "-fPIC", "-w", str(folder / f"{name}.c"),
                                    "-o", str(library)])
        assert done.returncode == 0, done.stderr
        functions.append(ctypes.CDLL(str(library)).shift)
    return text, *functions


def call(function, memory, a, b, n, m):
    def address(at):
        return ctypes.c_void_p(memory.ctypes.data + 8 * at)

    function(ctypes.c_int(n), ctypes.c_uint(m), address(a), address(b))
    return memory


def test_both_branches_are_there(both):
    text = both[0]
    assert text.startswith("void shift(int n, unsigned m, double *A, double *B)\n{\n    if (")
    assert "(long)m + (long)n <= 4294967296" in text
    assert "    } else {\n      for (int i = 0; i < n; i++)\n          A[i] = 2.0 * B[i + m];\n    }\n}\n" in text


@pytest.mark.parametrize(("a", "b"), [(40, 0), (0, 40), (1, 0), (0, 1), (20, 19), (5, 5)])
@pytest.mark.parametrize("n", [0, 1, 17])
def test_arrays_that_overlap_keep_the_meaning_of_the_source(both, a, b, n):
    _, original, guarded = both
    start = np.arange(1.0, 101.0)
    expected = call(original, start.copy(), a, b, n, 2)
    np.testing.assert_array_equal(call(guarded, start.copy(), a, b, n, 2), expected)


def test_of_rows_in_one_piece_the_first_and_the_last_are_looked_at(tmp_path):
    """The pointer behind the last stored one is nobody's."""
    program = ("void f(int n, double **R, double *A, double B[n][4])\n{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
               "    for (int j = 0; j < 4; j++)\n      TARGET[i][j] = 2 * A[j];\n#pragma endscop\n}\n")
    texts = {}
    for target in ("R", "B"):
        (tmp_path / "f.c").write_text(program.replace("TARGET", target))
        texts[target] = source_to_source(tmp_path / "f.c", PipelineOptions(guard=True, scheduler="original"))
    assert "&R[polysched_R_0][3] + 1" in texts["R"]
    assert "[((long)n - 1) + 1]" not in texts["R"]
    assert "(const char *)&B[((long)n - 1) + 1] <= (const char *)&A[0]" in texts["B"]


ROWS = """\
void f(int n, int m, double **R, double **S, double *c, int *original)
{
    #pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < BOUND; j++)
            R[i][j] = S[i][j] + 2.0 * R[i][j] + c[j];
    #pragma endscop
}
"""
# Rows of R, rows of S, the start of c, as places in one memory; whether the transformed code may run.
PLACES = {
    "apart": ([0, 10, 20], [40, 50, 60], 80, True),
    "downwards": ([20, 10, 0], [40, 60, 50], 80, True),
    "read ones overlap": ([0, 10, 20], [50, 50, 52], 80, True),
    "side by side": ([0, 4, 8], [12, 16, 20], 24, True),
    "mixed order": ([10, 0, 20], [40, 50, 60], 80, False),
    "one array": ([0, 10, 20], [0, 10, 20], 80, False),
    "shifted by one": ([0, 10, 20], [40, 9, 60], 80, False),
    "written ones overlap": ([0, 1, 20], [40, 50, 60], 80, False),
    "one row twice": ([0, 0, 20], [40, 50, 60], 80, False),
    "interleaved": ([0, 20, 40], [10, 30, 50], 80, False),
    "a vector among the rows": ([0, 10, 20], [40, 50, 60], 13, False),
}


@pytest.mark.parametrize("bound", ["m", "i + 2"])
def test_rows_behind_pointers_are_looked_at_one_by_one(bound, tmp_path):
    program = ROWS.replace("BOUND", bound)
    (tmp_path / "f.c").write_text(program)
    text = source_to_source(tmp_path / "f.c", PipelineOptions(guard=True, tile="off", parallel=False, vector_bits=0))
    assert text.count("} else {") == 1
    functions = []
    for name, code in (("old", program), ("new", text.replace("} else {", "} else {\n*original = 1;"))):
        (tmp_path / f"{name}.c").write_text(code)
        done = find_compiler().run(["-O2", "-shared", "-fPIC", "-w", str(tmp_path / f"{name}.c"), "-o",
                                    str(tmp_path / f"{name}.so")])
        assert done.returncode == 0, done.stderr
        functions.append(ctypes.CDLL(str(tmp_path / f"{name}.so")).f)
    for r, s, c, apart in PLACES.values():
        results, branch = [], ctypes.c_int(0)
        for function in functions:
            memory = np.arange(1.0, 101.0)
            rows = [memory.ctypes.data + 8 * np.array(places, dtype=np.uint64) for places in (r, s)]
            function(3, 4, *(ctypes.c_void_p(a.ctypes.data) for a in rows), ctypes.c_void_p(memory.ctypes.data + 8 * c),
                     ctypes.byref(branch))
            results.append(memory)
        np.testing.assert_array_equal(*results)
        assert bool(branch.value) is not apart, (r, s, c)


def test_a_parameter_that_lies_in_a_written_array_is_noticed(tmp_path):
    (tmp_path / "f.c").write_text("int n;\nvoid f(int *A, int *B)\n{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
                                  "    A[i] = B[i] + 1;\n#pragma endscop\n}\n")
    text = source_to_source(tmp_path / "f.c", PipelineOptions(guard=True))
    assert "(const char *)(&(n) + 1) <= (const char *)&A[0]" in text


def test_arrays_with_computed_subscripts_are_tested_by_rows(tmp_path):
    text, original, guarded = compiled(FLAT, tmp_path)
    assert "&A[(long)(((long)n - 1) + 1) * (m)]" in text
    start = np.arange(1.0, 101.0)
    for a, b in ((0, 40), (40, 0), (10, 14), (10, 9), (10, 44), (10, 45), (5, 0)):
        expected = call(original, start.copy(), a, b, 7, 5)
        np.testing.assert_array_equal(call(guarded, start.copy(), a, b, 7, 5), expected)


def test_without_assumptions_nothing_is_tested(tmp_path):
    path = tmp_path / "plain.c"
    path.write_text("void plain(int n, double A[n])\n{\n#pragma scop\n  for (int i = 0; i < n; i++)\n    A[i] = 1.0;\n"
                    "#pragma endscop\n}\n")
    guarded, plain = (source_to_source(path, PipelineOptions(guard=g)) for g in (True, False))
    assert guarded == plain


def test_what_cannot_be_tested_is_named(tmp_path):
    path = tmp_path / "gather.c"
    path.write_text("void gather(int n, double *A, double *B, int *at)\n{\n#pragma scop\n"
                    "  for (int i = 0; i < n; i++)\n    if (A[i] > 0) A[i] = B[at[i]];\n#pragma endscop\n}\n")
    source = polysched.optimize(path, PipelineOptions(guard=True)).source
    assert any("not tested at run time: the memory of" in line for line in source.fallbacks)


def test_a_condition_with_a_quotient_needs_no_macro_of_isl(tmp_path):
    """`i += 9` on a byte stays below 256 for some `n` only."""
    program = "void shift(unsigned char n, int *A)\n{\n    #pragma scop\n" \
              "    for (unsigned char i = n; i < 250; i += 9)\n        A[i] = i;\n    #pragma endscop\n}\n"
    text, original, guarded = compiled(program, tmp_path)
    assert "% 9 < 0" in text
    assert "floord" not in text
    for n in (0, 3, 4, 7, 8, 249, 250, 255):
        if any(i + 9 > 255 for i in range(n, 250, 9)):
            continue        # the loop as written has no end
        results = [np.zeros(256, dtype=np.int32) for _ in range(2)]
        for function, memory in zip((original, guarded), results, strict=True):
            function(n, ctypes.c_void_p(memory.ctypes.data))
        assert np.array_equal(*results)


def test_a_scop_without_c_has_no_other_branch():
    a = placeholder("A", (8,), "float64")
    with pytest.raises(UsageError, match="a guard needs the original code"):
        polysched.optimize(build(compute((8,), lambda i: a[i] + 1.0, name="B")), PipelineOptions(guard=True))


WINDOWS = """void f(int n, int s, int k, double *restrict d, double c[n][k])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < k; j++)
      d[i * s + j] = d[i * s + j] * 0.5 + c[i][j];
#pragma endscop
}
"""


@pytest.mark.parametrize("options", [{}, {"guard": False}, {"guard": True}, {"safe": True}])
def test_windows_that_overlap_are_looked_at_with_any_options(tmp_path: Path, options: dict[str, object]) -> None:
    made = same_output(tmp_path, WINDOWS, """
      for (int n = 0; n < 30; n += 7) for (int s = -2; s < 20; s += 3) for (int k = 0; k < 30; k += 7) {
        if (s < 0 && n > 1) continue;
        double *d = calloc(30 * 20 + 30, 8), *c = calloc(30 * 30, 8);
        filled(d, 30 * 20 + 30), filled(c, n * k); f(n, s, k, d, (void *)c);
        shown("d", d, 30 * 20 + 30); free(d); free(c); }""", SANITIZED, **options)
    assert "(long)s >= (long)k" in made.text
    assert made.text.count("d[i * s + j] = d[i * s + j] * 0.5") >= 1


def test_no_other_branch_for_sizes_for_which_nothing_runs(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      A[i][j] += 1;"
    text = f"void f(int n, double A[n][n])\n{{\n#pragma scop\n  {body}\n#pragma endscop\n}}\n"
    (tmp_path / "f.c").write_text(text)
    made = source_to_source(tmp_path / "f.c", PipelineOptions(vector_bits=128))
    assert made.count("if (n >= 1) {") == 1
    assert body not in made
