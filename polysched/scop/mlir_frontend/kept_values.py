"""Which values have to be kept in variables, because what they read changes before they are used.

A body computes where it stores: what a load has read is written into the store's expression.  That reads something
else where a store to the same array lies between, in the text or over the iterations of a loop around both.

    %a = affine.load %A[%i]              %a is kept: the store to A lies between it and its use
    affine.store %b, %A[%i]
    affine.store %a, %B[%i]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from polysched.records import dataclass
from polysched.scop.limits import LIMITS
from polysched.scop.mlir_frontend.operations import Block, Operation

LOADS = ("affine.load", "memref.load")
STORES = ("affine.store", "memref.store")


@dataclass(frozen=True)
class _Place:
    """Where an operation stands: its number in the text, and the numbers of the loops around it."""

    number: int
    loops: tuple[int, ...]


@dataclass(eq=False)
class _Found:
    """What the text has."""

    loads: dict[str, tuple[str, _Place]] = field(default_factory=dict)
    stores: dict[str, list[_Place]] = field(default_factory=dict)
    uses: dict[str, list[_Place]] = field(default_factory=dict)
    sources: dict[str, set[str]] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)


def kept_values(body: Block) -> frozenset[str]:
    """The names of values to be kept in variables of their own."""
    found = _Found()
    _look(body, found, _numbers(), ())
    for value, sources in found.sources.items():
        for source in sources - found.kept:
            array, at = found.loads[source]
            stores, uses = found.stores.get(array, ()), found.uses.get(value, ())
            if any(_between(at, store, use) for store in stores for use in uses):
                found.kept.add(source)
    return frozenset(found.kept)


def _numbers() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


def _look(block: Block, found: _Found, numbers: Iterator[int], loops: tuple[int, ...]) -> None:
    for operation in block.operations:
        place = _Place(next(numbers), loops)
        for operand in operation.operands:
            found.uses.setdefault(operand, []).append(place)
        if operation.name in STORES and len(operation.operands) > 1:
            found.stores.setdefault(operation.operands[1], []).append(place)
        for result in operation.results:
            _define(operation, result, place, found)
        inside = (*loops, place.number) if operation.name == "affine.for" else loops
        for region in operation.regions:
            _look(region, found, numbers, inside)


def _define(operation: Operation, result: str, place: _Place, found: _Found) -> None:
    """What a result reads, and how large its expression is."""
    if operation.regions:
        return
    if operation.name in LOADS and operation.operands:
        found.loads[result] = (operation.operands[0], place)
        found.sources[result] = {result}
        return
    size = 1 + sum(found.nodes.get(operand, 1) for operand in operation.operands)
    found.nodes[result] = size
    found.sources[result] = set().union(*(found.sources.get(operand, set()) for operand in operation.operands))
    if size > LIMITS.expression_nodes:
        found.kept.add(result)
        found.nodes[result], found.sources[result] = 1, set()


def _between(load: _Place, store: _Place, use: _Place) -> bool:
    """Whether a store can happen behind a load and before a use of what it read."""
    if load.number < store.number < use.number:
        return True
    return bool(set(store.loops) & set(use.loops) - set(load.loops))
