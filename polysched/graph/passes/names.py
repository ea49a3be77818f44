"""Names that a graph does not have yet."""

from __future__ import annotations

from collections.abc import Callable

from polysched.graph.values.graph import Graph


def fresh_names(graph: Graph) -> Callable[[str], str]:
    """A function that makes names which no value of the graph has, each once."""
    taken = {*dict(graph.inputs), *graph.constants, *(o for n in graph.walk() for o in n.outputs),
             *(i for n in graph.walk() for i in n.inputs)}
    counts: dict[str, int] = {}

    def fresh(stem: str) -> str:
        while True:
            counts[stem] = counts.get(stem, -1) + 1
            name = f"{stem}_{counts[stem]}"
            if name not in taken:
                taken.add(name)
                return name
    return fresh
