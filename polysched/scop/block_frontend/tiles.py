"""Tiles as functions of an index: the text of one element, and what is known of masked lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import Enum
from math import inf
from typing import TypeAlias

from polysched.records import dataclass
from polysched.scop.block_frontend.element_types import OPEN, ElementType, joined

Index: TypeAlias = tuple[str, ...]


class Kind(Enum):
    """What an element is: an affine integer, a number of a call, a condition, or any other value."""

    INDEX = "index"
    NUMBER = "number"
    CONDITION = "condition"
    VALUE = "value"


@dataclass(eq=False)
class Site:
    """Where elements are used: the statements in front, and the conditions that hold there.

    Parameters
    ----------
    known : conditions around the site.
    lines : assignments of scalars in front of the use.
    names : of the scalars, by tile and index.
    """

    known: frozenset[str]
    fresh: Callable[[str], str]
    lines: list[str] = field(default_factory=list)
    names: dict[tuple[int, Index], str] = field(default_factory=dict)

    def scalar(self, tile: Tile, index: Index) -> str:
        """The name of a scalar that holds an element, computed once."""
        key = (id(tile), index)
        if key not in self.names:
            text = tile.element(index, self)
            self.names[key] = self.fresh("value")
            self.lines.append(f"{self.names[key]} = {text}")
        return self.names[key]


@dataclass(frozen=True, eq=False)
class Fill:
    """The value of all lanes in which one of the conditions does not hold: 0, inf or -inf."""

    value: float
    conditions: Callable[[Index], tuple[str, ...]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tile:
    """A tile of a program, or a number.

    Parameters
    ----------
    shape : elements per dimension; empty for a number.
    element : the text of an element; may put scalars in front of the site.
    kind : what an element is.
    parts : of a condition, the conditions that all have to hold.
    dtype : the element type.
    fill : of masked lanes; None where they are like others.
    changes : whether it reads what the program assigns again.
    heavy : whether an element takes more than loads and simple arithmetic.
    least : whether an index is known not to be negative.
    transposed : whether lanes read elements at exchanged places.
    """

    shape: tuple[int, ...]
    element: Callable[[Index, Site], str]
    kind: Kind = Kind.VALUE
    parts: Callable[[Index, Site], tuple[str, ...]] | None = None
    dtype: ElementType = OPEN
    fill: Fill | None = None
    changes: bool = False
    heavy: bool = False
    least: bool = False
    transposed: bool = False

    @property
    def is_affine(self) -> bool:
        """Whether an element is a function of sizes, lanes and loops alone."""
        return self.kind in (Kind.INDEX, Kind.NUMBER)


@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """A block of an array.

    Parameters
    ----------
    array : its name.
    positions : per dimension, the text of an element's subscript by the lane.
    guards : the conditions under which a lane is an element.
    """

    array: str
    shape: tuple[int, ...]
    positions: Callable[[Index], tuple[str, ...]]
    guards: Callable[[Index], tuple[str, ...]]

    def element(self, index: Index) -> str:
        """The text of an element."""
        return f"{self.array}[{', '.join(self.positions(index))}]"


def number(text: str, kind: Kind, *, least: bool = False, dtype: ElementType = OPEN) -> Tile:
    """A number."""
    return Tile(shape=(), element=lambda index, site: text, kind=kind, least=least, dtype=dtype)


def broadcast(index: Index, shape: tuple[int, ...]) -> Index:
    """The place in a tile of a shape that a lane of a larger one reads (NumPy's broadcasting)."""
    own = index[len(index) - len(shape):]
    return tuple("0" if edge == 1 else at for at, edge in zip(own, shape, strict=True))


def common_shape(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of lanes of two tiles; None where they do not fit."""
    rank = max(len(left), len(right))
    pairs = zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True)
    found = [max(a, b) if 1 in (a, b) or a == b else 0 for a, b in pairs]
    return None if 0 in found else tuple(found)


def merged(tiles: tuple[Tile, ...], shape: tuple[int, ...], text: Callable[..., str], *, kind: Kind = Kind.VALUE,
           fill: Fill | None = None, heavy: bool = False, is_float: bool = False) -> Tile:
    """The tile whose elements are made from those of others."""
    def element(index: Index, site: Site) -> str:
        return text(*(t.element(broadcast(index, t.shape), site) for t in tiles))
    dtype = joined((*(t.dtype for t in tiles), ElementType(is_float=is_float)))
    return Tile(shape=shape, element=element, kind=kind, dtype=dtype, fill=fill, changes=any(t.changes for t in tiles),
                heavy=heavy or any(t.heavy for t in tiles), least=False,
                transposed=any(t.transposed for t in tiles))


def spread(fill: Fill, shape: tuple[int, ...], value: float | None = None) -> Fill:
    """The fill of a tile of `shape` in a larger one."""
    return Fill(fill.value if value is None else value, lambda index: fill.conditions(broadcast(index, shape)))


def both(first: Fill, second: Fill | None) -> Fill:
    """The fill of lanes that either of two masks."""
    if second is None:
        return first
    return Fill(first.value, lambda index: tuple(dict.fromkeys((*first.conditions(index), *second.conditions(index)))))


def filled_by(operator: str, left: Tile, right: Tile) -> Fill | None:
    """What masked lanes of two tiles make together: 0 times anything is 0, an infinite value stays one."""
    a, b = (spread(t.fill, t.shape) if t.fill else None for t in (left, right))
    if operator == "*":
        return _zero_of_either(a, b)
    if operator == "/":
        return _zero_of_either(a, None)
    if operator == "+" and a is None:
        a, b = b, a
    stays = a is not None and abs(a.value) == inf and b is None
    return a if operator in ("+", "-") and stays else None


def _zero_of_either(first: Fill | None, second: Fill | None) -> Fill | None:
    """The lanes that one of two masks to 0."""
    zeros = [f for f in (first, second) if f is not None and f.value == 0]
    return both(zeros[0], zeros[1] if len(zeros) > 1 else None) if zeros else None
