"""What OpenCL C spells otherwise, and what devices do not have."""

import pytest

from polysched.emit_gpu import emit_opencl
from polysched.errors import UnsupportedScopError
from tests.emit_gpu.emitted import emitted
from tests.gpu.mapped import mapped


def program(statement: str, declaration: str = "float A[n]") -> str:
    return (f"#include <math.h>\n#include <stdlib.h>\nint g(int);\nvoid f(int n, {declaration}) {{\n#pragma scop\n"
            f"  for (int i = 0; i < n; i++)\n    {statement}\n#pragma endscop\n}}\n")


@pytest.mark.parametrize(("statement", "words"), [
    ("A[i] = sqrtf(A[i]);", "A[x] = sqrt(A[x]);"),
    ("A[i] = fabsf(A[i]);", "A[x] = fabs(A[x]);"),
])
def test_functions_have_no_suffix(statement: str, words: str) -> None:
    assert words in emitted(program(statement)).program


@pytest.mark.parametrize("function", ["g", "floordiv"])
def test_functions_of_the_program_are_refused(function: str) -> None:
    text = program(f"A[i] = {function}(A[i], 3);", "int A[n]").replace("int g(int);", f"int {function}(int, int);")
    with pytest.raises(UnsupportedScopError, match=f"no device has the function {function}"):
        emit_opencl(mapped(text, pure=(function,)))


@pytest.mark.parametrize(("declaration", "words"), [
    ("long double A[n]", "no type long double"), ("_Float16 A[n]", "no type _Float16")])
def test_types_are_refused(declaration: str, words: str) -> None:
    with pytest.raises(UnsupportedScopError, match=words):
        emitted(program("A[i] = 1;", declaration))


@pytest.mark.parametrize("name", ["polysched_device_check", "polysched_kernels", "polysched_program_12",
                                  "POLYSCHED_OPENCL", "POLYSCHED_OPENCL_HOME", "POLYSCHED_DEVICE_STORE"])
def test_names_of_the_emitted_c_are_refused(name: str) -> None:
    with pytest.raises(UnsupportedScopError, match=f"{name} is a name of the C that is emitted"):
        emitted(f"int {name};\n" + program("A[i] = 1;"))


def test_other_names_with_the_prefix_are_kept() -> None:
    assert "polysched_mine" in emitted(program("polysched_mine[i] = 1;", "float polysched_mine[n]")).program
