"""Sequences and optionals whose structure is known while compiling: the values that are their elements.

`Structures` stands behind a builder of nodes; `run_structured` computes the same in NumPy, where a sequence is a list
and an empty optional None.  Neither is made of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.evaluation.typed_builder import TypedBuilder
from polysched.graph.limits import LIMITS
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.refusals import Part, refused

Structure: TypeAlias = "tuple[str, ...] | None"
"""The elements of a sequence, or an optional without an element."""


def item_name(output: str, place: int) -> str:
    """What an output is called that is an element of a sequence."""
    return f"{output}[{place}]"


def item_names(output: str, count: int, graph: Graph) -> tuple[str, ...]:
    """What the elements of an output that is a sequence are called.

    Raises
    ------
    UnsupportedGraphError : a value of the graph could be taken for one of them.
    """
    if any(name.startswith(f"{output}[") for name in graph.bound):
        raise UnsupportedGraphError("a value is called as if it were an element of an output that is a sequence",
                                    where=f"graph {graph.name}", witness=output, hint="rename the output")
    return tuple(item_name(output, place) for place in range(count))


def tensors_of(output: str, value: Any) -> list[tuple[str, np.ndarray]]:
    """The tensors of an output by name: itself, the elements of a sequence, none of an empty optional."""
    if value is None or isinstance(value, list):
        return [(item_name(output, place), element) for place, element in enumerate(value or ())]
    return [(output, value)]


class Structures:
    """What the values of a graph consist of that are no tensors.

    Parameters
    ----------
    build : makes the nodes around them.
    """

    def __init__(self, build: TypedBuilder) -> None:
        self.build = build
        self.of: dict[str, Structure] = {}

    def take(self, node: Node) -> None:
        """One node of `families.sequences`, but a map; or the identity of a sequence.

        Raises
        ------
        UnsupportedGraphError : an operand is of another kind, or a position or a length depends on data.
        """
        if len(node.outputs) != 1:
            raise refused(node, f"one result is wanted, not {len(node.outputs)}", Part.RESULTS, hint="bind one result")
        made = _RESOLVED[node.op](self, node)
        if isinstance(made, str):
            self.build.emit(Node.of("Identity", (made,), node.outputs, name=node.name))
        else:
            self.bind(node, node.outputs[0], made)

    def bind(self, node: Node, name: str, structure: Structure) -> None:
        """A value that is no tensor.

        Raises
        ------
        UnsupportedGraphError : it has too many elements, or they are of several element types.
        """
        elements = structure or ()
        if len(elements) > LIMITS.most_sequence_elements:
            raise refused(node, f"a sequence has {len(elements)} elements", Part.WHOLE,
                          hint=f"make it of {LIMITS.most_sequence_elements} at most")
        types = {self.build.inference.types[e].dtype.name for e in elements if e in self.build.inference.types}
        if len(types) > 1 or any(e in self.of for e in elements):
            raise refused(node, "the elements of a sequence are tensors of one element type", Part.WHOLE,
                          witness=", ".join(sorted(types)), hint="put a Cast to one element type ahead of each")
        self.of[name] = structure

    def check_tensors(self, node: Node) -> None:
        """Refuse a node that takes sequences where tensors are wanted.

        Raises
        ------
        UnsupportedGraphError : it does, itself or in its regions.
        """
        found = [name for name in node.used if name in self.of]
        if found:
            raise refused(node, "a sequence or an optional stands where a tensor is wanted, or where control flow "
                          "depends on data",
                          tuple(p for p, n in enumerate(node.inputs) if n in self.of) or Part.WHOLE, witness=found[0],
                          hint="take an element by SequenceAt or OptionalGetElement, or fix the condition by values=")

    def sequence(self, node: Node, place: int = 0) -> tuple[str, ...]:
        """The elements of an operand that is a sequence."""
        name = _operand(node, place)
        found = self.of.get(name)
        if found is None:
            raise refused(node, f"operand {place} is no sequence", place, witness=name,
                          hint="give what SequenceConstruct, SequenceEmpty, SequenceInsert or SplitToSequence makes")
        return found

    def tensor(self, node: Node, place: int) -> str:
        """An operand that is a tensor."""
        name = _operand(node, place)
        if name not in self.build.inference.types:
            raise refused(node, f"operand {place} is no tensor", place, witness=name,
                          hint="take an element by SequenceAt or OptionalGetElement")
        return name

    def numbers(self, node: Node, place: int) -> np.ndarray | None:
        """The whole numbers of an operand; None where it is left out."""
        if not _operand(node, place):
            return None
        name = self.tensor(node, place)
        known = self.build.inference.known.get(name)
        if known is None or known.dtype.kind not in "iu":
            raise refused(node, f"operand {place} decides about a sequence and is not known", place, witness=name,
                          hint="give its value by values= when the graph is compiled")
        return known

    def position(self, node: Node, place: int, least: int, most: int) -> int | None:
        """A position in a sequence; None where it is left out."""
        found = self.numbers(node, place)
        if found is None:
            return None
        if found.size != 1 or not least <= int(found.ravel()[0]) <= most:
            raise refused(node, "a position lies outside of the sequence", place, witness=(
                f"{found.ravel()[:4].tolist()}, {least} to {most} can be"),
                          hint=f"give a number from {least} to {most}")
        return int(found.ravel()[0])


def _operand(node: Node, place: int) -> str:
    return node.inputs[place] if place < len(node.inputs) else ""


def _same(own: Structures, node: Node) -> str | Structure:
    name = _operand(node, 0)
    return own.of[name] if name in own.of else own.tensor(node, 0)


def _construct(own: Structures, node: Node) -> Structure:
    return tuple(own.tensor(node, place) for place in range(len(node.inputs)))


def _insert(own: Structures, node: Node) -> Structure:
    before, new = own.sequence(node), own.tensor(node, 1)
    at = own.position(node, 2, -len(before), len(before))
    at = len(before) if at is None else at
    return (*before[:at], new, *before[at:])


def _erase(own: Structures, node: Node) -> Structure:
    before = own.sequence(node)
    at = own.position(node, 1, -len(before), len(before) - 1)
    if not before:
        raise refused(node, "an empty sequence has no element to erase", 0, hint="insert one before")
    place = len(before) - 1 if at is None else at % len(before)
    return before[:place] + before[place + 1:]


def _at(own: Structures, node: Node) -> str:
    before = own.sequence(node)
    at = own.position(node, 1, -len(before), len(before) - 1)
    if at is None:
        raise refused(node, "operand 1 is missing", 1)
    return before[at]


def _length(own: Structures, node: Node) -> str:
    return own.build.constant(np.array(len(own.sequence(node)), np.int64))


def _split(own: Structures, node: Node) -> Structure:
    """Slices of one extent each, or of those that are asked for; single ones may lose the axis."""
    name = own.tensor(node, 0)
    its_type, asked = own.build.inference.types[name], own.numbers(node, 1)
    axis = node.attribute("axis", 0)
    if not -its_type.rank <= axis < its_type.rank:
        raise refused(node, f"axis {axis} of {its_type.rank} dimensions", "axis",
                      hint=f"give a number from {-its_type.rank} to {its_type.rank - 1}")
    if not its_type.shape[axis].is_constant:
        raise refused(node, "how many parts there are depends on an open size", 0, witness=str(its_type),
                          hint="fix the size by sizes=")
    parts = _parts(own, node, int(its_type.shape[axis]), asked)
    if not parts:
        return ()
    made = own.build.ops("Split", len(parts), name, own.build.constant(np.array(parts, np.int64)), axis=axis)
    if asked is None and not node.attribute("keepdims", 1):
        made = tuple(own.build.op("Squeeze", part, own.build.constant([axis])) for part in made)
    return made


def _parts(own: Structures, node: Node, extent: int, asked: np.ndarray | None) -> list[int]:
    """The extents of the parts."""
    if asked is not None and asked.ndim:
        return [int(part) for part in asked.ravel()]
    size = 1 if asked is None else int(asked)
    if size < 1:
        raise refused(node, "a part has at least one element", 1, witness=str(size), hint="give a number of at least 1")
    count = -(-extent // size)
    if count > LIMITS.most_sequence_elements:
        raise refused(node, f"a sequence has {count} elements", 1,
                      hint=f"give larger parts: {LIMITS.most_sequence_elements} at most")
    return [min(size, extent - k * size) for k in range(count)]


def _concatenation(own: Structures, node: Node) -> str:
    parts, axis = own.sequence(node), node.attribute("axis")
    if not parts or axis is None:
        raise refused(node, "an axis, and a sequence with elements, is wanted", "axis" if axis is None else 0)
    if node.attribute("new_axis", 0):
        place = own.build.constant([axis])
        parts = tuple(own.build.op("Unsqueeze", part, place) for part in parts)
    return own.build.op("Concat", *parts, axis=axis)


def _optional(own: Structures, node: Node) -> str | Structure:
    return _same(own, node) if _operand(node, 0) else None


def _has_element(own: Structures, node: Node) -> str:
    name = _operand(node, 0)
    if name and name not in own.of:
        own.tensor(node, 0)
    return own.build.constant(np.array(bool(name) and own.of.get(name, ()) is not None))


def _element(own: Structures, node: Node) -> str | Structure:
    made = _same(own, node)
    if made is None:
        raise refused(node, "an optional has no element", 0, hint="give it one by Optional, or ask OptionalHasElement")
    return made


_RESOLVED: dict[str, Callable[[Structures, Node], str | Structure]] = {
    "Identity": _same, "SequenceConstruct": _construct, "SequenceEmpty": lambda own, node: (),
    "SequenceInsert": _insert, "SequenceErase": _erase, "SequenceAt": _at, "SequenceLength": _length,
    "SplitToSequence": _split, "ConcatFromSequence": _concatenation, "Optional": _optional,
    "OptionalHasElement": _has_element, "OptionalGetElement": _element}


def run_structured(node: Node, values: Mapping[str, Any]) -> Any:
    """The result of a node of `families.sequences`, but a map, in NumPy.

    Raises
    ------
    UnsupportedGraphError : it does not take its operands.
    """
    operands = [values[name] if name else None for name in node.inputs]
    try:
        return _REFERENCES[node.op](node, *operands)
    except (IndexError, ValueError, TypeError) as error:
        raise refused(node, "the operands of a sequence do not fit", tuple(range(len(node.inputs))) or Part.WHOLE,
                      witness=str(error)) from None


def _single(value: Any) -> int:
    found: int = np.asarray(value).item()
    return found


def _inserted(node: Node, row: list[Any], new: Any, at: Any = None) -> list[Any]:
    place = len(row) if at is None else _single(at)
    if not -len(row) <= place <= len(row):
        raise IndexError(f"{place} of {len(row)} elements")
    found = list(row)
    found.insert(place, new)
    return found


def _erased(node: Node, row: list[Any], at: Any = None) -> list[Any]:
    found = list(row)
    del found[-1 if at is None else _single(at)]
    return found


def _slices(node: Node, x: np.ndarray, split: Any = None) -> list[np.ndarray]:
    axis = node.attribute("axis", 0)
    if split is None:
        rows = np.moveaxis(x, axis, 0)
        return [np.expand_dims(r, axis) if node.attribute("keepdims", 1) else r for r in rows]
    cuts = np.arange(_single(split), x.shape[axis], _single(split)) if np.ndim(split) == 0 else np.cumsum(split)[:-1]
    if np.ndim(split) and int(np.sum(split)) != x.shape[axis]:
        raise ValueError(f"{np.asarray(split).tolist()} of {x.shape[axis]}")
    return np.split(x, cuts, axis=axis)


def _joined(node: Node, row: list[np.ndarray]) -> np.ndarray:
    join = np.stack if node.attribute("new_axis", 0) else np.concatenate
    return np.asarray(join(row, axis=node.attribute("axis")))


def _given(node: Node, value: Any = None) -> Any:
    if value is None:
        raise ValueError("an optional has no element")
    return value


_REFERENCES: dict[str, Callable[..., Any]] = {
    "Identity": lambda node, value: value, "SequenceConstruct": lambda node, *parts: list(parts),
    "SequenceEmpty": lambda node: [], "SequenceInsert": _inserted, "SequenceErase": _erased,
    "SequenceAt": lambda node, row, at: row[_single(at)],
    "SequenceLength": lambda node, row: np.array(len(row), np.int64), "SplitToSequence": _slices,
    "ConcatFromSequence": _joined, "Optional": lambda node, value=None: value,
    "OptionalHasElement": lambda node, value=None: np.array(value is not None), "OptionalGetElement": _given}
