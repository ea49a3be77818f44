"""Operator graphs: a small frozen IR in A-normal form, its operators, passes, interpreter and plans.

    from polysched.graph import load
    graph = load("model.onnx")

Nothing is compiled here; `polysched.model` does that.  Names are loaded on first use: who compiles a C file only asks
whether it is a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lazy_names import loader

if TYPE_CHECKING:
    from polysched.graph.evaluation.interpreter import interpret
    from polysched.graph.reading.onnx_reader import load
    from polysched.graph.reading.torch_reader import from_torch
    from polysched.graph.values.graph import Graph, Node
    from polysched.graph.values.sizes import Size
    from polysched.graph.values.text import from_text, to_text
    from polysched.graph.values.types import TensorType

_HOME = {"interpret": "evaluation.interpreter", "load": "reading.onnx_reader", "from_torch": "reading.torch_reader",
         "Graph": "values.graph", "Node": "values.graph", "Size": "values.sizes", "from_text": "values.text",
         "to_text": "values.text", "TensorType": "values.types"}

__all__ = ["Graph", "Node", "Size", "TensorType", "from_text", "from_torch", "interpret", "load", "to_text"]

PROVIDED = {
    "Graph.__str__": "values.text:to_text",
    "Graph._repr_html_": "values.drawing:svg_of",
    "Plan._repr_html_": "planning.drawing:svg_of_plan",
}
"""What methods of values call (`scop.provided`)."""


__getattr__, __dir__ = loader(__name__, _HOME)
