"""Type inference: the type of every value, and the values that are known while compiling."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.limits import LIMITS
from polysched.graph.operators.control import BRANCH, CALL, IF, REPEAT, Repeated, check_regions, repeated
from polysched.graph.operators.generation import by_shape
from polysched.graph.operators.operator import CONVERSIONS, Operator, Site
from polysched.graph.operators.registry import operator_of
from polysched.graph.values.element_types import is_narrow
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Part, Remedy, refused
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.box_points import MOST_DIMENSIONS
from polysched.scop.dtypes import BOOL, INT32, INT64, DType
from polysched.target.newest import Newest

ON_SIZES = frozenset({"Concat", "Gather", "Slice", "Squeeze", "Unsqueeze", "Reshape", "Flatten", "Identity", "Cast",
                      "Add", "Sub", "Mul", "Div", "Split"})
"""Operators whose reference is exact on symbolic sizes: none of them compares."""
BY_ELEMENTS = frozenset({"Concat", "Add", "Sub", "Mul", "Div"})
"""Those of them whose results follow from every operand alike; the others take elements of the first."""

STORED = "stored"
"""The attribute of a conversion that widens stored weights, and so is not folded."""


@dataclass(frozen=True, eq=False)
class Inferred:
    """What is known of the values of a graph.

    Parameters
    ----------
    types : of every value.
    known : values that follow from constants and shapes; sizes in them are `Size` objects.
    ranges : what is not negative where all of these sizes stay within their types: 32 bits hold less than sizes may be.
    """

    types: Mapping[str, TensorType]
    known: Mapping[str, np.ndarray]
    ranges: tuple[Size, ...] = ()


def infer(graph: Graph) -> Inferred:
    """The types of all values, in the order of the nodes.

    Raises
    ------
    UnsupportedGraphError : an operator refuses its operands, or a value is used before it is bound.
    """
    inference = Inference(graph)
    for node in graph.nodes:
        inference.take(node)
    for name in graph.outputs:
        if name not in inference.types:
            raise UnsupportedGraphError(f"the output {name!r} is bound nowhere", where=f"graph {graph.name}",
                                        hint="bind it in the graph, or take it from the outputs")
    return Inferred(inference.types, inference.known, tuple(inference.ranges))


@contextmanager
def at_node(node: Node) -> Iterator[None]:
    """Say the node in refusals that know none, as those of sizes."""
    try:
        yield
    except UnsupportedGraphError as error:
        if error.where is not None:
            raise
        raise refused(node, error.problem, Part.SHAPES, witness=error.witness,
                      hint=error.hint or Remedy.CORRECT) from None


class Inference:
    """Types and known values, node by node: for passes that make nodes as they learn.

    Parameters
    ----------
    graph : whose inputs and constants are known from the start.
    """

    def __init__(self, graph: Graph) -> None:
        self.types: dict[str, TensorType] = dict(graph.inputs)
        self.known: dict[str, np.ndarray] = {}
        self.ranges: dict[Size, None] = {}
        self.folded = 0
        for name, its_type in graph.inputs:
            _check_extents(its_type, f"input {name!r}")
        for name, array in graph.constants.items():
            self.bind(name, array)

    def bind(self, name: str, array: np.ndarray) -> None:
        """A constant."""
        self.types[name], self.known[name] = TensorType.of_array(array), array

    def take(self, node: Node) -> None:
        """One more node, whose operands are known by now."""
        if node.op in (IF, CALL, BRANCH):
            check_regions(node)
            if node.op == BRANCH:
                self.check_single(node, node.inputs[0], BOOL, "a condition")
            given = {IF: (), CALL: node.inputs, BRANCH: node.inputs[1:]}[node.op]
            self.bind_results(node, [self.region(r, given) for r in node.regions])
            return
        if node.op == REPEAT:
            check_regions(node)
            self.types |= self.repeat(node)
            return
        site = self.site(node)
        for name, its_type in zip(node.outputs, site.outputs, strict=False):
            if name:
                self.types[name] = its_type
        found = _known_results(node, operator_of(node), site, LIMITS.most_folded_in_all - self.folded)
        self.folded += sum(value.size for value in found.values())
        self.known |= found
        for value in found.values():
            self.ranges |= dict.fromkeys(_ranges(value, site.outputs[0].dtype))

    def site(self, node: Node) -> Site:
        """The use of an operator by a node whose operands are known by now, with the types of the results."""
        site = site_of(node, self.types, self.known)
        key = _key(node, site)
        results = None if key is None else _FOUND.get(key)
        if results is None:
            with at_node(node):
                results = operator_of(node).checked_types(site)
            _check(node, results)
            if key is not None:
                _FOUND.keep(key, results)
        return Site(node=node, inputs=site.inputs, known=site.known, outputs=results)

    def region(self, region: Graph, given: Sequence[str]) -> Inferred:
        """What is known of the values around a region and in it.

        Parameters
        ----------
        given : the values that its parameters are bound to.
        """
        inner = Inference(region)
        for parameter, name in zip(region.parameters, given, strict=True):
            inner.types[parameter] = self.types[name]
            if name in self.known:
                inner.known[parameter] = self.known[name]
        inner.types, inner.known = {**self.types, **inner.types}, {**self.known, **inner.known}
        for node in region.nodes:
            inner.take(node)
        self.ranges |= inner.ranges
        return Inferred(inner.types, inner.known)

    def repeat(self, node: Node) -> dict[str, TensorType]:
        """The types of the results of a loop.

        Raises
        ------
        UnsupportedGraphError : an iteration changes the type of a carried value, or how many rows are stacked depends
            on data.
        """
        own = repeated(node)
        self.check_single(node, own.limit, INT64, "a number of iterations")
        self.check_single(node, own.condition, BOOL, "a condition")
        carried, made = [self.types[n] for n in own.carried], self._made_by(node, own)
        for name, before, after in zip(own.results, carried, made, strict=False):
            if before != after:
                raise refused(node, "an iteration changes the type of a value that the loop carries", Part.WHOLE,
                              witness=f"{name}: {before} becomes {after}",
                              hint="carry a value of one type and shape: pad it to its largest, or put a Cast at "
                                   "the end of the body")
        if not own.stacked:
            return {o: t for o, t in zip(own.results, carried, strict=True) if o}
        if not own.steady or own.limit not in self.known:
            raise refused(node, "how many rows a loop stacks depends on data", Part.WHOLE,
                          witness=", ".join(own.stacked), hint=Remedy.VALUES)
        extent = Size.of(self.known[own.limit].ravel()[0])
        extent = Size(max(extent.constant, 0)) if extent.is_constant else extent
        stacks = [TensorType(t.dtype, (extent, *t.shape)) for t in made[len(carried):]]
        return {o: t for o, t in zip(node.outputs, [*carried, *stacks], strict=True) if o}

    def check_single(self, node: Node, name: str, dtype: DType, what: str) -> None:
        """Refuse a value that decides about control flow, and is not one element of a type.

        Raises
        ------
        UnsupportedGraphError : it is not.
        """
        own = self.types.get(name)
        if own is not None and (own.dtype != dtype or own.elements != 1):
            raise refused(node, f"{what} is one element of {dtype.name}",
                          tuple(p for p, n in enumerate(node.inputs) if n == name) or Part.WHOLE,
                          witness=f"{name}: {own}", hint=f"Cast it to {dtype.name}, and Reshape it to one element")

    def parameters(self, own: Repeated) -> list[TensorType]:
        """The types of the parameters of a loop's body."""
        rows = [TensorType(t.dtype, t.shape[1:]) for t in (self.types[n] for n in own.sliced)]
        return [TensorType.of(INT64, ()), TensorType.of(BOOL, ()), *(self.types[n] for n in own.carried), *rows,
                *(self.types[n] for n in own.captured)]

    def _made_by(self, node: Node, own: Repeated) -> list[TensorType]:
        """The types of what the body of a loop makes, without the condition."""
        region = node.regions[0]
        inner, named = Inference(region), len(region.parameters) - len(own.captured)
        inner.types |= dict(zip(region.parameters, self.parameters(own), strict=True))
        inner.known |= {p: self.known[n] for p, n in zip(region.parameters[named:], own.captured, strict=True)
                        if n in self.known}
        for each in region.nodes:
            inner.take(each)
        self.ranges |= inner.ranges
        inner.check_single(node, region.outputs[0], BOOL, "a condition")
        return [inner.types[o] for o in region.outputs[1:]]

    def bind_results(self, node: Node, regions: Sequence[Inferred]) -> None:
        """The types of the results of a branch, where both sides make the same ones, or of a function.

        Raises
        ------
        UnsupportedGraphError : the sides of a branch make results of different types.
        """
        for place, output in enumerate(node.outputs):
            made = [inferred.types[region.outputs[place]]
                    for inferred, region in zip(regions, node.regions, strict=True)]
            if any(t != made[0] for t in made):
                raise refused(node, "which type a result has depends on data", Part.RESULTS,
                              witness=f"{output}: {' or '.join(map(str, made))}",
                              hint="give both sides results of one type and shape, or fix the condition by values=")
            if output:
                self.types[output] = made[0]
            known = regions[0].known.get(node.regions[0].outputs[place])
            if output and node.op == CALL and known is not None:
                self.known[output] = known


