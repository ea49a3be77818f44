"""Equal normal forms are equal functions, and their intervals hold: random expressions on NumPy vectors."""

from __future__ import annotations

import math
import random
import re
from collections import defaultdict

import numpy as np
import pytest

from polysched.errors import BudgetExceededError
from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary
from polysched.scop.dtypes import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    DType,
)
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Update
from polysched.tensorize.equality import Verdict, same_function
from polysched.tensorize.equality.calls import in_operators
from polysched.tensorize.equality.evaluation import evaluate
from polysched.tensorize.equality.normal_form import Form, Normaliser, widens

TYPES = {"u": "uint8_t", "s": "int8_t", "a": "int16_t", "x": "int32_t", "w": "uint32_t", "q": "int64_t",
         "p": "uint64_t", "f": "float", "d": "double"}
LOADS = {n: Load(n, t) for n, t in {"s": INT8, "u": UINT8, "x": INT32, "w": UINT32, "q": INT64, "f": FLOAT32,
                                    "d": FLOAT64}.items()}


def read(text: str) -> Expr:
    """An expression of C, in the type that it has."""
    return read_all([text])[0]


def read_all(texts: list[str]) -> list[Expr]:
    def named(text: str) -> str:
        return re.sub(r"\b([usaxwqpfd])\b", r"\1[0]", text)

    parameters = ", ".join(f"const {t} {n}[1]" for n, t in TYPES.items())
    statements = " ".join(f"out[0] = ({named(t)}) && 1;" for t in texts)   # an operand of && keeps its type
    found = []
    for update in parse(f"void e(int32_t out[1], {parameters}) {{ {statements} }}").body:
        assert isinstance(update, Update)
        assert isinstance(update.value, Binary)
        found.append(update.value.left)
    return found


def form(text: str, *, numbers: bool = False) -> Form:
    return Normaliser(numbers=numbers).form(read(text))


class Generator:
    """Random expressions of integers, with many ways to say the same."""

    def __init__(self, seed: int) -> None:
        self.chooser = random.Random(seed)
        self.names: list[str] = []

    def one(self) -> str:
        self.names = self.chooser.sample([n for n in TYPES if n not in "fd"], self.chooser.choice((1, 2, 2)))
        return self.of(self.chooser.choice((1, 2, 2, 3)))

    def of(self, depth: int) -> str:
        pick, kind = self.chooser.choice, self.chooser.random()
        if not depth or kind < 0.15:
            return pick(self.names * 2 + ["0", "1", "2", "7", "255", "128u", "3L", "31"])
        first, second = self.of(depth - 1), self.of(depth - 1)
        if kind < 0.3:
            return f"({pick([t for t in TYPES.values() if t.endswith('_t')])})({first})"
        if kind < 0.36:
            return f"({pick('-~!+')}({first}))"
        if kind < 0.55:
            then, otherwise = pick([(first, second), (second, first)])
            ways = [pick(["", "(int64_t)", "(uint32_t)", "(int8_t)"]), pick(["", "", "(int64_t)"])]
            return f"({ways[0]}({first}) {pick(['<', '<=', '>', '>='])} {ways[1]}({second}) ? {then} : {otherwise})"
        if kind < 0.62:
            return f"(({first}) {pick(['>>', '<<'])} {pick('0147')})"
        if kind < 0.68:
            return f"(({first}) {pick('/%')} {pick(['1', '2', '3', '7u'])})"
        if kind < 0.73:
            return f"{pick(['max_i32', 'min_i32'])}({first}, {second})"
        return f"(({first}) {pick(['+', '-', '*', '&', '|', '^', '<', '==', '&&', '||'])} ({second}))"


