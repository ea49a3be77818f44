"""Refusals of nodes: each names the node, its operator, what of the node is not had, and what to try."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TypeAlias

from polysched.errors import UnsupportedGraphError
from polysched.graph.limits import LIMITS
from polysched.graph.values.graph import Node

OWN_OPERATORS = frozenset((
    "AdaptivePool", "AlignedAt", "BatchToSpaceND", "BiasAdd", "BinarizePack", "BinaryDense", "BlockedConv",
    "BlockedDepthwise", "Branch", "ByteConv", "ByteMatMul", "Call", "ChannelSum", "ChannelsLastConv", "Dense", "Dilate",
    "FastErf", "FastExp", "FastTanh", "FloorDiv", "FullLike", "Log10", "Log2", "NarrowCode", "NllLoss",
    "NotEqual", "OpenMean", "PadConstant", "PoolGrad", "Rank", "Recurrence", "ReduceAll", "ReduceAny", "Repeat",
    "Rsqrt", "ScaleShift", "SpaceToBatchND", "Subscripts", "SumPool"))
"""Operators of the registry that ONNX has not."""
PAGES = {"ArrayFeatureExtractor": "_aionnxml_", "Binarizer": "_aionnxml_", "Adagrad": "_aionnxpreviewtraining_",
         "Adam": "_aionnxpreviewtraining_", "Momentum": "_aionnxpreviewtraining_",
         "Gradient": "_aionnxpreviewtraining_"}
"""How ONNX calls the page of an operator that is not of the standard domain."""


class Part(Enum):
    """What else of a node a refusal may be about than attributes, by name, and operands, by place."""

    RESULTS = "its results"
    SHAPES = "the shapes of its operands"
    WHOLE = "the node"


class Remedy(Enum):
    """What a user tries, by why a node is refused; `{about}` and `{definition}` are filled in."""

    CORRECT = "correct {about} in the model; {definition}"
    CONVERT = "put a Cast to another element type ahead of {about}; {definition}"
    AGREE = "put a Cast ahead of one of them, so that {about} have one element type"
    SIZES = "fix the open size by sizes=, on the command line by --size NAME=N"
    VALUES = ("give the value by values= when the graph is compiled, or fix what it follows from by sizes=, on the "
              "command line by --size NAME=N")
    FAULT = "this is a fault of polysched: report it with the graph, to_text(graph)"


About: TypeAlias = "str | int | Part | Sequence[str | int]"


def refused(node: Node, problem: str, about: About, *, witness: str | None = None,
            hint: Remedy | str = Remedy.CORRECT) -> UnsupportedGraphError:
    """What to raise where a node is not had.

    Parameters
    ----------
    problem : what is wrong, without the node.
    about : what of the node: an attribute's name, an operand's place, or several.
    hint : what to try.
    """
    own = said(node, about)
    text = hint if isinstance(hint, str) else hint.value.format(about=own, definition=definition(node.op))
    return UnsupportedGraphError(short(problem), where=f"{node.where}, {own}", hint=text,
                                 witness=None if witness is None else short(witness))


def said(node: Node, about: About) -> str:
    """What of a node a refusal is about, in words."""
    if isinstance(about, Part):
        return about.value
    if isinstance(about, str):
        return f"attribute {about}"
    if isinstance(about, int):
        name = node.inputs[about] if about < len(node.inputs) else ""
        return f"operand {about} {name!r}" if name else f"operand {about}"
    return " and ".join(said(node, each) for each in about)


def definition(op: str) -> str:
    """Where it is written what an operator takes."""
    if op in OWN_OPERATORS:
        return f"polysched.graph.operators.registry.OPERATORS[{op!r}] says what {op} takes"
    return f"https://onnx.ai/onnx/operators/onnx{PAGES.get(op, '__')}{op}.html says what {op} takes"


def short(words: str) -> str:
    """Words of which a reader sees the start: what a model file says may be long."""
    return words if len(words) <= LIMITS.longest_witness else f"{words[:LIMITS.longest_witness]}..."
