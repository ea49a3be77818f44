"""`ScopFunction`: a Scop without a source file as a function of NumPy arrays."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from polysched.dependence.overwritten import overwritten_arrays
from polysched.errors import UsageError
from polysched.kernel.call_checks import check_apart, check_array, check_number
from polysched.kernel.checked_subscripts import CheckedSubscripts
from polysched.kernel.compiled_scop import FLAGS, CompiledScop
from polysched.kernel.direct_calls import DirectCall, direct_call
from polysched.kernel.given_arrays import as_numpy
from polysched.kernel.known_calls import signature_of
from polysched.kernel.limits import LIMITS
from polysched.kernel.passed_values import Taken, address_of, empty_result, memory_of, number_for, passed_by_value
from polysched.kernel.sizes_from_shapes import sizes_of_shapes
from polysched.pipeline import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.records import shortened, whole
from polysched.scheduling.schedule import Schedule
from polysched.scop.scop import Array, Scop, Storage
from polysched.scop.serialise import scop_to_json
from polysched.target.newest import Newest

MOST_SHAPES = LIMITS.kept_shapes


class ScopFunction:
    """A Scop that runs as optimised C on NumPy arrays, in place.

    It is called with the Scop's arrays and numbers in their order, or by name.  Sizes come from the shapes; one that no
    shape gives is passed by name.  Arrays that the program overwrites whole come last and may be left out: they are
    made, and returned.

    Parameters
    ----------
    scop : the Scop, from a tensor expression or a Python function.
    options : of the pipeline.
    """

    def __init__(self, scop: Scop, options: PipelineOptions) -> None:
        self.scop = scop
        self.options = options
        self.__name__ = scop.name
        self._arrays = tuple(a for a in scop.arrays if a.storage is not Storage.LOCAL)
        self._compiled = CompiledScop(scop, options, _key_parts(scop, options))
        self._subscripts = CheckedSubscripts(scop, options, self._compiled.key_parts)
        self._sizes: Newest[object, dict[str, int]] = Newest(MOST_SHAPES)
        self._direct: Newest[object, DirectCall | None] = Newest(MOST_SHAPES)

    def __repr__(self) -> str:
        return shortened(f"<polysched.compile: {self.__name__}{self.__signature__}>")

    @cached_property
    def __signature__(self) -> inspect.Signature:
        """Arrays and numbers, those that may be left out as optional; sizes by name only."""
        return inspect.Signature([
            *(inspect.Parameter(a.name, inspect.Parameter.POSITIONAL_OR_KEYWORD,
                                default=None if a.name in self._optional else inspect.Parameter.empty)
              for a in self._in_order()),
            *(inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=None) for p in self.scop.parameters)])

    def _in_order(self) -> tuple[Array, ...]:
        """The arguments as a call takes them: those that may be left out are last."""
        return (*(a for a in self._arrays if a.name not in self._optional),
                *(a for a in self._arrays if a.name in self._optional))

    @cached_property
    def _places(self) -> tuple[str, ...]:
        """The arguments by place."""
        return tuple(a.name for a in self._in_order())

    @cached_property
    def _optional(self) -> frozenset[str]:
        return frozenset(overwritten_arrays(self.scop))

    @cached_property
    def _passed(self) -> tuple[Array, ...]:
        """The arguments as the compiled function takes them."""
        return tuple(a for a in self._compiled.scop.arrays if a.storage is not Storage.LOCAL)

    @cached_property
    def _written(self) -> frozenset[str]:
        return frozenset(a.array for s in self.scop.statements for a in s.writes)

    @property
    def optimized(self) -> Optimized:
        """All stages of the pipeline."""
        return self._compiled.optimized

    @property
    def schedule(self) -> Schedule:
        """The schedule."""
        return self.optimized.schedule

    @property
    def c_source(self) -> str:
        """The C that is compiled."""
        return self._compiled.c_function.text

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program in place on the arguments; the arrays that were left out are the result.

        Raises
        ------
        UsageError : arguments whose types, shapes or memory do not fit; nothing has run.
        MemoryError : there is no memory for its temporaries; nothing was computed.
        """
        arguments = (*args, *kwargs.values()) if kwargs else args
        signature = signature_of(arguments)
        key = None if signature is None else (len(args), tuple(kwargs), signature)
        direct = self._direct.get(key)
        if direct is not None and (ready := direct.values_for(arguments)) is not None:
            return direct.run(ready, arguments)
        return self._checked_call(args, kwargs, key)

    def _checked_call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], key: object) -> Any:
        """A call whose arguments are checked.

        Parameters
        ----------
        key : what the checks depend on; None where each call is checked.
        """
        values, given = self._bound(args, kwargs)
        self._check_types(values)
        sizes = self._sizes_of(values, given)
        made = {a.name: empty_result(a, sizes) for a in self._arrays if values[a.name] is None}
        buffers = {a.name: memory_of(made.get(a.name, values[a.name]), a)
                   for a in self._passed if not passed_by_value(a)}
        self._subscripts.check(sizes, values)
        self._run(sizes, values, buffers)
        for name, used in buffers.items():
            if name in self._written and name not in made and used is not values[name]:
                values[name][...] = used
        if key is not None and key not in self._direct:
            self._direct.keep(key, self._direct_call((*self._places[:len(args)], *kwargs), sizes, values))
        return _returned(made, ())

    def _direct_call(self, names: Sequence[str], sizes: Mapping[str, int], values: Mapping[str, Any]
                     ) -> DirectCall | None:
        """How later calls with arguments like these, of these names, go straight to the code; None where they cannot.

        Those are calls whose subscripts from data are checked, and those of programs without statements.
        """
        if self._subscripts.is_needed or not self.scop.statements:
            return None
        taken = [Taken(array=a, argument=None if values[a.name] is None else a.name, by_value=passed_by_value(a),
                       written=a.name in self._written) for a in self._passed]
        return direct_call(taken, [sizes[p.name] for p in self.scop.parameters], sizes,
                           {name: values.get(name) for name in names}, run_code=self._compiled.run, returned=_returned)

    def _run(self, sizes: Mapping[str, int], values: Mapping[str, Any], buffers: Mapping[str, np.ndarray]) -> None:
        """Run the compiled code on the buffers."""
        if not self.scop.statements:
            return
        passed = [number_for(values[a.name], a.dtype) if passed_by_value(a) else address_of(buffers[a.name])
                  for a in self._passed]
        self._compiled.run((*(sizes[p.name] for p in self.scop.parameters), *passed))

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
        """The arguments by name, None for arrays that are left out, and the sizes that are given."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise UsageError(f"{self.scop.name}: {error}", hint=f"it takes {self.__signature__}") from None
        bound.apply_defaults()
        values = as_numpy(self.scop.name, {a.name: bound.arguments[a.name] for a in self._arrays},
                          self.options.device)
        given = {p.name: bound.arguments[p.name] for p in self.scop.parameters if bound.arguments[p.name] is not None}
        for parameter in self.scop.parameters:
            if parameter.name in given:
                check_number(self.scop.name, parameter.name, parameter.dtype, given[parameter.name])
        return values, {name: int(value) for name, value in given.items()}

    def _check_types(self, values: Mapping[str, Any]) -> None:
        for array in self._arrays:
            value = values[array.name]
            if value is None and array.name in self._optional:
                continue
            if passed_by_value(array):
                check_number(self.scop.name, array.name, array.dtype, value)
            else:
                check_array(self.scop.name, array.name, array.dtype, len(array.extents), value,
                            written=array.name in self._written)
        check_apart(self.scop.name, {n: v for n, v in values.items() if isinstance(v, np.ndarray)}, self._written)

    def _sizes_of(self, values: Mapping[str, Any], given: Mapping[str, int]) -> dict[str, int]:
        shapes = {name: value.shape for name, value in values.items() if isinstance(value, np.ndarray)}
        key = (tuple(shapes.items()), tuple(given.items()))
        return self._sizes.find_or_make(key, lambda: sizes_of_shapes(self.scop, shapes, given))


def _returned(made: Mapping[str, np.ndarray], arguments: Sequence[Any]) -> Any:
    """What a call returns: the arrays that were made."""
    results = tuple(made.values())
    return results[0] if len(results) == 1 else results or None


def _key_parts(scop: Scop, options: PipelineOptions) -> dict[str, object]:
    """What the code of a Scop depends on, as plain values."""
    return {"scop": scop_to_json(scop), "parameters": [whole(p) for p in scop.parameters],
            "arrays": [(a.c_element, a.c_extents, a.constant, a.restrict, a.dead_after) for a in scop.arrays],
            "bodies": [whole(s.body) for s in scop.statements],
            "accesses": [(str(a.relation), whole(a.subscripts), a.exact) for s in scop.statements for a in s.accesses],
            "flags": list(FLAGS), "options": options.differences()}
