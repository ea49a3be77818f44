"""`CFileFunction`: a function of a C file, its regions optimised, as a function of NumPy arrays."""

from __future__ import annotations

import ctypes
import inspect
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import islpy as isl
import numpy as np

from polysched.errors import UsageError
from polysched.kernel.c_callable import CArgument, CCallable
from polysched.kernel.c_program import CProgram
from polysched.kernel.call_checks import check_apart, check_array, check_number
from polysched.kernel.compiled_scop import RECORD
from polysched.kernel.given_arrays import as_numpy
from polysched.kernel.limits import LIMITS
from polysched.kernel.passed_values import address_of, buffer, element_type, number_in, number_memory
from polysched.measure.programs.c_integers import evaluate
from polysched.records import shortened
from polysched.scop.dtypes import C_BY_NAME
from polysched.scop.points import with_sizes
from polysched.scop.signature import ParameterKind
from polysched.target.newest import Newest

MOST_SHAPES = LIMITS.kept_shapes


class CFileFunction:
    """A C function that runs on NumPy arrays, in place, with its regions optimised.

    It takes the C function's arguments in their order, or by name.  Integers that are an extent of an array, by name
    alone, may be left out, all of those that are not given by name: `f(C, A, B)` or `f(n, C, A, B)`.

    Parameters
    ----------
    program : what is compiled.
    function : the name of the C function.

    Attributes
    ----------
    variables : the file-scope arrays and numbers that the regions touch, as NumPy arrays on their memory.
    """

    def __init__(self, program: CProgram, function: str | None) -> None:
        self._program = program
        library, entry = program.loaded()
        found = {c["name"]: CCallable.from_json(c) for c in json.loads((entry / RECORD).read_text())["functions"]}
        self._described = _chosen(found, function, program.path)
        self.__name__ = self._described.name
        self._call = getattr(library, f"polysched_call_{self.__name__}")
        self._address = getattr(library, f"polysched_address_{self.__name__}")
        self._address.restype = ctypes.c_void_p
        self._library = library
        self._fitting: Newest[object, None] = Newest(MOST_SHAPES)
        self._inferable = {e for a in self._described.arguments for e in a.extents if e is not None} & {
            a.name for a in self._described.arguments if a.kind == ParameterKind.INTEGER.value}

    def __repr__(self) -> str:
        return shortened(f"<polysched.compile: {self.__name__}{self.__signature__} of {self._program.path}>")

    @property
    def c_source(self) -> str:
        """The C file with its regions optimised."""
        return self._program.text

    @cached_property
    def __signature__(self) -> inspect.Signature:
        """The C function's parameters."""
        return inspect.Signature([inspect.Parameter(a.name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
                                  for a in self._described.arguments])

    @cached_property
    def variables(self) -> dict[str, np.ndarray]:
        """The file-scope arrays and numbers that the regions touch, by name, on the memory of the compiled code."""
        made = {}
        for number, variable in enumerate(self._described.variables):
            dtype = element_type(variable.name, C_BY_NAME[variable.dtype])
            size = prod(variable.shape) * dtype.itemsize
            memory = (ctypes.c_char * size).from_address(self._address(number))
            made[variable.name] = np.frombuffer(memoryview(memory), dtype).reshape(variable.shape)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function in place on the arguments; the number that it returns, if any.

        Raises
        ------
        UsageError : arguments whose types, shapes or memory do not fit; nothing has run.
        """
        values = self._bound(args, kwargs)
        self._check_types(values)
        arrays = {a.name: values[a.name] for a in self._described.arguments if a.is_array}
        integers = {a.name: int(values[a.name]) for a in self._described.arguments
                    if a.kind == ParameterKind.INTEGER.value}
        key = (tuple(integers.items()), tuple((n, v.shape) for n, v in arrays.items()))
        self._fitting.find_or_make(key, lambda: self._check_sizes(integers, arrays))
        buffers = {name: buffer(value) for name, value in arrays.items()}
        result = self._run(values, buffers)
        for argument in self._described.arguments:
            if argument.is_array and not argument.constant and buffers[argument.name] is not values[argument.name]:
                values[argument.name][...] = buffers[argument.name]
        return result

    def _run(self, values: Mapping[str, Any], buffers: Mapping[str, np.ndarray]) -> Any:
        """Call the compiled function through addresses of its arguments."""
        memory = [buffers[a.name] if a.is_array else number_memory(values[a.name], C_BY_NAME[a.dtype])
                  for a in self._described.arguments]
        returned = None if self._described.returns is None else C_BY_NAME[self._described.returns]
        if returned is not None:
            memory.append(number_memory(0, returned))
        self._call((ctypes.c_void_p * max(len(memory), 1))(*(address_of(m) for m in memory)))
        return None if returned is None else number_in(memory[-1], returned)

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name, integers that were left out set from shapes."""
        names = [a.name for a in self._described.arguments]
        positional = self._positional(args, [n for n in names if n not in kwargs])
        values = dict(kwargs) | dict(zip(positional, args, strict=False))
        wrong = [f"no parameter {name}" for name in kwargs if name not in names]
        if len(args) > len(positional):
            wrong.append(f"{len(args)} arguments are too many")
        wrong += [f"the argument {n} is missing" for n in names if n not in values and n not in self._inferable]
        if wrong:
            raise UsageError(f"{self.__name__}: {wrong[0]}", hint=f"it takes {self.__signature__}")
        values = as_numpy(self.__name__, values, otherwise="since the C around regions may touch it")
        for name in names:
            if name not in values:
                values[name] = self._inferred(name, values)
        return {name: values[name] for name in names}

    def _positional(self, args: tuple[Any, ...], names: list[str]) -> list[str]:
        """The parameters that positional arguments stand for: the first of all, or those that no shape gives.

        As many as no shape gives stand for these: the first of all would leave one of them out, or be the same.
        """
        needed = [n for n in names if n not in self._inferable]
        return needed if len(args) <= len(needed) else names

    def _inferred(self, name: str, values: Mapping[str, Any]) -> int:
        """An integer from the first array that has it for an extent."""
        for argument in self._described.arguments:
            value = values.get(argument.name)
            if isinstance(value, np.ndarray) and value.ndim == len(argument.extents) and name in argument.extents:
                return int(value.shape[argument.extents.index(name)])
        raise UsageError(f"{self.__name__}: no shape says what {name} is", hint=f"pass it: {name}=...")

    def _check_types(self, values: Mapping[str, Any]) -> None:
        for argument in self._described.arguments:
            dtype, value = C_BY_NAME[argument.dtype], values[argument.name]
            if argument.is_array:
                rank = len(argument.extents) if len(argument.extents) > 1 else None
                check_array(self.__name__, argument.name, dtype, rank, value, written=not argument.constant)
            else:
                check_number(self.__name__, argument.name, dtype, value)
        arrays = {a.name: values[a.name] for a in self._described.arguments if a.is_array}
        check_apart(self.__name__, arrays, frozenset(a.name for a in self._described.arguments if not a.constant),
                    why="is not `const`", hint="pass a copy of one of them, or declare what is only read `const`")

    def _check_sizes(self, integers: Mapping[str, int], arrays: Mapping[str, np.ndarray]) -> None:
        for argument in self._described.arguments:
            if argument.is_array:
                self._check_extents(argument, integers, arrays[argument.name])
        for region in self._described.regions:
            sizes = {name: value for name, text in region.sizes
                     if (value := evaluate(text, integers)) is not None}
            if with_sizes(isl.Set(region.context), sizes).is_empty():
                raise UsageError(f"{self.__name__}: the sizes do not fit", hint=f"a region is for {region.context}",
                                 witness=", ".join(f"{k} = {v}" for k, v in sizes.items()))
            for reach in region.reaches:
                needed = _elements_needed(reach.elements, reach.inner, sizes)
                size = arrays[reach.argument].size
                if needed is not None and needed > size:
                    raise UsageError(f"{self.__name__}: {reach.argument} has to have at least {needed} elements, "
                                     f"it has {size}")

    def _check_extents(self, argument: CArgument, integers: Mapping[str, int], array: np.ndarray) -> None:
        """Refuse a shape that is not the declared one; of one dimension, too few elements."""
        wanted = [None if e is None else evaluate(e, integers) for e in argument.extents]
        if len(wanted) == 1:
            fits = wanted[0] is None or array.size >= wanted[0]
        else:
            fits = all(w is None or w == g for w, g in zip(wanted, array.shape, strict=True))
        if not fits:
            shown = ", ".join(e or ":" for e in argument.extents)
            numbers = ", ".join(":" if w is None else str(w) for w in wanted)
            raise UsageError(f"{self.__name__}: {argument.name} has to have the shape ({shown}) = ({numbers}), "
                             f"it has the shape {array.shape}")


def _chosen(found: Mapping[str, CCallable], function: str | None, path: str) -> CCallable:
    """The function that is called.

    Raises
    ------
    UsageError : none has that name, or there are several and none was named.
    """
    if function is None and len(found) == 1:
        return next(iter(found.values()))
    names = ", ".join(found)
    if function is None:
        raise UsageError(f"the file has regions in {len(found)} functions", where=path, witness=names,
                         hint=f'say which one is called: function="{next(iter(found))}"')
    if function not in found:
        raise UsageError(f"no region in a function named `{function}`", where=path, witness=f"regions in: {names}")
    return found[function]


def _elements_needed(elements: str, inner: Sequence[str], sizes: Mapping[str, int]) -> int | None:
    """How many elements an argument needs, so that a region stays inside; None where that is not known."""
    reached = with_sizes(isl.Set(elements), sizes)
    if _depends_on_more(reached, sizes):
        return None
    if reached.is_empty():
        return 0
    linear = isl.PwAff.from_aff(isl.Aff.zero_on_domain(isl.LocalSpace.from_space(reached.get_space())))
    for dimension in range(reached.dim(isl.dim_type.set)):
        if dimension:
            extent = _fixed(inner[dimension - 1], sizes)
            if extent is None:
                return None
            linear = linear.scale_val(isl.Val(extent))
        linear = linear.add(isl.PwAff.var_on_domain(isl.LocalSpace.from_space(reached.get_space()),
                                                    isl.dim_type.set, dimension))
    largest = linear.intersect_domain(reached).max_val()
    return int(largest.to_python()) + 1 if largest.is_int() else None


def _depends_on_more(found: isl.Set, sizes: Mapping[str, int]) -> bool:
    """Whether a set depends on a parameter that has no value."""
    kind = isl.dim_type.param
    return any(found.involves_dims(kind, at, 1) for at in range(found.dim(kind))
               if found.get_dim_name(kind, at) not in sizes)


def _fixed(text: str, sizes: Mapping[str, int]) -> int | None:
    """The value of a function of the parameters at these sizes."""
    values = with_sizes(isl.Set.from_pw_aff(isl.PwAff(text)), sizes)
    low = values.dim_min_val(0)
    return int(low.to_python()) if low.is_int() and low.eq(values.dim_max_val(0)) else None
