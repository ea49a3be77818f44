"""What random graphs are drawn on."""

from polysched.fuzz.graph_drawing import NARROW, SIZED, Drawing, counts, moves
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, FLOAT16, FLOAT32


def test_what_does_not_fit_is_left_out() -> None:
    drawn = Drawing(1)
    name, own = drawn.inputs[0]
    drawn.add("Transpose", name, perm=(0,) * (own.rank + 1))
    assert not drawn.nodes
    drawn.add("Expand", name, drawn.constant([SIZED + 1, *own.extents]))
    assert not drawn.nodes
    assert "v0_0" not in drawn.inference.types
    drawn.add("Identity", name)
    assert [n.op for n in drawn.nodes] == ["Identity"]
    assert drawn.inference.types["v0_0"] == own


def test_inputs_have_narrow_types_too() -> None:
    types = {own.dtype for seed in range(80) for _, own in Drawing(seed).inputs}
    assert set(NARROW) < types


def test_halves_are_moved_and_not_counted() -> None:
    half, truth, number = (TensorType.of(dtype, (2,)) for dtype in (FLOAT16, BOOL, FLOAT32))
    assert [counts(t) for t in (half, truth, number)] == [False, False, True]
    assert [moves(t) for t in (half, truth, number)] == [True, False, True]
