"""Reductions: which spellings are recognised, what relaxing them allows, and what it still forbids."""

import islpy as isl
import numpy as np
import pytest

from polysched.dependence import analyse, band_properties, find_reductions, violation
from polysched.errors import UsageError
from polysched.scheduling import pluto
from polysched.scop import from_c_text
from polysched.scop.expression import argmax, axis, build, compute, placeholder, symbols
from polysched.scop.python_frontend import from_python
from polysched.scop.scop import Scop
from tests.scop_builder import tree_of


def loop(body: str, declarations: str = "") -> Scop:
    return from_c_text(f"""
        #include <math.h>
        void f(int n, double A[n], double B[n], int K[n], unsigned U[n], double s[1], int k[1], float h[1],
               unsigned char c[1], _Bool b[1]) {{
        {declarations}
        #pragma scop
        for (int i = 0; i < n; i++)
            {body}
        #pragma endscop
        }}""")


@pytest.mark.parametrize(("body", "operator", "exact"), [
    ("s[0] += A[i];", "sum", False),
    ("s[0] -= A[i] * B[i];", "sum", False),
    ("s[0] = s[0] + A[i];", "sum", False),
    ("s[0] = A[i] + s[0];", "sum", False),
    ("s[0] = s[0] - A[i];", "sum", False),
    ("s[0] = s[0] + A[i] + B[i];", "sum", False),
    ("s[0] *= A[i];", "product", False),
    ("s[0] = s[0] * A[i] * B[i];", "product", False),
    ("k[0] += K[i];", "sum", True),
    ("k[0] &= K[i];", "and", True),
    ("k[0] = K[i] | k[0];", "or", True),
    ("k[0] ^= K[i];", "xor", True),
    ("c[0] += U[i];", "sum", True),
    ("b[0] |= K[i];", "or", True),
    ("s[0] = fmax(s[0], A[i]);", "max", True),
    ("s[0] = fmin(A[i], s[0]);", "min", True),
    ("s[0] = A[i] < s[0] ? A[i] : s[0];", "min", True),
    ("s[0] = s[0] < A[i] ? A[i] : s[0];", "max", True),
    ("s[0] = A[i] >= s[0] ? A[i] : s[0];", "max", True),
    ("s[0] = A[i] > s[0] || A[i] != A[i] ? A[i] : s[0];", "maximum", True),
    ("s[0] = s[0] <= A[i] || s[0] != s[0] ? s[0] : A[i];", "minimum", True),
    ("s[0] = s[0] > A[i] * B[i] || A[i] * B[i] != A[i] * B[i] ? A[i] * B[i] : s[0];", "minimum", True),
    ("h[0] = A[i] > h[0] || A[i] != A[i] ? A[i] : h[0];", "maximum", True),
    ("s[0] = A[i] != A[i] ? A[i] : A[i] > s[0] ? A[i] : s[0];", "maximum", True),
    ("s[0] = B[i] > 0 ? (A[i] != A[i] ? A[i] : s[0] > A[i] ? A[i] : s[0]) : s[0];", "minimum", True),
    ("if (B[i] > 0) s[0] = A[i] > s[0] || A[i] != A[i] ? A[i] : s[0];", "maximum", True),
    ("k[0] = k[0] > K[i] ? K[i] : k[0];", "min", True),
    ("if (A[i] > s[0]) s[0] = A[i];", "max", True),
    ("if (s[0] >= A[i]) s[0] = A[i];", "min", True),
    ("if (k[0] < K[i] * K[i]) { k[0] = K[i] * K[i]; }", "max", True),
    ("if (B[i] > 0) s[0] += A[i];", "sum", False),
    ("if (B[i] > 0) s[0] = s[0] - A[i]; else s[0] += B[i];", "sum", False),
    ("if (B[i] > 0) { if (A[i] < 1) k[0]++; } else k[0] -= K[i];", "sum", True),
    ("if (B[i] > 0) s[0] = fmax(s[0], A[i]);", "max", True),
    ("if (B[i] > 0 && A[i] > s[0]) s[0] = A[i];", "max", True),
    ("if (B[i] > 0) if (A[i] > s[0]) s[0] = A[i];", "max", True),
    ("s[0] = B[i] > 0 ? s[0] + A[i] : s[0];", "sum", False),
    ("s[0] = B[i] > 0 ? s[0] : A[i] * s[0];", "product", False),
])
def test_recognised(body: str, operator: str, exact: bool) -> None:
    (found,) = find_reductions(loop(body))
    assert (found.operator, found.exact) == (operator, exact)
    assert found.write.startswith("S0_w")
    assert found.reads


