"""Words of MLIR, their places, and what is refused."""

import pytest

from polysched.errors import SourceSyntaxError
from polysched.scop.mlir_frontend.words import MOST_NESTED, Words


def all_words(text: str) -> list[str]:
    words = Words(text, "t.mlir")
    found = []
    while words.word:
        found.append(words.next())
    return found


@pytest.mark.parametrize(("text", "expected"), [
    ("%0:2 = affine.load %A[%i + 1]", ["%0:2", "=", "affine.load", "%A", "[", "%i", "+", "1", "]"]),
    ("-> 1.5e-3 0xFF // what follows\n@f", ["->", "1.5e-3", "0xFF", "@f"]),
    ('"a \\" b" #map1 ^bb0', ['"a \\" b"', "#map1", "^bb0"]),
    ("", []), (" // nothing", []),
])
def test_words(text: str, expected: list[str]) -> None:
    assert all_words(text) == expected


def test_the_place_of_a_refusal() -> None:
    words = Words("a\n\n  b", "t.mlir")
    words.next()
    with pytest.raises(SourceSyntaxError, match=r"t.mlir:3: `c` was expected\n  witness: `b`"):
        words.expect("c")


@pytest.mark.parametrize(("text", "message"), [
    ("a ; b", "begins no word of MLIR\n  witness: `;`"),
    ("x " + "(" * 200, "brackets inside each other"),
    ("x 1.5", "a whole number\n  witness: `1.5`"),
    ("x", "a whole number\n  witness: the text ends here"),
    ("x " + "9" * 5000, "a number has more than 40 digits"),
])
def test_refusals(text: str, message: str) -> None:
    def read() -> None:
        words = Words(text, "t.mlir")
        words.next()
        if words.word == "(":
            for _ in range(MOST_NESTED + 1):
                words.deeper()
        words.integer("a number")

    with pytest.raises(SourceSyntaxError, match=message):
        read()


def test_zeros_ahead_of_a_number_say_nothing() -> None:
    words = Words("010 -007 0x1F", "t.mlir")
    assert [words.integer("a number") for _ in range(3)] == [10, -7, 31]


def test_balanced_brackets() -> None:
    words = Words("<4x<?xf32>, (a) -> b> rest", "t.mlir")
    assert words.balanced("<", ">") == "4x<?xf32>, (a) -> b"
    assert words.word == "rest"
    with pytest.raises(SourceSyntaxError, match="`>` was expected"):
        Words("<4x8", "t.mlir").balanced("<", ">")
