"""A graph cut at the nodes that are not compiled: segments that are, and islands between them.

What makes a node an island: the registry does not have it, it refuses its operands (a shape that follows from data), or
it has no affine form.  The extents of an island's results are symbols of the segments behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from polysched.errors import PolyschedError, UnsupportedGraphError
from polysched.graph.evaluation.inference import Inference
from polysched.graph.operators.control import LOOP
from polysched.graph.operators.families.sequences import STRUCTURED
from polysched.graph.operators.registry import OPERATORS, operator_of
from polysched.graph.passes.control import Resolving
from polysched.graph.planning.expressions import scop_of
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Part, Remedy, refused
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.model.island import Island, inputs_of, result_types
from polysched.model.planned import planned
from polysched.model.sizes import linear_in
from polysched.records import dataclass
from polysched.scop.dtypes import BOOL, INT64


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments:
    """A graph as parts that run one after the other.

    Parameters
    ----------
    parts : graphs that are compiled, and islands.
    graph : the whole, resolved, with what is known as constants.
    """

    parts: tuple[Graph | Island, ...]
    graph: Graph

    @property
    def islands(self) -> tuple[Island, ...]:
        """The parts that are not compiled."""
        return tuple(p for p in self.parts if isinstance(p, Island))


def segments(graph: Graph) -> Segments:
    """The parts of a graph whose sizes and values are bound.

    Raises
    ------
    UnsupportedGraphError : a node is neither compiled nor one of ONNX's with operands that are had.
    """
    cutting = _Cutting(graph)
    for node in graph.nodes:
        cutting.take(node)
    return cutting.cut()


class _Cutting(Resolving):
    """Takes nodes one by one, and finds out which of them are compiled."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.reasons: dict[int, tuple[Node, str]] = {}
        self.untyped: set[str] = set()
        self.holders: dict[str, Node] = {}

    def take(self, node: Node) -> None:
        """One node: compiled, resolved, or an island."""
        before, entered = len(self.nodes), self.entered
        try:
            self._check_operands(node)
            if node.op in STRUCTURED:
                raise refused(node, "a sequence in a graph with islands runs in one", Part.WHOLE)
            super().take(node)
        except UnsupportedGraphError as error:
            del self.nodes[before:]
            self.entered = entered
            self._take_island(node, error)

    def emit(self, node: Node) -> None:
        """One node that has types, where it can be planned."""
        self.inference.take(node)
        known = self.inference.known
        if any(o not in known or (o in self.graph.outputs and not _is_plain(known[o])) for o in node.outputs if o):
            self._probe(node)
        self._add(node)

    def _add(self, node: Node) -> None:
        self.nodes.append(node)
        self.holders |= {o: node for o in node.outputs if o}

    def _check_operands(self, node: Node) -> None:
        for name in node.used:
            if name in self.untyped:
                raise refused(node,
                              "the number of dimensions of an operand follows from data, or it is no tensor of numbers",
                              tuple(p for p, n in enumerate(node.inputs) if n == name) or Part.WHOLE, witness=name,
                              hint="fix the data by values=, or declare the operand's shape in the model")

    def _probe(self, node: Node) -> None:
        """Refuse a node that has no plan alone, or a kernel that is not affine."""
        operator = operator_of(node)
        if operator.element is not None or operator.view:
            return
        nodes, read = self._behind_sizes((node,))
        used = [n for n in read if n not in self.inference.known or not _is_plain(self.inference.known[n])]
        known = {n: self.inference.known[n] for n in read if n not in used}
        alone = Graph(name="node", inputs=tuple((n, self.inference.types[n]) for n in used), nodes=tuple(nodes),
                      outputs=tuple(o for o in node.outputs if o), constants=known)
        try:
            for kernel in planned(alone).kernels:
                scop_of(kernel.fragment)
        except UnsupportedGraphError:
            raise
        except PolyschedError as error:
            raise refused(node, error.problem, Part.SHAPES, witness=error.witness,
                          hint=error.hint or Remedy.SIZES) from None

    def _take_island(self, node: Node, error: UnsupportedGraphError) -> None:
        nodes = self._with_untyped(node)
        island = self._island(nodes, error.problem)
        try:
            types = self._loop_types(node) or result_types(island)
        except UnsupportedGraphError as refusal:
            raise UnsupportedGraphError(error.problem, where=error.where or node.where, witness=error.witness,
                                        hint=f"{error.hint or 'correct the node'}; "
                                             f"no island: {refusal.problem}") from None
        for name, its_type in types.items():
            if its_type is None:
                self.untyped.add(name)
            else:
                self.inference.types[name] = its_type
            self.inference.known.pop(name, None)
        on_data = node.op not in OPERATORS and not _symbols(types.values()) <= _symbols(t for _, t in island.inputs)
        self._add(node)
        self.reasons[id(node)] = node, "the shape of its result depends on data" if on_data else error.problem

    def _loop_types(self, node: Node) -> dict[str, TensorType | None] | None:
        """The types of a loop's results where no iteration changes a shape; None where that is not known.

        By induction: from carried values of the types of the operands the body makes values of the same types.
        """
        if node.op != LOOP or len(node.regions[0].parameters) != len(node.inputs) or self.untyped & set(node.inputs):
            return None
        body, around = node.regions[0], Inference(Graph(name="", inputs=(), nodes=(), outputs=()))
        around.types, around.known = dict(self.inference.types), dict(self.inference.known)
        carried = [self.inference.types[n] for n in node.inputs[2:]]
        names = [self.fresh("carried") for _ in body.parameters]
        around.types |= dict(zip(names, (TensorType.of(INT64, ()), TensorType.of(BOOL, ()), *carried), strict=True))
        try:
            inner = around.region(body, names)
        except UnsupportedGraphError:
            return None
        made = [inner.types[o] for o in body.outputs[1:]]
        if made[:len(carried)] != carried:
            return None
        stacked = [TensorType(t.dtype, (Size.symbol(f"{o}_0"), *t.shape))
                   for t, o in zip(made[len(carried):], node.outputs[len(carried):], strict=False)]
        return {o: t for o, t in zip(node.outputs, [*carried, *stacked], strict=False) if o}

    def _with_untyped(self, node: Node) -> tuple[Node, ...]:
        """A node behind those that make its operands of no known type: they run again in its island."""
        found: list[Node] = []
        for name in node.used:
            if name in self.untyped:
                found += [n for n in self._with_untyped(self.holders[name]) if n not in found]
        return (*found, node)

    def _island(self, nodes: tuple[Node, ...], reason: str) -> Island:
        """Nodes as an island; what is known is constant, and shapes are computed inside."""
        behind, read = self._behind_sizes(nodes)
        known = self.inference.known
        return Island(nodes=tuple(behind), reason=reason, outputs=tuple(o for o in nodes[-1].outputs if o),
                      inputs=tuple((n, self.inference.types.get(n)) for n in read if n not in known),
                      constants={n: known[n] for n in read if n in known})

    def _behind_sizes(self, nodes: Sequence[Node]) -> tuple[list[Node], tuple[str, ...]]:
        """Nodes behind those that compute sizes for them, and what all of them read."""
        behind: list[Node] = list(nodes)
        while wanted := [n for n in inputs_of(behind) if self._follows_from_sizes(n)]:
            behind = [*dict.fromkeys(self.holders[w] for w in wanted), *behind]
        behind = _in_order(behind)
        return behind, tuple(inputs_of(behind))

    def _follows_from_sizes(self, name: str) -> bool:
        known = self.inference.known.get(name)
        return known is not None and not _is_plain(known) and name in self.holders

    def cut(self) -> Segments:
        """The parts."""
        known = {n: a for n, a in self.inference.known.items() if _is_plain(a)}
        stages = self._stages(known)
        outputs = set(self.graph.outputs)
        parts: list[Graph | Island] = []
        for stage in sorted(set(stages.values())):
            own = [n for n in self.nodes if stages.get(id(n)) == stage]
            later = outputs | {name for n in self.nodes if stages.get(id(n)) != stage for name in n.used}
            if stage % 2:
                parts += [self._island(self._with_untyped(n), self.reasons[id(n)][1]) for n in own
                          if not self.untyped & set(n.outputs) or outputs & set(n.outputs)]
            else:
                parts.append(self._segment(own, later, known, f"{self.graph.name}_{stage // 2}"))
        return Segments(parts=tuple(parts), graph=self._whole(known))

    def _whole(self, known: Mapping[str, np.ndarray]) -> Graph:
        """All nodes but those whose results are known; these are constants."""
        nodes = tuple(n for n in self.nodes if not all(o in known for o in n.outputs if o))
        return self.graph.but(nodes=nodes, constants={**self.constants, **known}, types={})

    def _stages(self, known: Mapping[str, np.ndarray]) -> dict[int, int]:
        """When each node runs: segments at even stages, islands at odd ones."""
        needed = set(self.graph.outputs)
        live = []
        for node in reversed(self.nodes):
            made = set(node.outputs) - {""}
            wanted = needed & made
            if any(o not in self.inference.known or (o in self.graph.outputs and o not in known) for o in wanted):
                live.append(node)
            if wanted:
                needed |= {n for n in node.used if n not in known}
        stage_of: dict[str, int] = {}
        stages: dict[int, int] = {}
        for node in reversed(live):
            odd = int(id(node) in self.reasons)
            stage = max((stage_of.get(n, 0) for n in self._roots(node)), default=0)
            stage += (stage - odd) % 2   # islands of one stage run in the order of their nodes
            stages[id(node)] = stage
            stage_of |= {o: stage for o in node.outputs if o}
        return stages

    def _roots(self, node: Node) -> list[str]:
        """The values that are made before a node: through shapes, which it computes itself."""
        found: list[str] = []
        for name in node.used:
            if self._follows_from_sizes(name):
                found += self._roots(self.holders[name])
            else:
                found.append(name)
        return found

    def _segment(self, nodes: Sequence[Node], later: set[str], known: Mapping[str, np.ndarray], name: str) -> Graph:
        """Nodes as a graph, with the nodes that compute shapes for them."""
        listed, read = self._behind_sizes(nodes)
        given = {n: self.inference.types[n] for n in read if n not in known}
        made = [o for n in nodes for o in n.outputs if o in later]
        constants = {n: known[n] for n in read if n in known}
        return Graph(name=name, nodes=tuple(listed), constants=constants, outputs=tuple(made),
                     inputs=tuple(_with_own_symbols(given).items()))


