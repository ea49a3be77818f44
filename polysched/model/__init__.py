"""Compiled models: a graph as one shared object, with no Python between its kernels.

    import polysched
    model = polysched.compile(polysched.graph.load("model.onnx"), sizes={"batch": 1})
    results = model(x=array)

Names are loaded on first use: `polysched.compile` is for C files and kernels, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.model.any_program import compile
    from polysched.model.compiled_model import CompiledModel
    from polysched.model.compiling import compile_graph, compile_with_islands
    from polysched.model.segmented_model import SegmentedModel

_HOME = {"compile": "any_program", "CompiledModel": "compiled_model", "compile_graph": "compiling",
         "compile_with_islands": "compiling", "SegmentedModel": "segmented_model"}

__all__ = ["CompiledModel", "SegmentedModel", "compile", "compile_graph", "compile_with_islands"]

__getattr__ = loader(__name__, _HOME)
