"""Subscripts that are read from arrays, and remainders by a size: the Scop in the interpreter against Python."""

import numpy as np
import pytest

from polysched.scop.construction.index_checks import index_checks
from polysched.scop.interpreter import execute
from polysched.scop.python_frontend import PythonScop
from polysched.scop.scop import AccessKind
from tests.scop.python_frontend.running import check, extracted

RNG = np.random.default_rng(3)
INDEX = np.array([3, 0, 9, 3, 5, 3], "int32")


def histogram(h, index):
    for i in range(len(index)):
        h[index[i]] += 1


def scatter(a, index, x):
    for i in range(len(index)):
        a[index[i]] = x[i]


def through_a_name(x, index, y):
    for i in range(len(index)):
        j = index[i]
        k = j - 1
        if j > 0:
            y[i] = x[j] - x[k]


def under_a_condition(x, index, y):
    for i in range(len(index)):
        y[i] = x[index[i] - 3] if index[i] >= 3 else 0.5


def chained(x, first, second, y):
    for i in range(len(second)):
        if second[i] >= 0 and first[second[i]] >= 0:
            y[i] += x[first[second[i]]]


def rows(A, index, y):
    for i in range(len(index)):
        y[i, :] = A[index[i], 1:] * 2


def csr(y, x, starts, columns, values):
    for i in range(len(y)):
        for k in range(len(values)):
            if starts[i] <= k and k < starts[i + 1]:
                y[i] += values[k] * x[columns[k]]


def local_counts(index):
    counts = np.zeros(10)
    for i in range(len(index)):
        counts[index[i]] += 1.0
    return counts


def overlapping_rows(A, index):
    for i in range(len(index)):
        A[index[i], 1:] = A[index[i], :-1] + A[i, 1:]


def wrapped(x, y):
    n = len(x)
    for i in range(n):
        y[i] = x[(i + 1) % n] - x[(i - 1) % n] + x[(2 * i) % n]


def quotient(x, y, n: int):
    for i in range(n):
        for j in range(2 * n - 1):
            x[j // n] += y[(i + j) % n] * (i + j) % 5


def steps_back(x):
    n = len(x)
    for i in reversed(range(1, n, 3)):
        x[i] += x[i - 1]
    for i in reversed(range(n - 1, 0, -2)):
        x[i] += x[i - 1]
    for i in reversed(range(3, min(n, 9), 4)):
        x[i] *= x[i - 3] + i


def floats(*shape: int) -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype("float64")


CASES = [
    (histogram, (floats(10), INDEX)),
    (histogram, (floats(10).astype("int64"), INDEX.astype("uint8"))),
    (scatter, (floats(10), INDEX, floats(6))),
    (through_a_name, (floats(10), INDEX, floats(6))),
    (under_a_condition, (floats(10), INDEX, floats(6))),
    (chained, (floats(10), INDEX, np.array([2, -1, 1, 5]), floats(4))),
    (rows, (floats(10, 4), INDEX, floats(6, 3))),
    (csr, (floats(3), floats(10), np.array([0, 2, 2, 6]), INDEX, floats(6))),
    (local_counts, (INDEX,)),
    (overlapping_rows, (floats(10, 4), INDEX)),
    (wrapped, (floats(1), floats(1))),
    (wrapped, (floats(7), floats(7))),
    (quotient, (floats(2), floats(5), 5)),
    *((steps_back, (floats(n),)) for n in range(1, 11)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_the_scop_computes_what_python_computes(function, arguments) -> None:
    check(function, *arguments, rtol=0, atol=0)


def test_what_depends_on_data_may_reach_everything() -> None:
    python = extracted(histogram, floats(10), INDEX)
    (write,) = python.scop.statements[0].writes
    assert write.kind is AccessKind.MAY_WRITE
    assert not write.exact
    assert write.relation.is_equal(write.relation.read_from_str(write.relation.get_ctx(), (
        "[h_0, index_0] -> { S0[i] -> h[x] : 0 <= i < index_0 and 0 <= x < h_0 }")).intersect_domain(
            python.scop.statements[0].domain))


def test_remainders_are_exact() -> None:
    python = extracted(wrapped, floats(7), floats(7))
    assert all(access.exact for access in python.scop.statements[0].accesses)
    statement = python.scop.statements[0]
    relation = statement.reads[0].relation.intersect_domain(statement.domain)
    wanted = relation.read_from_str(relation.get_ctx(), (
        "[n, y_0] -> { S0[i] -> x[i + 1] : i <= n - 2; S0[i] -> x[0] : i = n - 1 }"))
    assert relation.is_equal(wanted.intersect_domain(statement.domain))


def outside(python: PythonScop, **arrays: np.ndarray) -> list[int]:
    """What the checking program counts."""
    checks = index_checks(python.scop)
    assert checks is not None
    counters = {c.counter: np.zeros((), "int64") for c in checks.checks}
    used = {a.name for a in checks.scop.arrays}
    execute(checks.scop, python.sizes_of(arrays), {n: a for n, a in arrays.items() if n in used} | counters)
    return [int(c) for c in counters.values()]


@pytest.mark.parametrize(("index", "expected"), [
    ([0, 9, 5], 0), ([0, 10, 5], 1), ([-1, 10, 11], 3), ([2**31 - 1, 0, 0], 1)])
def test_subscripts_outside_are_counted(index: list[int], expected: int) -> None:
    arguments = floats(10), np.array(index, "int32")
    assert outside(extracted(histogram, *arguments), h=arguments[0], index=arguments[1]) == [expected]


def test_only_what_is_evaluated_is_counted() -> None:
    x, y = floats(4), floats(3)
    for index, expected in (([2, 0, 6], 0), ([7, 2, 3], 1)):
        arguments = x, np.array(index), y
        assert sum(outside(extracted(under_a_condition, *arguments), x=x, index=arguments[1], y=y)) == expected
    first, y = np.array([3, -1, 0]), floats(4)
    for second, expected in (([0, 1, -5, 2], 0), ([0, 3, 1, 1], 1)):
        arguments = x, first, np.array(second), y
        counted = outside(extracted(chained, *arguments), x=x, first=first, second=arguments[2], y=y)
        assert (sum(counted) > 0) == (expected > 0)


def test_nothing_to_check() -> None:
    assert index_checks(extracted(wrapped, floats(7), floats(7)).scop) is None