def _symbols(types: Iterable[TensorType | None]) -> set[str]:
    """The symbols of some shapes."""
    return {s for t in types if t is not None for e in t.shape for s in e.symbols}


def _is_plain(array: np.ndarray) -> bool:
    return array.dtype != object


def _in_order(nodes: Sequence[Node]) -> list[Node]:
    """Nodes, each once, behind those that feed it."""
    makers = {o: n for n in nodes for o in n.outputs if o}
    done: dict[int, Node] = {}

    def put(node: Node) -> None:
        if id(node) in done:
            return
        for name in node.used:
            if name in makers and makers[name] is not node:
                put(makers[name])
        done.setdefault(id(node), node)
    for node in nodes:
        put(node)
    return list(done.values())


def _with_own_symbols(given: Mapping[str, TensorType]) -> dict[str, TensorType]:
    """Types whose symbols all follow from the extents of arrays.

    An extent such as N + M, where no input has the extents N and M, becomes a symbol of its own.
    """
    plain = {s for t in given.values() for e in t.shape for s in [linear_in(e)[0]] if s}
    lost = {e for t in given.values() for e in t.shape if not e.is_constant and not e.symbols <= plain}
    own = {e: Size.symbol(f"extent_{place}") for place, e in enumerate(sorted(lost, key=str))}
    return {n: TensorType(t.dtype, tuple(own.get(e, e) for e in t.shape)) for n, t in given.items()}
