"""Where statements stand: the relation between the loops around them and their instances."""

from __future__ import annotations

import islpy as isl
import pytest

from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.loop_ir.statement_instances import leaf_relation, leaves_of
from polysched.scop import from_c_text

SCOP = from_c_text("""void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = A[i - 1][j] + 1;
#pragma endscop
}""")
FACTS = Facts(context=SCOP.context)


@pytest.mark.parametrize(("text", "relations"), [
    ("for a in range(1, n):\n    for b in range(0, n): S0(a, b)",
     ["[n] -> { [a, b] -> S0[a, b] : 1 <= a < n and 0 <= b < n }"]),
    ("for a in range(0, n):\n    with let(b, a + 1):\n        S0(b, a)",
     ["[n] -> { [a, b] -> S0[b, a] : b = a + 1 and 0 <= a < n }"]),
    ("for a in range(0, n):\n    if a >= 3: S0(a, 0)\n    else: S0(0, a)",
     ["[n] -> { [a] -> S0[a, 0] : 3 <= a < n }", "[n] -> { [a] -> S0[0, a] : 0 <= a < n }"]),   # at least what runs
    ("for a in range(0, n, 2): S0(floord(a, 2), a)", ["[n] -> { [a] -> S0[floor(a/2), a] : 0 <= a < n }"]),
])
def test_relations_of_leaves(text: str, relations: list[str]) -> None:
    found = [leaf_relation(leaf, SCOP) for leaf in leaves_of(parse_loops(text), (), FACTS)]
    assert len(found) == len(relations)
    for relation, wanted in zip(found, relations, strict=True):
        assert relation.is_equal(isl.Map(wanted).intersect_params(SCOP.context))


def test_a_register_tile_has_no_leaves() -> None:
    assert not list(leaves_of(parse_loops("with register_tile(loops=(), edges=()): S0(i, j)"), (), FACTS))


def test_statements_that_read_a_packed_operand_are_leaves() -> None:
    nest = parse_loops("with packed(Panel(name='p', statement='S0', value=Load(reference='S0_r0', "
                       "dtype=dtype('float64')), subscripts=(), extents=(), loops=(), in_lanes=True), S0(1, 0)):\n"
                       "    for a in range(1, n):\n        for b in range(0, n): S0(a, b)")
    assert [leaf.around for leaf in leaves_of(nest, (), FACTS)] == [("a", "b")]
