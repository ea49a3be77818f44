"""Likely values of sizes that stay open: checked, and the sizes at which the model compares code made for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from polysched.errors import UsageError
from polysched.graph.values.graph import Graph
from polysched.model.limits import LIMITS

LikelySizes: TypeAlias = Mapping[str, int | Sequence[int]]
MOST = 2**31 - 1
"""The largest likely value: products of a few sizes fit a 64-bit integer of the models only below it."""


def likely_sizes(graph: Graph, given: LikelySizes | None) -> dict[str, tuple[int, ...]]:
    """The likely values of open sizes, growing, each once.

    Raises
    ------
    UsageError : there is no such size, a value is no size, or two sizes have several values.
    """
    found: dict[str, tuple[int, ...]] = {}
    for name, values in (given or {}).items():
        if name not in graph.symbols:
            raise UsageError(f"the graph has no open size {name!r}", where=f"likely values of graph {graph.name}",
                             hint=f"open sizes: {', '.join(graph.symbols) or 'none'}")
        found[name] = _several(name, values)
    if len(ranging := [name for name, values in found.items() if len(values) > 1]) > 1:
        raise UsageError("one size may have several likely values", witness=" and ".join(ranging[:2]),
                         hint="give the others one value each")
    return found


def _several(name: str, values: Any) -> tuple[int, ...]:
    """The likely values of one size, growing.

    Raises
    ------
    UsageError : there are none, or one is no size.
    """
    listed = list(values) if isinstance(values, Iterable) else [values]
    if not listed or not all(isinstance(v, int | np.integer) and not isinstance(v, bool) and 1 <= v <= MOST
                             for v in listed):
        raise UsageError("a likely value is a size of at least 1 and less than 2**31", where=f"likely values of {name}",
                         witness=repr(values)[:60], hint=f"for instance {{{name!r}: (1, 128, 2048)}}")
    return tuple(sorted({int(v) for v in listed}))


def without_unknown(graph: Graph, likely: LikelySizes | None) -> LikelySizes | None:
    """Likely values of a part of a graph: of those sizes that the part has."""
    return None if likely is None else {name: v for name, v in likely.items() if name in graph.symbols}


def sampled_sizes(values: Sequence[int]) -> tuple[int, ...]:
    """The likely values, and between the least and the largest of them a size per step of a fixed ratio."""
    steps, size = set(values), min(values)
    while (size := size * LIMITS.sample_ratio) < max(values):
        steps.add(size)
    return tuple(sorted(steps))
