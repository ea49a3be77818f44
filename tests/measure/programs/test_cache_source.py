"""The shapes of simulated caches, and the touches of statements."""

from dataclasses import replace

import islpy as isl
import pytest

from polysched.measure.programs.cache_source import Place, shape_of, statement_text
from polysched.scop import from_c_text
from polysched.target.target import CacheLevel


@pytest.mark.parametrize(("size", "ways", "expected"), [
    (32768, 8, (64, 8)), (1024, 0, (1, 16)), (64, 8, (1, 1)), (3 * 64 * 5, 5, (3, 5))])
def test_sets_and_ways(size: int, ways: int, expected: tuple[int, int]) -> None:
    assert shape_of(CacheLevel(level=1, size_bytes=size, ways=ways)) == expected


def test_an_access_of_some_instances_is_conditional() -> None:
    scop = from_c_text("""void f(int n, double A[n]) {
#pragma scop
  for (int i = 0; i < n; i++) A[i] = 1.0;
#pragma endscop
}""")
    place = {"A": Place(name="A", number=0, begin=4096, element_bytes=8, strides=(8,))}
    text = statement_text(scop, 0, scop.statements[0], {"n": 5}, place)
    assert "  touch(4096L + 8L * (i0), 8, 1, 0);" in text
    access = scop.statements[0].accesses[0]
    some = access.relation.intersect_domain(isl.Set("[n] -> { S0[i] : i < 2 }"))
    statement = replace(scop.statements[0], accesses=(replace(access, relation=some),))
    assert "if ((i0 >= 0) && (i0 <= 1)) touch(" in statement_text(scop, 0, statement, {"n": 5}, place)
    none = replace(statement, accesses=(replace(access, relation=isl.Map.empty(some.get_space())),))
    assert "touch(" not in statement_text(scop, 0, none, {"n": 5}, place)
