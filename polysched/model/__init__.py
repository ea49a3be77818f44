"""Compiled models: a graph as one shared object, with no Python between its kernels.

    import polysched
    model = polysched.compile(polysched.graph.load("model.onnx"), sizes={"batch": 1})
    results = model(x=array)

What compiles graphs is loaded on first use: `compile` is for C files and kernels, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from polysched.errors import UsageError
from polysched.graph.values.graph import Graph
from polysched.kernel.compiling import compile as compile_program
from polysched.lazy_names import loader
from polysched.pipeline.options import PipelineOptions

if TYPE_CHECKING:
    import numpy as np

    from polysched.model.compiled_model import CompiledModel
    from polysched.model.compiling import compile_graph, compile_with_islands
    from polysched.model.likely import LikelySizes
    from polysched.model.segmented_model import SegmentedModel

Islands: TypeAlias = Literal["refuse", "allow"]

_HOME = {"CompiledModel": "compiled_model", "compile_graph": "compiling", "compile_with_islands": "compiling",
         "SegmentedModel": "segmented_model"}

__all__ = ["CompiledModel", "SegmentedModel", "compile", "compile_graph", "compile_with_islands"]


def compile(program: Any, *, sizes: Mapping[str, int] | None = None, values: Mapping[str, np.ndarray] | None = None,
            likely: LikelySizes | None = None, islands: Islands = "allow", options: PipelineOptions | None = None,
            **more: Any) -> Any:
    """A graph as a `CompiledModel`, or a `SegmentedModel`; anything else as `polysched.kernel.compile` has it.

    Parameters
    ----------
    program : a graph; a Scop, the path of a C file, a tensor expression, a kernel or a Python function.
    sizes, values, likely : of a graph, see `compile_graph`.
    islands : what becomes of a graph's nodes that are not compiled, see `compile_with_islands`; or "refuse".
    options : of the pipeline.

    Raises
    ------
    UsageError : sizes, values or likely sizes of something that is no graph.
    PolyschedError : any stage refuses.
    """
    if isinstance(program, Graph):   # what compiles these is loaded for them
        from polysched.model.compiling import compile_graph, compile_with_islands
        if islands not in ("refuse", "allow"):
            raise UsageError("islands are refused or allowed", witness=f"islands={islands!r}",
                             hint="islands='refuse' or islands='allow'")
        make = compile_graph if islands == "refuse" else compile_with_islands
        return make(program, sizes=sizes, values=values, likely=likely, options=options, **more)
    if sizes is not None or values is not None or likely is not None:
        raise UsageError("sizes=, values= and likely= are of graphs",
                         witness=f"the program is a {type(program).__name__}",
                         hint="leave them out, or give a graph: polysched.graph.load(path)")
    return compile_program(program, options=options, **more)


__getattr__, __dir__ = loader(__name__, _HOME)
