"""A kernel for one combination of argument types: the compiled Scop, and a call of it with its buffers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polysched.kernel.checked_subscripts import CheckedSubscripts
from polysched.kernel.compiled_scop import CompiledScop
from polysched.kernel.passed_values import empty_result, memory_of, number_for, passed_by_value
from polysched.kernel.python_numbers import PythonNumbers
from polysched.pipeline.options import PipelineOptions
from polysched.scop.python_frontend import PythonScop
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
        python = kernel.python
        self.kernel = kernel
        self.given: dict[str, Any] = {}
        for argument in python.arguments:
            if not argument.is_size:
                self.given.setdefault(argument.target, values[argument.name])
        self.buffers: dict[str, np.ndarray] = {}
        self.results: dict[str, np.ndarray] = {}
        passed: list[Any] = [int(sizes.get(p.name, 0)) for p in python.scop.parameters]
        for array in kernel.scop.arrays:
            if array.storage is Storage.LOCAL:
                continue
            if passed_by_value(array):
                passed.append(number_for(self.given[array.name], array.dtype))
                continue
            if array.name in self.given:
                buffer = memory_of(self.given[array.name], array)
            else:
                buffer = self.results[array.name] = empty_result(array, sizes)
            self.buffers[array.name] = buffer
            passed.append(buffer.__array_interface__["data"][0])
        self.passed = passed

    def run(self) -> None:
        """Run the compiled code on the buffers.

        Raises
        ------
        MemoryError : there is no memory for its temporaries; nothing was computed.
        """
        if self.kernel.function(*self.passed):
            raise MemoryError(f"{self.kernel.python.scop.name}: no memory for the temporaries")

    def copy_back(self) -> None:
        """Bring what was written in copies to the caller's arrays."""
        for name, buffer in self.buffers.items():
            original = self.given.get(name)
            if original is not None and buffer is not original and not self.kernel.python.scop.array(name).constant:
                original[...] = buffer

    def returned(self) -> Any:
        """What the function returns."""
        python = self.kernel.python
        values = []
        for name in python.results:
            if name not in self.results:
                values.append(self.given[name])
            elif self.results[name].ndim:
                values.append(self.results[name])
            else:
                values.append(self.results[name].item() if name in python.weak_results else self.results[name][()])
        if python.returns_tuple:
            return tuple(values)
        return values[0] if values else None


def array_arguments(python: PythonScop) -> list[str]:
    """Names of the arguments that are arrays."""
    return [a.name for a in python.arguments if isinstance(a.type, ArrayType)]
