"""Tests of overlap for arrays whose subscripts are read from arrays: against the file as written."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.errors import UnsupportedScopError

OPTIONS = polysched.PipelineOptions(autodetect=True, tensorize=None)
GATHER = "for (int i = 0; i < n; i++) A[i] = B[index[i]] * 2 + 1;"
PROGRAMS = {
    "gather": GATHER,
    "affine of what is read": "for (int i = 0; i < n; i++) A[i] = B[2 * index[i] + 1] + B[i];",
    "through two arrays": "for (int i = 0; i < n; i++) A[i] = B[index[index[i] + 4]];",
    "rows": "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) A[3 * i + j] += B[index[i] * 3 + j];",
    "every other": "for (int i = 0; i < n - 1; i += 2) { A[i] = B[index[i]]; A[i + 1] = 0.5 * B[index[i]]; }",
}
HEAD = "void f(int n, double *A, const double *B, const int *index) {\n"


def written(tmp_path: Path, loops: str) -> Path:
    path = tmp_path / "file.c"
    path.write_text(f"{HEAD}{loops}\n}}\n")
    return path


def compiled(path: Path, text: str, name: str):
    source = path.with_name(f"{name}.c")
    source.write_text(text)
    library = source.with_suffix(".so")
    subprocess.run(["gcc", "-O2", "-fopenmp", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).f


def run(function, memory: np.ndarray, a: int, b: int, index: np.ndarray) -> np.ndarray:
    memory = memory.copy()
    start = memory.ctypes.data
    function(len(index) - 8, ctypes.c_void_p(start + 8 * a), ctypes.c_void_p(start + 8 * b),
             ctypes.c_void_p(index.ctypes.data))
    return memory


@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_overlaps_the_results_are_those_of_the_source(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, PROGRAMS[name])
    text = polysched.source_to_source(path, OPTIONS)
    assert "_low" in text
    functions = compiled(path, path.read_text(), "original"), compiled(path, text, "transformed")
    random = np.random.default_rng(4)
    memory = random.integers(-9, 9, 3000).astype("float64")
    for n in (0, 1, 7, 33, 64):
        index = random.integers(-4, 40, n + 8).astype("int32")
        for a, b in ((1000, 2000), (1000, 1000), (1000, 1010), (1010, 1000), (1000, 900), (1000, 995)):
            results = [run(f, memory, a, b, index.clip(0, n + 3) if "index[index" in PROGRAMS[name] else index)
                       for f in functions]
            np.testing.assert_array_equal(*results, err_msg=f"n = {n}, A at {a}, B at {b}")


def test_each_range_is_computed_once(tmp_path: Path) -> None:
    path = written(tmp_path, "for (int t = 0; t < 9; t++) for (int i = 0; i < n; i++) "
                             "A[i] = A[i] + B[index[i]] * B[index[i]];")
    text = polysched.source_to_source(path, OPTIONS)
    before = text[:text.index("if (")]
    assert before.count("= index[i];") == 1
    assert " t " not in before


@pytest.mark.parametrize("loops", [
    "for (int i = 0; i < n; i++) if (A[i] > 0) A[i] = B[index[i]];",
    "for (int i = 0; i < n; i++) A[i] = i % 3 == 0 && A[i] > 1 ? B[index[i]] : 0;",
    "for (int i = 0; i < n; i++) while (A[i] > 0) { A[i] = B[index[i]]; }",
])
def test_what_is_read_on_a_condition_is_not_read_ahead(tmp_path: Path, loops: str) -> None:
    with pytest.raises(UnsupportedScopError, match="no test can tell it"):
        polysched.source_to_source(written(tmp_path, loops), OPTIONS)


def test_an_index_array_that_is_written_is_not_read_ahead(tmp_path: Path) -> None:
    path = tmp_path / "file.c"
    path.write_text("void f(int n, double *A, const double *B, int *index) {\n"
                    "for (int i = 0; i < n; i++) { index[i] = i / 2; A[i] = B[index[i]]; }\n}\n")
    with pytest.raises(UnsupportedScopError, match="no test can tell it"):
        polysched.source_to_source(path, OPTIONS)


def test_nothing_is_tested_for_loops_that_stay_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "for (int i = 0; i < n; i++) A[index[i]] = B[i] + 1;")
    assert polysched.source_to_source(path, OPTIONS) == path.read_text()


@pytest.mark.parametrize("set_first", ["other[i] %= 16;", "wide[i] = i;"])
def test_a_subscript_of_a_subscript_that_the_region_may_set_is_not_read_ahead(tmp_path: Path, set_first: str) -> None:
    path = tmp_path / "file.c"
    path.write_text("void f(int n, double *A, const double *B, const int *index, int *other, unsigned *wide) {\n"
                    f"for (int i = 0; i < n; i++) {{ {set_first} A[i] = B[index[other[i]]] * 2; }}\n}}\n")
    with pytest.raises(UnsupportedScopError, match="no test can tell it"):
        polysched.source_to_source(path, OPTIONS)


def test_loops_with_one_iteration_are_read_ahead(tmp_path: Path) -> None:
    path = written(tmp_path, "for (int k = 0; k < n; k++) for (int i = 5; i < 6; i++) "
                             "A[k] += B[index[i] + k] + B[index[i + 1]];")
    text = polysched.source_to_source(path, OPTIONS)
    functions = compiled(path, path.read_text(), "original"), compiled(path, text, "transformed")
    memory, index = np.arange(3000.0), np.arange(40, dtype="int32")
    for a, b in ((1000, 2000), (1000, 1000), (1003, 1000)):
        np.testing.assert_array_equal(*(run(f, memory, a, b, index) for f in functions))
