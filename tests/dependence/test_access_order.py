"""The order of accesses: instances as written, and inside an instance reads before the write of the same item."""

from __future__ import annotations

from polysched.dependence.access_order import access_schedule, access_stages
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

HEAD = "void f(int n, double x[n], double y[n], int at[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) "
TAIL = "\n#pragma endscop\n}\n"


def program(body: str) -> Scop:
    return from_c_text(HEAD + body + TAIL)


def stages(body: str) -> dict[str, int]:
    (statement,) = program(body).statements
    found = access_stages(statement)
    return {f"{'w' if a.is_write else 'r'} {a.array}": found[a.reference] for a in statement.accesses}


def test_an_item_reads_before_it_writes() -> None:
    assert stages("x[i] = x[i] + y[i];") == {"r x": 0, "r y": 0, "w x": 1}


def test_items_of_one_statement_come_one_after_the_other() -> None:
    found = stages("if (y[i] > 0) { x[i] = 1; y[i] = x[i]; }")
    assert found["r y"] == 0
    assert found["w x"] <= found["w y"]


def test_a_subscript_is_read_when_its_access_is_evaluated() -> None:
    found = stages("x[at[i]] = y[i];")
    assert found["r at"] == found["r y"] == 0
    assert found["w x"] == 1


def test_instances_keep_their_order_and_accesses_get_one_below() -> None:
    scop = program("x[i] = x[i] + y[i];")
    order = access_schedule(scop).get_map()
    accesses = scop.statements[0].accesses
    assert access_schedule(scop).get_domain().is_subset(order.domain())
    parts = order.get_map_list()
    assert parts.n_map() == len(accesses)
    assert all("i, 0]" in str(parts.get_at(k)) or "i, 1]" in str(parts.get_at(k)) for k in range(parts.n_map()))
