"""Instructions that cut a part of their sum (`vpmaddubsw`): used where the program's values do not get there."""

from pathlib import Path

import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.description.contraction import Limit
from polysched.tensorize.emission import EmissionOptions, emit_match
from tests.tensorize.compiled import call, compiled


def product(left: str, right: str = "b[k][j]") -> Scop:
    return from_c_text(f"""#include <stdint.h>
void f(int c[5][19], uint8_t a[5][13], int8_t b[13][19]) {{
#pragma scop
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 19; j++)
            for (int k = 0; k < 13; k++)
                c[i][j] += {left} * {right};
#pragma endscop
}}
""")


def test_what_is_cut_is_derived_from_the_text() -> None:
    contraction = find_intrinsic("vpmaddubsw").contraction
    (limit,) = contraction.limits
    assert isinstance(limit, Limit)
    assert (limit.addends, limit.low, limit.high) == (2, -32768, 32767)
    assert contraction.finish is None
    assert not find_intrinsic("vpdpbusds").contraction.limits   # that one clamps the sum itself


BOUNDED = {"(a[i][k] & 127)": lambda a: a & 127, "(a[i][k] > 127 ? 127 : a[i][k])": lambda a: np.minimum(a, 127),
           "(a[i][k] >> 1)": lambda a: a >> 1, "(a[i][k] % 128)": lambda a: a % 128}


@pytest.mark.parametrize("left", BOUNDED)
def test_values_below_128_are_exact(left: str, tmp_path: Path) -> None:
    """The emulator cuts as the instruction does; nothing gets there."""
    chooser = np.random.default_rng(3)
    a = chooser.integers(0, 255, (5, 13), endpoint=True).astype(np.uint8)
    b = chooser.integers(-128, 127, (13, 19), endpoint=True).astype(np.int8)
    a[:, :4], b[:4] = 255, -128
    a[:, 6:9], b[6:9] = 127, 127
    expected = BOUNDED[left](a).astype(np.int32) @ b.astype(np.int32)
    found = match(product(left), find_intrinsic("vpmaddubsw")).matches
    assert found
    functions = [emit_match(m, f"f{at}", EmissionOptions(emulated=True)) for at, m in enumerate(found)]
    library = compiled(functions, tmp_path)
    for function in functions:
        arrays = {"a": a, "b": b, "c": np.zeros((5, 19), np.int32)}
        call(library, function, arrays)
        assert np.array_equal(arrays["c"], expected)


def test_a_pair_of_products_that_is_cut_is_the_witness() -> None:
    found = match(product("a[i][k]"), find_intrinsic("vpmaddubsw"))
    assert not found.count
    assert any("cuts the sum of 2 products to -32768 to 32767: a[i][k] = 255 and b[k][j] = -128 make -65280" in f
               for f in found.explanations[0].conflicts)
    assert "& 127" in str(found.explanations[0])


@pytest.mark.parametrize(("left", "right", "count"), [
    ("(a[i][k] % 129)", "b[k][j]", True), ("(a[i][k] % 130)", "b[k][j]", False),          # 2 * 128 * -128 is -32768
    ("(a[i][k] & 255)", "(b[k][j] >> 1)", True), ("a[i][k]", "(b[k][j] % 65)", True),     # 2 * 255 * 64 is 32640
    ("a[i][k]", "(b[k][j] % 66)", False)])
def test_both_ranges_count(left: str, right: str, count: bool) -> None:
    assert bool(match(product(left, right), find_intrinsic("vpmaddubsw")).count) == count
