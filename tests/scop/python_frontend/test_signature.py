"""Arguments of Python functions: types, extents, and what does not fit."""

import re

import numpy as np
import pytest

from polysched.errors import PolyschedError, UnsupportedScopError, UsageError
from polysched.scop.python_frontend import from_python


def indirect(x, idx):
    for i in range(len(x)):
        x[idx[i]] = 0
        idx[i] = 0


X = np.zeros(5)


def test_types_must_come_from_somewhere() -> None:
    with pytest.raises(UnsupportedScopError, match="the type of x is unknown"):
        from_python(indirect)
    with pytest.raises(UnsupportedScopError, match="the argument idx is a str"):
        from_python(indirect, X, "text")
    with pytest.raises(UnsupportedScopError, match="the argument x is an array of"):
        from_python(indirect, np.zeros(3, "complex128"), X)


def test_arguments_must_fit_the_function() -> None:
    with pytest.raises(UsageError, match="missing a required argument: 'idx'"):
        from_python(indirect, X)


def bad_annotation(x: "float64[M * N]"):  # noqa: F821
    x[0] = 0


def strange_annotation(x: "float64['a']"):  # noqa: F821
    x[0] = 0


@pytest.mark.parametrize(("function", "problem"), [
    (bad_annotation, "`M * N` is no affine extent"), (strange_annotation, "`'a'` is no extent")])
def test_annotations_that_are_no_extents(function, problem: str) -> None:
    with pytest.raises(PolyschedError, match=re.escape(problem)):
        from_python(function)
