"""What is written is read back as the same sets and relations."""

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.scop import from_c_text
from polysched.scop.openscop import openscop_text, read_openscop

PROGRAM = """void f(int n, double a[n], double b[n], double s) {
#pragma scop
  for (int i = 1; i < n - 1; i += 2) {
    b[i] = a[i - 1] * 2.0;
    if (i % 5 != 1) s += a[i % 7];
  }
#pragma endscop
}"""


def test_a_region_round_trips() -> None:
    scop = from_c_text(PROGRAM)
    region = read_openscop(openscop_text(scop))
    assert region.parameters == ("n",)
    assert region.context.is_equal(scop.context)
    dates = scop.schedule.get_map()
    for read, statement in zip(region.statements, scop.statements, strict=True):
        assert read.domain.set_tuple_name(statement.name).is_equal(statement.domain)
        scattering = read.scattering.set_tuple_name(isl.dim_type.in_, statement.name).intersect_domain(
            statement.domain)
        assert isl.UnionMap.from_map(scattering).is_equal(
            dates.intersect_domain(isl.UnionSet.from_set(statement.domain)))
        assert read.iterators == statement.iterators
        for (kind, array, relation), access in zip(read.accesses, statement.accesses, strict=True):
            assert (kind, array) == (access.kind, access.array)
            named = relation.set_tuple_name(isl.dim_type.in_, statement.name).set_tuple_name(
                isl.dim_type.out, array).intersect_domain(statement.domain)
            assert named.is_equal(access.relation.intersect_domain(statement.domain))
    assert region.statements[0].body == "b[i] = a[i - 1] * 2.0;"


def test_a_statement_without_dates_is_refused() -> None:
    with pytest.raises(UsageError, match="S0 has 0 relations of dates"):
        openscop_text(from_c_text(PROGRAM), isl.UnionMap("{ S1[i] -> [i] }"))
