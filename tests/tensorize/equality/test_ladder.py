"""The ladder that decides whether two bodies are the same function."""

import pytest

from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select
from polysched.scop.dtypes import INT32, UINT32
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Update
from polysched.tensorize.equality import Verdict, same_function

INPUTS = ("const int16_t a[1], const int16_t b[1], const uint8_t u[1], const int8_t s[1], const int32_t x[1], "
          "const int32_t y[1], const float f[1], const float g[1], const uint32_t w[1]")


def expression(text: str) -> Expr:
    for reference in ("a", "b", "u", "s", "x", "y", "f", "g", "w"):
        text = text.replace(f"${reference}", f"{reference}[0]")
    (update,) = parse(f"void p(int32_t out[1], {INPUTS}) {{ out[0] = ({text}) && 1; }}").body
    assert isinstance(update, Update)
    assert isinstance(update.value, Binary)   # an operand of && keeps its own type
    return update.value.left


EQUAL = [
    ("($a - $b) * ($a - $b)", "$a * $a - 2 * $a * $b + $b * $b", "normal form"),
    ("($u - 128) * $s", "$u * $s - 128 * $s", "normal form"),                    # a zero point folded out
    ("($x + $y) * 3", "$y * 3 + $x + $x + $x", "normal form"),
    ("$x < 0 ? 0 : $x", "0 <= $x ? $x : 0", "normal form"),                      # max in two spellings
    ("$x > $y ? $x : $y", "$y < $x ? $x : $y", "normal form"),
    ("(int16_t)($u * $s)", "(int16_t)($s * $u)", "normal form"),
    ("($u + 1) >> 1", "($u >> 1) + ($u & 1)", "exhaustive"),                     # rounding shift
    ("(int8_t)($s > 100 ? 100 : $s)", "(int8_t)($s >= 101 ? 100 : $s)", "exhaustive"),
    ("$x > 127 ? 127 : ($x < -128 ? -128 : $x)", "$x < -128 ? -128 : (127 < $x ? 127 : $x)", "SAT"),
    ("($x & $y) + ($x | $y)", "$x + $y", "SAT"),
    ("($x * $y & 7) + ($x * $y | 7)", "$y * $x + 7", "SAT, free products"),      # the product need not be understood
    ("($x + (1 << 3)) >> 4", "($x + 8) >> 4", "normal form"),                    # requantisation
    ("$x - ($x >> 31 & $x)", "$x < 0 ? 0 : $x", "SAT"),                          # relu in bit tricks
]


@pytest.mark.parametrize(("left", "right", "rung"), EQUAL)
def test_equal_in_other_words(left: str, right: str, rung: str) -> None:
    outcome = same_function(expression(left), expression(right))
    assert outcome.verdict is Verdict.EQUAL
    assert outcome.rung.startswith(rung)