@pytest.mark.parametrize("body", [
    "s[0] = A[i];",
    "s[0] = A[i] - s[0];",
    "s[0] /= A[i];",
    "s[0] += s[0] * A[i];",
    "s[0] = s[0] + A[i] * s[0];",
    "s[0] = s[0] * 2.0 + A[i];",
    "A[i] = A[i] + A[0];",                       # another element of the same array: not only its own old value
    "k[0] += A[i];",                              # truncates at every step
    "k[0] <<= K[i];",
    "s[0] = A[i] < s[0] ? B[i] : s[0];",
    "s[0] = s[0] < A[i] ? s[0] : s[0];",
    "s[0] = pow(s[0], A[i]);",
    "if (A[i] > s[0]) s[0] = B[i];",
    "if (A[i] > s[0]) s[0] = A[i]; else s[0] = B[i];",
    "if (A[i] > s[0]) s[0] += A[i];",
    "if (A[i] > h[0]) h[0] = A[i];",              # rounds at every step
    "c[0] = c[0] > U[i] ? c[0] : U[i];",          # cuts off at every step
    "c[0] = U[i] < c[0] ? U[i] : c[0];",
    "b[0] += K[i];",                              # a _Bool keeps no sum
    "b[0] ^= K[i];",
    "if (A[i] > s[0]) { s[0] = A[i]; k[0] = k[0] + 1; }",
    "if (A[i] > s[0]) { s[0] = A[i]; K[K[i]] = i; }",
    "if (A[i] != s[0]) { s[0] = A[i]; k[0] = i; }",
    "if (s[0] > 0) s[0] += A[i];",
    "if (A[i] > 0) s[0] += A[i]; else s[0] *= 2;",
    "if (A[i] > s[0]) { s[0] = A[i]; h[0] += 1; }",   # how many maxima there are on the way
    "if (A[i] > 0) s[0] += A[i]; else h[0] += s[0];",
    "if (A[i] <= s[0]) k[0] += 1; else s[0] = A[i];",
    "s[0] = s[0] > 0 ? s[0] + A[i] : s[0];",
    "s[0] = A[i] > 0 ? s[0] + A[i] : B[i];",
])
def test_not_recognised(body: str) -> None:
    found = find_reductions(loop(body))
    assert all(r.operator == "sum" and body.startswith("A[i]") for r in found), found


def test_what_one_statement_accumulates_beside() -> None:
    assert not find_reductions(loop("if (A[i] > 0) { s[0] += A[i]; k[0]++; } else if (B[i] < h[0]) h[0] = B[i];"))
    (found,) = find_reductions(loop("if (A[i] > 0) { s[0] += A[i]; k[0]++; } else if (U[i] > c[0]) b[0] |= K[i];"))
    assert [(part.operator, part.dtype.name, part.exact) for part in found.accumulators] == [
        ("sum", "float64", False), ("sum", "int32", False), ("or", "bool", False)]


@pytest.mark.parametrize(("body", "found"), [
    ("if (A[i] > 0 && k[0] < 0) k[0] = i;", True),
    ("if (k[0] == -1) { if (A[i] > 0) k[0] = i; }", True),
    ("k[0] = A[i] > 0 && k[0] <= -1 ? i : k[0];", True),
    ("if (A[i] > 0 && k[0] <= 0) k[0] = i;", False),      # the first iteration leaves a number that is asked again
    ("if (A[i] > 0 && k[0] > 5) k[0] = i;", False),
    ("if (A[i] > 0 && k[0] < K[i]) k[0] = i;", False),
    ("if (A[i] > k[0] && k[0] < 0) k[0] = i;", False),
    ("if (A[i] > 0 && k[0] < 0) k[0] = i; else if (A[i] < 0) k[0] = i;", False),
    ("k[0] = A[i] > 0 && k[0] < 0 ? k[0] : i;", False),
])
def test_an_element_that_one_iteration_alone_overwrites(body: str, found: bool) -> None:
    scop = loop(body)
    assert [(r.operator, r.any_order) for r in find_reductions(scop)] == [("first", False)] * found
    assert not analyse(scop, reductions="exact").relaxed


@pytest.mark.parametrize("body", [
    "s[0] = A[i] != A[i] ? A[i] : s[0] > A[i] ? s[0] : A[i];", "s[0] = A[i] > s[0] || s[0] != s[0] ? A[i] : s[0];",
    "s[0] = A[i] > s[0] || B[i] != B[i] ? A[i] : s[0];", "s[0] = A[i] > s[0] && A[i] != A[i] ? A[i] : s[0];",
    "s[0] = A[i] != A[i] ? B[i] : A[i] > s[0] ? A[i] : s[0];",
    "s[0] = A[i] == A[i] ? A[i] : A[i] > s[0] ? A[i] : s[0];"])
