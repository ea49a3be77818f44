"""Whole kernels and random programs: the compiled code against plain Python."""

import copy
import inspect
from typing import Any

import numpy as np
import pytest

import polysched
from tests.scop.python_frontend.test_random_programs import SIZE, Generator, compiled
from tests.scop.test_front_ends_agree import as_python, module_of, random_arrays


def compare(function: Any, arguments: list[Any], options: polysched.PipelineOptions | None = None) -> None:
    expected, found = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        function(*expected)
    polysched.kernel(function, options=options)(*found)
    for a, b in zip(expected, found, strict=True):
        tolerance = 1e-3 if getattr(a, "dtype", None) == np.float32 else 1e-8
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["durbin", "fir_decimate", "nussinov", "row_statistics", "smooth_border"])
def test_kernels(name: str) -> None:
    function, scop = getattr(module_of(name), name), as_python(name)
    sizes = {p.name: 17 + position for position, p in enumerate(scop.parameters)}
    arrays = random_arrays(scop, sizes, np.random.default_rng(1))
    values: dict[str, Any] = {n: a if a.ndim else a[()] for n, a in arrays.items()} | sizes
    compare(function, [values[n] for n in inspect.signature(function).parameters])


@pytest.mark.parametrize("seed", range(100, 106))
def test_random_programs(seed: int) -> None:
    program = compiled(Generator(seed).function(), f"<compiled {seed}>")
    rng = np.random.default_rng(seed)
    arguments = [rng.random(SIZE), rng.random((SIZE, SIZE)), int(rng.integers(3, 8))]
    try:
        with np.errstate(all="ignore"):
            program(*copy.deepcopy(arguments))
    except (IndexError, ValueError) as error:
        pytest.skip(f"the program leaves its arrays or reads a name too early: {error}")
    compare(program, arguments, polysched.PipelineOptions(tile=4))


def test_a_program_that_does_nothing() -> None:
    def nothing(x, n):
        for i in range(n, 0):
            x[i] = 1
    compare(nothing, [np.zeros(4), 3])
