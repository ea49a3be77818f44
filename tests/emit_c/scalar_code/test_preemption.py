"""Code that is stopped behind every tile and gone on with: the results of a run that nothing stops, bit for bit."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit, emit_function
from polysched.emit_c.splice import splice
from polysched.errors import UsageError
from polysched.scheduling import original, pluto
from polysched.scop import from_c_file, from_c_text
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load

KERNELS = Path(__file__).parents[2] / "kernels"
DTYPES = {"double": np.float64, "float": np.float32, "int": np.int32}
ARGUMENT = re.compile(r"(\w+) (\w+)((?:\[\w+\])*)")


class State(ctypes.Structure):
    _fields_ = [("stop", ctypes.c_void_p), ("done", ctypes.c_long), ("stopped", ctypes.c_int)]


def preemptible(text_or_path: str | Path, sizes: int | str, scheduler=pluto) -> tuple[str, tuple[str, ...]]:
    scop = from_c_file(str(text_or_path)) if isinstance(text_or_path, Path) else from_c_text(text_or_path)
    tiled = tile(scheduler(analyse(scop)), TilingOptions(sizes=sizes))  # type: ignore[arg-type]
    source = emit(tiled, options=EmitOptions(preemptible=True, vector_bits=256, verify_passes=True))
    original_text = text_or_path.read_text() if isinstance(text_or_path, Path) else text_or_path
    return splice(original_text, [source]), source.fallbacks


def arguments_of(text: str, size: int) -> tuple[str, list[object], list[np.ndarray]]:
    """The function of a kernel with arguments for it, all sizes near one another but not equal."""
    name, listed = re.search(r"void (\w+)\(([^)]*)\)", text).groups()  # type: ignore[union-attr]
    rng, sizes, values, arrays = np.random.default_rng(3), {}, [], []
    for c_type, own, extents in ARGUMENT.findall(listed):
        if extents:
            shape = [sizes[e] if e in sizes else int(e) for e in re.findall(r"\w+", extents)]
            made = rng.random(shape) if c_type != "int" else rng.integers(0, 4, shape)
            if len(shape) == 2 and shape[0] == shape[1] and c_type != "int":
                made = made + shape[0] * np.eye(shape[0])     # factorisations stay finite
            arrays.append(made.astype(DTYPES[c_type]))
            values.append(ctypes.c_void_p(arrays[-1].ctypes.data))
        elif c_type == "int":
            sizes[own] = 3 if own in ("steps", "sweeps") else size + len(sizes)
            values.append(ctypes.c_int(sizes[own]))
        else:
            values.append((ctypes.c_double if c_type == "double" else ctypes.c_float)(0.75))
    return name, values, arrays


def run(text: str, original_text: str, folder: Path, size: int, flag: int) -> tuple[list[np.ndarray], int]:
    """The arrays after all, and how often the function was called."""
    library = load(text, folder, strict=False)
    name, values, arrays = arguments_of(original_text, size)
    stop = ctypes.c_int(flag)
    state = State.in_dll(library, "polysched_preemption")
    state.stop, state.done, state.stopped = ctypes.addressof(stop), 0, 0
    before = 0
    for calls in range(1, 10_000):
        getattr(library, name)(*values)
        if not state.stopped:
            assert state.done == 0
            return arrays, calls
        assert state.done == before + 1, "a call does one tile"
        before = state.done
    raise AssertionError("the region never ends")


def original_results(text: str, folder: Path, size: int) -> list[np.ndarray]:
    name, values, arrays = arguments_of(text, size)
    getattr(load(text, folder, strict=False), name)(*values)
    return arrays


@pytest.mark.parametrize(("kernel", "sizes", "size"), [
    ("jacobi_2d", 8, 19), ("gemm", 8, 21), ("lu", 4, 14), ("seidel_2d", 4, 13), ("nussinov", 4, 13),
    ("correlation", 4, 13), ("mvt", "off", 9), ("durbin", "off", 9)])
def test_stopped_behind_every_tile(kernel, sizes, size, tmp_path: Path) -> None:
    path = KERNELS / f"{kernel}.c"
    text, fallbacks = preemptible(path, sizes)
    expected = original_results(path.read_text(), tmp_path, size)
    never, once = run(text, path.read_text(), tmp_path, size, 0)
    always, calls = run(text, path.read_text(), tmp_path, size, 1)
    assert once == 1
    assert calls > 3 or fallbacks, text
    for a, b, c in zip(expected, never, always, strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes(), text


def test_statements_beside_loops_are_tiles_of_their_own(tmp_path: Path) -> None:
    text = """void f(int n, double a[n], double b[n]) {
#pragma scop
  a[0] += 1.0;
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++)
      a[i] += a[j];
  b[0] += a[n - 1];
  b[0] *= 2.0;
