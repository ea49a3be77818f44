"""`OperatorGraph`: what is placed on a mesh: operators with work and memory, and messages between them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import asdict
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from math import isfinite
from numbers import Integral
from typing import Any

from polysched.errors import UsageError
from polysched.mesh.limits import LIMITS
from polysched.records import dataclass
from polysched.scop.shown import Shown
from polysched.target.json_record import read_record

CUTS = ("cells", "rows", "columns")


def whole(*numbers: object) -> bool:
    """Whether all are whole numbers."""
    return all(isinstance(number, Integral) for number in numbers)


@dataclass(frozen=True, kw_only=True)
class Operator:
    """What one rectangle of cores computes again and again.

    Parameters
    ----------
    name : of its own.
    work : operations for one item.
    extents : rows and columns of its result, along which cores share the work.
    weights : bytes that stay in memory, cut along the columns.
    result : bytes of its result, cut along both.
    """

    name: str
    work: float
    extents: tuple[int, ...] = (1, 1)
    weights: int = 0
    result: int = 0

    def __post_init__(self) -> None:
        if len(self.extents) != 2 or not whole(*self.extents) or min(self.extents) < 1:
            raise UsageError("extents are two positive numbers", where=f"operator {self.name}",
                             witness=str(self.extents))
        if not whole(self.weights, self.result):
            raise UsageError("bytes are whole numbers", where=f"operator {self.name}",
                             witness=f"{self.weights}, {self.result}")
        if not (self.work >= 0 and isfinite(self.work)) or min(self.weights, self.result) < 0:
            raise UsageError("work and bytes are at least 0", where=f"operator {self.name}")


@dataclass(frozen=True, kw_only=True)
class Message:
    """What one operator sends to another for one item.

    Parameters
    ----------
    source, sink : names of operators.
    bytes : in all.
    cut : what a core of the sink needs: the `cells` of its piece of the result; the whole `rows` of its piece, as the
        left operand of a product; its whole `columns`, as the right one.
    """

    source: str
    sink: str
    bytes: int
    cut: str = "cells"

    def __post_init__(self) -> None:
        if not whole(self.bytes):
            raise UsageError("bytes are whole numbers", where=f"message {self.source} to {self.sink}",
                             witness=str(self.bytes))
        if self.bytes < 0:
            raise UsageError("a message has at least 0 bytes", where=f"message {self.source} to {self.sink}")
        if self.cut not in CUTS:
            raise UsageError(f"a message is cut by {', '.join(CUTS)}", witness=self.cut,
                             where=f"message {self.source} to {self.sink}")


@dataclass(frozen=True, kw_only=True)
class OperatorGraph(Shown):
    """Operators, and messages between them without a cycle.

    Parameters
    ----------
    name : of the whole.
    operators : in any order.
    messages : between them; several may join the same two.

    Raises
    ------
    UsageError : there is none, a name stands twice or is not had, messages make a cycle or have too many bytes.
    """

    name: str
    operators: tuple[Operator, ...]
    messages: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.operators) <= LIMITS.most_operators:
            raise UsageError(f"a graph has 1 to {LIMITS.most_operators} operators", where=f"graph {self.name}",
                             witness=str(len(self.operators)))
        if len(self.number) < len(self.operators):
            twice = next(o.name for n, o in enumerate(self.operators) if self.number[o.name] != n)
            raise UsageError("two operators have one name", where=f"graph {self.name}", witness=twice)
        for message in self.messages:
            for end in (message.source, message.sink):
                if end not in self.number:
                    raise UsageError(f"a message names {end!r}, which is no operator", where=f"graph {self.name}")
        if (total := sum(m.bytes for m in self.messages)) > LIMITS.most_bytes:
            raise UsageError(f"messages have at most {LIMITS.most_bytes} bytes in all", where=f"graph {self.name}",
                             witness=str(total))
        assert len(self.order) == len(self.operators)

    @cached_property
    def number(self) -> dict[str, int]:
        """The place of each operator among them, by its name."""
        return {o.name: n for n, o in enumerate(self.operators)}

    @cached_property
    def ends(self) -> tuple[tuple[int, int], ...]:
        """Source and sink of each message, as places among the operators."""
        return tuple((self.number[m.source], self.number[m.sink]) for m in self.messages)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The operators, each behind those that it hears from."""
        sorter: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(len(self.operators)), ()))
        for source, sink in self.ends:
            sorter.add(sink, source)
        try:
            return tuple(sorter.static_order())
        except CycleError as error:
            names = " -> ".join(self.operators[n].name for n in reversed(error.args[1]))
            raise UsageError("messages make a cycle", where=f"graph {self.name}", witness=names) from None

    @cached_property
    def inputs(self) -> tuple[tuple[Message, ...], ...]:
        """The messages that each operator gets."""
        found: list[list[Message]] = [[] for _ in self.operators]
        for message, (_, sink) in zip(self.messages, self.ends, strict=True):
            found[sink].append(message)
        return tuple(map(tuple, found))

    @cached_property
    def touching(self) -> tuple[tuple[int, ...], ...]:
        """The places of the messages that each operator sends or gets."""
        found: list[list[int]] = [[] for _ in self.operators]
        for n, (source, sink) in enumerate(self.ends):
            found[source].append(n)
            found[sink].append(n)
        return tuple(map(tuple, found))

    def to_json(self) -> dict[str, Any]:
        """As `read_graph` reads it."""
        return asdict(self)

    def headline(self) -> str:
        """Its name and how much it has."""
        return f"{self.name[:60]}: {len(self.operators)} operators, {len(self.messages)} messages"

    def __str__(self) -> str:
        lines = [self.headline()]
        lines += [f"  {o.name}: {o.work:g} operations, {o.extents[0]} x {o.extents[1]}, {o.weights} B of weights, "
                  f"{o.result} B of result" for o in self.operators]
        lines += [f"  {m.source} -> {m.sink}: {m.bytes} B by {m.cut}" for m in self.messages]
        return "\n".join(lines)


def read_graph(text: str, *, where: str = "") -> OperatorGraph:
    """The graph of a JSON text with the fields of `OperatorGraph`.

    Parameters
    ----------
    where : the text is from, for messages.

    Raises
    ------
    UsageError : it is no such text.
    """
    try:
        return read_record(OperatorGraph, json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UsageError("the file is no graph of operators", where=where or None, witness=str(error)) from None


def chain(name: str, operators: Iterable[Operator]) -> OperatorGraph:
    """Operators of which each sends its whole result to the next, which needs its rows."""
    listed = tuple(operators)
    return OperatorGraph(name=name, operators=listed, messages=tuple(
        Message(source=a.name, sink=b.name, bytes=a.result, cut="rows")
        for a, b in itertools.pairwise(listed)))
