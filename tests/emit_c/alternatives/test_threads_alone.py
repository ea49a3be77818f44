"""Loops that gain by threads alone: the original runs where these do not pay, and no step is divided by for that."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import polysched
from polysched.pipeline import transform_file
from tests.emit_c.compiled import load

COUNTS = """void f(int n, int *d) {
  int i, j;
  for (i = 1; i <= n; i++)
    for (j = i; j <= n; j += i)
      d[j]++;
}
"""
SIEVE = """void f(int n, int *d) {
  int i, j;
  for (i = 2; i * i <= n; i++)
    if (d[i] == 0)
      for (j = i * i; j <= n; j += i)
        d[j] = 1;
}
"""
FLAGS = ("-O2", "-w")


def made(text: str, folder: Path, **options: object) -> str:
    path = folder / "file.c"
    path.write_text(text)
    return transform_file(path, polysched.PipelineOptions(autodetect=True, **options)).text


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("program", [COUNTS, SIEVE])
def test_steps_of_an_outer_counter_run_as_written_where_threads_do_not_pay(program: str, safe: bool,
                                                                           tmp_path: Path) -> None:
    text = made(program, tmp_path, safe=safe)
    general = text.split("} else {\n")[-2]
    assert "omp parallel for" in text
    assert "65535 * (long)i" in text
    assert "simd" not in general
    new, old = load(text, tmp_path, flags=FLAGS), load(program, tmp_path, flags=FLAGS)
    for n in (0, 1, 2, 3, 97, 200_003):
        results = []
        for library in (new, old):
            d = np.zeros(n + 2, np.int32)
            library.f(ctypes.c_int(n), ctypes.c_void_p(d.ctypes.data))
            results.append(d)
        np.testing.assert_array_equal(*results)


def test_threads_start_without_another_test(tmp_path: Path) -> None:
    """The loop stands there on threads and as written, not a third time."""
    text = made("void f(int n, int s, double *x) {\n  for (int i = 0; i < n; i += s)\n    x[i] *= 2;\n}\n", tmp_path)
    general = text[text.rindex(" else {\n    if ("):]
    assert general.count("omp parallel for") == 1
    assert general.count("for (") == 2


def test_what_gains_in_lanes_keeps_its_own_code(tmp_path: Path) -> None:
    text = made("void f(int n, double *restrict x) {\n  for (int i = 0; i < n; i++)\n    x[i] *= 2;\n}\n", tmp_path)
    assert text.count("x[i] *= 2") == 2
    assert "for (int i" not in text
