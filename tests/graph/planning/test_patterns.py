"""Patterns: how they grow, what they return, what they cost."""

from __future__ import annotations

from polysched.graph import from_text
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.simple import with_types
from polysched.graph.planning.partition import Group
from polysched.graph.planning.patterns import Patterns, bits_of
from polysched.target import Target


def patterns_of(text: str) -> Patterns:
    graph = with_types(from_text(text))
    return Patterns(graph, infer(graph), Target(cores=2))


DIAMOND = """graph f(x: float32[4, 8]) {
  let a = Exp(x)
  let b = Neg(a)
  let c = Tanh(a)
  let d = Add(b, c)
  return d
}"""

SIBLINGS = """graph f(x: float32[4, 8], w: float32[8, 3]) {
  const last: int64[1] = [1]
  let p = Exp(x)
  let l = ReduceSum(p, last)
  let o = MatMul(p, w)
  return o, l
}"""


def test_patterns_grow_over_producers_that_only_they_use() -> None:
    found = patterns_of(DIAMOND).all()
    assert {p.nodes for p in found if p.nodes[-1] == 3} >= {(3,), (1, 3), (2, 3), (1, 2, 3), (0, 1, 2, 3)}


def test_a_value_that_is_needed_outside_is_a_result_where_no_way_leads_back() -> None:
    maker = patterns_of(DIAMOND)
    assert maker.results((0, 1)) == ("a", "b")          # c needs a, and nothing of the two needs c
    assert (0, 1) in {p.nodes for p in maker.all()}
    assert (0, 1, 3) not in {p.nodes for p in maker.all()}   # c stands between a and d
    assert maker.behind[0] == bits_of((1, 2, 3))


def test_bytes_of_all_results_are_counted() -> None:
    maker = patterns_of(DIAMOND)
    one = 4 * 8 * 4
    assert maker.pattern((0, 1)).bytes_moved == 3 * one      # x is read, a and b are written
    assert maker.pattern((0, 1, 2, 3)).bytes_moved == 2 * one


def test_a_group_says_what_is_seen() -> None:
    maker = patterns_of(DIAMOND)
    group = maker.group(maker.pattern((0, 1)))
    assert isinstance(group, Group)
    assert (group.seen, group.results) == (("a",), ("a", "b"))


def test_views_and_copies_are_no_kernels() -> None:
    maker = patterns_of("""graph f(x: float32[4, 8]) {
      const s: int64[1] = [32]
      let v = Reshape(x, s)
      let t = Transpose(x)
      let e = Exp(t)
      return v, e
    }""")
    assert [maker.kernel(maker.pattern((k,))) is None for k in range(3)] == [True, True, False]


def test_others_that_read_what_stays_inside_join() -> None:
    maker = patterns_of(SIBLINGS)
    assert (0, 1, 2) in {p.nodes for p in maker.all()}
    assert maker.results((0, 1, 2)) == ("l", "o")
    assert maker.pattern((0, 1, 2)).bytes_moved < maker.pattern((0, 2)).bytes_moved + maker.pattern((1,)).bytes_moved


def test_products_are_counted_with_their_batches() -> None:
    maker = patterns_of("""graph f(x: float32[1, 5, 3], w: float32[7, 3, 2]) {
      let y = MatMul(x, w)
      return y
    }""")
    seconds = 2 * 7 * 5 * 3 * 2 / (maker.target.peak_flops(32) * 2)
    moved = maker.pattern((0,)).bytes_moved / (maker.target.bandwidth(0) * 2)
    assert maker.pattern((0,)).seconds == max(seconds, moved) + maker.target.team_seconds
