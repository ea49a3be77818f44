"""The kernel-graph files of the ISPD 2020 contest on placement for a wafer of cores, read and written.

    // a comment
    Solver Parameters
    wirepenalty=1
    Node Definitions
    conv[ 1] H=56 W=56 R=3 S=3 C=64 K=64 T=1
    dblock[ 2] H=56 W=56 F=64
    Connectivity
    conv[ 1]:0 -> dblock[ 2]:0 56x56x64

`input` and `output` nodes stand for the surroundings.  Blanks inside brackets are no part of a name.  Parameters of the
contest's solver are kept, and steer nothing here.  The lines are those that public readers of such files take; no file
of the contest was at hand, and nothing is said of its scores.

Source: "ISPD 2020 contest: wafer-scale deep learning accelerator placement" (James et al., ISPD 2020), which defines
the kernels `conv`, `dblock` and `cblock` by their formal arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from polysched.errors import UsageError
from polysched.mesh.operators import Message, Operator, OperatorGraph
from polysched.records import dataclass
from polysched.scop.shown import Shown

KINDS: Mapping[str, tuple[str, ...]] = {
    "conv": ("H", "W", "R", "S", "C", "K", "T"), "dblock": ("H", "W", "F"), "cblock": ("H", "W", "F")}
"""The kernels and their formal arguments."""

OUTSIDE = ("input", "output")
_ARGUMENT = re.compile(r"([A-Za-z])=([1-9][0-9]{0,8})")
_NAME = r"[\w.]+(?:\[\w+\])?"
_EDGE = re.compile(rf"({_NAME})(?::(\w+))?\s*->\s*({_NAME})(?::(\w+))?(?:\s+([^>]*[^>\s]))?")
_PARAMETER = re.compile(r"(\w+)\s*=\s*(\S+)")
_BRACKETS = re.compile(r"\[\s*(\w+)\s*\]")
_TITLES = ("solver parameters", "node definitions", "connectivity", "connectivity list")
ELEMENT = 2
"""Bytes of an activation or a weight: half a word, as on the contest's machine."""


@dataclass(frozen=True, kw_only=True)
class KernelNode:
    """A kernel: its name, which begins with its kind, and its formal arguments in the order of the file.

    Parameters
    ----------
    name, kind, arguments : of the kernel.
    label : what `name=` calls it besides.
    """

    name: str
    kind: str
    arguments: tuple[tuple[str, int], ...] = ()
    label: str = ""

    @property
    def value(self) -> Mapping[str, int]:
        """The arguments by name, in capitals."""
        return {name.upper(): value for name, value in self.arguments}


@dataclass(frozen=True, kw_only=True)
class KernelEdge:
    """A connection from a port of one kernel to a port of another; ports and shape are kept as they stand."""

    source: str
    sink: str
    ports: tuple[str, str] = ("", "")
    shape: str = ""


