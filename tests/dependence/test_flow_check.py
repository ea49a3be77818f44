"""isl's data-flow analysis beside a second witness: of unions of strided parts it loses pairs."""

from __future__ import annotations

from itertools import pairwise

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import DependenceKind
from polysched.dependence.flow_check import is_risky, mended
from polysched.scop import from_c_text

SUM = """void f(int *restrict C, const int *restrict A) {{
#pragma scop
  for (int kk = 0; kk < {n}; kk += {tile})
    for (int k = kk; k < (kk + {tile} < {n} ? kk + {tile} : {n}); k++)
      C[0] = 3 * C[0] + A[k];
#pragma endscop
}}
"""


def points(domain: isl.Set) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    domain.foreach_point(lambda p: found.append(tuple(
        p.get_coordinate_val(isl.dim_type.set, at).to_python() for at in range(domain.dim(isl.dim_type.set)))))
    return sorted(found)


@pytest.mark.parametrize(("n", "tile"), [(70, 16), (69, 4), (64, 16), (23, 7), (65, 64)])
def test_every_element_is_read_from_the_write_before_it(n: int, tile: int) -> None:
    """Tiles of which the last is shorter: one running sum, so every instance reads what the one before wrote."""
    scop = from_c_text(SUM.format(n=n, tile=tile))
    instances = points(scop.statements[0].domain)
    assert len(instances) == n
    found = analyse(scop)
    assert found.fallbacks == ()
    for kind in (DependenceKind.FLOW, DependenceKind.OUTPUT):
        pairs = [d.relation for d in found.pairs if d.kind is kind and d.array == "C"]
        wrapped = isl.Set.empty(pairs[0].wrap().get_space())
        for relation in pairs:
            wrapped = wrapped.union(relation.wrap())
        assert points(wrapped) == [(*a, *b) for a, b in pairwise(instances)]


def test_a_right_answer_is_kept_and_a_wrong_one_mended() -> None:
    domain = "{ S[i] : 0 <= i <= 3; S[i] : 6 <= i <= 7 }"
    schedule = isl.Schedule('{ domain: "' + domain + '", child: { schedule: "[{ S[i] -> [(i)] }]" } }')
    access = isl.UnionMap("{ S[i] -> C[] : 0 <= i <= 3; S[i] -> C[] : 6 <= i <= 7 }")
    right = isl.UnionMap("{ S[i] -> S[i + 1] : 0 <= i <= 2 or i = 6; S[3] -> S[6] }")
    known = {"sink": access, "must": access, "may": isl.UnionMap("{ }")}
    assert mended(schedule, answer=right, **known) is right
    for wrong in ("{ S[i] -> S[i + 1] : 0 <= i <= 2 or i = 6; S[0] -> S[6] }",   # a pair is another one
                  "{ S[i] -> S[i + 1] : 0 <= i <= 2 or i = 6 }",                 # a pair is lost
                  "{ S[i] -> S[i + 1] : 0 <= i <= 2 or i = 6; S[3] -> S[6]; S[2] -> S[6] }"):   # one is hidden
        assert mended(schedule, answer=isl.UnionMap(wrong), **known).is_equal(right)


def test_a_write_that_may_not_happen_hides_nothing() -> None:
    schedule = isl.Schedule('{ domain: "{ S[i] : 0 <= i <= 2 }", child: { schedule: "[{ S[i] -> [(i)] }]" } }')
    access = isl.UnionMap("{ S[i] -> C[] : 0 <= i <= 2 }")
    found = mended(schedule, sink=access, must=isl.UnionMap("{ }"), may=access, answer=isl.UnionMap("{ }"))
    assert found.is_equal(isl.UnionMap("{ S[i] -> S[j] : 0 <= i < j <= 2 }"))


def test_only_unions_are_risky() -> None:
    assert not is_risky(isl.UnionMap("{ S[i] -> C[i] : 0 <= i <= 3; T[i] -> C[i] : i = 9 }"))
    assert is_risky(isl.UnionMap("{ S[i] -> C[i] : 0 <= i <= 3 or i = 9 }"))
