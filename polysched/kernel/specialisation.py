"""A kernel for one combination of argument types: the compiled Scop, and a call of it with its buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.kernel.checked_subscripts import CheckedSubscripts
from polysched.kernel.compiled_scop import CompiledScop
from polysched.kernel.direct_calls import DirectCall, Results, direct_call
from polysched.kernel.passed_values import Taken, address_of, empty_result, memory_of, number_for, passed_by_value
from polysched.kernel.python_numbers import PythonNumbers
from polysched.pipeline.options import PipelineOptions
from polysched.scop.python_frontend import PythonScop
from polysched.scop.python_frontend.environment import OuterNames
from polysched.scop.python_frontend.signature import ArgumentType, ArrayType, ScalarType
from polysched.scop.scop import Storage

if TYPE_CHECKING:
    from polysched.kernel.choosing import Choice


class Specialisation(CompiledScop):
    """One extracted function; it is optimised and compiled when it first runs, or found in the cache.

    Parameters
    ----------
    python : the extracted function.
    options : of the pipeline.
    key_parts : what names the specialisation beyond the compiler: source, types, options.
    types, same : of the arguments, and which of them are the same array.

    Attributes
    ----------
    choices : by the lengths of the sizes in bits, which code is the fastest; for `safe` kernels.
    """

    def __init__(self, python: PythonScop, options: PipelineOptions, key_parts: Mapping[str, object],
                 types: Mapping[str, ArgumentType], same: tuple[tuple[str, str], ...]) -> None:
        super().__init__(python.scop, options, key_parts)
        self.types = types
        self.same = same
        self.python = python
        self.choices: dict[tuple[int, ...], Choice] = {}
        self._subscripts = CheckedSubscripts(python.scop, options, key_parts)
        self._numbers = PythonNumbers(scop=python.scop, typed=frozenset(
            a.target for a in python.arguments if isinstance(a.type, ScalarType) and not a.type.weak))

    @cached_property
    def as_written(self) -> Specialisation:
        """The same function with its loops as they are written, on one thread."""
        plain = PipelineOptions(scheduler="original", tile="off", parallel=False, expand=False, cc=self.options.cc,
                                tensorize=None)
        return Specialisation(self.python, plain, {**self.key_parts, "options": "as written"}, self.types, self.same)

    def check_values(self, values: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        """Refuse a call with a subscript, read from an array, that lies outside what it subscripts; or with a number
        that its type does not hold.

        Raises
        ------
        SubscriptError, UsageError : nothing has run.
        """
        self._numbers.check(sizes)
        self._subscripts.check(sizes, {a.target: values[a.name] for a in self.python.arguments if not a.is_size})

    def direct(self, values: Mapping[str, Any], sizes: Mapping[str, int], outer: OuterNames) -> DirectCall | None:
        """How later calls like one that has run go straight to the code; None where they cannot."""
        if self._subscripts.is_needed or self.same:
            return None
        names, returns = tuple(values), bool(self.python.results) or self.python.returns_tuple

        def returned(results: Results, arguments: Sequence[Any]) -> Any:
            return self.returned(results, dict(zip(names, arguments, strict=True)))

        return direct_call(self.taken, [int(sizes.get(p.name, 0)) for p in self.python.scop.parameters], sizes, values,
                           run_code=self.run, returned=returned if returns else None, outer=outer)

    @cached_property
    def taken(self) -> tuple[Taken, ...]:
        """What the compiled code takes behind the sizes."""
        given: dict[str, str] = {}
        for argument in self.python.arguments:
            if not argument.is_size:
                given.setdefault(argument.target, argument.name)
        return tuple(Taken(array=a, argument=given.get(a.name), by_value=passed_by_value(a), written=not a.constant)
                     for a in self.scop.arrays if a.storage is not Storage.LOCAL)

    def returned(self, results: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> Any:
        """What the function returns.

        Parameters
        ----------
        results : the arrays that were made, 0-dimensional for numbers.
        values : the arguments.
        """
        found = []
        for name in self.python.results:
            if name not in results:
                found.append(values[self._arguments[name]])
            elif results[name].ndim:
                found.append(results[name])
            else:
                found.append(results[name].item() if name in self.python.weak_results else results[name][()])
        if self.python.returns_tuple:
            return tuple(found)
        return found[0] if found else None

    @cached_property
    def _arguments(self) -> dict[str, str]:
        """The argument that is passed for an array of the Scop."""
        return {t.array.name: t.argument for t in self.taken if t.argument is not None}

    def prepare(self, values: Mapping[str, Any], sizes: Mapping[str, int]) -> Prepared:
        """Buffers for one call."""
        return Prepared(self, values, sizes)


class Prepared:
    """One call with its buffers: contiguous copies where the caller's arrays are not, and the results.

    Attributes
    ----------
    results : the returned arrays, 0-dimensional for numbers.
    """

    def __init__(self, kernel: Specialisation, values: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.kernel = kernel
        self.values = values
        self.buffers: dict[str, np.ndarray] = {}
        self.results: dict[str, np.ndarray] = {}
        passed: list[Any] = [int(sizes.get(p.name, 0)) for p in kernel.python.scop.parameters]
        for taken in kernel.taken:
            name = taken.array.name
            if taken.argument is None:
                self.buffers[name] = self.results[name] = empty_result(taken.array, sizes)
            elif taken.by_value:
                passed.append(number_for(values[taken.argument], taken.array.dtype))
                continue
            else:
                self.buffers[name] = memory_of(values[taken.argument], taken.array)
            passed.append(address_of(self.buffers[name]))
        self.passed = passed

    def run(self) -> None:
        """Run the compiled code on the buffers.

        Raises
        ------
        MemoryError : there is no memory for its temporaries; nothing was computed.
        """
        self.kernel.run(self.passed)

    def copy_back(self) -> None:
        """Bring what was written in copies to the caller's arrays."""
        for taken in self.kernel.taken:
            if taken.by_value or taken.argument is None or taken.array.constant:
                continue
            original, buffer = self.values[taken.argument], self.buffers[taken.array.name]
            if buffer is not original:
                original[...] = buffer

    def returned(self) -> Any:
        """What the function returns."""
        return self.kernel.returned(self.results, self.values)


def array_arguments(python: PythonScop) -> list[str]:
    """Names of the arguments that are arrays."""
    return [a.name for a in python.arguments if isinstance(a.type, ArrayType)]
