"""Nodes of older operator sets."""

import numpy as np
import pytest

from polysched.graph import Node
from polysched.graph.reading.older_forms import modernised

MADE: dict[str, np.ndarray] = {}


def constant(value: np.ndarray) -> str:
    MADE[f"k{len(MADE)}"] = value
    return f"k{len(MADE) - 1}"


@pytest.mark.parametrize(("node", "place", "value"), [
    (Node.of("Squeeze", ("x",), ("y",), {"axes": (0, 2)}), 1, [0, 2]),
    (Node.of("ReduceSum", ("x",), ("y",), {"axes": (1,)}), 1, [1]),
    (Node.of("Slice", ("x",), ("y",), {"starts": (0,), "ends": (3,)}), 2, [3])])
def test_attributes_become_operands(node: Node, place: int, value: object) -> None:
    new, = modernised(node, 9, constant)
    assert MADE[new.inputs[place]].tolist() == value
    assert not new.attributes


def test_bounds_are_numbers_of_the_type_of_the_data() -> None:
    cast, new = modernised(Node.of("Clip", ("x",), ("y",), {"max": 6.0}), 9, constant)
    assert (cast.op, MADE[cast.inputs[0]].tolist(), cast.inputs[1]) == ("CastLike", 6.0, "x")
    assert (new.inputs, new.attributes) == (("x", "", *cast.outputs), ())


def test_a_padding_is_a_number_of_the_type_of_the_data() -> None:
    cast, new = modernised(Node.of("Pad", ("x",), ("y",), {"pads": (1, 1), "value": 2.0}), 2, constant)
    assert (cast.op, MADE[cast.inputs[0]].tolist(), cast.inputs[1]) == ("CastLike", 2.0, "x")
    assert (MADE[new.inputs[1]].tolist(), new.inputs[2:], new.attributes) == ([1, 1], cast.outputs, ())


def test_the_names_of_numbers_are_no_names_of_values() -> None:
    cast, _ = modernised(Node.of("Clip", ("y_min",), ("y",), {"min": 1.0}), 9, constant)
    assert not {"y", "y_min"} & set(cast.outputs)


def test_a_softmax_over_two_dimensions_is_told_apart() -> None:
    new, = modernised(Node.of("Softmax", ("x",), ("y",)), 11, constant)
    assert dict(new.attributes) == {"axis": 1, "flatten": 1}


def test_broadcasting_at_an_axis_becomes_a_view() -> None:
    view, add = modernised(Node.of("Add", ("x", "y"), ("z",), {"broadcast": 1, "axis": 1}), 6, constant)
    assert (view.op, view.inputs, view.attribute("axis")) == ("AlignedAt", ("y", "x"), 1)
    assert (add.inputs, add.attributes) == (("x", view.outputs[0]), ())


def test_the_first_resize_has_scales_alone() -> None:
    node = Node.of("Resize", ("x", "scales"), ("y",), {"mode": "nearest"})
    old, new = next(iter(modernised(node, 10, constant))), next(iter(modernised(node, 11, constant)))
    assert (old.op, old.inputs, old.attribute("mode")) == ("Upsample", ("x", "scales"), "nearest")
    assert new.op == "Resize"


def test_defaults_are_those_of_the_version() -> None:
    for op, name, last, value in (("DFT", "axis", 20, 1), ("RoiAlign", "coordinate_transformation_mode", 16,
                                                           "output_half_pixel")):
        old, new = (next(iter(modernised(Node.of(op, ("x",), ("y",)), v, constant))) for v in (last - 1, last))
        assert (old.attribute(name), new.attribute(name)) == (value, None)


@pytest.mark.parametrize(("version", "given", "axis"), [(1, {}, 1), (3, {"axis": 0}, 0), (4, {"axis": 2}, 2)])
def test_the_first_concatenations_need_no_axis(version: int, given: dict[str, int], axis: int) -> None:
    new, = modernised(Node.of("Concat", ("x", "y"), ("z",), given), version, constant)
    assert new.attribute("axis") == axis
