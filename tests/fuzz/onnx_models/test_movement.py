"""All ways of the family are drawn, in several operator sets."""

from polysched.fuzz.onnx_models.drawing import ModelDrawing
from polysched.fuzz.onnx_models.movement import WAYS


def test_every_way_is_drawn() -> None:
    found = set()
    for seed in range(60):
        drawing = ModelDrawing(seed)
        for way in WAYS:
            way(drawing)
        found |= {node.op_type for node in drawing.nodes}
    wanted = {"DepthToSpace", "GatherND", "OneHot", "Pad", "Range",
              "Reshape", "ScatterElements", "Slice", "Split", "Squeeze"}
    assert not wanted - found
