"""Maps and sets give what their text says, and what is not affine is refused."""

import itertools

import pytest

from polysched.errors import SourceSyntaxError
from polysched.scop.construction.values import constant_of, number
from polysched.scop.mlir_frontend.affine_forms import AffineMap, read_map, read_set
from polysched.scop.mlir_frontend.words import Words


def map_of(text: str) -> AffineMap:
    return read_map(Words(text, "t.mlir"))


@pytest.mark.parametrize(("text", "function"), [
    ("(d0, d1)[s0] -> (d0 + 2 * d1 - s0)", lambda d0, d1, s0: d0 + 2 * d1 - s0),
    ("(d0, d1)[s0] -> (-(d0 - d1) * 3)", lambda d0, d1, s0: -(d0 - d1) * 3),
    ("(d0, d1)[s0] -> (d0 - d1 - s0)", lambda d0, d1, s0: d0 - d1 - s0),
    ("(d0, d1)[s0] -> ((d0 - d1) floordiv 3 + d0 mod 4)", lambda d0, d1, s0: (d0 - d1) // 3 + d0 % 4),
    ("(d0, d1)[s0] -> (d0 ceildiv 2 - -1)", lambda d0, d1, s0: -(-d0 // 2) + 1),
])
def test_maps(text: str, function: object) -> None:
    assert callable(function)
    for values in itertools.product((-5, 0, 3), repeat=3):
        (found,) = map_of(text).of([number(v) for v in values])
        assert constant_of(found) == function(*values)


@pytest.mark.parametrize(("text", "holds"), [
    ("(d0)[s0] : (d0 - s0 >= 0, d0 mod 2 == 0)", lambda d0, s0: d0 >= s0 and d0 % 2 == 0),
    ("(d0)[s0] : (d0 <= s0)", lambda d0, s0: d0 <= s0),
    ("(d0)[s0] : (0 == d0 + s0)", lambda d0, s0: d0 + s0 == 0),
])
def test_sets(text: str, holds: object) -> None:
    assert callable(holds)
    found = read_set(Words(text, "t.mlir"))
    for values in itertools.product((-3, 0, 2), repeat=2):
        assert (not found.of([number(v) for v in values]).is_empty()) == holds(*values)


@pytest.mark.parametrize(("text", "message"), [
    ("(d0) -> (d1)", "one of d0 was expected\n  witness: `d1`"),
    ("(d0, d0) -> (d0)", "have one name"),
    ("(d0)[s0] -> ((d0 + 1) * (s0 + 1))", "a product of two expressions"),
    ("(d0)[s0] -> (d0 floordiv s0)", "no positive number"),
    ("(d0) -> (d0 mod 0)", "no positive number"),
    ("(d0) -> (d0", "`,` was expected"),
    ("(d0) -> (" + "(" * 300 + "d0", "brackets inside each other"),
    ("(d0) -> (" + "-" * 300 + "d0", "brackets inside each other"),
])
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(SourceSyntaxError, match=message):
        map_of(text)
