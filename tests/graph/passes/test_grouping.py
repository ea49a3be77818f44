"""Groups that would wait for each other are not merged."""

from polysched.graph import from_text
from polysched.graph.passes.grouping import Grouping

GRAPH = from_text("""graph f(x: float32[2]) {
  let a = Exp(x)
  let b = Neg(a)
  let c = Abs(a)
  let d = Add(b, c)
  return d
}""")


def test_a_third_group_between_forbids_merging() -> None:
    grouping = Grouping(GRAPH)
    assert not grouping.merge(0, 3)
    assert grouping.merge(0, 1)
    assert not grouping.merge(0, 3)
    assert grouping.merge(2, 0)
    assert grouping.merge(0, 3)
    assert [[n.op for n in group] for group in grouping.ordered()] == [["Exp", "Neg", "Abs", "Add"]]


def test_groups_stand_where_their_operands_are_made() -> None:
    grouping = Grouping(from_text("""graph f(x: float32[2]) {
  let a = Exp(x)
  let b = Neg(x)
  let c = Abs(b)
  let d = Add(a, c)
  return d
}"""))
    assert grouping.merge(0, 3)
    groups = grouping.ordered()
    assert [[n.op for n in group] for group in groups] == [["Neg"], ["Abs"], ["Exp", "Add"]]
    assert grouping.results(groups[2]) == ("d",)
