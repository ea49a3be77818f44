"""All ways of the family are drawn, in several operator sets."""

from polysched.fuzz.onnx_models.drawing import ModelDrawing
from polysched.fuzz.onnx_models.windows import WAYS


def test_every_way_is_drawn() -> None:
    found = set()
    for seed in range(60):
        drawing = ModelDrawing(seed)
        for way in WAYS:
            way(drawing)
        found |= {node.op_type for node in drawing.nodes}
    wanted = {"AveragePool", "Conv", "ConvTranspose", "GroupNormalization",
              "LpPool", "MaxPool", "Resize", "Upsample", "GridSample"}
    assert not wanted - found