@dataclass(frozen=True, kw_only=True)
class KernelGraph(Shown):
    """What a kernel-graph file says.

    Parameters
    ----------
    nodes, edges : in the order of the file.
    parameters : of the contest's solver, as they stand.
    """

    nodes: tuple[KernelNode, ...]
    edges: tuple[KernelEdge, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()

    def headline(self) -> str:
        """How many there are."""
        return f"{len(self.nodes)} kernels, {len(self.edges)} connections"

    def to_text(self) -> str:
        """The file again; `read_kernel_graph` of it gives an equal value."""
        lines = ["Solver Parameters"] if self.parameters else []
        lines += [*(f"{name}={value}" for name, value in self.parameters), "Node Definitions"]
        lines += [" ".join([n.name, *([f"name={n.label}"] if n.label else []),
                            *(f"{name}={value}" for name, value in n.arguments)]) for n in self.nodes]
        lines.append("Connectivity")
        for e in self.edges:
            source, sink = (name + (f":{port}" if port else "")
                            for name, port in zip((e.source, e.sink), e.ports, strict=True))
            lines.append(" ".join(filter(None, [source, "->", sink, e.shape])))
        return "\n".join(lines) + "\n"

    def operators(self, name: str = "kernels") -> OperatorGraph:
        """The kernels as operators; those of the surroundings are left out.

        A block is its convolutions one after the other.  An operator cuts the points of its result along its rows and
        the features along its columns; a message has all points and features of its source.
        """
        inner = [n for n in self.nodes if n.kind not in OUTSIDE]
        made = {n.name: _layers(n)[-1] for n in inner}
        results = {n: ELEMENT * points * features for n, (points, features, _) in made.items()}
        operators = tuple(Operator(
            name=n.name, work=float(sum(2 * points * features * summed for points, features, summed in _layers(n))),
            extents=made[n.name][:2], result=results[n.name],
            weights=sum(ELEMENT * features * summed for _, features, summed in _layers(n))) for n in inner)
        messages = tuple(Message(source=e.source, sink=e.sink, bytes=results[e.source], cut="rows")
                         for e in self.edges if e.source in results and e.sink in results)
        return OperatorGraph(name=name, operators=operators, messages=messages)


def read_kernel_graph(text: str, where: str = "") -> KernelGraph:
    """The kernels and connections of a file.

    Raises
    ------
    UsageError : a line is neither; a kernel is of no known kind, lacks an argument, has one twice or one too many, or
        stands twice; a connection names a kernel that is not there.
    """
    nodes: dict[str, KernelNode] = {}
    edges: list[KernelEdge] = []
    parameters: dict[str, str] = {}
    for number, title, line in _lines(text):
        place = f"{where or 'kernel graph'}, line {number}"
        if title == _TITLES[0]:
            name, value = _parameter(line, place)
            if name in parameters:
                raise UsageError("a parameter stands twice", where=place, witness=name)
            parameters[name] = value
        elif "->" in line:
            edges.append(_edge(line, nodes, place))
        else:
            node = _node(line, place)
            if node.name in nodes:
                raise UsageError("a kernel stands twice", where=place, witness=node.name)
            nodes[node.name] = node
    if not any(n.kind not in OUTSIDE for n in nodes.values()):
        raise UsageError("the file defines no kernel", where=where or "kernel graph",
                         hint="lines such as: conv1 H=56 W=56 R=3 S=3 C=64 K=64 T=1")
    return KernelGraph(nodes=tuple(nodes.values()), edges=tuple(edges), parameters=tuple(parameters.items()))


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """What says something, with its number and the title that it stands under."""
    title = _TITLES[1]
    for number, line in enumerate(text.splitlines(), 1):
        line = _BRACKETS.sub(r"[\1]", line.split("//")[0]).strip()
        if (word := line.rstrip(":").lower()) in _TITLES:
            title = word
        elif line:
            yield number, title, line


def _parameter(line: str, where: str) -> tuple[str, str]:
    match = _PARAMETER.fullmatch(line)
    if match is None:
        raise UsageError("a parameter of the solver is NAME=VALUE", where=where, witness=line)
    return match[1], match[2]


def _node(line: str, where: str) -> KernelNode:
    name, *words = line.split()
    kind = next((k for k in (*KINDS, *OUTSIDE) if name.startswith(k)), None)
    if kind is None or not re.fullmatch(_NAME, name):
        raise UsageError(f"a kernel is one of {', '.join(KINDS)}, and its name begins so", where=where, witness=name)
    label, rest = _label(words, line, where)
    arguments = _arguments(rest, where)
    if kind in KINDS and sorted(a.upper() for a, _ in arguments) != sorted(KINDS[kind]):
        raise UsageError(f"the arguments of {kind} are {', '.join(KINDS[kind])}", where=where, witness=line)
    return KernelNode(name=name, kind=kind, arguments=arguments, label=label)


def _label(words: Sequence[str], line: str, where: str) -> tuple[str, list[str]]:
    """The label among the words of a kernel, and the other words."""
    labels = [word.removeprefix("name=") for word in words if word.startswith("name=")]
    if len(labels) > 1 or labels == [""]:
        raise UsageError("a kernel has one name besides", where=where, witness=line)
    return "".join(labels), [word for word in words if not word.startswith("name=")]


def _arguments(words: Sequence[str], where: str) -> tuple[tuple[str, int], ...]:
    found = []
    for word in words:
        match = _ARGUMENT.fullmatch(word)
        if match is None:
            raise UsageError("an argument is NAME=NUMBER, at least 1 and of nine digits at most", where=where,
                             witness=word)
        found.append((match[1], int(match[2])))
    return tuple(found)


def _edge(line: str, nodes: Mapping[str, KernelNode], where: str) -> KernelEdge:
    match = _EDGE.fullmatch(line)
    if match is None:
        raise UsageError("a connection is SOURCE:PORT -> SINK:PORT SHAPE", where=where, witness=line)
    source, out, sink, into, shape = match.groups()
    for name in (source, sink):
        if name not in nodes:
            raise UsageError("a connection names a kernel that is not defined before", where=where, witness=name)
    return KernelEdge(source=source, sink=sink, ports=(out or "", into or ""), shape=shape or "")


def _layers(node: KernelNode) -> list[tuple[int, int, int]]:
    """Each convolution inside: points of its result, features, products summed per element."""
    a = node.value
    if node.kind == "conv":
        points = prod(-(-a[side] // a["T"]) for side in "HW")
        return [(points, a["K"], a["R"] * a["S"] * a["C"])]
    features, narrow = a["F"], max(1, a["F"] // 4)
    if node.kind == "dblock":
        points = a["H"] * a["W"]
        return [(points, narrow, features), (points, narrow, 9 * narrow), (points, features, narrow)]
    given = max(1, features // 2)
    points, fewer = a["H"] * a["W"], -(-a["H"] // 2) * -(-a["W"] // 2)
    return [(points, narrow, given), (fewer, narrow, 9 * narrow), (fewer, features, given), (fewer, features, narrow)]
