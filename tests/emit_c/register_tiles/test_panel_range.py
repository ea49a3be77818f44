"""Dimensions of a panel: what is copied of a block that is no box, so that it stays inside the array."""

from __future__ import annotations

from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import Comparison, constant, variable
from polysched.emit_c.loop_ir.loops import Edge
from polysched.emit_c.loop_ir.text import linear_text
from polysched.emit_c.register_tiles.panel_range import PanelRange, clipped
from polysched.emit_c.register_tiles.register_nests import EdgeRange
from polysched.scop import from_c_text

I_, K, B, N = (variable(x) for x in ("i", "k", "b", "n"))
SCOP = from_c_text("""void f(int n, float A[n][n], float y[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k <= i; k++)
      y[i] += A[i][k];
#pragma endscop
}
""")
STATEMENT = SCOP.statements[0]
READ = next(a for a in STATEMENT.reads if a.array == "A")
FACTS = Facts(context=SCOP.context).given(*(Comparison(op, name, end) for name in (I_, K) for op, end in (
    (">=", constant(0)), ("<", N))))
EDGE = PanelRange(variable="k", origin=B * 8, count=8, lower=B * 8, upper=B * 8 + 8, is_edge=True)


def ends(ranges: list[PanelRange] | None) -> list[tuple[str, str]] | None:
    return None if ranges is None else [(linear_text(r.lower), linear_text(r.upper)) for r in ranges]


def cut(*ranges: PanelRange, facts: Facts = FACTS, inside: frozenset[str] = frozenset({"i", "k"})
        ) -> list[tuple[str, str]] | None:
    return ends(clipped(SCOP, [READ], {"i": I_, "k": K}, ranges, inside, facts))


def test_an_edge_ends_where_its_array_does() -> None:
    certain = FACTS.given(Comparison(">=", B, constant(0)))
    assert cut(EDGE, facts=certain) == [("8*b", "min(8*b + 8, n)")]
    assert cut(EDGE) == [("max(8*b, 0)", "min(8*b + 8, n)")], "the block may begin in front of the array"


def test_what_no_edge_moves_has_to_be_inside_anyway() -> None:
    assert cut() == []
    assert cut(facts=Facts(context=SCOP.context)) is None


def test_an_edge_beside_another_moving_variable_has_no_end() -> None:
    other = {"i": I_, "k": K + I_}
    assert clipped(SCOP, [READ], other, [EDGE], frozenset({"i", "k"}), FACTS) is None
    twice = {"i": I_, "k": K * 2}
    assert clipped(SCOP, [READ], twice, [EDGE], frozenset({"i", "k"}), FACTS) is None


def test_the_range_of_an_edge_is_cut_by_its_fixed_bounds() -> None:
    part = EdgeRange(edge=Edge("k", B * 8, 8, True), lowers=(constant(1),), uppers=(N,), moving_lowers=(),
                     moving_uppers=(I_,))
    made = PanelRange.of_edge(part, constant(0), 64, [constant(0)], [constant(64)])
    assert (linear_text(made.lower), linear_text(made.upper)) == ("1", "min(64, n)")
    assert (made.variable, made.count, made.is_edge, made.is_block) == ("k", 64, True, False)


def test_an_array_whose_extent_is_not_known_cannot_be_cut() -> None:
    unknown = from_c_text("void f(int n, float *A, float *y) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
                          "    y[i] += A[i];\n#pragma endscop\n}\n")
    read = next(a for a in unknown.statements[0].reads if a.array == "A")
    edge = PanelRange(variable="i", origin=constant(0), count=8, lower=constant(0), upper=constant(8), is_edge=True)
    facts = Facts(context=unknown.context)
    found = clipped(unknown, [read], {"i": I_}, [edge], frozenset({"i"}), facts)
    assert unknown.array("A").extents == (None,)
    assert found is None


def test_blocks_that_are_dimensions_do_not_move_an_edge() -> None:
    block = PanelRange(variable="b", origin=constant(0), count=4, lower=constant(0), upper=constant(4), is_edge=False,
                       is_block=True)
    shifted = {"i": I_, "k": K + B * 8}
    facts = FACTS.given(Comparison(">=", B, constant(0)), Comparison("<", B, constant(4)))
    found = clipped(SCOP, [READ], shifted, [block, EDGE], frozenset({"i", "k", "b"}), facts)
    assert found is not None
    assert linear_text(found[1].upper) == "min(8*b + 8, n - 8*b)"