def test_what_loses_nan_on_the_way_is_no_maximum(body: str) -> None:
    assert not find_reductions(loop(body))


@pytest.mark.parametrize(("body", "nan_first"), [
    ("if (A[i] > s[0]) { s[0] = A[i]; k[0] = i; }", [False]),
    ("if (A[i] > s[0] || (A[i] != A[i] && s[0] == s[0])) { s[0] = A[i]; k[0] = i; }", [True]),
    ("if (A[i] > s[0] || (A[i] != A[i] && s[0] == s[0])) s[0] = A[i];", []),
])
def test_an_extremum_that_lets_the_first_nan_win_has_a_place(body: str, nan_first: list[bool]) -> None:
    assert [r.nan_first for r in find_reductions(loop(body))] == nan_first


@pytest.mark.parametrize(("body", "operator"), [
    ("if (A[i] > 0) k[0] = 1;", "any"),
    ("k[0] = A[i] > 0 ? 1 : k[0];", "any"),
    ("k[0] = A[i] > 0 ? k[0] : n - 7;", "any"),
    ("if (A[i] > 0) { if (B[i] > 0) k[0] = 3; } else k[0] = 3;", "any"),
    ("if (A[i] > 0) c[0] = 300;", "any"),
    ("b[0] = A[i] > 0 ? 1 : b[0];", "any"),
    ("if (A[i] > 0) k[0] = i;", "last"),
    ("k[0] = A[i] > 0 ? k[0] : i;", "last"),
    ("if (A[i] > s[0]) { k[0] = i; }", "last"),
])
def test_an_element_that_conditions_let_one_number_or_the_iterator_overwrite(body: str, operator: str) -> None:
    scop = loop(body)
    (found,) = find_reductions(scop)
    assert (found.operator, found.any_order) == (operator, operator == "any")
    assert analyse(scop, reductions="exact").relaxed == ((found.statement,) if operator == "any" else ())


@pytest.mark.parametrize("body", [
    "k[0] = 1;",
    "if (A[i] > 0) k[0] = 1; else k[0] = 2;",
    "if (A[i] > k[0]) k[0] = 1;",
    "if (A[i] > 0) k[0] = K[i];",
    "if (A[i] > 0) c[0] = i;",                     # the low bits alone
    "if (A[i] > 0) k[0] = 2 * i;",
    "if (A[i] > 0) s[0] = 0.5;",                   # of floats equal numbers may differ in their bits
])
def test_other_overwriting_is_not_recognised(body: str) -> None:
    assert not find_reductions(loop(body))


@pytest.mark.parametrize("value", ["c[0] = i", "b[0] = i", "k[0] = (_Bool)i"])
def test_a_truth_value_is_no_index_however_narrow_the_counter(value: str) -> None:
    scop = from_c_text(f"""
        void f(int m, double A[100][m], int k[1], unsigned char c[1], _Bool b[1]) {{
        #pragma scop
        for (unsigned char i = 0; i < 100; i++)
            for (int j = 0; j < m; j++)
                if (A[i][j] > 0) {value};
        #pragma endscop
        }}""")
    assert [found.operator for found in find_reductions(scop)] == ["last"] * value.startswith("c")


def test_a_statement_that_also_overwrites_is_not_reordered() -> None:
    for body in ("if (A[i] > 0) { k[0] += K[i]; U[0] = i; }", "if (A[i] > 0) s[0] += A[i]; else k[0] = i;"):
        (found,) = find_reductions(loop(body))
        assert [part.operator for part in found.accumulators] == ["sum", "last"]
        assert not found.any_order


def test_pairs_of_the_updates_are_marked() -> None:
    dependences = analyse(loop("s[0] += A[i];"))
    assert dependences.pairs
    assert all(d.reduction for d in dependences.pairs)
    assert not dependences.relaxed


def sum_between() -> Scop:
    return from_c_text("""
        void f(int n, double A[n], double s[1], double t[1]) {
        #pragma scop
        s[0] = 0.0;
        for (int i = 0; i < n; i++)
            s[0] += A[i];
        t[0] = s[0];
        #pragma endscop
        }""")


