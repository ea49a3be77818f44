"""Partition: which nodes become one kernel, which are copies, and which are only other shapes of the same memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polysched.graph.evaluation.inference import Inferred, site_of
from polysched.graph.limits import LIMITS
from polysched.graph.operators.operator import Kind, Site
from polysched.graph.operators.registry import operator_of
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Part, refused
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass

PADDED = "PadConstant"
"""The operator that a kernel may end with: it writes what is inside, and steps of their own what is around it."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Nodes that become one kernel.

    Parameters
    ----------
    nodes : in order; the results of the last one are seen from outside.
    seen : values of other nodes that are seen from outside, too, in the order of the nodes.
    """

    nodes: tuple[Node, ...]
    seen: tuple[str, ...] = ()

    @property
    def last(self) -> Node:
        """The last node, whose results are seen from outside."""
        return self.nodes[-1]

    @property
    def results(self) -> tuple[str, ...]:
        """All values that are seen from outside."""
        return (*self.seen, *(o for o in self.last.outputs if o))


@dataclass(frozen=True)
class Beside:
    """Groups with equal fragments, none of which needs another's results: one parallel region runs them.

    Parameters
    ----------
    groups : two or more.
    """

    groups: tuple[Group, ...]


def partition(graph: Graph, inferred: Inferred) -> tuple[Group, ...]:
    """Every elementwise node with the elementwise and affine producers that only it uses; the others alone.

    So are elementwise producers that several nodes of the kernel use at the same element, and no other.  An elementwise
    node on the result of a sum of products, such as an activation, is in the sum's kernel.

    The groups are in the order of their last nodes.

    Parameters
    ----------
    inferred : what is known of the graph's values.
    """
    producers = {o: node for node in graph.nodes for o in node.outputs if o}
    sites = {id(n): site_of(n, inferred.types, inferred.known, results=True) for n in graph.nodes}
    users, places = graph.users, {id(n): place for place, n in enumerate(graph.nodes)}
    taken: set[int] = set()
    groups: list[Group] = []
    for node in reversed(graph.nodes):
        if id(node) in taken:
            continue
        members = [node]
        if operator_of(node).element is not None:
            _absorb(node, members, producers, sites, users, graph.outputs)
            _absorb_shared(members, producers, sites, users, graph.outputs)
            _absorb_sum(members, producers, sites, users, graph.outputs)
        taken |= {id(m) for m in members}
        groups.append(Group(nodes=tuple(sorted(members, key=lambda m: places[id(m)]))))
    return tuple(reversed(groups))


def _absorb(node: Node, members: list[Node], producers: dict[str, Node], sites: dict[int, Site],
            users: dict[str, list[Node]], outputs: tuple[str, ...]) -> None:
    """Take producers into a kernel whose results nothing else needs."""
    for name in dict.fromkeys(node.inputs):
        producer = producers.get(name)
        if producer is None or name in outputs or len(users[name]) > 1 or node.inputs.count(name) > 1:
            continue
        if len(members) < LIMITS.most_fused_nodes and is_inlined(producer, sites[id(producer)]):
            members.append(producer)
            _absorb(producer, members, producers, sites, users, outputs)


def _absorb_shared(members: list[Node], producers: dict[str, Node], sites: dict[int, Site],
                   users: dict[str, list[Node]], outputs: tuple[str, ...]) -> None:
    """Take elementwise producers that several nodes of a kernel read, all at the element of its result, and no other.
    """
    shape = sites[id(members[0])].output.shape
    straight = [members[0]]   # whose elements are read at those of the result
    inside = {id(node) for node in straight}

    def is_straight(node: Node, name: str) -> bool:
        return operator_of(node).element is not None and sites[id(node)].output.shape == shape and (
            name not in outputs and all(id(user) in inside for user in users[name]))
    for node in straight:   # which grows on the way
        for name in dict.fromkeys(node.inputs):
            producer = producers.get(name)
            if producer is None or id(producer) in inside or not is_straight(producer, name):
                continue
            if not any(producer is m for m in members):
                if len(members) >= LIMITS.most_fused_nodes:
                    continue
                members.append(producer)
                _absorb(producer, members, producers, sites, users, outputs)
            straight.append(producer)
            inside.add(id(producer))


def _absorb_sum(members: list[Node], producers: dict[str, Node], sites: dict[int, Site],
                users: dict[str, list[Node]], outputs: tuple[str, ...]) -> None:
    """Take a sum of products into the kernel of the elementwise operators on its result, which nothing else needs."""
    shape = sites[id(members[0])].output.shape
    if any(operator_of(m).element is None or sites[id(m)].output.shape != shape for m in members):
        return
    for name in dict.fromkeys(n for m in members for n in m.inputs):
        producer = producers.get(name)
        if producer is not None and producer not in members and name not in outputs and (
                all(user in members for user in users[name])) and (
                takes_epilogue(producer, sites[id(producer)].output)) and sites[id(producer)].output.shape == shape:
            members.append(producer)
            return


def takes_epilogue(node: Node, result: TensorType) -> bool:
    """Whether elementwise operators on the result of a node are computed in the tiles of its sum."""
    operator = operator_of(node)
    return operator.kind is Kind.OUTPUT_FUSABLE and operator.expression is not None and (
        len(node.outputs) == 1 and result.dtype.is_float)


def why_apart(graph: Graph, groups: Sequence[Group], inferred: Inferred) -> tuple[tuple[str, str], ...]:
    """The producers and users that are kernels of their own though one reads the other's result, and why.

    Parameters
    ----------
    groups : of `partition`.
    """
    home = {o: group for group in groups for node in group.nodes for o in node.outputs if o}
    makers, users = {o: n for n in graph.nodes for o in n.outputs if o}, graph.users
    edges = [(node, name) for group in groups for node in group.nodes for name in dict.fromkeys(node.inputs)
             if home.get(name, group) is not group]
    found: dict[tuple[str, str], None] = {}
    for node, name in edges:
        maker = makers[name]
        if not operator_of(maker).view and not operator_of(node).view:
            site = site_of(maker, inferred.types, inferred.known, results=True)
            why = _why_not(maker, node, len(users[name]), name in graph.outputs, site)
            found[f"{maker.op} {node.op}", f"{name}: {why}"] = None
    return tuple(found)


def _why_not(maker: Node, node: Node, users: int, is_output: bool, site: Site) -> str:
    """Why elementwise fusion leaves two nodes apart."""
    if is_output:
        return "the value is an output"
    if users > 1:
        return f"{users} nodes read the value"
    if operator_of(node).element is None:
        return f"{node.op} reads elements more than once, or in another order"
    if node.inputs.count(maker.outputs[0]) > 1:
        return f"{node.op} reads the value twice"
    if not is_inlined(maker, site):
        return f"an element of {maker.op} is no expression of single elements"
    return f"a kernel has {LIMITS.most_fused_nodes} nodes at most"


def is_inlined(node: Node, site: Site) -> bool:
    """Whether an element of the result is an expression of elements of the operands, at affine places."""
    operator = operator_of(node)
    if operator.element is not None:
        return True
    if operator.moves is None or len(node.outputs) != 1:
        return False
    if any(k is not None and k.dtype == object for k in site.known):
        return False   # the driver knows sizes that are open; a fragment is told none
    moves = operator.moves(site)[0]
    return len(moves) == 1 and moves[0].is_whole and moves[0].is_affine


def fragment_of(graph: Graph, group: Group, inferred: Inferred) -> tuple[Graph, tuple[str, ...], tuple[Size, ...]]:
    """A group as a graph of its own with canonical names, the values that are its inputs, and the sizes that are open.

    A product of open sizes is one size of the fragment, which knows nothing of its factors.  Constants of one element,
    and operands that decide about shapes, are constants of the fragment; equal groups give equal texts.
    """
    names = _named(graph, group, inferred)
    nodes = tuple(Node(op=n.op, inputs=tuple(names.short[i] for i in n.inputs), attributes=n.attributes,
                       outputs=tuple(names.short[o] for o in n.outputs)) for n in group.nodes)
    types = {short: inferred.types[name] for name, short in names.inputs.items()}
    sizes = tuple(dict.fromkeys(s for t in types.values() for e in t.shape for s in sorted(e.parameters, key=str)))
    own = {size: Size.symbol(f"n{place}") for place, size in enumerate(sizes)}
    fragment = Graph(name="kernel", nodes=nodes, outputs=tuple(names.short[o] for o in group.results),
                     inputs=tuple((short, t.with_shape([e.in_parameters(own) for e in t.shape]))
                                    for short, t in types.items()), constants=names.constants)
    _check_sizes(group, fragment)
    return fragment, tuple(names.inputs), sizes


def _check_sizes(group: Group, fragment: Graph) -> None:
    """Refuse a kernel that is told sizes that are open, and one of an operator that no kernel computes."""
    operator = operator_of(group.last)
    if operator.expression is None and operator.element is None and operator.moves is None:
        raise refused(group.last, "the operator has no tensor expression", Part.WHOLE,
                      hint="islands: polysched.compile(graph, islands='allow'), --islands allow on the command line")
    for array in fragment.constants.values():
        if array.dtype == object:
            raise refused(group.last, "an operand that decides about shapes follows from an open size", Part.SHAPES,
                          witness=str(list(array.ravel())), hint="fix the size by sizes=")


def _named(graph: Graph, group: Group, inferred: Inferred) -> _Names:
    """The names of a group's values, in order of use."""
    known = inferred.known
    names = _Names({o for node in group.nodes for o in node.outputs if o})
    for node in group.nodes:
        steering = operator_of(node).steering
        for place, name in enumerate(node.inputs):
            value = graph.constants.get(name)
            embedded = (value is not None and value.size == 1) or (place in steering and name in known)
            names.operand(name, known[name] if embedded else None)
        for output in node.outputs:
            names.result(output)
    return names


@dataclass(eq=False)
class _Names:
    """Gives the values of a fragment their canonical names.

    Parameters
    ----------
    inner : the values that the fragment binds.
    """

    inner: set[str]

    def __post_init__(self) -> None:
        self.short: dict[str, str] = {"": ""}
        self.inputs: dict[str, str] = {}
        self.constants: dict[str, np.ndarray] = {}

    def operand(self, name: str, embedded: np.ndarray | None) -> None:
        """Name a value from outside: an input of the fragment, or a constant where its value is embedded."""
        if name in self.short or name in self.inner:
            return
        if embedded is not None:
            self.short[name] = f"c{len(self.constants)}"
            self.constants[self.short[name]] = embedded
        else:
            self.short[name] = self.inputs[name] = f"x{len(self.inputs)}"

    def result(self, name: str) -> None:
        """Name a value that a node binds."""
        if name:
            self.short[name] = f"v{len(self.short)}"
