"""Calls like earlier ones: arguments of types, shapes and strides whose checks have passed are not checked again.

What depends on more is asked in every call: where arrays lie, what names from outside stand for, subscripts from data.
A call that needs nothing but these questions goes straight to the compiled code (`DirectCall`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.kernel.limits import LIMITS
from polysched.kernel.passed_values import address_of, empty_result, number_for
from polysched.scop.dtypes import DType
from polysched.scop.python_frontend.environment import OuterNames

if TYPE_CHECKING:
    from polysched.kernel.specialisation import Specialisation

MOST_CALLS = LIMITS.kept_calls
ALIGNED_WRITEABLE = 0x0100 | 0x0400
"""`NPY_ARRAY_ALIGNED` and `NPY_ARRAY_WRITEABLE` (NumPy C-API, array flags)."""

ARRAY = np.ndarray
Signature = tuple[object, ...]


def signature_of(values: Iterable[Any]) -> Signature | None:
    """What the checks of arguments depend on, and nothing else; None for arguments that every call has to look at.

    Those are arrays of subclasses, and what is neither an array nor a number.
    """
    found: list[object] = []
    for value in values:
        if type(value) is ARRAY:
            found += (value.dtype, value.shape, value.strides, value.flags.num & ALIGNED_WRITEABLE)
        elif isinstance(value, (int, np.integer)):
            found += (type(value), int(value))   # may be a size; True is another one than 1
        elif isinstance(value, (float, np.floating)):
            found.append(type(value))
        else:
            return None
    return tuple(found)


def lie_apart(values: Mapping[str, Any]) -> bool:
    """Whether no two arrays can share memory, by the ranges of their addresses."""
    arrays = [v for v in values.values() if type(v) is np.ndarray]
    return not any(np.may_share_memory(a, b) for a, b in combinations(arrays, 2))


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectCall:
    """Calls whose arguments the compiled code takes as they are, once their arrays are known to lie apart.

    Parameters
    ----------
    code : what is called.
    outer : the names from outside that the code relies on.
    names : of the arguments, by place.
    passed : the sizes, and what each call replaces.
    arrays : per array its place among the arguments and among what is passed.
    numbers : per number its place among the arguments and among what is passed, and its type.
    made : per returned array its place among what is passed, its shape and its type.
    apart : places among what is passed of two arrays of which one is written, with the bytes of each.
    returns : the function returns something.
    """

    code: Specialisation
    outer: OuterNames
    names: tuple[str, ...]
    passed: tuple[int, ...]
    arrays: tuple[tuple[int, int], ...]
    numbers: tuple[tuple[int, int, DType], ...]
    made: tuple[tuple[int, str, tuple[int, ...], np.dtype[Any]], ...]
    apart: tuple[tuple[int, int, int, int], ...]
    returns: bool

    def values_for(self, arguments: Sequence[Any]) -> list[Any] | None:
        """What is passed for these arguments; None where arrays overlap or an outer name stands for something else."""
        if not self.outer.are_unchanged():
            return None
        passed: list[Any] = list(self.passed)
        for place, slot in self.arrays:
            passed[slot] = address_of(arguments[place])
        for one, other, length, other_length in self.apart:
            if passed[one] < passed[other] + other_length and passed[other] < passed[one] + length:
                return None
        for place, slot, dtype in self.numbers:
            passed[slot] = number_for(arguments[place], dtype)
        return passed

    def run(self, passed: list[Any], arguments: Sequence[Any]) -> Any:
        """Run the compiled code; what the function returns.

        Raises
        ------
        MemoryError : there is no memory for its temporaries; nothing was computed.
        """
        results: dict[str, np.ndarray] = {}
        for slot, name, shape, dtype in self.made:
            results[name] = np.empty(shape, dtype)
            passed[slot] = address_of(results[name])
        self.code.run(passed)
        return self.code.returned(results, dict(zip(self.names, arguments, strict=True))) if self.returns else None


def direct_call(code: Specialisation, sizes: Mapping[str, int], values: Mapping[str, Any], outer: OuterNames
                ) -> DirectCall | None:
    """How later calls like one go straight to the code; None where they need more than their arrays' addresses.

    Parameters
    ----------
    values : the arguments of a call that has run, all of them by name and in order.
    outer : the names from outside that the code relies on.
    """
    places = {name: place for place, name in enumerate(values)}
    written: set[int] = set()
    arrays: list[tuple[int, int, int]] = []
    numbers: list[tuple[int, int, DType]] = []
    made: list[tuple[int, str, tuple[int, ...], np.dtype[Any]]] = []
    if code.looks_at_data or code.same:
        return None
    leading = [int(sizes.get(p.name, 0)) for p in code.python.scop.parameters]
    for slot, taken in enumerate(code.taken, len(leading)):
        value = None if taken.argument is None else values[taken.argument]
        if taken.argument is None:
            result = empty_result(taken.array, sizes)
            made.append((slot, taken.array.name, result.shape, result.dtype))
        elif taken.by_value:
            numbers.append((places[taken.argument], slot, taken.array.dtype))
        elif isinstance(value, np.ndarray) and value.flags.c_contiguous and value.flags.aligned:
            arrays.append((places[taken.argument], slot, value.nbytes))
            if not taken.array.constant:
                written.add(slot)
        else:
            return None
    return DirectCall(
        code=code, outer=outer, names=tuple(values), passed=(*leading, *(0 for _ in code.taken)),
        returns=bool(code.python.results) or code.python.returns_tuple,
        arrays=tuple((place, slot) for place, slot, _ in arrays), numbers=tuple(numbers), made=tuple(made),
        apart=tuple((one, other, length, other_length)
                    for (_, one, length), (_, other, other_length) in combinations(arrays, 2)
                    if not written.isdisjoint((one, other))))


@dataclass(frozen=True, eq=False)
class KnownCalls:
    """Per signature the specialisation and the sizes that calls with it have; the oldest goes."""

    found: dict[Signature, tuple[Specialisation, dict[str, int]]] = field(default_factory=dict)
    direct: dict[Signature, DirectCall | None] = field(default_factory=dict)

    def look_up(self, signature: Signature | None) -> tuple[Specialisation, dict[str, int]] | None:
        """What an earlier call with this signature ran."""
        return None if signature is None else self.found.get(signature)

    def keep(self, signature: Signature, found: Specialisation, sizes: dict[str, int]) -> None:
        """Remember a call whose checks have passed."""
        while len(self.found) >= MOST_CALLS:
            oldest = next(iter(self.found))
            del self.found[oldest]
            self.direct.pop(oldest, None)
        self.found[signature] = found, sizes
        self.direct.pop(signature, None)

    def direct_for(self, signature: Signature | None) -> DirectCall | None:
        """How a call with this signature, all arguments by their places, goes straight to its code."""
        return None if signature is None else self.direct.get(signature)

    def keep_direct(self, code: Specialisation, sizes: Mapping[str, int], values: Mapping[str, Any],
                    function: Callable[..., Any]) -> None:
        """Remember that a call has run, where the next one like it can go straight to the code.

        Parameters
        ----------
        function : the Python function.
        """
        signature = signature_of(values.values())
        if signature in self.found and self.found[signature][0] is code and signature not in self.direct:
            self.direct[signature] = direct_call(code, sizes, values, OuterNames(function, code.python.captured))
