"""The plan of a graph as it is compiled."""

from polysched.graph import from_text
from polysched.model.planned import planned
from polysched.target import host

PRODUCT = from_text("""graph f(x: float32[8, 32], w: float32[32, 64]) {
  let a = MatMul(x, w)
  let y = Relu(a)
  return y, y
}""")


def test_an_output_that_is_given_twice_is_made_once() -> None:
    made = planned(PRODUCT)
    assert made.graph.outputs == ("y",)
    assert [n.op for k in made.kernels for n in k.fragment.nodes] == ["MatMul", "Relu"]


def test_a_target_changes_layouts_and_not_the_outputs() -> None:
    assert str(planned(PRODUCT, host()).type_of("y")) == str(planned(PRODUCT).type_of("y"))