DIFFERENT = [
    ("($a - $b) * ($a - $b)", "$a * $a - $a * $b + $b * $b"),
    ("$x > $y ? $x : $y", "$x > $y ? $y : $x"),
    ("($u + 1) >> 1", "$u >> 1"),
    ("(int16_t)($x * $y) + 0", "$x * $y"),
    ("$x < 0 ? 0 : $x", "$x <= 1 ? 0 : $x"),
    ("($x & $y) + ($x | $y)", "$x + $y + ($x == 12345)"),                        # one wrong point in 2^64
    ("$x < $w ? 1 : 0", "$x < (int32_t)$w ? 1 : 0"),                             # compared as unsigned
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_different_with_a_witness(left: str, right: str) -> None:
    outcome = same_function(expression(left), expression(right))
    assert outcome.verdict is Verdict.DIFFERENT
    assert "against" in outcome.witness


def test_calls_mean_what_operators_say() -> None:
    bits = Call("__builtin_popcount", (Load("w[0]", UINT32),), INT32)
    assert same_function(bits, expression("popcount_u32($w)")).verdict is Verdict.EQUAL
    word = Load("w[0]", UINT32)
    guarded = Select(word, Call("__builtin_clz", (word,), INT32), Literal("32", 32, INT32), INT32)
    assert same_function(guarded, expression("clz_u32($w)")).verdict is Verdict.EQUAL
    assert same_function(guarded, expression("ctz_u32($w)")).verdict is Verdict.DIFFERENT
    assert same_function(expression("abs($x)"), expression("$x > 0 ? $x : -$x")).verdict is Verdict.EQUAL
    assert same_function(expression("abs($x)"), expression("$x")).verdict is Verdict.DIFFERENT


def test_ranges_can_make_functions_equal() -> None:
    left, right = expression("$x > 255 ? 255 : $x"), expression("$x")
    assert same_function(left, right).verdict is Verdict.DIFFERENT
    assert same_function(left, right, ranges={"x[0]": (0, 255)}).verdict is Verdict.EQUAL


def test_ranges_may_be_those_of_64_bits() -> None:
    left, right = expression("$x & 255"), expression("$x & 127")
    whole = {"x[0]": (-(1 << 63), (1 << 63) - 1)}
    assert same_function(left, right, ranges=whole).verdict is Verdict.DIFFERENT


def test_floats_are_equal_only_up_to_rounding() -> None:
    outcome = same_function(expression("($f + $g) + $f * $g"), expression("$f + ($g * $f + $g)"))
    assert outcome.verdict is Verdict.EQUAL
    assert outcome.reassociated
    assert not same_function(expression("$f * $g"), expression("$f * $g")).reassociated
    outcome = same_function(expression("$f + 0.0f"), expression("$f"))
    assert outcome.witness == "f[0] = -0.0: 0.0 against -0.0"
    multiplied_out = same_function(expression("($f + $g) * $f"), expression("$f * $f + $g * $f"))
    assert multiplied_out.verdict is Verdict.DIFFERENT   # -0 against 0


@pytest.mark.parametrize(("left", "right"), [
    ("$f < $g ? $f : $g", "$g < $f ? $g : $f"),               # NaN in one of them
    ("(double)($f * $g)", "(double)$f * (double)$g"),         # a product rounded to float
    ("(double)($f + $g)", "(double)$f + (double)$g"),
])
def test_floats_of_other_values_are_not_equal(left: str, right: str) -> None:
    assert same_function(expression(left), expression(right)).verdict is not Verdict.EQUAL


@pytest.mark.parametrize(("left", "right"), [
    ("$f < $g ? $f : $g", "$g > $f ? $f : $g"),
    ("(double)(-$f)", "-(double)$f"),
    ("(double)$f * 0.5", "0.5f * (double)$f"),
])
def test_floats_of_the_same_values_are_equal(left: str, right: str) -> None:
    assert same_function(expression(left), expression(right)).verdict is Verdict.EQUAL


def test_hard_products_are_unknown_within_the_limit() -> None:
    left, right = "($x * $y) ^ ($x * $y >> 3)", "($y * $x + ($x & 0)) ^ (($x * ($y + 1) - $x) >> 3)"
    outcome = same_function(expression(left), expression(right), conflicts=1000)
    assert outcome.verdict in (Verdict.UNKNOWN, Verdict.EQUAL)
    big = "($x * $y) * ($x ^ $y) & 255", "($x ^ $y) * $x & ($y | 255) & 65535"
    assert same_function(expression(big[0]), expression(big[1]), conflicts=1000).verdict is Verdict.DIFFERENT


def test_functions_of_functions_stay_small() -> None:
    """Written out, eight counts of bits inside of each other have a tree of 10^19 nodes, and some hundred different."""
    x, y = Load("x", INT32), Load("y", INT32)
    sides: list[Expr] = [Binary("+", x, y, INT32), Binary("+", y, x, INT32), Binary("|", x, y, INT32)]
    for _ in range(8):
        sides = [Call("popcount_u32", (Cast(e, UINT32),), INT32) for e in sides]
    assert same_function(sides[0], sides[1]).rung == "normal form"
    nearly = [Call("popcount_u32", (Cast(Binary(op, x, y, INT32), UINT32),), INT32) for op in "&|"]
    assert same_function(*nearly).rung == "sample"
