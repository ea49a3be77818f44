"""Types, and shape arithmetic as sizes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Graph, Node, Size, TensorType, from_text
from polysched.graph.builder import GraphBuilder
from polysched.graph.evaluation import inference
from polysched.graph.evaluation.inference import infer
from polysched.graph.limits import LIMITS
from polysched.scop.dtypes import FLOAT32

TEXT = """graph f(x: float32[N, 6]) {
  const two: int64[1] = [2]
  const first: int64[1] = [0]
  const second: int64[1] = [1]
  let s = Shape(x)
  let rows = Slice(s, first, second)
  let twice = Mul(rows, two)
  const rest: int64[1] = [3]
  let wanted = Concat(twice, rest; axis=0)
  let y = Reshape(x, wanted)
  return y
}"""


def test_shape_arithmetic_gives_sizes() -> None:
    inferred = infer(from_text(TEXT))
    assert inferred.types["y"].shape == (2 * Size.symbol("N"), Size(3))
    assert list(inferred.known["wanted"]) == [2 * Size.symbol("N"), 3]


def test_comparisons_of_sizes_are_not_known() -> None:
    text = TEXT.replace("return y", "let e = Equal(wanted, two)\n  return e")
    assert "e" not in infer(from_text(text)).known


def test_sizes_as_floats_are_not_known() -> None:
    graph = from_text("""graph f(x: float32[N, 6]) {
      const half: float32[] = [0.5]
      let s = Shape(x)
      let a = Cast(s; to="float32")
      let b = Mul(a, half)
      let c = Cast(b; to="int64")
      return c
    }""")
    assert set(infer(graph).known) == {"half", "s"}


@pytest.mark.parametrize(("line", "known"), [
    ("Div(s, two)", "[N//2, 3]"), ("Div(s, minus)", "[-N//2, -3]"), ("Div(less, two)", "[(N + 1)//2 - 1, 2]"),
    ("Div(much, two)", ""), ("Div(much, minus)", ""), ("Div(even, two)", "[N - 4, 2]"), ("Div(s, none)", ""),
    ("Div(two, s)", ""), ("Mul(s, s)", "[N*N, 36]"), ("Div(squares, s)", "[N, 6]"),
    ('Cast(s; to="int8")', ""), ('Cast(s; to="bool")', ""),
    ("Gather(s, s)", ""), ("Mul(s, huge)", ""), ("Mul(more, huge)", ""), ('Cast(s; to="int32")', "[N, 6]")])
def test_what_is_no_size_at_all_values_of_an_open_one_is_not_known(line: str, known: str) -> None:
    graph = from_text(f"""graph f(x: float32[N, 6]) {{
      const one: int64[1] = [1]
      const five: int64[1] = [5]
      const eight: int64[1] = [8]
      const two: int64[1] = [2]
      const minus: int64[1] = [-2]
      const none: int64[1] = [0]
      const huge: int64[1] = [4611686018427387904]
      let s = Shape(x)
      let squares = Mul(s, s)
      let more = Div(s, eight)
      let less = Sub(s, one)
      let much = Sub(s, five)
      let twice = Mul(s, two)
      let even = Sub(twice, eight)
      let y = {line}
      return y
    }}""")
    found = infer(graph).known.get("y")
    assert ("" if found is None else f"[{', '.join(map(str, found))}]".replace("((", "(").replace("(N)", "N")
            .replace("//2)", "//2")) == known


def test_what_is_computed_while_compiling_has_a_limit_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "LIMITS", replace(inference.LIMITS, most_folded_in_all=10))
    doubled = "".join(f"  let a{k + 1} = Add(a{k}, a{k})\n" for k in range(8))
    graph = from_text(f"graph g() {{\n  const a0: float32[4] = [1.0, 2.0, 3.0, 4.0]\n{doubled}  return a8\n}}")
    assert set(infer(graph).known) == {"a0", "a1", "a2"}


@pytest.mark.parametrize(("old", "new", "problem"), [
    ("Reshape(x, wanted)", "Reshape(x, z)", "used before it is bound"),
    ("return y", "return z", "the output 'z' is bound nowhere"),
    ("let s = Shape(x)", "let s, t = Shape(x)", "the operator has 1 results, not 2"),
    ("Mul(rows, two)", "Mul(rows, x)", "different element types")])
def test_what_does_not_fit_is_refused(old: str, new: str, problem: str) -> None:
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(from_text(TEXT.replace(old, new)))


def test_remembered_types_are_those_of_the_values_that_they_follow_from() -> None:
    def shape(*extents: int, x: str = "float32[3, 4]") -> str:
        graph = from_text(f"""graph f(x: {x}) {{
          const s: int64[{len(extents)}] = {list(extents)}
          let y = Reshape(x, s)
          return y
        }}""")
        return str(infer(graph).types["y"])
    assert [shape(12), shape(6, 2), shape(12), shape(6, -1, x="int64[3, 4]")] == [
        "float32[12]", "float32[6, 2]", "float32[12]", "int64[6, 2]"]


@pytest.mark.parametrize("count", [2, LIMITS.most_remembered_elements + 1])
def test_indices_that_are_outside_are_refused_behind_others_that_are_not(count: int) -> None:
    def gathered(index: int) -> Graph:
        node = Node.of("Gather", ("x", "i"), ("y",), {"axis": 0})
        return Graph(name="g", inputs=(("x", TensorType.of(FLOAT32, (4,))),), nodes=(node,), outputs=("y",),
                     constants={"i": np.full(count, index)})
    assert infer(gathered(3)).types["y"].extents == (count,)
    with pytest.raises(UnsupportedGraphError, match="an index is outside"):
        infer(gathered(4))


@pytest.mark.parametrize("numbers", [np.array([1, 0]), [1, 0], (np.int64(1), np.int64(0))])
def test_attributes_may_be_numbers_of_numpy(numbers: Any) -> None:
    g = GraphBuilder("g")
    x = g.input("x", "float32", (3, 4))
    assert g.op("Concat", x, x, axis=np.int64(0)).type.extents == (6, 4)
    assert g.op("Transpose", x, perm=numbers).type.extents == (4, 3)


def test_a_number_over_an_open_size_is_not_known() -> None:
    found = infer(from_text("""graph f(x: float32[N, 3]) {
  const k: int64[1] = [6]
  let s = Shape(x; start=0, end=1)
  let q = Div(k, s)
  let r = Div(s, k)
  return q, r
}"""))
    assert "q" not in found.known
    assert found.known["r"][0] == Size.symbol("N") // 6


def test_which_dimensions_are_squeezed_does_not_follow_from_an_open_size() -> None:
    with pytest.raises(UnsupportedGraphError, match="which dimensions are squeezed"):
        infer(from_text("graph f(x: float32[1, N, 7]) {\n  let y = Squeeze(x)\n  return y\n}"))
