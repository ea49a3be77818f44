"""Narrow element types as bits: their elements become whole numbers, and conversions arithmetic.

Source: the passes FP8StorageLegalize and BF16StorageLegalize of TVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from polysched.graph.evaluation.inference import Inference, at_node, infer
from polysched.graph.evaluation.typed_builder import TypedBuilder
from polysched.graph.operators.builder import Builder
from polysched.graph.operators.control import BRANCH, REPEAT, repeated
from polysched.graph.operators.families.narrow import decoded
from polysched.graph.operators.registry import operator_of
from polysched.graph.passes.control import resolve_control
from polysched.graph.passes.names import fresh_names
from polysched.graph.values.element_types import (
    ELEMENT_TYPES,
    POWERS_OF_TWO,
    NarrowType,
    array_type,
    carrier_of,
    is_narrow,
)
from polysched.graph.values.graph import Attribute, Graph, Node
from polysched.graph.values.refusals import Part, refused
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BFLOAT16, FLOAT32, FLOAT64, INT8, UINT8, DType

KEPT = ("saturate", "round_mode")
"""Attributes of conversions to narrow types."""
TYPED = ("dtype", "to", "output_dtype")
"""Attributes that name an element type."""


def in_carriers(graph: Graph) -> Graph:
    """The bits of narrow elements in place of them, and arithmetic on bits in place of conversions.

    Rewrite:  graph f(x: float8_e4m3fn[N]) { let y = Cast(x; to="float32")  ->  graph f(x: uint8[N]) {
    const t: float32[256] = [0.0, ...]; let i = Cast(x; to="int32"); let y = Gather(t, i)

    Operators on bfloat16 compute in float32, and round each result.

    Raises
    ------
    UnsupportedGraphError : an operator computes with another narrow type.
    """
    if not _has_narrow(graph):
        return graph
    return _Lowering(graph).run()


def _has_narrow(graph: Graph) -> bool:
    """Whether a narrow type occurs: values have it from inputs, constants and attributes."""
    named = [ELEMENT_TYPES.get(str(value)) for node in graph.nodes for name, value in node.attributes if name in TYPED]
    own = [*(t.dtype for _, t in graph.inputs), *(TensorType.of_array(a).dtype for a in graph.constants.values()),
           *(dtype for dtype in named if dtype is not None)]
    return any(map(is_narrow, own)) or any(_has_narrow(region) for node in graph.nodes for region in node.regions)


def narrow_outputs(graph: Graph) -> dict[str, DType]:
    """The outputs of a narrow type, which a compiled graph gives as bits."""
    if not _has_narrow(graph):
        return {}
    types = infer(resolve_control(graph)).types   # loops have types once they are resolved
    return {o: types[o].dtype for o in graph.outputs if o in types and is_narrow(types[o].dtype)}


def _bits(array: np.ndarray) -> np.ndarray:
    """An array with the bits of its elements, where they are narrow."""
    dtype = TensorType.of_array(array).dtype
    return array.view(array_type(carrier_of(dtype))) if is_narrow(dtype) else array


class _Lowering(Builder):
    """Takes nodes of a graph one by one; values keep their names."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(fresh_names(graph))
        self.before = graph
        self.types = Inference(graph)
        self.constants |= {name: _bits(array) for name, array in graph.constants.items()}

    def run(self) -> Graph:
        """The graph after."""
        for node in self.before.nodes:
            self.take(node)
        inputs = tuple((n, t.with_dtype(carrier_of(t.dtype))) for n, t in self.before.inputs)
        return self.before.but(inputs=inputs, nodes=tuple(self.nodes), constants=self.constants, types={})

    def dtype(self, name: str) -> DType:
        """The element type of a value in the graph before."""
        return self.types.types[name].dtype

    def take(self, node: Node) -> None:
        """One node of the graph before."""
        self.types.take(node)
        self.lower(node)

    def lower(self, node: Node) -> None:
        """One node whose operands and results have types by now."""
        self.origin = node.name or next(filter(None, node.outputs), "")
        narrow = {self.dtype(n) for n in (*node.inputs, *node.outputs) if n and is_narrow(self.dtype(n))}
        if node.regions:
            self.emit(replace(node, regions=tuple(self.regions(node))))
        elif not narrow:
            self.emit(node)
        elif node.op == "Cast":
            self.convert(node)
        elif node.op == "BitCast":
            self.emit(Node.of("BitCast", node.inputs, node.outputs, name=node.name,
                              attributes={"to": carrier_of(self.dtype(node.outputs[0])).name}))
        elif operator_of(node).copies_at(node):
            self.emit(node)
        elif BFLOAT16 in narrow and operator_of(node).widens_at(node):
            self.widen(node)
        else:
            self.expand(node)

    def regions(self, node: Node) -> list[Graph]:
        """The regions of a node, lowered; they read their parameters alone."""
        if node.op not in (BRANCH, REPEAT):
            raise refused(node, "control flow over narrow element types is not had here", Part.WHOLE,
                          hint="convert what it takes and makes to float32 by Cast")
        types = ([self.types.types[n] for n in node.inputs[1:]] if node.op == BRANCH else
                 self.types.parameters(repeated(node)))
        found = []
        for region in node.regions:
            given = region.but(inputs=tuple(zip(region.parameters, types, strict=True)), parameters=())
            found.append(in_carriers(given).but(inputs=(), parameters=region.parameters))
        return found

    def expand(self, node: Node) -> None:
        """The nodes that an operator consists of, in its place."""
        composition = operator_of(node).composition
        if composition is None:
            raise refused(node, f"{node.op} does not take narrow element types", Part.WHOLE,
                          hint="convert them by Cast")
        inner = TypedBuilder(Graph(name="inner", nodes=(), outputs=(), inputs=tuple(
            (n, self.types.types[n]) for n in dict.fromkeys(node.inputs) if n)), self.fresh)
        inner.inference.known |= {n: self.types.known[n] for n in node.inputs if n in self.types.known}
        with at_node(node):
            made = composition(inner.inference.site(node), inner, *node.inputs)
        for name, array in inner.constants.items():
            self.types.bind(name, array)
            self.constants[name] = _bits(array)
        for each in inner.nodes:
            self.take(each)
        for output, result in zip(node.outputs, (made,) if isinstance(made, str) else made, strict=False):
            if output:
                self.emit(Node.of("Identity", (result,), (output,), name=self.origin))

    def widen(self, node: Node) -> None:
        """An operator on bfloat16 in float32.

        Rewrite:  let y = Add(a, b)  ->  let u = Cast(a); let v = Cast(b); let s = Add(u, v); let y = Cast(s)
        """
        def is_short(name: str) -> bool:
            return bool(name) and self.dtype(name) == BFLOAT16
        inputs = [self.cast(n, FLOAT32) if is_short(n) else n for n in node.inputs]
        outputs = [self.fresh("wide") if is_short(o) else o for o in node.outputs]
        attributes = tuple((n, FLOAT32.name if n in TYPED and v == BFLOAT16.name else v) for n, v in node.attributes)
        inner = replace(node, inputs=tuple(inputs), outputs=tuple(outputs), attributes=attributes)
        self.types.take(inner)
        made = [(wide, output) for wide, output in zip(outputs, node.outputs, strict=True) if wide != output]
        if any(self.dtype(wide) != FLOAT32 for wide, _ in made):
            raise refused(node, f"{node.op} of bfloat16 is not had", Part.RESULTS,
                          hint="convert the operands to float32 by Cast")
        self.lower(inner)
        for wide, output in made:
            self.narrow(wide, output, FLOAT32, BFLOAT16, {})

    def cast(self, name: str, to: DType) -> str:
        """A value of the graph before, of a narrow type, as one of another type."""
        result = self.fresh("wide")
        self.take(Node.of("Cast", (name,), (result,), {"to": to.name}, name=self.origin))
        return result

    def convert(self, node: Node) -> None:
        """A conversion from a narrow type, or to one."""
        name, own, to = node.inputs[0], self.dtype(node.inputs[0]), self.dtype(node.outputs[0])
        if own == to:
            self.emit(Node.of("Identity", (name,), node.outputs, name=self.origin))
            return
        wide, between = self.widened(name, own) if is_narrow(own) else (name, own)
        kept = {k: v for k, v in node.attributes if k in KEPT}
        if is_narrow(to):
            self.narrow(wide, node.outputs[0], between, to, kept)
        elif between == to:
            self.emit(Node.of("Identity", (wide,), node.outputs, name=self.origin))
        else:
            self.emit(Node.of("Cast", (wide,), node.outputs, {"to": to.name}, name=self.origin))

    def widened(self, name: str, own: DType) -> tuple[str, DType]:
        """The values of bits, and their type: float32 of floats, int8 or uint8 of whole numbers."""
        if own == BFLOAT16:
            high = self.op("BitShift", self.op("Cast", name, to="uint32"), self.constant(np.array(16, np.uint32)),
                           direction="LEFT")
            return self.op("BitCast", high, to="float32"), FLOAT32
        assert isinstance(own, NarrowType)
        if own.is_float:
            return self.op("Gather", self.constant(decoded(own)), self.op("Cast", name, to="int32")), FLOAT32
        low = self.op("BitwiseAnd", name, self.constant(np.array((1 << own.width) - 1, np.uint8)))
        if not own.is_signed:
            return low, UINT8
        half = self.constant(np.array(1 << (own.width - 1), np.int8))
        return self.op("Sub", self.op("BitwiseXor", self.op("Cast", low, to="int8"), half), half), INT8

    def narrow(self, name: str, output: str, own: DType, to: DType, attributes: Mapping[str, Attribute]) -> None:
        """The bits of values in a narrow type.

        Parameters
        ----------
        own : the type of the values, which is not narrow.
        """
        if isinstance(to, NarrowType) and not to.is_float:
            byte = self.op("Cast", name if own.is_integer else self.op("Cast", name, to="int64"), to="uint8")
            mask = self.constant(np.array((1 << to.width) - 1, np.uint8))
            self.emit(Node.of("BitwiseAnd", (byte, mask), (output,), name=self.origin))
            return
        short = own.bits <= (FLOAT32.bits if own.is_float else 16) or to == POWERS_OF_TWO
        wide = FLOAT32 if short else FLOAT64
        bits = self.op("BitCast", name if own == wide else self.op("Cast", name, to=wide.name),
                       to="uint32" if short else "uint64")
        self.emit(Node.of("NarrowCode", (bits,), (output,), {"to": to.name, **attributes}, name=self.origin))
