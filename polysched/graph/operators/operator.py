"""`Operator`: what the registry holds of each; `Site`: one use of it, with the types and the values that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.limits import LIMITS
from polysched.graph.operators.moves import Move
from polysched.graph.values.element_types import NarrowType
from polysched.graph.values.graph import Node
from polysched.graph.values.refusals import About, Part, Remedy, refused
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.dtypes import DType
from polysched.scop.expression import Expression, Tensor
from polysched.scop.expression.updates import Step

CONVERSIONS = frozenset({"Cast", "CastLike", "NarrowCode"})
"""Operators that take every element type as it is, and compute with none."""


class Kind(Enum):
    """How an operator's results depend on its operands: what may be fused with what."""

    ELEMENTWISE = "elementwise"
    BROADCAST = "broadcast"
    INJECTIVE = "injective"
    REDUCTION = "reduction"
    OUTPUT_FUSABLE = "output-elementwise-fusable"
    TUPLE = "tuple"
    OPAQUE = "opaque"


@dataclass(frozen=True, eq=False, kw_only=True)
class Site:
    """One use of an operator.

    Parameters
    ----------
    node : the node.
    inputs : the types of its operands; None for one that is left out.
    known : the values of operands that are known while compiling, sizes among them as `Size`; None for the others.
    outputs : the types of its results; empty while they are inferred.
    """

    node: Node
    inputs: tuple[TensorType | None, ...]
    known: tuple[np.ndarray | None, ...]
    outputs: tuple[TensorType, ...] = ()

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute; the default where it is not given."""
        return self.node.attribute(name, default)

    def required(self, name: str) -> Any:
        """The value of an attribute that has no default.

        Raises
        ------
        UnsupportedGraphError : it is not given.
        """
        value = self.attribute(name)
        if value is None:
            raise self.refusal(f"the attribute {name} is missing", name)
        return value

    def has(self, place: int) -> bool:
        """Whether an operand is given."""
        return place < len(self.inputs) and self.inputs[place] is not None

    def type(self, place: int = 0) -> TensorType:
        """The type of an operand.

        Raises
        ------
        UnsupportedGraphError : it is left out.
        """
        own = self.inputs[place] if place < len(self.inputs) else None
        if own is None:
            raise self.refusal(f"operand {place} is missing", place)
        return own

    @property
    def output(self) -> TensorType:
        """The type of the first result."""
        return self.outputs[0]

    def value(self, place: int) -> np.ndarray:
        """The value of an operand that decides about shapes.

        Raises
        ------
        UnsupportedGraphError : it depends on data.
        """
        own = self.known[place] if self.has(place) else None
        if own is None:
            name = self.node.inputs[place] if place < len(self.node.inputs) else ""
            raise self.refusal(f"operand {place} decides about shapes and is not known", place, witness=name,
                               hint=Remedy.VALUES)
        return own

    def numbers(self, place: int) -> tuple[int, ...]:
        """The value of an operand of whole numbers."""
        return tuple(int(v) for v in self.value(place).ravel())

    def number(self, place: int) -> int:
        """The value of an operand of one whole number.

        Raises
        ------
        UnsupportedGraphError : it has another number of elements.
        """
        if len(found := self.numbers(place)) != 1:
            raise self.refusal(f"operand {place} is one number", place, witness=str(found))
        return found[0]

    def sizes(self, place: int) -> tuple[Size, ...]:
        """The value of an operand of sizes.

        Raises
        ------
        UnsupportedGraphError : it is no vector.
        """
        if self.value(place).ndim != 1:
            raise self.refusal(f"operand {place} is a vector of sizes", place, witness=str(self.type(place)))
        return tuple(Size.of(v) for v in self.value(place))

    def axis(self, axis: int, rank: int | None = None, *, about: About = "axis") -> int:
        """An axis counted from the front.

        Parameters
        ----------
        about : what of the node names it.

        Raises
        ------
        UnsupportedGraphError : there is none.
        """
        ranks = self.type().rank if rank is None else rank
        if not -ranks <= axis < ranks:
            raise self.refusal(f"axis {axis} of {ranks} dimensions", about, hint=(
                f"give a number from {-ranks} to {ranks - 1}" if ranks else Remedy.CORRECT))
        return axis + ranks if axis < 0 else axis

    def axes(self, axes: Sequence[int], rank: int | None = None, *, about: About = "axes") -> tuple[int, ...]:
        """Axes counted from the front, in their order; each once."""
        found = tuple(self.axis(a, rank, about=about) for a in axes)
        if len(set(found)) != len(found):
            raise self.refusal("an axis occurs twice", about, witness=str(tuple(axes)), hint="name each axis once")
        return found

    def check_table(self, elements: int, about: About = Part.SHAPES) -> None:
        """Refuse a table that the operator needs and that is too large to be computed while compiling.

        Parameters
        ----------
        about : what of the node it follows from.

        Raises
        ------
        UnsupportedGraphError : it has more elements than a value that is folded.
        """
        if elements > LIMITS.most_folded_elements:
            raise self.refusal("a table that the operator needs is too large", about, witness=f"{elements} elements",
                               hint=f"ask for at most {LIMITS.most_folded_elements} elements of it")

    def refusal(self, problem: str, about: About, *, witness: str | None = None,
                hint: Remedy | str = Remedy.CORRECT) -> UnsupportedGraphError:
        """What to raise where the node is not had; see `refused`."""
        return refused(self.node, problem, about, witness=witness, hint=hint)


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """Results that updates write, where one stage per result is no way to say it.

    Parameters
    ----------
    results : placeholders, one per result.
    steps : loops and updates in the order in which they happen; they write every element before they read it.
    """

    results: tuple[Tensor, ...]
    steps: tuple[Step, ...]


Types: TypeAlias = Callable[[Site], "tuple[TensorType, ...]"]
Reference: TypeAlias = Callable[..., "np.ndarray | tuple[np.ndarray, ...]"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Operator:
    """One operator: what it computes, told twice, and how it is compiled.

    Exactly one of `element`, `expression`, `moves`, `view` and `composition` says how it is compiled.

    Parameters
    ----------
    name : as nodes and ONNX spell it.
    kind : how its results depend on its operands.
    types : the types of its results; it refuses what the operator does not take.
    reference : its results in NumPy, from the site and the operands (None for one that is left out).
    element : one element of the result from those of the operands, which broadcast; all results have the first type.
    expression : the results as tensor expressions.
    moves : the results as copies of elements of the operands to affine places.
    view : whether the result has the elements of the first operand in their order, in another shape.
    composition : the results by other operators: adds nodes to a builder and returns the names of the results.
    sums : whether the composition has sums or squares in between that float16 may not hold: it is one of float32 then.
    steering : positions of the operands that decide about shapes, and so must be known while compiling.
    words : attributes that are one of some words, the first of which holds where none is given.
    narrow : whether elements of narrow types are converted, or copied, and not only by moves and views.
    room : sizes that are not negative where the operator takes its operands: open ones are tested when the model runs.
    """

    name: str
    kind: Kind
    types: Types
    reference: Reference
    element: Callable[..., Expression] | None = None
    expression: Callable[..., Tensor | tuple[Tensor, ...] | Steps] | None = None
    moves: Callable[[Site], tuple[tuple[Move, ...], ...]] | None = None
    view: bool = False
    composition: Callable[..., str | tuple[str, ...]] | None = None
    sums: bool = False
    steering: tuple[int, ...] = field(default=())
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    narrow: bool = False
    room: Callable[[Site], Sequence[Size]] | None = None

    def __post_init__(self) -> None:
        ways = [self.element, self.expression, self.moves, self.view or None, self.composition]
        if sum(way is not None for way in ways) > 1:
            raise ValueError(f"{self.name} is compiled in two ways")

    def copies_at(self, node: Node) -> bool:
        """Whether a node of this operator copies elements, whatever they are, and computes nothing with them."""
        if node.attribute("reduction", "none") not in ("none", "") or self.name in CONVERSIONS:
            return False
        return self.view or self.moves is not None or (self.narrow and self.composition is None)

    def widens_at(self, node: Node) -> bool:
        """Whether a node of this operator computes with operands of bfloat16, which it does in float32."""
        return self.name not in CONVERSIONS and not self.copies_at(node)

    def check_narrow(self, site: Site) -> None:
        """Refuse elements that are stored and converted only, where the operator computes with them.

        Raises
        ------
        UnsupportedGraphError : it does.
        """
        if self.narrow or self.copies_at(site.node):
            return
        for place, own in enumerate(site.inputs):
            if own is not None and isinstance(own.dtype, NarrowType):
                raise site.refusal(f"elements of {own.dtype} are stored and converted, not computed with", place,
                                   witness=str(own), hint="convert them by Cast or DequantizeLinear")

    def checked_types(self, site: Site) -> tuple[TensorType, ...]:
        """The types of the results, where every attribute that is a word is one of those that there are.

        Raises
        ------
        UnsupportedGraphError : it is another word, or the operator does not take its operands.
        """
        for name, allowed in self.words.items():
            if (given := site.attribute(name, allowed[0])) not in allowed:
                raise site.refusal(f"the attribute {name} is none of {', '.join(allowed)}", name,
                                   witness=repr(given)[:80], hint=f"give one of them: {', '.join(allowed)}")
        self.check_narrow(site)
        return self.types(site)


def broadcast(site: Site, types: Sequence[TensorType]) -> tuple[Size, ...]:
    """The shape of elementwise results, by the rules of NumPy.

    Raises
    ------
    UnsupportedGraphError : extents differ and none is 1.
    """
    rank = max((t.rank for t in types), default=0)
    shape: list[Size] = []
    for dimension in range(rank):
        own = [t.shape[dimension - rank + t.rank] for t in types if dimension - rank + t.rank >= 0]
        wide = dict.fromkeys(e for e in own if e != 1)
        if len(wide) > 1:
            raise site.refusal("the shapes do not broadcast", Part.SHAPES, witness=", ".join(map(str, types)), hint=(
                "extents that stand below each other, counted from the last dimension, are equal, or one is 1: "
                "Reshape or Unsqueeze one of them"))
        shape.append(next(iter(wide), Size(1)))
    return tuple(shape)


def one_type(site: Site, places: Sequence[int]) -> DType:
    """The element type that some operands share.

    Raises
    ------
    UnsupportedGraphError : they have several.
    """
    given = [p for p in places if site.has(p)]
    found = {site.type(p).dtype for p in given}
    if len(found) != 1:
        raise site.refusal("the operands have different element types" if found else "there are no operands",
                           given or Part.WHOLE,
                           witness=", ".join(sorted(map(str, found))),
                           hint=Remedy.AGREE if found else Remedy.CORRECT)
    return found.pop()
