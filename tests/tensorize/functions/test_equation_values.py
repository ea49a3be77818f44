"""Equations of a described function, evaluated from their own value, leave the arrays that gcc's code leaves."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import BudgetExceededError
from polysched.target import find_compiler
from polysched.tensorize.description.library_function import Variant
from polysched.tensorize.functions.described import described
from polysched.tensorize.functions.emulated_function import emulated_function, executed
from polysched.tensorize.functions.equation_values import EquationValues

HEADERS = "#include <math.h>\n#include <stdint.h>\n"
TEXTS = {
    "prefix": """void prefix(int n, int32_t *y, const int8_t *x) {
    y[0] = x[0];
    for (int i = 1; i < n; i++) y[i] = y[i - 1] * 3 - x[i]; }""",
    "rows": """void rows(int n, int m, float y[n], const float a[n][m]) {
    for (int i = 0; i < n; i++) { float s = 0.5f; for (int k = 0; k < m; k++) s = fmaf(a[i][k], a[i][m - 1 - k], s);
        y[i] = s > 1.0f ? sqrtf(s) : -s; } }""",
    "cut": """void cut(int n, int8_t *y, const int16_t *x, uint16_t w) {
    for (int i = 0; i < n; i++) { int t = x[i] * w >> 3; if (t > 127) t = 127;
        y[i] = (int8_t)(t % 100 - (x[i] < 0)); } }""",
    "turned": """void turned(int n, int32_t *y, int32_t *z) {
    for (int i = n - 1; i >= 0; i--) { z[i] = y[n - 1 - i] + (int32_t)i; y[i] = ~z[i] ^ (z[i] << 3); } }"""}
SIZES = {"n": 6, "m": 5}


def operands(name: str) -> dict[str, np.ndarray]:
    """Sizes, numbers and arrays by the names of the parameters, in their order."""
    chooser = np.random.default_rng(11)
    arrays = {"prefix": ("y int32, x int8",), "rows": ("y float32, a float32",), "cut": ("y int8, x int16, w uint16",),
              "turned": ("y int32, z int32",)}[name][0]
    found: dict[str, np.ndarray] = {}
    for part in arrays.split(", "):
        own, dtype = part.split()
        shape = (6, 5) if own == "a" else () if own == "w" else (6,)
        drawn = chooser.integers(-120, 120, shape)
        found[own] = np.array(drawn / 64 if dtype == "float32" else np.abs(drawn) if own == "w" else drawn, dtype)
    return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("functions")
    (folder / "f.c").write_text(HEADERS + "\n".join(TEXTS.values()))
    done = find_compiler().run(["-O0", "-fwrapv", "-ffp-contract=off", "-w", "-shared", "-fPIC", str(folder / "f.c"),
                                "-o", str(folder / "f.so"), "-lm"])
    assert not done.returncode, done.stderr
    return ctypes.CDLL(str(folder / "f.so"))


def by_gcc(library: ctypes.CDLL, name: str, given: dict[str, np.ndarray]) -> None:
    head = TEXTS[name][TEXTS[name].index("(") + 1:TEXTS[name].index(")")]
    names = [p.split("[")[0].split()[-1].lstrip("*") for p in head.split(",")]
    getattr(library, name)(*(ctypes.c_int(SIZES[n]) if n in SIZES else ctypes.c_int(int(given[n]))
                             if given[n].ndim == 0 else ctypes.c_void_p(given[n].ctypes.data) for n in names))


@pytest.mark.parametrize("name", TEXTS)
def test_equations_leave_what_compiled_code_leaves(name: str, library: ctypes.CDLL) -> None:
    variant = Variant(TEXTS[name])
    sizes = {p.name: SIZES[p.name] for p in variant.scop.parameters}
    given = operands(name)
    found = EquationValues(described(variant), sizes).run(given)
    by_gcc(library, name, given)
    for array, values in found.items():
        assert values.tobytes() == given[array].tobytes(), array


@pytest.mark.parametrize("name", TEXTS)
def test_the_syntax_tree_leaves_what_compiled_code_leaves(name: str, library: ctypes.CDLL) -> None:
    given = operands(name)
    sizes = {n: np.array([v], np.int32) for n, v in SIZES.items() if f"int {n}" in TEXTS[name].split("{")[0]}
    numbers = {n: a.reshape(1) if a.ndim == 0 else a for n, a in given.items()}
    found = executed(emulated_function(Variant(TEXTS[name])), sizes | numbers)
    by_gcc(library, name, given)
    for array, values in given.items():
        assert found[array].reshape(values.shape).tobytes() == values.tobytes(), array


def test_elements_lie_in_rows_and_every_array_has_the_length_that_is_reached() -> None:
    values = EquationValues(described(Variant(TEXTS["rows"])), {"n": 3, "m": 4})
    assert values.position("a", (2, 1)) == 9
    assert {n: values.lengths[n] for n in ("a", "y")} == {"a": 12, "y": 3}


def test_texts_with_too_many_instances_are_refused() -> None:
    with pytest.raises(BudgetExceededError, match="the text executes more than 20000 statements"):
        EquationValues(described(Variant(TEXTS["rows"])), {"n": 300, "m": 300})
