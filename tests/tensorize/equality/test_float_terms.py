"""Floats with one form have one value, zeros' signs, infinities and NaN included: random expressions, evaluated."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from polysched.scop.body import Binary, Cast, IteratorRef, Literal, Load, ParameterRef
from polysched.scop.dtypes import FLOAT16, FLOAT32, FLOAT64, INT32, DType
from polysched.tensorize.equality import Verdict, same_function
from polysched.tensorize.equality.calls import in_operators
from polysched.tensorize.equality.evaluation import evaluate
from polysched.tensorize.equality.float_terms import ZERO, added, is_exact, multiplied, negative
from polysched.tensorize.equality.normal_form import Normaliser
from tests.tensorize.equality.test_normal_form import form, read_all
from tests.tiers import and_campaign

ODD = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, np.inf, -np.inf, np.nan])   # no sum of a few is rounded
SMALL = np.array([0, 1, -1, 2, 5])


def grid() -> dict[str, np.ndarray]:
    """All combinations of odd floats and small integers."""
    f, d, s, u = np.meshgrid(ODD, ODD, SMALL, np.abs(SMALL[[0, 1, 3]]), indexing="ij")
    return {"f[0]": f.ravel().astype("float32"), "d[0]": d.ravel(), "s[0]": s.ravel().astype("int8"),
            "u[0]": u.ravel().astype("uint8")}


def drawn(chooser: random.Random, depth: int) -> str:
    """An expression of a float type."""
    if not depth or chooser.random() < 0.2:
        return chooser.choice(["f", "d", "f", "(float)s", "(float)u", "(double)f", "0.0f", "-0.0f", "0", "1.0f", "2.0",
                               "(float)(s * u)", "(float)(u * u)", "(float)-s", "(float)(s - s)"])
    kind, first, second = chooser.random(), drawn(chooser, depth - 1), drawn(chooser, depth - 1)
    if kind < 0.15:
        return f"(-({first}))"
    if kind < 0.25:
        return f"(({first}) {chooser.choice(['<', '>='])} 0 ? {first} : {second})"
    if kind < 0.3:
        return f"((double)({first}))"
    return f"(({first}) {chooser.choice('++--*')} ({second}))"


@pytest.mark.parametrize("seed", and_campaign([0], range(6)))
def test_equal_forms_are_equal_bit_for_bit(seed: int) -> None:
    chooser, values = random.Random(seed), grid()
    texts = [f"1.0f * ({drawn(chooser, chooser.choice((1, 2, 2)))})" for _ in range(500)]
    known: dict[str, dict[bytes, str]] = defaultdict(dict)
    for text, e in zip(texts, read_all(texts), strict=True):
        computed = np.broadcast_to(evaluate(in_operators(e), values), values["f[0]"].shape).astype("float64")
        computed = np.where(np.isnan(computed), np.nan, computed)   # whatever its bits
        known[Normaliser().form(e).text()].setdefault(computed.tobytes(), text)
    assert not [same for same in known.values() if len(same) > 1]
    assert len(known) < 430, "many are said in several ways"


@pytest.mark.parametrize(("left", "right"), [
    ("f + 0.0f", "f"), ("f + 0", "f"), ("0.0f - f", "-f"), ("f - -0.0f", "f"), ("f * 0.0f", "0.0f"), ("f - f", "0.0f"),
    ("-(f - d)", "d - f"), ("(f + d) * 2", "f * 2 + d * 2"), ("f + d - d", "f"), ("(float)-s", "-(float)s"),
    ("(float)(s * u)", "(float)s * (float)u"), ("f + 1 - 1", "f"), ("f * 0.0f + d", "d"), ("0.0f * d", "-0.0f * d")])
def test_what_looks_alike_and_is_not(left: str, right: str) -> None:
    assert form(left).text() != form(right).text()
    assert same_function(*read_all([f"1.0 * ({left})", f"1.0 * ({right})"])).verdict is not Verdict.EQUAL


@pytest.mark.parametrize(("left", "right"), [
    ("f * 1.0f", "f"), ("f - 0.0f", "f"), ("f - 0", "f"), ("f + -0.0f", "f"), ("f / 1", "f"), ("-f", "f * -1"),
    ("f - d", "-d + f"), ("f + (d + 1)", "1 + d + f"), ("-f * d", "-(d * f)"), ("f + 0.0f", "0 + f"),
    ("(float)(u * u)", "(float)u * (float)u"), ("f > 0 ? f : 0", "f > 0.0f ? f : 0.0f"), ("f + f", "2 * f")])
def test_other_words_for_one_value(left: str, right: str) -> None:
    assert same_function(*read_all([f"1.0 * ({left})", f"1.0 * ({right})"])).verdict is Verdict.EQUAL


@pytest.mark.parametrize(("name", "value"), [("zero", 0.0), ("infinity", np.inf)])
@pytest.mark.parametrize("kind", [ParameterRef, IteratorRef])
def test_what_is_named_like_a_number_is_none(kind: type, name: str, value: float) -> None:
    x, named = Load("x", FLOAT64), Cast(kind(name, INT32), FLOAT64)
    number = Literal(str(value), value, FLOAT64)
    for op in "+-*":
        forms = {Normaliser().form(Binary(op, x, right, FLOAT64)).text() for right in (named, number)}
        assert len(forms) == 2
    assert same_function(Binary("-", x, named, FLOAT64), x).verdict is not Verdict.EQUAL


def test_terms() -> None:
    one, zero, x = ((), Fraction(1)), (ZERO, Fraction(1)), (("x",), Fraction(1))
    assert added((zero,), negative((zero,))) == (zero,)
    assert added((x,), negative((zero,))) == (x,)
    assert added((x,), negative((x,))) is None
    assert added((one,), negative((one,))) is None
    assert multiplied((((), Fraction(-3)),), (zero,)) == negative((zero,))
    assert multiplied((x,), (x,)) == ((("x", "x"), Fraction(1)),)


@pytest.mark.parametrize(("value", "dtype", "exact"), [
    (Fraction(1, 3), FLOAT64, False), (Fraction(2**24 + 1), FLOAT32, False), (Fraction(2**24 + 1), FLOAT64, True),
    (Fraction(2**128), FLOAT32, False), (Fraction(1, 2**126), FLOAT32, True), (Fraction(1, 2**127), FLOAT32, False),
    (Fraction(65504), FLOAT16, True), (Fraction(65536), FLOAT16, False), (Fraction(-3, 4), FLOAT16, True)])
def test_numbers_of_a_type(value: Fraction, dtype: DType, exact: bool) -> None:
    assert is_exact((((), value),), dtype) is exact
