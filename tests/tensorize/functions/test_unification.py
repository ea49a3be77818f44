"""What is taken for the same value of integers is the same by gcc, however types are mixed in sums and products."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.target import find_compiler
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.equality.evaluation import evaluate
from polysched.tensorize.functions.function_match import FunctionMatch, match_function
from polysched.tensorize.matching.facts import Numerics

TYPES = {"q": "int64_t", "w": "uint32_t", "v": "uint32_t", "x": "int32_t", "s": "int8_t"}
COUNT = 64
Compiled: TypeAlias = Callable[..., object]
SAME = [("x - s", "x + -s"), ("q * w * v", "v * (w * q)"), ("x * x * 3 - x", "-x + x * (3 * x)"),
        ("q + w - x", "q - x + w"), ("w * -q", "-(w * q)"), ("q - w", "q + -(int64_t)w")]
DIFFERENT = [   # the sums and products wrap in other places
    ("q + -w", "q - w"), ("q + -x", "q - x"), ("w * v * q", "q * w * v"), ("q * w * v", "w * v * q"),
    ("w + v + q", "w + q + v"), ("q + w + -x", "q + (w - x)"), ("-w * q", "-(w * q)"), ("q - w", "q + -w")]


def operands(expression: str) -> list[str]:
    return [n for n in TYPES if n in expression.replace("int64_t", "").replace("int8_t", "")]


def elementwise(name: str, expression: str, *, qualifier: str = "") -> str:
    """A function that computes an expression of the elements at one place."""
    parameters = ", ".join(f"{qualifier}{TYPES[n]} {n}[n]" for n in operands(expression))
    indexed = "".join(f"{c}[i]" if c in TYPES and not expression[at + 1:at + 2].isalnum() and
                      not expression[at - 1:at].isalnum() else c for at, c in enumerate(expression))
    return (f"void {name}(int n, int64_t o[n], {parameters}) {{\n#pragma scop\n"
            f"for (int i = 0; i < n; i++) o[i] = {indexed};\n#pragma endscop\n}}\n")


def matches(theirs: str, ours: str, numerics: Numerics | None = None) -> tuple[FunctionMatch, ...]:
    text = elementwise("fn", theirs, qualifier="const ").replace("#pragma scop", "").replace("#pragma endscop", "")
    function = LibraryFunction(name="fn", variants=(Variant(text),), inline=True)
    scop = from_c_text("#include <stdint.h>\n" + elementwise("f", ours))
    return match_function(analysed(scop, for_instructions=True).dependences, function, numerics).matches


def columns() -> dict[str, np.ndarray]:
    chooser = np.random.default_rng(1)
    found = {}
    for name, c_type in TYPES.items():
        dtype = np.dtype(c_type.removesuffix("_t"))
        ends = np.iinfo(dtype)
        found[name] = chooser.integers(ends.min, ends.max, COUNT, dtype=dtype, endpoint=True)
        found[name][:40] = chooser.choice(np.array([ends.min, ends.max, 0, 1, 2, ends.max // 2 + 1], dtype), 40)
    return found


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Compiled]:
    """Every expression as a function of a library."""
    folder: Path = tmp_path_factory.mktemp("expressions")
    expressions = list(dict.fromkeys(itertools.chain(*SAME, *DIFFERENT)))
    (folder / "e.c").write_text("#include <stdint.h>\n" + "".join(
        elementwise(f"e{at}", e) for at, e in enumerate(expressions)))
    done = find_compiler().run(["-O1", "-fwrapv", "-w", "-shared", "-fPIC", str(folder / "e.c"), "-o",
                                str(folder / "e.so")])
    assert not done.returncode, done.stderr
    library = ctypes.CDLL(str(folder / "e.so"))
    return {e: getattr(library, f"e{at}") for at, e in enumerate(expressions)}


def values(function: Compiled, arrays: list[np.ndarray]) -> list[int]:
    result = np.zeros(COUNT, np.int64)
    function(COUNT, *(ctypes.c_void_p(a.ctypes.data) for a in (result, *arrays)))
    return result.tolist()


@pytest.mark.parametrize(("theirs", "ours"), SAME)
def test_other_words_for_the_same_are_found(theirs: str, ours: str, compiled: dict[str, Compiled]) -> None:
    given, (found,) = columns(), matches(theirs, ours)
    handed = [given[found.state.operands[n].array] for n in operands(theirs)]
    assert values(compiled[theirs], handed) == values(compiled[ours], [given[n] for n in operands(ours)])


@pytest.mark.parametrize(("theirs", "ours"), DIFFERENT)
def test_sums_and_products_that_wrap_elsewhere_are_not_the_same(
        theirs: str, ours: str, compiled: dict[str, Compiled]) -> None:
    given = [columns()[n] for n in operands(ours)]
    assert values(compiled[theirs], given) != values(compiled[ours], given)
    assert matches(theirs, ours) == ()


def test_floats_change_their_order_only_where_that_is_allowed() -> None:
    parameters = "int n, float o[n], const float a[n], const float b[n], const float c[n]"
    function = LibraryFunction(name="fn", inline=True, variants=(Variant(
        f"void fn({parameters}) {{ for (int i = 0; i < n; i++) o[i] = a[i] + b[i] + c[i]; }}"),))
    for body, strictly, freely in (("a[i] + b[i] + c[i]", 1, 1), ("c[i] + (b[i] + a[i])", 1, 1),
                                   ("(a[i] + b[i]) - c[i]", 0, 0)):
        scop = from_c_text(f"void f({parameters.replace('const ', '')}) {{\n#pragma scop\n"
                           f"for (int i = 0; i < n; i++) o[i] = {body};\n#pragma endscop\n}}\n")
        dependences = analysed(scop, for_instructions=True).dependences
        for numerics, count in ((Numerics(reassociate=False), strictly), (Numerics(), freely)):
            assert len(match_function(dependences, function, numerics).matches) == count, body


@pytest.mark.parametrize(("product", "expected"), [("q[i] * W * V", 6 << 31), ("q[i]", 1), ("-q[i]", -1)])
def test_a_number_handed_over_is_computed_in_the_type_of_the_product(product: str, expected: int) -> None:
    text = ("void fn(int n, int64_t o[n], const int64_t q[n], int64_t c) "
            "{ for (int i = 0; i < n; i++) o[i] = c * q[i]; }")
    function = LibraryFunction(name="fn", inline=True, variants=(Variant(text),))
    scop = from_c_text(f"#include <stdint.h>\nvoid f(int n, int64_t o[n], int64_t q[n], uint32_t W, uint32_t V) {{\n"
                       f"#pragma scop\nfor (int i = 0; i < n; i++) o[i] = {product};\n#pragma endscop\n}}\n")
    (found,) = match_function(analysed(scop, for_instructions=True).dependences, function).matches
    number, scalars = found.state.numbers["c"], {"W": 1 << 31, "V": 6}
    given = {f"@{at}": np.array([scalars[name]], np.uint32) for at, (name, _) in enumerate(number.elements)}
    assert np.atleast_1d(evaluate(number.value, given)).tolist() == [expected]
