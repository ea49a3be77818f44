"""Operations, whichever form they were written in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from polysched.records import dataclass
from polysched.scop.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, DType

TYPES: Mapping[str, DType] = {"f16": FLOAT16, "bf16": BFLOAT16, "f32": FLOAT32, "f64": FLOAT64, "i1": BOOL, "i8": INT8,
                              "i16": INT16, "i32": INT32, "i64": INT64}
"""Types of values but `index`; integers, which have no sign in MLIR, are read as signed."""
_MEMREF = re.compile(r"memref<((?:(?:\d+|\?)\s*x\s*)*)(\w+)\s*(,.*)?>", re.DOTALL)


@dataclass(frozen=True)
class Operation:
    """One operation in its generic form.

    Parameters
    ----------
    name : with its dialect, `affine.load`.
    results, operands : names of values, without `%`.
    types : of the results, as text.
    operand_types : of the operands, where they are written.
    attributes : by name; maps and sets as such, numbers as numbers, everything else as text.
    regions : their blocks.
    line : in the text, from 1.
    """

    name: str
    line: int
    results: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    operand_types: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    regions: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Block:
    """The only block of a region.

    Parameters
    ----------
    arguments : names of its values.
    types : of these, as text.
    operations : in their order.
    """

    arguments: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()


def walk(block: Block) -> Iterator[Operation]:
    """All operations of a block, each ahead of those inside it."""
    for operation in block.operations:
        yield operation
        for region in operation.regions:
            yield from walk(region)


def memref_of(text: str) -> tuple[tuple[int | None, ...], str, str] | None:
    """Extents, type of elements and layout of a `memref`; None for another type."""
    found = _MEMREF.fullmatch(text)
    if found is None:
        return None
    sizes = [size.strip() for size in found[1].split("x")[:-1]]
    return tuple(None if size == "?" else int(size) for size in sizes), found[2], (found[3] or "").strip(", ")


def with_unique_names(operation: Operation) -> Operation:
    """The operation with a name of its own for each value inside: in MLIR two blocks may use one name."""
    return _renamed(operation, {}, set())


def _renamed(operation: Operation, names: Mapping[str, str], taken: set[str]) -> Operation:
    """With the names that values outside have by now; those that the operation defines are its caller's."""
    regions = []
    for region in operation.regions:
        inside = dict(names)
        arguments = tuple(_defined(name, inside, taken) for name in region.arguments)
        operations = []
        for own in region.operations:
            changed = _renamed(own, inside, taken)
            operations.append(replace(changed, results=tuple(_defined(name, inside, taken) for name in own.results)))
        regions.append(replace(region, arguments=arguments, operations=tuple(operations)))
    return replace(operation, operands=tuple(names.get(name, f"{name}, which is defined elsewhere,")
                                             for name in operation.operands), regions=tuple(regions))


def _defined(name: str, names: dict[str, str], taken: set[str]) -> str:
    own, count = name, 0
    while own in taken:
        count += 1
        own = f"{name}.{count}"
    taken.add(own)
    names[name] = own
    return own
