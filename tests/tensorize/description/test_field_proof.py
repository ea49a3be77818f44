"""The trial over a prime field accepts what computes the contraction and nothing else: texts beside each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.errors import SourceSyntaxError
from polysched.tensorize.description.contraction import Dimension
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.field_proof import points_of, same_function
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Affine

ROWS, COLUMNS = "for (int i = 0; i < 3; i++) ", "for (int k = 0; k < 2; k++) "
TEXTS = {   # on int32_t C[3], D[3], int8_t A[3][2], B[2][3]
    "dot": ROWS + COLUMNS + "C[i] += A[i][k] * B[k][i];",
    "dot, loops exchanged": COLUMNS + ROWS + "C[i] = B[k][i] * A[i][k] + C[i];",
    "dot in a local": ROWS + "{ int32_t t = 0; " + COLUMNS + "t += A[i][k] * B[k][i]; C[i] += t; }",
    "dot, written out": ROWS + "C[i] += A[i][1] * B[1][i] + A[i][0] * B[0][i];",
    "negative": ROWS + COLUMNS + "C[i] -= A[i][k] * B[k][i];",
    "from zero": ROWS + "{ int32_t t = 0; " + COLUMNS + "t += A[i][k] * B[k][i]; C[i] = t; }",
    "other columns": ROWS + COLUMNS + "C[i] += A[i][k] * B[1 - k][i];",
    "twice": ROWS + COLUMNS + "C[i] += 2 * A[i][k] * B[k][i];",
    "squares": ROWS + COLUMNS + "C[i] += A[i][k] * A[i][k];",
    "half": ROWS + COLUMNS + "C[i] += A[i][k] * B[k][i] >> 1;",
    "one row less": "for (int i = 1; i < 3; i++) " + COLUMNS + "C[i] += A[i][k] * B[k][i];",
    "lesser": ROWS + COLUMNS + "C[i] += A[i][k] < B[k][i] ? A[i][k] : B[k][i];",
    "greater": ROWS + COLUMNS + "C[i] += A[i][k] > B[k][i] ? A[i][k] : B[k][i];",
    "index": ROWS + COLUMNS + "C[i] += A[i][k] * k;",
}
EQUAL = ({"dot", "dot, loops exchanged", "dot in a local", "dot, written out"},)


def text(body: str) -> str:
    return f"void t(int32_t C[3], const int8_t A[3][2], const int8_t B[2][3]) {{ {body} }}"


@pytest.mark.parametrize("left", TEXTS)
def test_texts_are_told_apart_and_nothing_else_is(left: str) -> None:
    semantics = parse(text(TEXTS[left]))
    for right, body in TEXTS.items():
        equal = left == right or any({left, right} <= same for same in EQUAL)
        assert same_function(semantics, derive(parse(text(body)))) is equal, right


def test_another_seed_gives_the_same_answer() -> None:
    dot, negative = (parse(text(TEXTS[name])) for name in ("dot", "negative"))
    for seed in range(5):
        assert same_function(dot, derive(dot), seed=seed)
        assert not same_function(dot, derive(negative), seed=seed)


def test_rounding_and_width_mean_nothing() -> None:
    narrow = "void t(float C[3], const float A[3]) {{ for (int i = 0; i < 3; i++) C[i] += {}; }}"
    one, other = (parse(narrow.format(value)) for value in ("A[i] * A[i] * 3", "3 * (float)((double)A[i] * A[i])"))
    assert same_function(one, derive(other))


@pytest.mark.parametrize("constant", ["0.5f", "1e999"])
def test_constants_that_are_no_whole_numbers_are_unknowns(constant: str) -> None:
    scaled = "void t(double C[3], const double A[3]) {{ for (int i = 0; i < 3; i++) C[i] += A[i] * {}; }}"
    one, other = parse(scaled.format(constant)), parse(scaled.format("0.25"))
    assert same_function(one, derive(one))
    assert not same_function(one, derive(other))


def test_sizes_are_chosen_by_the_caller() -> None:
    whole = "void t(int n, int32_t C[n], const int32_t A[n]) {{ for (int i = 0; i < n; i++) C[i] += {}; }}"
    once, twice = (parse(whole.format(value)) for value in ("A[i]", "A[i] + A[i]"))
    for n in (1, 4):
        assert same_function(once, derive(once), sizes={"n": n})
        assert not same_function(once, derive(twice), sizes={"n": n})
    assert same_function(once, derive(twice), sizes={"n": 0})


def test_a_local_without_a_value_is_quoted() -> None:
    good = parse(text(TEXTS["dot in a local"]))
    bad = replace(good, body=parse(text("int32_t t; " + ROWS + "C[i] += t;")).body)
    with pytest.raises(SourceSyntaxError, match="a local is read before it has a value"):
        same_function(bad, derive(good))


def test_points_are_those_of_the_loops_in_order() -> None:
    triangle = (Dimension("i", 3), Dimension("k", 5, lower=Affine((("i", 1),)), upper=Affine((("i", 1),), 2)))
    assert [(p["i"], p["k"]) for p in points_of(triangle, {})] == [(i, k) for i in range(3) for k in range(i, i + 2)]
    assert list(points_of((), {})) == [{}]
    assert len(list(points_of((Dimension("i", "n"), Dimension("j", 2)), {"n": 4}))) == 8
