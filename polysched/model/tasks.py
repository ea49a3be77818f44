"""The kernels of a compiled model as programs to be tuned: each different one once, with how often it runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from polysched.graph.planning.expressions import scop_of
from polysched.graph.planning.plan import Plan
from polysched.graph.values.graph import Graph
from polysched.graph.values.text import to_text
from polysched.model.limits import LIMITS
from polysched.records import dataclass
from polysched.scop.scop import Scop


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelTask:
    """One kernel of a model.

    Parameters
    ----------
    scop : what it computes, of fixed sizes; named after its operators.
    count : how often a run of the model runs it.
    """

    scop: Scop
    count: int

    def __repr__(self) -> str:
        return f"KernelTask({self.scop.name}, {self.count} a run)"


def kernel_tasks(plan: Plan) -> tuple[KernelTask, ...]:
    """The different kernels of a plan in the order of their first use, to be tuned under `kernels.in_any_order`."""
    counts: Counter[str] = Counter()
    fragments: dict[str, Graph] = {}
    for kernel in plan.kernels:
        text = to_text(kernel.fragment)
        counts[text] += 1
        fragments.setdefault(text, kernel.fragment)
    names = _names(tuple(fragments.values()))
    return tuple(KernelTask(scop=scop_of(fragment, name), count=counts[text])
                 for (text, fragment), name in zip(fragments.items(), names, strict=True))


def _names(fragments: Sequence[Graph]) -> list[str]:
    """After their operators, with a number where several have the same."""
    seen: Counter[str] = Counter()
    found = []
    for fragment in fragments:
        operators = list(dict.fromkeys(node.op for node in fragment.nodes))[:LIMITS.operators_in_a_name]
        base = re.sub(r"\W+", "_", "_".join(operators)).strip("_").lower() or "copy"
        seen[base] += 1
        found.append(f"k_{base}_{seen[base]}" if seen[base] > 1 else f"k_{base}")
    return found
