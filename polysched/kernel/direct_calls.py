"""Calls that go straight to compiled code: like an earlier one, with arrays that the code takes as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from polysched.kernel.passed_values import Taken, address_of, empty_result, number_for
from polysched.records import dataclass
from polysched.scop.dtypes import DType
from polysched.scop.python_frontend.environment import OuterNames

Results = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectCall:
    """Calls whose arguments the compiled code takes as they are, once their arrays are known to lie apart.

    Parameters
    ----------
    run_code : runs the code on what is passed.
    returned : what the function returns, from the arrays that were made and the arguments; None for nothing.
    outer : the names from outside that the code relies on.
    passed : the sizes, and what each call replaces.
    arrays : per array its place among the arguments and among what is passed.
    numbers : per number its place among the arguments and among what is passed, and its type.
    made : per array that is made its place among what is passed, its name, shape and type.
    apart : places among what is passed of two arrays of which one is written, with the bytes of each.
    """

    run_code: Callable[[Sequence[Any]], None]
    returned: Callable[[Results, Sequence[Any]], Any] | None
    outer: OuterNames | None
    passed: tuple[int, ...]
    arrays: tuple[tuple[int, int], ...]
    numbers: tuple[tuple[int, int, DType], ...]
    made: tuple[tuple[int, str, tuple[int, ...], np.dtype[Any]], ...]
    apart: tuple[tuple[int, int, int, int], ...]

    def values_for(self, arguments: Sequence[Any]) -> list[Any] | None:
        """What is passed for these arguments; None where arrays overlap or an outer name stands for something else."""
        if self.outer is not None and not self.outer.are_unchanged():
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
        results: Results = {}
        for slot, name, shape, dtype in self.made:
            results[name] = np.empty(shape, dtype)
            passed[slot] = address_of(results[name])
        self.run_code(passed)
        return None if self.returned is None else self.returned(results, arguments)


def direct_call(taken: Sequence[Taken], leading: Sequence[int], sizes: Mapping[str, int], values: Mapping[str, Any], *,
                run_code: Callable[[Sequence[Any]], None], returned: Callable[[Results, Sequence[Any]], Any] | None,
                outer: OuterNames | None = None) -> DirectCall | None:
    """How later calls like one go straight to the code; None where arrays are copied in each of them.

    Parameters
    ----------
    taken : what the code takes behind its leading sizes.
    sizes : the parameters, for the arrays that are made.
    values : the arguments of a call that has run, by name and in the order in which later calls give them.
    """
    places = {name: place for place, name in enumerate(values)}
    written: set[int] = set()
    arrays: list[tuple[int, int, int]] = []
    numbers: list[tuple[int, int, DType]] = []
    made: list[tuple[int, str, tuple[int, ...], np.dtype[Any]]] = []
    for slot, item in enumerate(taken, len(leading)):
        value = None if item.argument is None else values[item.argument]
        if item.argument is None:
            result = empty_result(item.array, sizes)
            made.append((slot, item.array.name, result.shape, result.dtype))
        elif item.by_value:
            numbers.append((places[item.argument], slot, item.array.dtype))
        elif isinstance(value, np.ndarray) and value.flags.c_contiguous and value.flags.aligned:
            arrays.append((places[item.argument], slot, value.nbytes))
            if item.written:
                written.add(slot)
        else:
            return None
    return DirectCall(
        run_code=run_code, returned=returned, outer=outer, passed=(*leading, *(0 for _ in taken)),
        arrays=tuple((place, slot) for place, slot, _ in arrays), numbers=tuple(numbers), made=tuple(made),
        apart=tuple((one, other, length, other_length)
                    for (_, one, length), (_, other, other_length) in combinations(arrays, 2)
                    if not written.isdisjoint((one, other))))
