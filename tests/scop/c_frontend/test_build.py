"""The finished Scop: parameters in one order everywhere, counters in tuples, the order as written as a tree."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.c_frontend.build import parameter_space
from polysched.scop.dtypes import INT32
from polysched.scop.interpreter import execute
from polysched.scop.scop import Parameter, Scop
from tests.scop.c_frontend.read_region import in_function

HEAD = "int n, int m, unsigned u, double A[n][m], double *restrict x"
NEST = ("for (int i = 0; i < n; i++) { x[i] = 0; for (int j = m - 1; j >= i; j -= 2) { A[i][j] = u; x[j] += 1; } } "
        "if (u > 3) x[0] = 2;")


def scop(inside: str = NEST, head: str = HEAD) -> Scop:
    return from_c_text(in_function(inside, head=head))


def test_everything_has_the_parameters_of_the_scop_in_their_order() -> None:
    made = scop()
    names = [p.name for p in made.parameters]
    things: list[isl.Set | isl.Map | isl.PwAff] = [made.context, *(s.domain for s in made.statements)]
    things += [a.relation for s in made.statements for a in s.accesses]
    things += [e for a in made.arrays for e in a.extents if e is not None]
    for thing in things:
        found = [thing.get_dim_name(isl.dim_type.param, k) for k in range(thing.dim(isl.dim_type.param))]
        assert found == names


def test_the_space_of_parameters() -> None:
    space = parameter_space((Parameter("b", INT32), Parameter("a", INT32)))
    assert [space.get_dim_name(isl.dim_type.param, k) for k in range(2)] == ["b", "a"]


def test_domains_hold_the_counters_as_written() -> None:
    made = scop()
    assert [s.domain.get_dim_name(isl.dim_type.set, 1) for s in made.statements if s.depth == 2] == ["j", "j"]
    inner = next(s for s in made.statements if s.depth == 2)
    at = isl.Set("[n, m, u] -> { : n = 3 and m = 6 and u = 0 }").params()
    points: list[tuple[int, ...]] = []
    inner.domain.intersect_params(at).foreach_point(lambda p: points.append(tuple(
        int(p.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in range(2))))
    assert sorted(points) == sorted((i, j) for i in range(3) for j in range(5, i - 1, -2))


def test_the_order_is_that_of_the_text() -> None:
    made, seen = scop("for (int i = 0; i < n; i++) { x[i] = 0; for (int j = m - 1; j >= i; j--) x[j] += 1; x[i] = 3; }",
                      head="int n, int m, double *restrict x"), []
    execute(made, {"n": 2, "m": 3}, {"x": np.zeros(9)}, wrap_signed=True,
            trace=lambda name, instance: seen.append((name, *instance)))
    assert seen == [("S0", 0), ("S1", 0, 2), ("S1", 0, 1), ("S1", 0, 0), ("S2", 0),
                    ("S0", 1), ("S1", 1, 2), ("S1", 1, 1), ("S2", 1)]


@pytest.mark.parametrize("inside", ["if (n > m && m > n) x[0] = 1;", "for (int i = 5; i < 3; i++) x[i] = 1;", ";"])
def test_a_region_in_which_nothing_runs(inside: str) -> None:
    made = scop(inside)
    assert made.statements == ()
    assert made.schedule.get_domain().is_empty()
    assert made.notes or ";" in inside


def test_what_an_assumption_rules_out_is_left_out() -> None:
    made = scop("__builtin_assume(n > 3); if (n < 2) x[0] = 1; else x[1] = 2; for (int i = 0; i < n; i++) x[i] = 1;")
    assert len(made.statements) == 2
    assert made.schedule.get_domain().is_equal(isl.UnionSet.from_set(made.statements[0].domain).union(
        isl.UnionSet.from_set(made.statements[1].domain)))


def test_arrays_that_nothing_reaches_are_left_out() -> None:
    assert [a.name for a in scop("for (int i = 0; i < n; i++) x[i] = 1;").arrays] == ["x"]


def test_constraints_that_only_repeat_a_type_are_dropped() -> None:
    domain = next(s.domain for s in scop("for (unsigned k = 0; k < u; k++) x[k] = 1;").statements)
    assert "4294967295" not in str(domain)
    assert "4294967295" in str(scop("for (unsigned k = 0; k < u; k++) x[k] = 1;").context)


def test_assumptions_on_overlap_are_about_arrays_that_are_left() -> None:
    head = "int n, double *a, double *b, double *c"
    made = from_c_text(in_function("for (int i = 0; i < n; i++) { a[i] = b[i]; if (i < 0) c[i] = 1; }", head=head))
    pairs = {frozenset(pair) for a in made.assumptions for pair in a.apart}
    assert pairs == {frozenset({"a", "b"})}
