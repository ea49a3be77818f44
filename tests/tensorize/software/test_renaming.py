"""A statement under another name reads, writes and computes what it did."""

from __future__ import annotations

import islpy as isl

from polysched.scop import from_c_text
from polysched.scop.body import Assign, Load, walk
from polysched.tensorize.software.renaming import fresh_name, named_map, named_set, renamed_statement

TEXT = """void f(int n, int A[n], int B[n], int X[n]) {
#pragma scop
for (int i = 0; i < n; i++) A[i] += B[X[i] & 7] * A[n - 1 - i];
#pragma endscop
}"""


def test_every_reference_and_every_tuple_has_the_new_name() -> None:
    (old,) = from_c_text(TEXT).statements
    new = renamed_statement(old, "T", {a.reference: f"T_{a.reference}" for a in old.accesses})
    assert new.name == new.domain.get_tuple_name() == "T"
    assert new.domain.set_tuple_name(old.name).is_equal(old.domain)
    assert len(new.accesses) == len(old.accesses) == 5
    for before, after in zip(old.accesses, new.accesses, strict=True):
        assert after.reference == f"T_{before.reference}"
        assert after.relation.set_tuple_name(isl.dim_type.in_, old.name).is_equal(before.relation)
        assert (after.array, after.kind) == (before.array, before.kind)
    known = {a.reference for a in new.accesses}
    (item,) = new.body
    assert isinstance(item, Assign)
    assert {item.target, item.read} < known
    loads = [e for e in walk(item.value) if isinstance(e, Load)]
    loads += [e for a in new.accesses for s in a.subscripts for e in walk(s) if isinstance(e, Load)]
    assert len(loads) == 3
    assert {e.reference for e in loads} < known


def test_fresh_names_are_taken_at_once() -> None:
    taken = {"S", "S_"}
    assert [fresh_name("S", taken), fresh_name("S", taken), fresh_name("T", taken)] == ["S__", "S___", "T"]
    assert taken == {"S", "S_", "S__", "S___", "T"}


def test_the_first_dimensions_have_the_names() -> None:
    (statement,) = from_c_text(TEXT).statements
    domain = named_set(statement.domain.add_dims(isl.dim_type.set, 1), ["p", "q"])
    assert [domain.get_dim_name(isl.dim_type.set, at) for at in range(2)] == ["p", "q"]
    relation = named_map(statement.accesses[0].relation, ["p"])
    assert relation.get_dim_name(isl.dim_type.in_, 0) == "p"
    assert relation.is_equal(statement.accesses[0].relation)
