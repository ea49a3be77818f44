"""All ways of the family are drawn, in several operator sets."""

from polysched.fuzz.onnx_models.drawing import ModelDrawing
from polysched.fuzz.onnx_models.sums import WAYS


def test_every_way_is_drawn() -> None:
    found = set()
    for seed in range(60):
        drawing = ModelDrawing(seed)
        for way in WAYS:
            way(drawing)
        found |= {node.op_type for node in drawing.nodes}
    wanted = {"CumSum", "Einsum", "Gemm", "MatMul",
              "MatMulInteger", "QLinearConv", "QuantizeLinear", "ReduceSum", "TopK"}
    assert not wanted - found
