"""Source of Python functions: where it comes from, and carets under the place at fault."""


import numpy as np
import pytest

from polysched.errors import SourceSyntaxError, UnsupportedScopError
from polysched.scop.python_frontend import from_python
from tests.scop.python_frontend.running import extracted


def product_subscript(x):
    for i in range(len(x)):
        for j in range(len(x)):
            x[i * j] = 0


X = np.zeros(5)


def test_the_caret_stands_under_the_place_at_fault() -> None:
    with pytest.raises(UnsupportedScopError) as caught:
        extracted(product_subscript, X)
    line, carets = caught.value.witness.splitlines()[1:]
    assert line[carets.index("^"):carets.rindex("^") + 1] == "i * j"
    assert caught.value.where.line == product_subscript.__code__.co_firstlineno + 3


def test_functions_without_source_are_refused() -> None:
    with pytest.raises(SourceSyntaxError, match="the source of len cannot be read"):
        from_python(len, X)
    with pytest.raises(SourceSyntaxError, match="is not defined by a plain def"):
        from_python(lambda x: x, X)