def site_of(node: Node, types: Mapping[str, TensorType], known: Mapping[str, np.ndarray],
            results: bool = False) -> Site:
    """The use of an operator by a node.

    Parameters
    ----------
    results : the types of the results are known, too.
    """
    missing = [name for name in node.inputs if name and name not in types]
    if missing:
        raise refused(node, f"the value {missing[0]!r} is used before it is bound",
                      tuple(p for p, n in enumerate(node.inputs) if n and n not in types),
                      hint="bind it ahead of the node: an input, a constant or an earlier node's result")
    return Site(node=node, inputs=tuple(types[n] if n else None for n in node.inputs),
                known=tuple(known.get(n) if n else None for n in node.inputs),
                outputs=tuple(types[o] for o in node.outputs if o in types) if results else ())


_FOUND: Newest[object, tuple[TensorType, ...]] = Newest(LIMITS.most_remembered_types)
"""The types of results by what they follow from: the passes ask for those of the same nodes again and again."""


def _key(node: Node, site: Site) -> object | None:
    """What the types of results follow from; None where it is long.

    Long weights are left out: no operator's types follow from the values of floats, but for those of few.
    """
    known: list[object] = []
    for value in site.known:
        if value is None or (value.size > LIMITS.most_remembered_elements and value.dtype.kind == "f"):
            known.append(None)
        elif value.size > LIMITS.most_remembered_elements:
            return None
        else:
            elements = tuple(value.flat) if value.dtype == object else value.tobytes()
            known.append((value.dtype.str, value.shape, elements))
    if node.regions:
        return None
    attributes = tuple((n, v if isinstance(v, Hashable) else tuple(v)) for n, v in node.attributes)
    return node.op, attributes, site.inputs, tuple(known), len(node.outputs)


