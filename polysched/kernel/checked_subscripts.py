"""Subscripts that are read from arrays, checked before a kernel runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from polysched.errors import UnsupportedScopError
from polysched.kernel.compiled_scop import CompiledScop
from polysched.kernel.cuda_arrays import CudaArray
from polysched.kernel.passed_values import address_of, memory_of, number_for, passed_by_value
from polysched.pipeline.options import PipelineOptions
from polysched.scop.construction.index_checks import IndexCheck, IndexChecks, index_checks
from polysched.scop.interpreter import extents_of
from polysched.scop.scop import Scop


class SubscriptError(UnsupportedScopError):
    """A subscript that is read from an array lies outside what it subscripts; nothing has run."""


class CheckedSubscripts:
    """The subscripts of a Scop that depend on data.

    Parameters
    ----------
    scop : the program.
    options, key_parts : of the program; the checking code is cached beside its own.
    """

    def __init__(self, scop: Scop, options: PipelineOptions, key_parts: Mapping[str, object]) -> None:
        self.scop = scop
        self.options = options
        self.key_parts = key_parts

    @cached_property
    def _checks(self) -> IndexChecks | None:
        return index_checks(self.scop)

    @cached_property
    def _compiled(self) -> CompiledScop:
        assert self._checks is not None
        return CompiledScop(self._checks.scop, self.options, {**self.key_parts, "checks": "subscripts"})

    @property
    def is_needed(self) -> bool:
        """Whether there are any."""
        return self._checks is not None

    def check(self, sizes: Mapping[str, int], values: Mapping[str, Any]) -> None:
        """Refuse a call in which a subscript lies outside its array.

        Parameters
        ----------
        values : the caller's arrays and numbers, by their names in the Scop.

        Raises
        ------
        SubscriptError : with the array, the line, and the values of what is read for subscripts.
        """
        if self._checks is None:
            return
        program = self._compiled.scop
        counters = {c.counter: np.zeros((), np.int64) for c in self._checks.checks}
        kept = {a.name: counters[a.name] if a.name in counters else values[a.name] if passed_by_value(a)
                else memory_of(values[a.name], a) for a in program.arrays}
        self._compiled.function(
            *(int(sizes.get(p.name, 0)) for p in program.parameters),
            *(number_for(kept[a.name], a.dtype) if passed_by_value(a) else address_of(kept[a.name])
              for a in program.arrays))
        for check in self._checks.checks:
            if count := int(counters[check.counter][()]):
                raise _refusal(self.scop, check, count, sizes, kept)


def _refusal(scop: Scop, check: IndexCheck, count: int, sizes: Mapping[str, int],
             values: Mapping[str, Any]) -> SubscriptError:
    shape = tuple(e for e in extents_of(scop.array(check.array), sizes) if e is not None)
    ranges = [f"{s} holds {values[s].min()} to {values[s].max()}" for s in check.sources
              if s in values and not isinstance(values[s], CudaArray)]
    return SubscriptError(
        f"{scop.name}: {count} of the subscripts of {check.array} in line {check.line} lie outside its shape {shape}",
        witness=", ".join(ranges) or None,
        hint="a subscript that is read from an array counts from 0: negative ones do not count from the end")