#pragma endscop
}
"""
    made, _ = preemptible(text, "off", original)
    arrays, calls = run(made, text, tmp_path, 7, 1)
    assert calls == 3 + 6 + 1
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, original_results(text, tmp_path, 7), strict=True))


def test_a_long_loop_that_stands_alone_is_stopped_within(tmp_path: Path) -> None:
    """However long, it was one tile."""
    text = """void f(int n, double a[n], double b[n]) {
#pragma scop
  for (int i = 1; i < n; i++)
    a[i] += 0.5 * a[i - 1];
  for (int i = 0; i < n; i++)
    b[i] = b[i] * 3.0 + a[i];
#pragma endscop
}
"""
    made, _ = preemptible(text, "off", original)
    arrays, calls = run(made, text, tmp_path, 70_000, 1)
    expected = original_results(text, tmp_path, 70_000)
    assert calls >= 3 + 3 + 1
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, expected, strict=True))


def test_a_loop_that_data_ends_is_one_tile(tmp_path: Path) -> None:
    text = """void f(int n, int m, int a[n][m], int b[n], int going[1]) {
#pragma scop
  going[0] = 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      if (going[0])
        b[i] += a[i][j];
      if (going[0])
        going[0] = a[i][j] < 3;
    }
  b[0] += 1;
#pragma endscop
}
"""
    made, _ = preemptible(text, "off", original)
    arrays, calls = run(made, text, tmp_path, 9, 1)
    assert calls == 3 + 1, made
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, original_results(text, tmp_path, 9), strict=True))


def test_variables_of_the_function_are_never_between_tiles(tmp_path: Path) -> None:
    text = """void f(int n, double a[n][n], double b[n]) {
  double sum, row[100];
#pragma scop
  sum = 0.0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum += a[i][j];
  for (int i = 0; i < n; i++)
    row[i] = sum * i;
  for (int i = 0; i < n; i++)
    b[i] = row[n - 1 - i] + sum;
#pragma endscop
}
"""
    made, fallbacks = preemptible(text, 4)
    arrays, calls = run(made, text, tmp_path, 9, 1)
    assert calls == 2, made
    assert any("is lost when the function returns" in f for f in fallbacks)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, original_results(text, tmp_path, 9), strict=True))


def test_values_of_the_regions_own_are_never_between_tiles(tmp_path: Path) -> None:
    text = """void f(int n, double a[n][n], double b[n][n]) {
#pragma scop
  double kept[n];
  for (int i = 0; i < n; i++)
    kept[i] = a[i][0] * 2.0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] += kept[j] * a[j][i];
#pragma endscop
}
"""
    made, fallbacks = preemptible(text, 4)
    arrays, calls = run(made, text, tmp_path, 9, 1)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, original_results(text, tmp_path, 9), strict=True))
    assert (calls > 2) != any("stopped nowhere: kept" in f for f in fallbacks), made


def test_a_function_that_is_emitted_is_stopped_too(tmp_path: Path) -> None:
    scop = from_c_file(str(KERNELS / "gemm.c"))
    tiled = tile(pluto(analyse(scop)), TilingOptions(sizes=8))
    made = emit_function(tiled, name="gemm", options=EmitOptions(preemptible=True, vector_bits=128))
    assert made.text.startswith("#ifndef POLYSCHED_PREEMPTION")
    assert made.source.teams == 0
    assert "omp parallel" not in made.text


def test_traced_code_is_not_stopped() -> None:
    with pytest.raises(UsageError, match="code that is traced cannot be stopped"):
        EmitOptions(preemptible=True, trace="visit")