def _check(node: Node, results: tuple[TensorType, ...]) -> None:
    """Refuse too many results, and sizes that no machine holds."""
    if len(node.outputs) > len(results):
        raise refused(node, f"the operator has {len(results)} results, not {len(node.outputs)}", Part.RESULTS,
                      hint=f"bind at most {len(results)}")
    for its_type in results:
        if its_type.rank > MOST_DIMENSIONS:
            raise refused(node, f"a result has {its_type.rank} dimensions", Part.SHAPES,
                          hint=f"at most {MOST_DIMENSIONS}")
        if any(e.is_constant and e.constant < 0 for e in its_type.shape):
            raise refused(node, "a result has a negative extent", Part.SHAPES, witness=str(its_type))
        _check_extents(its_type, f"{node.where}, {Part.RESULTS.value}")
        elements = 1
        for extent in its_type.shape:
            elements *= extent.constant if extent.is_constant else max(extent.least() or 1, 1)
        if elements * its_type.dtype.bytes > LIMITS.most_bytes:
            raise refused(node, "a result is larger than a model may have", Part.SHAPES,
                          witness=f"{its_type}, {elements * its_type.dtype.bytes} bytes",
                          hint=f"at most {LIMITS.most_bytes} bytes: make extents smaller, in the model or by sizes=")


