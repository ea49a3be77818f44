"""A fragment of a graph as tensor expressions: what becomes one Scop."""

from __future__ import annotations

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.inference import Inferred, infer, site_of
from polysched.graph.operators.extents import extent_of
from polysched.graph.operators.moves import Place
from polysched.graph.operators.operator import Site, Steps
from polysched.graph.operators.registry import operator_of
from polysched.graph.planning.partition import PADDED, takes_epilogue
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Part, Remedy, refused
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.dtypes import BOOL
from polysched.scop.expression import Expression, Tensor, axis, build, compute, not_equal, placeholder, update
from polysched.scop.expression import loop as repeat
from polysched.scop.expression.tensors import Constant, Convert, Read, as_expression
from polysched.scop.scop import Scop


def scop_of(fragment: Graph, name: str = "kernel") -> Scop:
    """The Scop of a fragment: its inputs in their order, then its outputs.

    Raises
    ------
    UnsupportedGraphError : a node has no tensor expression.
    UnsupportedScopError : an expression is not affine.
    """
    made = _Fragment(fragment, infer(fragment))
    inputs = [made.tensors[n] for n, _ in fragment.inputs]
    outputs = made.outputs()
    if isinstance(outputs, Steps):
        return build(list(outputs.steps), name=name, arguments=[*inputs, *outputs.results])
    return build(list(outputs), name=name, arguments=[*inputs, *outputs])


@dataclass(eq=False)
class _Fragment:
    """Makes expressions of the values of a fragment."""

    graph: Graph
    inferred: Inferred

    def __post_init__(self) -> None:
        self.producers = {o: n for n in self.graph.nodes for o in n.outputs}
        self.opened: set[str] = set()
        uses = [name for node in self.graph.nodes for name in node.inputs]
        self.stages = {o for n in self.graph.nodes[:-1] for o in n.outputs
                       if operator_of(n).expression is not None or uses.count(o) > 1 or o in self.graph.outputs}
        self.tensors: dict[str, Tensor] = {n: placeholder(n, [extent_of(e) for e in t.shape], t.dtype)
                                           for n, t in self.graph.inputs}

    def outputs(self) -> tuple[Tensor, ...] | Steps:
        """The stages of the results; those of the last node come last."""
        node = self.graph.nodes[-1]
        inner = [n for n in self.graph.outputs if n not in node.outputs]
        made = [self.seen(name, f"y{place}") for place, name in enumerate(inner)]
        last = self.last(node, len(inner))
        if made and isinstance(last, Steps):
            raise refused(node, "an operator that updates in place is a kernel of its own", Part.WHOLE,
                          hint=Remedy.FAULT)
        return last if isinstance(last, Steps) else (*made, *last)

    def seen(self, name: str, own: str) -> Tensor:
        """A result that is not of the last node; later stages read it where it stands.

        Parameters
        ----------
        own : its name in the Scop.
        """
        self.opened.add(name)
        made = self.tensor(name)
        self.tensors[name] = Tensor(own, made.shape, made.dtype, made.definition)
        return self.tensors[name]

    def last(self, node: Node, first: int) -> tuple[Tensor, ...] | Steps:
        """The stages of the last node's results.

        Parameters
        ----------
        first : the number of the first of them among all results.
        """
        operator = operator_of(node)
        if operator.expression is not None:
            operands = [None if not n or place in operator.steering else self.tensor(n)
                        for place, n in enumerate(node.inputs)]
            made = operator.expression(self.site(node), *operands)
            if isinstance(made, Steps):
                return made
            listed = made if isinstance(made, tuple) else (made,)
            return tuple(Tensor(f"y{first + p}", t.shape, t.dtype, t.definition) for p, t in enumerate(listed)
                         if p < len(node.outputs) and node.outputs[p])
        result = self.inferred.types[node.outputs[0]]
        shape = [extent_of(e) for e in result.shape]
        if node.op == PADDED:
            return self.inside(node, placeholder(f"y{first}", shape, result.dtype))
        return (compute(shape, lambda *i: self.element(node.outputs[0], i), name=f"y{first}", dtype=result.dtype),)

    def inside(self, node: Node, padded: Tensor) -> Steps:
        """The elements of a padded value that are the operand's; those around them are no matter of a kernel."""
        moves = operator_of(node).moves
        assert moves is not None
        move = moves(self.site(node))[0][-1]
        loops = tuple(axis(f"i{d}", extent_of(e)) for d, e in enumerate(move.loops))
        target = padded[tuple(_place(place, loops) for place in move.target)]
        written = update(target, self.element(node.inputs[0], loops))
        return Steps(results=(padded,), steps=(repeat(*loops, written),))

    def site(self, node: Node) -> Site:
        """The use of an operator by a node."""
        return site_of(node, self.inferred.types, self.inferred.known, results=True)

    def tensor(self, name: str) -> Tensor:
        """A value as a tensor that is subscripted."""
        if name in self.tensors:
            return self.tensors[name]
        node = self.producers.get(name)
        if node is not None and operator_of(node).expression is not None:
            self.tensors[name] = self.stage(node, name)
            return self.tensors[name]
        self.opened.add(name)
        its_type = self.inferred.types[name]
        shape = [extent_of(e) for e in its_type.shape]
        self.tensors[name] = compute(shape, lambda *i: self.element(name, i), name=name, dtype=its_type.dtype)
        return self.tensors[name]

    def stage(self, node: Node, name: str) -> Tensor:
        """A result of an operator with an expression, as a stage of its own.

        Raises
        ------
        UnsupportedGraphError : the operator updates in place.
        """
        operator = operator_of(node)
        operands = [None if not n or place in operator.steering else self.tensor(n)
                    for place, n in enumerate(node.inputs)]
        assert operator.expression is not None
        made = operator.expression(self.site(node), *operands)
        if isinstance(made, Steps):
            raise refused(node, "an operator that updates in place is a kernel of its own", Part.WHOLE,
                          hint=Remedy.FAULT)
        own = (made if isinstance(made, tuple) else (made,))[node.outputs.index(name)]
        return Tensor(name, own.shape, own.dtype, own.definition)

    def element(self, name: str, indices: tuple[Expression, ...]) -> Expression:
        """One element of a value, as an expression of elements of the inputs."""
        if name in self.graph.constants:
            return _constant(self.graph.constants[name], self.inferred.types[name])
        if name in self.tensors or (name in self.stages and name not in self.opened):
            self.opened.add(name)
            return self.tensor(name)[indices]
        node = self.producers[name]
        operator, site = operator_of(node), self.site(node)
        if operator.element is not None:
            operands = [self.spread(n, indices) if n else None for n in node.inputs]
            made: Expression = operator.element(site, *operands)
            dtype = site.output.dtype
            return made if _is_of(made, dtype) else made.astype(dtype)
        if operator.moves is None:
            raise refused(node, "the operator has no tensor expression", Part.WHOLE,
                          hint=Remedy.FAULT)
        move = operator.moves(site)[0][0]
        return self.element(node.inputs[move.operand], tuple(_place(p, indices) for p in move.source))

    def spread(self, name: str, indices: tuple[Expression, ...]) -> Expression:
        """The element of an operand that broadcasts."""
        its_type = self.inferred.types[name]
        own = indices[len(indices) - its_type.rank:]
        return self.element(name, tuple(Constant(0) if e == 1 else i for e, i in zip(its_type.shape, own, strict=True)))


