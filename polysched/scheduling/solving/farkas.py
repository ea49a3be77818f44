"""The affine form of Farkas' lemma: which affine functions are not negative on a dependence.

`isl_basic_set_coefficients` returns, for a polyhedron D, the cone of all (c0, cn, cx) with
c0 + cn.n + cx.x >= 0 on D, with the multipliers already eliminated.  One cone per basic map serves both the
legality rows (the form is phi_T(t) - phi_S(s)) and the bounding rows (u.n + w - phi_T(t) + phi_S(s)).

Source: Feautrier, "Some efficient solutions to the affine scheduling problem, part I", IJPP 21(5), 1992;
Verdoolaege's isl manual, section "Dual set".
"""

from __future__ import annotations

import islpy as isl

from polysched.records import dataclass


@dataclass(frozen=True)
class ConeRow:
    """`constant*c0 + parameters.cn + source.cs + sink.ct >= 0`, or `== 0`."""

    constant: int
    parameters: tuple[int, ...]
    source: tuple[int, ...]
    sink: tuple[int, ...]
    equal: bool


Cone = tuple[ConeRow, ...]


def cones(relation: isl.Map, parameter_space: isl.Space) -> tuple[Cone, ...]:
    """One cone per basic map of a relation, over the parameters of `parameter_space` in its order.

    Existentially quantified variables are dropped first, which enlarges the polyhedron: the cone only shrinks, so a
    form found in it is not negative on the relation itself.
    """
    relation = relation.align_params(parameter_space)
    if relation.dim(isl.dim_type.param) != parameter_space.dim(isl.dim_type.param):
        raise AssertionError("a dependence has a parameter that the context lacks")
    sizes = (relation.dim(isl.dim_type.param), relation.dim(isl.dim_type.in_), relation.dim(isl.dim_type.out))
    found: dict[Cone, None] = {}
    for basic in without_divs(relation).wrap().get_basic_sets():
        # Without redundant constraints the elimination inside isl takes a tenth of the time, and often less.
        found[_cone(basic.remove_redundancies().coefficients(), sizes)] = None
    return tuple(found)


def without_divs(relation: isl.Map) -> isl.Map:
    """A superset of a relation without existentially quantified variables, with all of its equations.

    A loop over every 64th j has them: `j' = j` is `j' >= j` and `j' < j + 64` for multiples of 64 until isl looks for
    equations, and iterations of their own would seem to wait for the next 63.
    """
    if any(basic.dim(isl.dim_type.div) for basic in relation.get_basic_maps()):
        relation = relation.detect_equalities()
    return relation.remove_divs()


def _cone(dual: isl.BasicSet, sizes: tuple[int, int, int]) -> Cone:
    order = (isl.dim_type.cst, isl.dim_type.param, isl.dim_type.set, isl.dim_type.div)
    rows = [_row(r, sizes, equal=True) for r in _rows(dual.equalities_matrix(*order))]
    rows += [_row(r, sizes, equal=False) for r in _rows(dual.inequalities_matrix(*order))]
    return tuple(rows)


def _row(values: list[int], sizes: tuple[int, int, int], *, equal: bool) -> ConeRow:
    parameters, source, sink = sizes
    homogeneous, values = values[0], values[1:]
    if homogeneous or len(values) != 1 + parameters + source + sink:
        raise AssertionError("the dual of a polyhedron is a cone over its coefficients")
    ends = (1 + parameters, 1 + parameters + source)
    return ConeRow(values[0], tuple(values[1:ends[0]]), tuple(values[ends[0]:ends[1]]), tuple(values[ends[1]:]), equal)


def _rows(matrix: isl.Mat) -> list[list[int]]:
    return [[int(matrix.get_element_val(r, c).to_python()) for c in range(matrix.cols())]
            for r in range(matrix.rows())]