def _check_extents(its_type: TensorType, where: str) -> None:
    """Refuse dimensions that are too long, of a value without elements, too.

    Raises
    ------
    UnsupportedGraphError : one is.
    """
    if any(e.constant > LIMITS.most_extent for e in its_type.shape):
        raise UnsupportedGraphError("a dimension is longer than a model may have", where=where, witness=str(its_type),
                                    hint=f"at most {LIMITS.most_extent}")


def _is_computable(node: Node, site: Site, most: int) -> bool:
    """Whether every operand is known, the operator takes sizes where there are some, and the results are small.

    Sizes are whole numbers: what is computed from them as floats is not known.  What is stored in a short type to save
    memory is widened when the graph runs.
    """
    if node.attribute(STORED, 0):
        return False
    if any(k is None for t, k in zip(site.inputs, site.known, strict=True) if t is not None):
        return False
    if _is_of_bits(node, site):
        return False
    symbolic = any(k is not None and k.dtype == object for k in site.known)
    if symbolic and not _is_of_sizes(node, site):
        return False
    return all(t.is_static and int(t.elements) <= min(LIMITS.most_folded_elements, most) for t in site.outputs)


def _is_of_sizes(node: Node, site: Site) -> bool:
    """Whether the results of an operator are sizes where some of its operands are open ones.

    They are not where a type is too short for sizes, where an open size says which elements are taken, and where it
    does at which values a quotient is rounded up.
    """
    if node.op not in ON_SIZES or any(t.dtype not in (INT32, INT64) for t in site.outputs):
        return False
    if node.op in BY_ELEMENTS:
        a, b = (*site.known, None, None)[:2]
        pairs = () if node.op not in ("Mul", "Div") or a is None or b is None else np.broadcast(a, b)
        return all(_is_size(node.op, Size.of(left), Size.of(right)) for left, right in pairs)
    return all(k is None or k.dtype != object for k in site.known[1:])


def _is_size(op: str, left: Size, right: Size) -> bool:
    """Whether the product or the quotient of two sizes is one."""
    return (left.times(right) if op == "Mul" else left.truncated(right)) is not None


def _is_of_bits(node: Node, site: Site) -> bool:
    """Whether results are of a narrow type, or operands that are not converted: these are computed by their bits."""
    narrow = [t for t in (*site.outputs, *(() if node.op in CONVERSIONS else site.inputs)) if t is not None]
    return any(is_narrow(t.dtype) for t in narrow)


def _known_results(node: Node, operator: Operator, site: Site, most: int) -> dict[str, np.ndarray]:
    """The results that follow from what is known, of so many elements at most."""
    shaped = by_shape(site)
    if shaped is not None:
        return {name: shaped for name in node.outputs[:1] if name}
    if not _is_computable(node, site, most):
        return {}
    with np.errstate(all="ignore"):
        results = operator.reference(site, *site.known)
    listed = results if isinstance(results, tuple) else (results,)
    found = {name: np.asarray(value) for name, value in zip(node.outputs, listed, strict=False) if name}
    return found if all(_is_held(value, site.outputs[0].dtype) for value in found.values()) else {}


def _is_held(value: np.ndarray, dtype: DType) -> bool:
    """Whether sizes stay within their type: numbers among them do, and 64 bits hold the others, whatever is open."""
    if value.dtype != object:
        return True
    sizes = [Size.of(size) for size in value.flat]
    return all(-(most := 1 << dtype.bits - 1) <= size.constant < most if size.is_constant else
               size.magnitude(LIMITS.most_extent) < 1 << 63 for size in sizes)


def _ranges(value: np.ndarray, dtype: DType) -> Iterator[Size]:
    """What is not negative where sizes stay within their type, if that is shorter than 64 bits."""
    most = 1 << dtype.bits - 1
    for size in value.flat if value.dtype == object and dtype.bits < 64 else ():
        if not size.is_constant:
            yield from (most - 1 - size, size + most)
