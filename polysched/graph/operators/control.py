"""Control flow and functions: nodes with regions. What they do follows from values that are known while compiling.

A `Call` binds the parameters of its only region to its operands: a function that stands where it is used.  Passes make
it (a group of nodes for one compiler, a fused kernel), and `inline_calls` puts its nodes back.
"""

from __future__ import annotations

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.graph import Node
from polysched.graph.values.types import TensorType

IF, LOOP, SCAN, CALL = "If", "Loop", "Scan", "Call"


def check_regions(node: Node) -> None:
    """Refuse a node whose regions do not fit its operator.

    Raises
    ------
    UnsupportedGraphError : it has too few operands, or a region takes or makes another number of values.
    """
    if node.op not in (IF, LOOP, SCAN, CALL):
        raise UnsupportedGraphError(f"the regions of {node.op} are not had", where=node.where)
    operands, (least, count, taken, made) = len(node.inputs), _form(node)
    if not least <= operands or len(node.regions) != count:
        raise UnsupportedGraphError(f"{operands} operands and {len(node.regions)} regions do not fit", where=node.where)
    for region in node.regions:
        if len(region.parameters) != taken or len(region.outputs) < made:
            raise UnsupportedGraphError(
                f"the region takes {len(region.parameters)} values and makes {len(region.outputs)}, where {taken} and "
                f"at least {made} are wanted", where=node.where)


def _form(node: Node) -> tuple[int, int, int, int]:
    """The least number of operands, the regions, what each takes, and the least that each makes."""
    operands = len(node.inputs)
    if node.op == IF:
        return 1, 2, 0, len(node.outputs)
    if node.op == CALL:
        return 0, 1, operands, len(node.outputs)
    if node.op == LOOP:
        return 2, 1, operands, operands - 1
    scanned = node.attribute("num_scan_inputs", 0)
    return scanned or operands + 1, 1, operands, operands - scanned


def _on_data(site: Site) -> tuple[TensorType, ...]:
    """Refuse what is still there when all that is known was resolved."""
    what = {IF: "a condition", LOOP: "a number of iterations", SCAN: "a scan", CALL: "a function"}[site.node.op]
    raise site.refusal(f"{what} depends on data", witness=", ".join(n for n in site.node.inputs if n)[:200],
                       hint="give the value by values= when the graph is compiled")


def _no_reference(site: Site, *operands: np.ndarray) -> np.ndarray:
    """The interpreter runs regions itself."""
    raise site.refusal("regions are run by the interpreter")


OPERATORS = tuple(Operator(name=name, kind=Kind.OPAQUE, types=_on_data, reference=_no_reference, steering=steering)
                  for name, steering in ((IF, (0,)), (LOOP, (0, 1)), (SCAN, ()), (CALL, ())))
