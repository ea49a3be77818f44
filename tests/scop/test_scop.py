"""The parts of a Scop: unions over statements, tagged relations, look-ups by name, and what has to agree."""

from dataclasses import replace

import islpy as isl
import pytest

from polysched.scop import from_c_text
from polysched.scop.scop import AccessKind, SteppedVariable, union_map, union_set

TEXT = """void f(int n, double A[n], double B[n]) {
#pragma scop
for (int i = 0; i < n; i++) { A[i] = B[i]; if (A[i] > 3) B[i] = 1; }
for (int j = 1; j < n; j++) A[j] += A[j - 1];
#pragma endscop
}
"""


def test_domain_and_relations_are_the_unions_of_those_of_the_statements() -> None:
    scop = from_c_text(TEXT)
    assert scop.domain.is_equal(isl.UnionSet(
        "[n] -> { S0[i] : 0 <= i < n; S1[i] : 0 <= i < n; S2[j] : 1 <= j < n }"))
    must = scop.relation(AccessKind.MUST_WRITE)
    assert must.is_equal(isl.UnionMap("[n] -> { S0[i] -> A[i] : 0 <= i < n; S2[j] -> A[j] : 1 <= j < n }"))
    assert scop.relation(AccessKind.MAY_WRITE).is_equal(isl.UnionMap("[n] -> { S1[i] -> B[i] : 0 <= i < n }"))
    assert scop.relation().is_empty()
    both = scop.relation(AccessKind.MUST_WRITE, AccessKind.MAY_WRITE)
    assert both.is_equal(must.union(scop.relation(AccessKind.MAY_WRITE)))


def test_tags_tell_the_accesses_of_one_element_apart() -> None:
    scop = from_c_text(TEXT)
    tagged = scop.relation(AccessKind.READ, tagged=True)
    assert tagged.domain_factor_domain().is_equal(scop.relation(AccessKind.READ))
    maps: list[isl.Map] = []
    tagged.foreach_map(maps.append)
    tags = {m.get_space().domain().unwrap().get_tuple_name(isl.dim_type.out) for m in maps}
    assert tags == {a.reference for s in scop.statements for a in s.reads}
    assert len(tags) == 4


def test_names_are_found_and_others_are_not() -> None:
    scop = from_c_text(TEXT)
    statement = scop.statement("S2")
    assert (statement.iterators, statement.depth) == (("j",), 1)
    assert scop.array("B").name == "B"
    assert statement.access(statement.reads[0].reference) is statement.reads[0]
    for look_up in (scop.array, scop.statement, statement.access):
        with pytest.raises(KeyError):
            look_up("missing")
    assert scop.headline() == "f(n): 3 statements, 2 arrays"
    assert scop.source is not None
    assert scop.source.location.line == 2


def test_a_statement_whose_body_uses_what_is_not_declared_is_a_mistake() -> None:
    statement = from_c_text(TEXT).statements[0]
    with pytest.raises(ValueError, match="accesses that are not declared"):
        replace(statement, accesses=statement.writes)
    with pytest.raises(ValueError, match="the domain is named S0"):
        replace(statement, name="S9")


def test_empty_unions_have_nothing() -> None:
    assert union_set([]).is_empty()
    assert union_map([]).is_empty()
    assert not union_set([isl.Set("{ A[i] : i = 3 }"), isl.Set("{ B[] }")]).is_empty()


def test_original_code_has_stepped_a_variable_itself() -> None:
    assert SteppedVariable(by="k", declaration="int k;", behind="p += k;").done == "k = 0;"


def test_iterators_of_an_expression_are_found_in_subscripts_too() -> None:
    (statement,) = from_c_text("""void f(int n, int *p, double *x, double *y) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[j] = x[p[i]] + 1;
#pragma endscop
}
""").statements
    (assign,) = statement.body
    assert statement.iterators_in(assign.value) == {"i"}
    (last,) = next(iter(statement.writes)).subscripts
    assert statement.iterators_in(last) == {"j"}


def test_what_subscripts_read_is_found_through_all_of_them() -> None:
    (statement,) = from_c_text("""void f(int n, int *p, double *x, double *y) {
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[p[p[p[i]]]];
#pragma endscop
}
""").statements
    (outermost,) = (a.reference for a in statement.reads if a.array == "x")
    assert statement.with_subscripts([outermost]) == {a.reference for a in statement.reads}
    assert statement.with_subscripts([]) == frozenset()
