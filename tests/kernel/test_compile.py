"""`polysched.compile`: functions become kernels, and what compiles shows itself in one line."""

from pathlib import Path

import numpy as np

import polysched
from polysched.kernel import Kernel
from tests.kernel.products import product_of, whole


def test_kernels_and_functions_are_kernels() -> None:
    def double(x):
        x *= 2
    for program in (double, polysched.kernel(double)):
        call = polysched.compile(program)
        assert isinstance(call, Kernel)
        x = whole(5)
        expected = x * 2
        call(x)
        np.testing.assert_array_equal(x, expected)
    kernel = polysched.kernel(double)
    assert polysched.compile(kernel) is kernel
    options = polysched.PipelineOptions(parallel=False)
    assert polysched.compile(kernel, options=options).options == options


def test_a_compiled_function_shows_its_name_and_its_arguments_in_one_line(one: Path) -> None:
    for function in (polysched.compile(one), polysched.compile(product_of())):
        assert repr(function).startswith("<polysched.compile: ")
        assert "(" in repr(function)
        assert "\n" not in repr(function)
