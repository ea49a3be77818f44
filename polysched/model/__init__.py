"""Compiled models: a graph as one shared object, with no Python between its kernels.

    import polysched
    model = polysched.compile(polysched.graph.load("model.onnx"), sizes={"batch": 1})
    results = model(x=array)
"""

from polysched.model.compiled_model import CompiledModel
from polysched.model.compiling import compile, compile_graph, compile_with_islands
from polysched.model.segmented_model import SegmentedModel

__all__ = ["CompiledModel", "SegmentedModel", "compile", "compile_graph", "compile_with_islands"]
