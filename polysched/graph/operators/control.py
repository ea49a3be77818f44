"""Control flow: nodes with regions. What they do follows from values that are known while compiling."""

from __future__ import annotations

import numpy as np

from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.types import TensorType

IF, LOOP, SCAN = "If", "Loop", "Scan"


def _on_data(site: Site) -> tuple[TensorType, ...]:
    """Refuse what is still there when all that is known was resolved."""
    what = {IF: "a condition", LOOP: "a number of iterations", SCAN: "a scan"}[site.node.op]
    raise site.refusal(f"{what} depends on data", witness=", ".join(n for n in site.node.inputs if n)[:200],
                       hint="give the value by values= when the graph is compiled")


def _no_reference(site: Site, *operands: np.ndarray) -> np.ndarray:
    """The interpreter runs regions itself."""
    raise site.refusal("regions are run by the interpreter")


OPERATORS = tuple(Operator(name=name, kind=Kind.OPAQUE, types=_on_data, reference=_no_reference, steering=steering)
                  for name, steering in ((IF, (0,)), (LOOP, (0, 1)), (SCAN, ())))