def vectors(seed: int, count: int = 48) -> dict[str, np.ndarray]:
    chooser, found = np.random.default_rng(seed), {}
    for name, c_type in TYPES.items():
        dtype = np.dtype({"float": "float32", "double": "float64"}.get(c_type, c_type.removesuffix("_t")))
        if dtype.kind == "f":
            found[f"{name}[0]"] = chooser.integers(-9, 9, count).astype(dtype)
            continue
        ends = np.iinfo(dtype)
        values = chooser.integers(ends.min, ends.max, count, dtype=dtype, endpoint=True)
        values[::2] = chooser.choice(np.array([ends.min, ends.max, 0, 1, 2, 5, ends.max // 2 + 1], dtype), count // 2)
        found[f"{name}[0]"] = values
    return found


@pytest.mark.parametrize("seed", range(3))
def test_equal_forms_are_equal_functions(seed: int) -> None:
    made, values = Generator(seed), vectors(seed)
    known: dict[str, dict[tuple[int, ...], str]] = defaultdict(dict)
    texts = [made.one() for _ in range(250)]
    for text, read_one in zip(texts, read_all(texts), strict=True):
        e = in_operators(read_one)
        found = Normaliser().form(e)
        computed = np.broadcast_to(evaluate(e, values), 48).tolist()
        if found.low is not None and found.high is not None:
            assert found.low <= min(computed), text
            assert max(computed) <= found.high, text
        known[found.text()].setdefault(tuple(computed), text)
    assert not [same for same in known.values() if len(same) > 1]
    assert len(known) < 245, "some are said in several ways"


SAME = [
    ("x < w ? x : w", "w > x ? x : w"), ("(int64_t)x < (int64_t)w ? (int64_t)x : (int64_t)w",
                                         "(int64_t)w <= (int64_t)x ? (int64_t)w : (int64_t)x"),
    ("x << 3", "8 * x"), ("x / 1", "x | 0"), ("(uint8_t)(u + 256)", "(uint8_t)(s - s + u)"),
    ("(int64_t)(u * s)", "(int64_t)u * s"), ("(uint8_t)x * 3", "3 * (uint8_t)x"), ("-(x - 3)", "3 - x"),
    ("x * x * w", "w * x * x"), ("(s + 1) * (s - 1)", "s * s - 1"), ("(u & 15) + 16 > 15", "15 < 16 + (u & 15)"),
    ("max_i32(x, x) < 3 ? 1 : 2", "3 > max_i32(x, x) ? 1 : 2")]
OTHER = [
    ("(int64_t)(x * x)", "(int64_t)x * x"), ("(int64_t)(w + 1)", "(int64_t)w + 1"), ("(int8_t)u", "u"),
    ("(int64_t)x < (int64_t)w ? x : w", "x < w ? x : w"), ("x >> 1", "(int32_t)(w >> 1)"), ("x / 2", "x >> 1"),
    ("(float)(x * x)", "(float)x * (float)x"), ("(double)(f + f)", "(double)f + (double)f"),
    ("(float)q", "(float)(double)q"), ("(double)q", "(double)(float)q"),
    ("(uint64_t)x", "(uint64_t)(uint32_t)x"), ("f < d ? f : d", "d < f ? d : f"), ("x && w", "x & w")]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_spellings_that_have_one_form(left: str, right: str) -> None:
    assert form(left).text() == form(right).text()


@pytest.mark.parametrize(("left", "right"), OTHER)
def test_what_differs_somewhere_has_two_forms(left: str, right: str) -> None:
    assert form(left).text() != form(right).text()


def test_what_is_rounded_to_two_types_is_not_one_value() -> None:
    types = [FLOAT16, BFLOAT16, FLOAT32]
    for name in ("d", "q"):
        rounded = [Cast(Cast(LOADS[name], t), FLOAT64) for t in types] + [Cast(LOADS[name], FLOAT64)]
        assert len({Normaliser().form(e).text() for e in rounded}) == 4
    half, brain = (Cast(Cast(LOADS["f"], t), FLOAT32) for t in types[:2])
    assert same_function(half, brain).verdict is not Verdict.EQUAL


def test_a_complement_is_one_of_the_bits_of_its_type() -> None:
    u = LOADS["u"]
    short, whole = Cast(Unary("~", u, UINT8), INT32), Unary("~", u, INT32)   # 250 and -6 of 5
    assert Normaliser().form(whole).text() == Normaliser().form(Unary("~", Cast(u, INT32), INT32)).text()
    assert same_function(short, whole).verdict is Verdict.DIFFERENT


def test_the_lesser_in_one_type_is_not_the_lesser_in_another() -> None:
    x, w = LOADS["x"], LOADS["w"]
    signed = Select(Binary("<", Cast(x, INT64), Cast(w, INT64), INT32), x, w, UINT32)
    of_unsigned = Call("min", (x, w), UINT32)   # 5 of -1 and 5, which is 4294967295
    assert Normaliser().form(signed).text() != Normaliser().form(of_unsigned).text()
    assert same_function(signed, of_unsigned).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
def test_infinities_and_what_is_no_number_are_compared(dtype: DType) -> None:
    def literal(value: float) -> Literal:
        return Literal("spelt in some way", value, dtype)

    value = Load("v", dtype)
    for number in (math.inf, -math.inf, math.nan):
        left = Select(Binary("<", value, literal(number), INT32), value, literal(number), dtype)
        right = Select(Binary(">", literal(number), value, INT32), value, literal(number), dtype)
        assert same_function(left, right).verdict is Verdict.EQUAL
    assert same_function(literal(-math.inf), Unary("-", literal(math.inf), dtype)).verdict is Verdict.EQUAL
    for other in (math.inf, math.nan, 1.0):
        assert same_function(literal(-math.inf), literal(other)).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize(("text", "low", "high"), [
    ("u - s", -127, 383), ("s * s", -16256, 16384), ("u / 3", 0, 85), ("s / 2", -64, 63), ("s % 7", -6, 6),
    ("u % 7", 0, 6), ("s >> 1", -64, 63), ("x & 255", 0, 255), ("x < 3", 0, 1), ("(u & 15) << 4", 0, 240),
    ("max_i32(s, 3)", None, None), ("s < 3 ? 3 : s", 3, 127), ("x + 1", None, None), ("(int8_t)u", None, None)])
def test_intervals_of_what_did_not_wrap(text: str, low: int | None, high: int | None) -> None:
    found = form(text)
    expected = (low, high) if low is not None or not found.exact else found.dtype.value_range()   # an atom's
    assert (found.low, found.high) == expected


def test_known_ranges_decide_what_wraps() -> None:
    product = read("(int64_t)(x * x)")
    wide = read("(int64_t)x * x")
    few = Normaliser({"x[0]": (-1000, 1000)})
    assert few.form(product).text() == few.form(wide).text()
    assert Normaliser({"x[0]": (-50000, 50000)}).form(product).text() != Normaliser().form(wide).text()


def test_minima_of_floats_are_one_only_of_numbers() -> None:
    spellings = ["f < d ? f : d", "f <= d ? f : d", "d < f ? d : f", "d > f ? f : d"]
    assert len({form(t, numbers=True).text() for t in spellings}) == 1
    assert len({form(t).text() for t in spellings}) == 3


def test_truth_is_no_residue() -> None:
    x = LOADS["x"]
    twice = Normaliser().form(Cast(Binary("*", x, Literal("256", 256, INT32), INT32), BOOL))
    assert twice.text() != Normaliser().form(Cast(x, BOOL)).text()


def test_a_product_of_long_sums_is_refused_within_the_budget() -> None:
    text = " * ".join(["(u + s + x + w + a + q + p + 1)"] * 6)
    with pytest.raises(BudgetExceededError, match="takes more than 300 steps"):
        Normaliser(budget=300).form(read(text))


@pytest.mark.parametrize(("narrow", "wide", "expected"), [
    (INT8, INT32, True), (UINT8, INT32, True), (INT8, UINT32, False), (UINT32, INT32, False), (UINT32, INT64, True),
    (INT32, FLOAT64, True), (INT32, FLOAT32, False), (INT64, FLOAT64, False), (FLOAT32, FLOAT64, True),
    (FLOAT64, FLOAT32, False), (FLOAT32, INT64, False), (UINT64, UINT64, True), (BOOL, INT8, True)])
def test_types_that_hold_every_value_of_others(narrow: DType, wide: DType, expected: bool) -> None:
    assert widens(narrow, wide) is expected


@pytest.mark.parametrize(("left", "right"), [
    ("0.0f", "-0.0f"), ("f > 0 ? f : 0.0f", "f > 0 ? f : -0.0f"), ("-0.0", "0.0"), ("-(f - f)", "f - f")])
def test_zero_and_its_negative_are_two_numbers(left: str, right: str) -> None:
    assert form(left).text() != form(right).text()
    assert same_function(*read_all([left, right])).verdict is not Verdict.EQUAL
