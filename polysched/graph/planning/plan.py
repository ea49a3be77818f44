"""`Plan`: the steps of a graph in the order in which they run, and the memory of every value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from polysched.graph.evaluation.inference import Inferred, infer, site_of
from polysched.graph.operators.moves import Move
from polysched.graph.operators.operator import Site
from polysched.graph.operators.registry import operator_of
from polysched.graph.planning.memory import Arena, Buffer, arena_of
from polysched.graph.planning.partition import Group, fragment_of, partition
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.types import TensorType


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernel:
    """A step that runs a compiled fragment.

    Parameters
    ----------
    fragment : what it computes, with canonical names.
    inputs, outputs : values of the graph.
    symbols : of the graph's sizes, in the order of the fragment's own.
    """

    fragment: Graph
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Copies:
    """A step that copies elements.

    Parameters
    ----------
    moves : one after the other.
    inputs : the values that the moves' operands name.
    output : the value that is made.
    """

    moves: tuple[Move, ...]
    inputs: tuple[str, ...]
    output: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """The steps of a graph, and where every value stands.

    Parameters
    ----------
    graph : with types, compositions expanded; its symbols are known when it runs.
    steps : in the order in which they run.
    roots : the value whose memory each value uses: itself, or the one that it is a view of.
    copied : outputs that are made by a copy of another value, because that is an input, a constant, or an output, too.
    lives : the steps that write first and read last each value that is neither an input, a constant, nor an output.
    """

    graph: Graph
    steps: tuple[Kernel | Copies, ...]
    roots: Mapping[str, str]
    copied: Mapping[str, str]
    lives: Mapping[str, tuple[int, int]]

    @cached_property
    def arena(self) -> Arena:
        """Where the values stand that are neither inputs, constants, nor outputs.

        Raises
        ------
        UnsupportedGraphError : a size is open.
        """
        return self.arena_for({})

    def arena_for(self, sizes: Mapping[str, int]) -> Arena:
        """The arena for values of the open sizes."""
        found = []
        for name, (first, last) in self.lives.items():
            own = self.graph.types[name].bound(sizes)
            found.append(Buffer(name=name, bytes=int(own.elements) * own.dtype.bytes, first=first, last=last))
        return arena_of(found)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The steps that run compiled fragments."""
        return tuple(s for s in self.steps if isinstance(s, Kernel))

    def type_of(self, name: str) -> TensorType:
        """The type of a value."""
        return self.graph.type_of(name)

    def site_of(self, node: Node) -> Site:
        """The use of an operator by a node, as far as types say it."""
        types = {n: self.type_of(n) for n in (*node.inputs, *node.outputs) if n}
        return site_of(node, types, self.graph.constants, results=True)

    def __str__(self) -> str:
        symbols = self.graph.symbols
        arena = (f"sizes {', '.join(symbols)} open" if symbols else
                 f"arena {self.arena.bytes} bytes, {self.arena.peak_bytes} live at most")
        lines = [f"{len(self.kernels)} kernels, {len(self.steps) - len(self.kernels)} copies, {arena}"]
        for step in self.steps:
            if isinstance(step, Kernel):
                ops = " ".join(n.op for n in step.fragment.nodes)
                lines.append(f"  {', '.join(step.outputs)} = {ops}({', '.join(step.inputs)})")
            else:
                lines.append(f"  {step.output} = copy({', '.join(step.inputs)})")
        return "\n".join(lines)


def plan(graph: Graph, groups: Sequence[Group] | None = None) -> Plan:
    """The plan of a graph with types.

    Parameters
    ----------
    groups : what becomes one kernel, in an order in which every value is made before it is used; None for elementwise
        nodes with the producers that only they use.
    """
    inferred = infer(graph)
    groups = [g for g in (partition(graph, inferred) if groups is None else groups) if not operator_of(g.last).view]
    steps = tuple(step for group in groups for step in _steps(graph, group, inferred))
    roots, copied = _storage(graph)
    return Plan(graph=graph, steps=steps, roots=roots, copied=copied,
                lives=_lives(graph, steps, roots))


def _steps(graph: Graph, group: Group, inferred: Inferred) -> list[Kernel | Copies]:
    """The steps of a group; none where nothing is made."""
    node = group.last
    operator = operator_of(node)
    if all(0 in graph.types[o].shape for o in node.outputs if o):
        return []
    if operator.moves is None or len(group.nodes) > 1:
        fragment, inputs, symbols = fragment_of(graph, group, inferred)
        return [Kernel(fragment=fragment, inputs=inputs, outputs=tuple(o for o in node.outputs if o), symbols=symbols)]
    results = operator.moves(site_of(node, inferred.types, inferred.known, results=True))
    return [Copies(moves=moves, inputs=node.inputs, output=output)
            for moves, output in zip(results, node.outputs, strict=False) if output]


def _storage(graph: Graph) -> tuple[dict[str, str], dict[str, str]]:
    """Whose memory each value uses, and which outputs are copies."""
    roots: dict[str, str] = {name: name for name in [*dict(graph.inputs), *graph.constants]}
    given = set(roots)
    for node in graph.nodes:
        viewed = operator_of(node).view
        roots |= {o: roots[node.inputs[0]] if viewed else o for o in node.outputs if o}
    home: dict[str, str] = {}
    copied: dict[str, str] = {}
    for output in dict.fromkeys(graph.outputs):
        root = roots[output]
        if root in given or root in home:
            copied[output] = root
        else:
            home[root] = output
    return roots, copied


def _lives(graph: Graph, steps: tuple[Kernel | Copies, ...], roots: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """The values that stand in the arena, with their lives in steps."""
    elsewhere = {*dict(graph.inputs), *graph.constants, *(roots[o] for o in graph.outputs)}
    found: dict[str, tuple[int, int]] = {}
    for place, step in enumerate(steps):
        made = step.outputs if isinstance(step, Kernel) else (step.output,)
        for name in (*step.inputs, *made):
            if name and roots[name] not in elsewhere:
                found[roots[name]] = (found.get(roots[name], (place, place))[0], place)
    return found
