"""The operators and messages of a graph's plan: each step is an operator, each value that another one reads a message.

The model: a product makes two operations per multiply-add, a reduction one per element that it reads, any other node
one per element that it makes.  The left operand of a product is cut by rows; the right one by columns where all rows
share it, and by rows where it has a batch of its own, as in attention.  Inputs of the whole graph are no messages.
"""

from __future__ import annotations

from math import prod

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.operator import Kind
from polysched.graph.operators.registry import operator_of
from polysched.graph.planning.plan import Plan
from polysched.graph.planning.steps import Copies, Either, Kernel, Repetition, walked
from polysched.graph.values.graph import Node
from polysched.graph.values.types import TensorType
from polysched.mesh.operators import Message, Operator, OperatorGraph


def of_plan(plan: Plan) -> OperatorGraph:
    """The operators of a plan, named by their first results.

    Raises
    ------
    UnsupportedGraphError : the plan has no step, or a branch or a loop.
    """
    if not plan.steps:
        raise UnsupportedGraphError("the plan has no step to be placed", where=f"graph {plan.graph.name}")
    control = [s for s in plan.steps if isinstance(s, Either | Repetition)]
    if control:
        raise UnsupportedGraphError("branches and loops on data are not placed", where=f"graph {plan.graph.name}",
                                    witness=", ".join(control[0].outputs))
    plain = [s for s in walked(plan.steps) if isinstance(s, Kernel | Copies)]
    makers = {name: step.outputs[0] for step in plain for name in step.outputs}
    messages = [Message(source=makers[plan.roots[name]], sink=step.outputs[0], bytes=_bytes(plan.type_of(name)),
                        cut=_cut(plan, step, place))
                for step in plain for place, name in enumerate(step.inputs)
                if name and plan.roots[name] in makers]
    return OperatorGraph(name=plan.graph.name, operators=tuple(_operator(plan, s) for s in plain),
                         messages=tuple(messages))


def _operator(plan: Plan, step: Kernel | Copies) -> Operator:
    made = [plan.type_of(name) for name in step.outputs]
    extents = made[0].extents
    cut = (prod(extents[:-1]), extents[-1]) if extents else (1, 1)
    if _last(step) is Kind.REDUCTION:
        cut = (prod(extents), 1)
    weights = sum(_bytes(plan.type_of(n)) for n in dict.fromkeys(step.inputs) if n and plan.roots[n] in
                  plan.graph.constants)
    return Operator(name=step.outputs[0], work=float(_work(plan, step)), extents=cut, weights=weights,
                    result=sum(map(_bytes, made)))


def _last(step: Kernel | Copies) -> Kind:
    """The kind of the node whose results are seen."""
    return operator_of(step.fragment.nodes[-1]).kind if isinstance(step, Kernel) else Kind.INJECTIVE


def _work(plan: Plan, step: Kernel | Copies) -> int:
    """Operations of a step; a copy has one per element."""
    if isinstance(step, Copies):
        return int(plan.type_of(step.output).elements)
    types = infer(step.fragment).types
    return sum(_work_of(node, [types[i] for i in node.inputs if i], [types[o] for o in node.outputs if o])
               for node in step.fragment.nodes)


def _work_of(node: Node, inputs: list[TensorType], outputs: list[TensorType]) -> int:
    kind = operator_of(node).kind
    made = sum(int(t.elements) for t in outputs)
    if kind is Kind.OUTPUT_FUSABLE:
        return 2 * made * inputs[0].extents[-1]
    return max(made, int(inputs[0].elements)) if kind is Kind.REDUCTION else made


def _cut(plan: Plan, step: Kernel | Copies, place: int) -> str:
    """What a core needs of an input."""
    kind, own = _last(step), plan.type_of(step.inputs[place])
    made = plan.type_of(step.outputs[0])
    if kind is Kind.OUTPUT_FUSABLE and place == 1:
        return "columns" if prod(own.extents[:-2]) == 1 else "rows"
    if kind in (Kind.OUTPUT_FUSABLE, Kind.REDUCTION):
        return "rows"
    if own.elements == made.elements or isinstance(step, Copies):
        return "cells"
    return "columns" if made.extents and int(own.elements) == made.extents[-1] else "rows"


def _bytes(its_type: TensorType) -> int:
    return int(its_type.elements) * its_type.dtype.bytes