def test_relaxed_updates_may_run_backward_but_stay_between_their_neighbours() -> None:
    scop = sum_between()
    strict, relaxed = analyse(scop), analyse(scop, reductions="reassociate")
    assert relaxed.relaxed == ("S1",)
    for order, legal_strict, legal_relaxed in (
            ("{ S0[] -> [0, 0]; S1[i] -> [1, i]; S2[] -> [2, 0] }", True, True),
            ("{ S0[] -> [0, 0]; S1[i] -> [1, -i]; S2[] -> [2, 0] }", False, True),
            ("[n] -> { S0[] -> [0, 0]; S1[i] -> [i, 0]; S2[] -> [n - 1, 1] }", False, False),
            ("[n] -> { S0[] -> [-1, 0]; S1[i] -> [-i, 0]; S2[] -> [1, 0] }", False, False),
            ("[n] -> { S0[] -> [-n, 0]; S1[i] -> [-i, 0]; S2[] -> [0, 1] }", False, True),
    ):
        tree = tree_of(isl.UnionMap(order), scop.domain)
        assert (violation(strict, tree) is None) == legal_strict, order
        assert (violation(relaxed, tree) is None) == legal_relaxed, order


def test_a_relaxed_loop_is_not_parallel() -> None:
    scop = sum_between()
    relaxed = analyse(scop, reductions="reassociate")
    tree = pluto(relaxed).tree
    bands = [n for n in _nodes(tree.get_root()) if n.get_type() == isl.schedule_node_type.band]
    assert [band_properties(relaxed, b).parallel for b in bands] == [(False,)]


def test_only_exact_reductions_are_relaxed_unless_rounding_is_allowed() -> None:
    assert analyse(loop("s[0] += A[i];"), reductions="exact").relaxed == ()
    assert analyse(loop("k[0] += K[i];"), reductions="exact").relaxed == ("S0",)
    with pytest.raises(UsageError, match="no treatment of reductions 'all'"):
        analyse(loop("s[0] += A[i];"), reductions="all")


def _nodes(node: isl.ScheduleNode):  # type: ignore[no-untyped-def]
    yield node
    for position in range(node.n_children()):
        yield from _nodes(node.child(position))


@pytest.mark.parametrize(("body", "operator", "ties"), [
    ("if (A[i] > s[0]) { s[0] = A[i]; k[0] = i; }", "argmax", "first"),
    ("if (s[0] < A[i]) { k[0] = 2 * i + 1; s[0] = A[i]; }", "argmax", "first"),
    ("if (A[i] >= s[0]) { s[0] = A[i]; k[0] = i; }", "argmax", "last"),
    ("if (A[i] < s[0]) { s[0] = A[i]; k[0] = i; }", "argmin", "first"),
    ("if (s[0] >= A[i] * B[i]) { s[0] = A[i] * B[i]; k[0] = K[i]; }".replace("K[i]", "n - i"), "argmin", "last"),
])
def test_the_place_of_an_extremum(body: str, operator: str, ties: str) -> None:
    (found,) = find_reductions(loop(body))
    assert (found.operator, found.ties, found.any_order) == (operator, ties, False)
    assert len(found.places) == 1


def test_the_place_of_an_extremum_in_python_and_as_a_tensor_expression() -> None:
    def places(a, where):  # type: ignore[no-untyped-def]
        n = a.shape[0]
        best = a[0]
        at = 0
        for i in range(1, n):
            if a[i] > best:
                best = a[i]
                at = i
        where[0] = at

    def least(a, where):  # type: ignore[no-untyped-def]
        where[0] = np.argmin(a)

    values, place = np.zeros(5), np.zeros(1, dtype=np.int64)
    assert [(r.operator, r.ties) for r in find_reductions(from_python(places, values, place))] == [("argmax", "first")]
    assert [(r.operator, r.ties) for r in find_reductions(from_python(least, values, place))] == [("argmin", "first")]
    (m, n), k = symbols("m n"), axis("k")
    x = placeholder("X", (m, n))
    row = build(compute((m,), lambda i: argmax(x[i, k], over=k), name="Y"))
    assert [(r.operator, r.ties) for r in find_reductions(row)] == [("argmax", "first")]


def test_the_place_of_an_extremum_keeps_its_order() -> None:
    """The loop backwards would find the last of equal values; it stays refused whatever is allowed."""
    scop = loop("if (A[i] > s[0]) { s[0] = A[i]; k[0] = i; }")
    backwards = tree_of(isl.UnionMap("{ S0[i] -> [-i] }"), scop.domain)
    for reductions in ("keep", "exact", "reassociate"):
        dependences = analyse(scop, reductions=reductions)
        assert dependences.relaxed == ()
        assert all(d.reduction for d in dependences.pairs)
        assert violation(dependences, backwards) is not None
    value_only = loop("if (A[i] > s[0]) s[0] = A[i];")
    assert violation(analyse(value_only), backwards) is not None
    assert violation(analyse(value_only, reductions="exact"), backwards) is None