def has_stages(fragment: Graph) -> bool:
    """Whether a fragment computes values that stand in memory between its nodes, or that it returns from there.

    A sum of products whose result elementwise operators change is none: the tiles of the sum hold its result.
    """
    if is_epilogue(fragment):
        return False
    uses = [name for node in fragment.nodes for name in node.inputs]
    sums = [operator_of(n).expression is not None for n in unpadded(fragment)]
    return any(sums[:-1]) or (len(sums) > 1 and sums[-1]) or any(
        uses.count(o) > 1 or o in fragment.outputs for n in fragment.nodes[:-1] for o in n.outputs)


def is_epilogue(fragment: Graph) -> bool:
    """Whether a fragment is one sum of products of floats, elementwise operators of its shape, and padding of that."""
    types, nodes = infer(fragment).types, unpadded(fragment)
    sums = [n for n in nodes if operator_of(n).element is None]
    if len(sums) != 1 or not takes_epilogue(sums[0], types[sums[0].outputs[0]]) or len(fragment.nodes) < 2:
        return False
    inside = {o for n in fragment.nodes for o in n.outputs}
    return inside & set(fragment.outputs) == set(fragment.nodes[-1].outputs) and not inside & set(sums[0].inputs) and (
        all(types[n.outputs[0]].shape == types[sums[0].outputs[0]].shape for n in nodes))


def unpadded(fragment: Graph) -> tuple[Node, ...]:
    """The nodes without a padding of the result."""
    return fragment.nodes[:-1] if fragment.nodes[-1].op == PADDED else fragment.nodes


def _is_of(expression: Expression, dtype: object) -> bool:
    if isinstance(expression, Read):
        return expression.tensor.dtype == dtype
    return isinstance(expression, Convert) and expression.dtype == dtype


def _constant(array: np.ndarray, its_type: TensorType) -> Expression:
    if array.size != 1:
        raise UnsupportedGraphError("a constant of a kernel has one element", witness=str(its_type),
                                    hint=Remedy.FAULT.value)
    value = array.ravel()[0].item()
    if its_type.dtype == BOOL:
        return not_equal(Convert(Constant(int(value)), BOOL_AS), 0)
    return Convert(Constant(value), its_type.dtype)


BOOL_AS = TensorType.of_array(np.zeros((), np.int32)).dtype


def _place(place: Place, indices: tuple[Expression, ...]) -> Expression:
    result: Expression = extent_of(place.start)
    for loop, factor in place.terms:
        own = indices[loop] if factor == 1 else indices[loop] * as_expression(extent_of(factor))
        result = own if isinstance(result, Constant) and result.value == 0 else result + own
    return result


