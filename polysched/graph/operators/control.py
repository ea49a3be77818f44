"""Control flow and functions: nodes with regions.

`If`, `Loop` and `Scan` are ONNX's; what they do follows from values that are known while compiling, or they become a
`Branch` or a `Repeat`, which decide when the model runs.  Regions of these two see nothing around them: what they read
are operands of the node.

    Branch(condition, captured...) { yes(captured...) no(captured...) }
    Repeat(limit, condition, carried..., sliced..., captured...; carried=n, sliced=m, steady=0, sliced_backwards=[...],
           stacked_backwards=[...]) { body(iteration, condition, carried..., slices..., captured...) }

The body of a `Repeat` makes the next condition, the next carried values, and rows that are stacked.  Conditions
never end a `steady` one.  Rows are stacked where it is steady and its limit is known while compiling.

A `Call` binds the parameters of its only region to its operands: a function that stands where it is used.  Passes make
it (a group of nodes for one compiler, a fused kernel), and `inline_calls` puts its nodes back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.graph import Node
from polysched.graph.values.refusals import Part, Remedy, refused
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass

IF, LOOP, SCAN, CALL = "If", "Loop", "Scan", "Call"
BRANCH, REPEAT = "Branch", "Repeat"
CLOSED = frozenset({BRANCH, REPEAT})
"""Decided when the model runs; their regions see nothing around them."""


def check_regions(node: Node) -> None:
    """Refuse a node whose regions do not fit its operator.

    Raises
    ------
    UnsupportedGraphError : it has too few operands, or a region takes or makes another number of values.
    """
    if node.op not in (IF, LOOP, SCAN, CALL, *CLOSED):
        raise refused(node, f"the regions of {node.op} are not had", Part.WHOLE)
    operands, (least, count, taken, made) = len(node.inputs), _form(node)
    if not least <= operands or len(node.regions) != count:
        raise refused(node, f"{operands} operands and {len(node.regions)} regions do not fit", Part.WHOLE,
                      hint=f"give at least {least} operands, and {count} regions")
    if node.op == SCAN:
        _check_scan(node)
    for region in node.regions:
        if len(region.parameters) != taken or len(region.outputs) < made:
            raise refused(
                node, f"the region takes {len(region.parameters)} values and makes {len(region.outputs)}, where "
                f"{taken} and at least {made} are wanted", Part.WHOLE)


def _check_scan(node: Node) -> None:
    """Refuse a scan whose attributes say another number of slices and stacks than it has.

    Raises
    ------
    UnsupportedGraphError : they do.
    """
    count = node.attribute("num_scan_inputs", 0)
    if not 0 < count <= len(node.inputs):
        raise refused(node, f"{len(node.inputs)} operands do not fit num_scan_inputs={count}", "num_scan_inputs",
                      hint=f"give a number from 1 to {len(node.inputs)}")
    stacks = len(node.regions[0].outputs) - (len(node.inputs) - count)
    for name, wanted in (("scan_input_axes", count), ("scan_input_directions", count), ("scan_output_axes", stacks),
                         ("scan_output_directions", stacks)):
        given = node.attribute(name)
        if given is not None and len(given) != wanted:
            raise refused(node, f"the attribute {name} has {len(given)} numbers, not {wanted}", name,
                          hint=f"leave it out, or give {wanted} numbers")


def rows_of(node: Node, types: Sequence[TensorType]) -> Size:
    """How many slices a scan takes of every operand that it goes over.

    Parameters
    ----------
    types : of these operands.

    Raises
    ------
    UnsupportedGraphError : an operand has no such axis, or they differ, or may for an open size.
    """
    axes = node.attribute("scan_input_axes", (0,) * len(types))
    if any(not -own.rank <= axis < own.rank for own, axis in zip(types, axes, strict=True)):
        raise refused(node, "an operand has no axis that a scan goes over", "scan_input_axes",
                      witness=", ".join(map(str, types)), hint="give axes that the operands have")
    rows: list[Size] = [own.shape[axis] for own, axis in zip(types, axes, strict=True)]
    if any(count != rows[0] for count in rows):
        raise refused(node, "the operands that a scan goes over have different lengths", "num_scan_inputs",
                      witness=", ".join(map(str, rows)), hint=(
                          "give operands of one length, and fix open ones by sizes="))
    return rows[0]


def _form(node: Node) -> tuple[int, int, int, int]:
    """The least number of operands, the regions, what each takes, and the least that each makes."""
    operands = len(node.inputs)
    if node.op == IF:
        return 1, 2, 0, len(node.outputs)
    if node.op == CALL:
        return 0, 1, operands, len(node.outputs)
    if node.op == BRANCH:
        return 1, 2, operands - 1, len(node.outputs)
    if node.op == REPEAT:
        least = 2 + node.attribute("carried", 0) + node.attribute("sliced", 0)
        return least, 1, operands, 1 + len(node.outputs)
    if node.op == LOOP:
        return 2, 1, operands, operands - 1
    scanned = node.attribute("num_scan_inputs", 0)
    return scanned or operands + 1, 1, operands, operands - scanned


def _on_data(site: Site) -> tuple[TensorType, ...]:
    """Refuse what is still there when all that is known was resolved."""
    what = {IF: "a condition", LOOP: "a number of iterations", SCAN: "a scan", CALL: "a function", BRANCH: "a branch",
            REPEAT: "a loop"}[site.node.op]
    raise site.refusal(f"{what} depends on data", Part.WHOLE, witness=", ".join(n for n in site.node.inputs if n),
                       hint=Remedy.VALUES)


def _no_reference(site: Site, *operands: np.ndarray) -> np.ndarray:
    """The interpreter runs regions itself."""
    raise site.refusal("regions are run by the interpreter", Part.WHOLE, hint="call polysched.graph.interpret")


OPERATORS = tuple(Operator(name=name, kind=Kind.OPAQUE, types=_on_data, reference=_no_reference, steering=steering)
                  for name, steering in ((IF, (0,)), (LOOP, (0, 1)), (SCAN, ()), (CALL, ()), (BRANCH, ()),
                                         (REPEAT, ())))


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """The operands and results of a `Repeat` by their role.

    Parameters
    ----------
    limit, condition : names; empty where there is none.
    carried, sliced, captured : operands.
    backwards : of each sliced operand, whether its rows are taken from the end.
    results, stacked : of the node: the last carried values, and stacked rows.
    stacked_backwards : of each stack, whether it is filled from the end.
    steady : whether no condition ends it.
    """

    limit: str
    condition: str
    carried: tuple[str, ...]
    sliced: tuple[str, ...]
    captured: tuple[str, ...]
    backwards: tuple[bool, ...]
    results: tuple[str, ...]
    stacked: tuple[str, ...]
    stacked_backwards: tuple[bool, ...]
    steady: bool


def repeated(node: Node) -> Repeated:
    """The operands and results of a `Repeat`."""
    carried, sliced = node.attribute("carried", 0), node.attribute("sliced", 0)
    first, last = 2 + carried, 2 + carried + sliced
    stacked = node.outputs[carried:]
    return Repeated(limit=node.inputs[0], condition=node.inputs[1], carried=node.inputs[2:first],
                    sliced=node.inputs[first:last], captured=node.inputs[last:], results=node.outputs[:carried],
                    backwards=tuple(map(bool, node.attribute("sliced_backwards", (0,) * sliced))), stacked=stacked,
                    stacked_backwards=tuple(map(bool, node.attribute("stacked_backwards", (0,) * len(stacked)))),
                    steady=bool(node.attribute("steady", 0)))
