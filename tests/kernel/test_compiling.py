"""What compiles is told by what it is: a path, a Scop, a tensor expression, a kernel, or a Python function."""

from pathlib import Path

import pytest

import polysched
from polysched.errors import UsageError
from polysched.kernel import CFileFunction, Kernel, ScopFunction
from polysched.scop.expression import build
from tests.kernel.products import product_of


def double(x):
    x *= 2


def test_every_kind_of_program_has_its_function() -> None:
    assert isinstance(polysched.compile(double), Kernel)
    assert isinstance(polysched.compile(product_of()), ScopFunction)
    assert isinstance(polysched.compile([product_of()]), ScopFunction)
    assert isinstance(polysched.compile(build(product_of())), ScopFunction)


def test_a_path_may_be_a_text(one: Path) -> None:
    for path in (one, str(one)):
        found = polysched.compile(path)
        assert isinstance(found, CFileFunction)
        assert list(found.__signature__.parameters) == ["n", "m", "C", "A", "B"]


def test_a_kernel_keeps_its_fallback_and_its_options_unless_others_are_given() -> None:
    kernel = polysched.kernel(fallback=True)(double)
    assert polysched.compile(kernel) is kernel
    options = polysched.PipelineOptions(tile="off")
    other = polysched.compile(kernel, options=options)
    assert isinstance(other, Kernel)
    assert (other.fallback, other.options, other.function) == (True, options, double)
    assert kernel.options == polysched.PipelineOptions()


@pytest.mark.parametrize("program", [None, 3, (), [], [3], {"x": 1}], ids=repr)
def test_what_is_no_program_is_refused(program: object) -> None:
    with pytest.raises(UsageError, match="does not compile"):
        polysched.compile(program)


@pytest.mark.parametrize("program", [double, build(product_of()), product_of()], ids=["function", "scop", "tensor"])
def test_only_a_c_file_has_functions_to_name(program: object) -> None:
    with pytest.raises(UsageError, match="function= names a function of a C file"):
        polysched.compile(program, function="f")
