"""What a call of a C function has to be checked for, as plain values that are kept beside the compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import islpy as isl

from polysched.errors import UsageError
from polysched.measure.programs.bounds import of_parameters
from polysched.measure.programs.slots import base_name, returned_dtype
from polysched.records import dataclass
from polysched.scop.scop import Array, Scop, Storage, union_set
from polysched.scop.signature import FunctionSignature, ParameterKind


@dataclass(frozen=True, kw_only=True)
class CArgument:
    """One parameter of a C function.

    Parameters
    ----------
    name : as declared.
    kind : the value of a `ParameterKind`, never `other`.
    dtype : the name of its element type.
    extents : per declared dimension a C expression over the function's integers, or None.
    constant : the function does not write it.
    """

    name: str
    kind: str
    dtype: str
    extents: tuple[str | None, ...] = ()
    constant: bool = False

    @property
    def is_array(self) -> bool:
        """Whether a pointer is passed."""
        return self.kind == ParameterKind.ARRAY.value


@dataclass(frozen=True, kw_only=True)
class Reach:
    """The elements of one argument that a region reaches for certain.

    Parameters
    ----------
    argument : the function's parameter.
    elements : in isl's notation, over the region's parameters.
    inner : extents of all dimensions but the first, functions of the parameters in isl's notation.
    """

    argument: str
    elements: str
    inner: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RegionLimits:
    """For which sizes a region is, and which elements it reaches.

    Parameters
    ----------
    context : the sizes, in isl's notation.
    sizes : isl's name of each parameter whose value is known when the function is entered, and it as C over the
        function's integers.
    """

    context: str
    sizes: tuple[tuple[str, str], ...]
    reaches: tuple[Reach, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A file-scope array or number that a region touches."""

    name: str
    dtype: str
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CCallable:
    """How a C function is called.

    Parameters
    ----------
    returns : the name of the type of the number that it returns; None when it returns nothing.
    """

    name: str
    arguments: tuple[CArgument, ...]
    regions: tuple[RegionLimits, ...]
    variables: tuple[Variable, ...] = ()
    returns: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> CCallable:
        """The value behind `to_json`."""
        return CCallable(
            name=values["name"], returns=values["returns"],
            arguments=tuple(CArgument(**a | {"extents": tuple(a["extents"])}) for a in values["arguments"]),
            regions=tuple(RegionLimits(
                context=r["context"], sizes=tuple((n, t) for n, t in r["sizes"]),
                reaches=tuple(Reach(**h | {"inner": tuple(h["inner"])}) for h in r["reaches"]))
                for r in values["regions"]),
            variables=tuple(Variable(**v | {"shape": tuple(v["shape"])}) for v in values["variables"]))


def callable_of(scops: Sequence[Scop], signature: FunctionSignature, is_global: Callable[[str], bool]) -> CCallable:
    """How a function is called whose regions are these.

    Parameters
    ----------
    is_global : whether a name is a variable of the file.

    Raises
    ------
    UsageError : it has a parameter, or needs a file-scope pointer, that no NumPy array can stand for.
    """
    written = {base_name(scop.array(a.array)) for scop in scops for s in scop.statements for a in s.writes}
    arguments = []
    for p in signature.parameters:
        if p.kind is ParameterKind.OTHER or p.dtype is None:
            raise UsageError(f"{signature.name} cannot be called from Python: no NumPy array or number can be passed "
                             f"for `{p.c_declaration}`", hint="arguments are numbers, and pointers to numbers")
        arguments.append(CArgument(name=p.name, kind=p.kind.value, dtype=p.dtype.name, extents=p.c_extents,
                                   constant=p.constant and p.name not in written))
    returned = returned_dtype(signature.return_type)
    return CCallable(name=signature.name, arguments=tuple(arguments),
                     regions=tuple(_limits(scop, {a.name for a in arguments}) for scop in scops),
                     variables=tuple(_variables(scops, signature, is_global)),
                     returns=None if returned is None else returned.name)


def _limits(scop: Scop, arguments: set[str]) -> RegionLimits:
    reaches: list[Reach] = []
    changed = frozenset() if scop.source is None else scop.source.changed
    for array in scop.arrays:
        name = base_name(array)
        plain = array.c_element.replace("{}", "").replace("[]", "") == name
        if array.storage is Storage.ARGUMENT and name in arguments - changed and plain and array.extents:
            reaches += _reach(scop, array, name)
    return RegionLimits(context=str(scop.callable_with), reaches=tuple(reaches),
                        sizes=tuple((p.name, p.definition or p.spelling) for p in scop.parameters
                                    if p.definition or p.spelling not in changed))


def _reach(scop: Scop, array: Array, name: str) -> Iterator[Reach]:
    """What exact accesses reach; the rest depends on data that only the call has."""
    exact = [isl.Set.from_union_set(union_set([a.relation.intersect_params(scop.callable_with).range()]))
             for s in scop.statements for a in s.accesses if a.array == array.name and a.exact]
    inner = [e for e in array.extents[1:] if e is not None]
    if exact and len(inner) == len(array.extents) - 1:
        whole = exact[0]
        for elements in exact[1:]:
            whole = whole.union(elements)
        yield Reach(argument=name, elements=str(whole.coalesce()), inner=tuple(str(of_parameters(e)) for e in inner))


def _variables(scops: Sequence[Scop], signature: FunctionSignature,
               is_global: Callable[[str], bool]) -> Iterator[Variable]:
    """The file-scope arrays and numbers that the regions touch, each once."""
    known = {p.name for p in signature.parameters}
    for scop in scops:
        for array in scop.arrays:
            name = base_name(array)
            if array.storage is not Storage.OUTER or name in known or not is_global(name):
                continue
            known.add(name)
            shape = tuple(_constant(e) for e in array.extents)
            if any(e is None for e in shape):
                raise UsageError(f"{signature.name} cannot be called from Python: {name} is a pointer of the file",
                                 hint="make it a parameter of the function, or an array with constant extents")
            yield Variable(name=name, dtype=array.dtype.name, shape=tuple(e for e in shape if e is not None))


def _constant(extent: isl.PwAff | None) -> int | None:
    """The value of an extent that is a constant."""
    if extent is None or not extent.is_cst():
        return None
    return int(of_parameters(extent).max_val().to_python())
