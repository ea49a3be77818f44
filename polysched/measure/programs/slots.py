"""What one call of a user's function needs: its arguments and the file-scope variables that its regions touch."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import prod

from polysched.errors import SourceLocation, UsageError
from polysched.measure.processes.call_interface import Origin, Slot
from polysched.measure.programs.bounds import extents_at
from polysched.measure.programs.c_integers import evaluate
from polysched.measure.programs.problem_size import ProblemSize
from polysched.scop.body import Load, walk
from polysched.scop.dtypes import C_BY_NAME, DType
from polysched.scop.scop import Array, Parameter, Scop, Storage
from polysched.scop.signature import FunctionParameter, FunctionSignature, ParameterKind

RESULT_NAME = "return value"
LARGEST_FRACTION_OF_MEMORY = 0.25
UNUSED_INTEGER = 1
INTEGER_SPELLINGS = {"unsigned": "uint32", "long int": "int64", "unsigned long int": "uint64", "long long": "int64",
                     "long long int": "int64", "unsigned long long": "uint64", "char": "int8", "short int": "int16"}


def make_slots(scops: Sequence[Scop], signature: FunctionSignature, size: ProblemSize, *, given: Mapping[str, int],
               is_global: Callable[[str], bool]) -> tuple[Slot, ...]:
    """Every value that a call of the function reads or writes, arguments first and in order.

    Parameters
    ----------
    scops : the regions of the function.
    given : what the user gave with `--size`, by C spelling; each has to be of use.
    is_global : whether a name is a file-scope variable.

    Raises
    ------
    UsageError : a parameter's value cannot be made up, or a size names nothing.
    """
    slots = [_argument(scops, signature, p, size, given) for p in signature.parameters]
    _refuse_unknown_sizes(scops, signature, is_global)
    slots += _globals(scops, signature, size, given, is_global)
    if (dtype := returned_dtype(signature.return_type)) is not None:
        slots.append(Slot(name=RESULT_NAME, dtype=dtype, origin=Origin.RESULT, is_array=False))
    settable = [s.name for s in slots if not s.is_array and s.dtype.is_integer and s.origin is not Origin.RESULT]
    settable += [p.spelling for scop in scops for p in scop.parameters if not p.spelling.isidentifier()]
    for name in given:
        if name not in settable:
            raise UsageError(f"--size {name}: {signature.name} has no integer parameter {name!r}",
                             where=location(scops[0]),
                             hint=f"it has {', '.join(settable)}" if settable else "it has none at all")
    return tuple(slots)


def _refuse_unknown_sizes(scops: Sequence[Scop], signature: FunctionSignature,
                          is_global: Callable[[str], bool]) -> None:
    """A size that the function computes out of sight could be any number, and arrays could be too short for it."""
    arguments = {p.name for p in signature.parameters}
    for scop in scops:
        for parameter in scop.parameters:
            name = parameter.spelling
            if not name.isidentifier() and not _can_be_set(name, arguments, is_global):
                raise UsageError(
                    f"the size `{name}` stands in memory that only a caller of {signature.name} can set up",
                    where=location(scop), hint=f"make `{name}` a parameter of the function")
            changed = scop.source is not None and name in scop.source.changed
            if name.isidentifier() and not parameter.definition and (
                    changed or (name not in arguments and not is_global(name))):
                raise UsageError(
                    f"the size `{name}` is computed inside {signature.name}, from what is not known before it runs",
                    where=location(scop), hint=f"make `{name}` a parameter that the function does not change, or set "
                    "it once, where it is declared, from the function's integer parameters")


def _can_be_set(spelling: str, arguments: Collection[str], is_global: Callable[[str], bool]) -> bool:
    """Whether a size in memory is an element at a fixed place of an argument, or part of a file-scope variable."""
    if _variable(spelling) in arguments:
        return element_of(spelling) is not None
    return "->" not in spelling and is_global(spelling)


def element_of(spelling: str) -> tuple[str, tuple[int, ...]] | None:
    """The array and the index of a size that is an element at a fixed place; None for anything else."""
    match = re.fullmatch(r"(\w+)((?:\[\d+\])+)", spelling)
    return None if match is None else (match[1], tuple(map(int, re.findall(r"\d+", match[2]))))


def check_memory(slots: Sequence[Slot], available_bytes: int) -> None:
    """Refuse arrays that would not fit: a run keeps the inputs, the reference's results and the work copy."""
    total = slot_bytes(slots)
    if total > LARGEST_FRACTION_OF_MEMORY * available_bytes:
        largest = max(slots, key=lambda s: prod(s.shape) * s.dtype.bytes)
        shape = " x ".join(str(e) for e in largest.shape)
        raise UsageError(
            f"the arrays take {total / 2**30:.1f} GiB, of which a run needs several copies, and "
            f"{available_bytes / 2**30:.1f} GiB of memory are free",
            witness=f"{largest.name} has {shape} elements of type {largest.dtype}",
            hint="choose smaller values with --size")


def slot_bytes(slots: Sequence[Slot]) -> int:
    """The bytes of all slots together."""
    return sum(prod(s.shape) * s.dtype.bytes for s in slots)


def location(scop: Scop) -> SourceLocation | str:
    """The file and line where the region's first statement stands."""
    if scop.source is None:
        return scop.name
    return SourceLocation(scop.source.path, scop.statements[0].line if scop.statements else 0)


def _argument(scops: Sequence[Scop], signature: FunctionSignature, parameter: FunctionParameter, size: ProblemSize,
              given: Mapping[str, int]) -> Slot:
    name, dtype = parameter.name, parameter.dtype
    if parameter.kind is ParameterKind.OTHER or dtype is None:
        raise UsageError(f"no value can be made up for the parameter `{parameter.c_declaration}` of {signature.name}",
                         where=location(scops[0]), hint="run takes integers, floating-point numbers and arrays of them")
    if parameter.kind is ParameterKind.INTEGER:
        value = size.spelled.get(name, given.get(name))
        if value is None and _scalar_in(scops, name) is None:
            value = _stand_in(signature, name, size)
        if value is not None:
            check_range(name, value, dtype)
        return Slot(name=name, dtype=dtype, origin=Origin.ARGUMENT, is_array=False, value=value)
    if parameter.kind is ParameterKind.FLOATING:
        return Slot(name=name, dtype=dtype, origin=Origin.ARGUMENT, is_array=False)
    found, elements = _array_named(scops, name), _sizes_inside(scops, name, size)
    if found is None and elements and None in parameter.c_extents:
        shape = _around(elements)
    elif found is None:
        shape = _declared_shape(signature, parameter, size, given, location(scops[0]))
    else:
        shape = _around(elements, _used_shape(scops, found, size))
    return Slot(name=name, dtype=dtype, origin=Origin.ARGUMENT, is_array=True, shape=shape, elements=elements,
                index_extent=None if found is None else index_extent(scops, found, size), constant=False)


def _sizes_inside(scops: Sequence[Scop], name: str, size: ProblemSize) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The parameters that stand in an array: the index of each, and its value."""
    elements = ((element_of(p.spelling), size.values[p.name]) for scop in scops for p in scop.parameters)
    return tuple({found[1]: value for found, value in elements if found is not None and found[0] == name}.items())


def _around(elements: Sequence[tuple[tuple[int, ...], int]], shape: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The shape of an array that has these elements, and at least a shape."""
    for index, _ in elements:
        shape = tuple(max(least, at + 1) for least, at in zip(shape or index, index, strict=True))
    return shape


def _stand_in(signature: FunctionSignature, name: str, size: ProblemSize) -> int:
    """A value for an integer that no region uses: the largest size when an extent needs it, else 1."""
    in_extent = any(name in (extent or "") for p in signature.parameters for extent in p.c_extents)
    return max(size.spelled.values(), default=UNUSED_INTEGER) if in_extent else UNUSED_INTEGER


def check_range(name: str, value: int, dtype: DType) -> None:
    """Refuse a value that the parameter's type cannot hold."""
    low, high = dtype.value_range()
    if not low <= value <= high:
        raise UsageError(f"--size {name}={value} does not fit the type {dtype.c_name}",
                         hint=f"choose a value from {low} to {high}")


def _globals(scops: Sequence[Scop], signature: FunctionSignature, size: ProblemSize, given: Mapping[str, int],
             is_global: Callable[[str], bool]) -> list[Slot]:
    """File-scope variables: arrays and scalars that the regions access, and sizes."""
    arguments = {p.name for p in signature.parameters}
    slots: dict[str, Slot] = {}
    inside: dict[str, Slot] = {}  # elements and members: set behind what they are in

    def is_done(name: str) -> bool:
        return name in slots or not is_global(name)

    for scop in scops:
        for parameter in scop.parameters:
            spelling = parameter.spelling
            if _variable(spelling) in arguments or is_done(spelling):
                continue
            (slots if spelling.isidentifier() else inside)[spelling] = _number(parameter, size)
        for array in scop.arrays:
            name = base_name(array)
            if array.storage is not Storage.OUTER or name in arguments or is_done(name):
                continue
            slots[name] = _file_scope_array(scops, array, size, given)
            if slots[name].origin is Origin.POINTER:
                inside = {s: slot for s, slot in inside.items() if _variable(s) != name}
    return [*slots.values(), *inside.values()]


def _number(parameter: Parameter, size: ProblemSize) -> Slot:
    """A size at file scope, with its value."""
    value = size.values[parameter.name]
    check_range(parameter.spelling, value, parameter.dtype)
    return Slot(name=parameter.spelling, dtype=parameter.dtype, origin=Origin.GLOBAL, is_array=False, value=value)


def _file_scope_array(scops: Sequence[Scop], array: Array, size: ProblemSize, given: Mapping[str, int]) -> Slot:
    """An array or scalar at file scope; what a pointer points to has the sizes inside it set, too."""
    name, is_pointer = base_name(array), bool(array.extents) and array.extents[0] is None
    slot = Slot(name=name, dtype=array.dtype, origin=Origin.POINTER if is_pointer else Origin.GLOBAL,
                is_array=not array.is_scalar, shape=_used_shape(scops, array, size),
                index_extent=index_extent(scops, array, size), constant=array.constant, value=given.get(name))
    if not is_pointer:
        return slot
    elements = _sizes_inside(scops, name, size)
    return replace(slot, elements=elements, shape=_around(elements, slot.shape))


def base_name(array: Array) -> str:
    """The variable that the source names: `A` for `A[{}][{}]`, `s` for `(*s)`."""
    return _variable(array.c_element or array.name)


def _variable(text: str) -> str:
    """The variable that an lvalue begins with."""
    return text.lstrip("(*").split("[")[0].split(")")[0].split(".")[0].split("-")[0].strip()


def _array_named(scops: Sequence[Scop], name: str) -> Array | None:
    for scop in scops:
        for array in scop.arrays:
            if array.storage is Storage.ARGUMENT and base_name(array) == name:
                return array
    return None


def _scalar_in(scops: Sequence[Scop], name: str) -> Array | None:
    found = _array_named(scops, name)
    return found if found is not None and found.is_scalar else None


def _used_shape(scops: Sequence[Scop], array: Array, size: ProblemSize) -> tuple[int, ...]:
    """The extents over all regions that use the array: an undeclared one is as large as any of them needs."""
    shapes = [extents_at(scop, a, size.values) for scop in scops for a in scop.arrays if a.name == array.name]
    return tuple(max(0, *extents) for extents in zip(*shapes, strict=True))


def _declared_shape(signature: FunctionSignature, parameter: FunctionParameter, size: ProblemSize,
                    given: Mapping[str, int], where: SourceLocation | str) -> tuple[int, ...]:
    """The extents of an array that no region touches, from its declaration."""
    values = dict(given) | dict(size.spelled)
    for other in signature.parameters:
        if other.kind is ParameterKind.INTEGER and other.name not in values:
            values[other.name] = _stand_in(signature, other.name, size)
    shape = []
    for text in parameter.c_extents:
        extent = None if text is None else evaluate(text, values)
        if extent is None or extent < 0:
            raise UsageError(f"how many elements the parameter `{parameter.c_declaration}` has is not known",
                             where=where, hint="declare its extents in terms of the function's integer parameters")
        shape.append(extent)
    return tuple(shape)


def index_extent(scops: Sequence[Scop], array: Array, size: ProblemSize) -> int | None:
    """The bound below which an array's elements must lie because they are subscripts; None when they are not."""
    bounds = []
    for scop in scops:
        for statement in scop.statements:
            for access in statement.accesses:
                target = scop.array(access.array)
                for position, subscript in enumerate(access.subscripts):
                    loads = [e for e in walk(subscript) if isinstance(e, Load)]
                    if any(statement.access(e.reference).array == array.name for e in loads) \
                            and position < len(target.extents):
                        bounds.append(extents_at(scop, target, size.values)[position])
    return min(bounds) if bounds else None


def returned_dtype(c_type: str) -> DType | None:
    """The type of the returned number; None when the function returns nothing that can be compared."""
    words = " ".join(w for w in c_type.split() if w not in ("const", "static", "inline", "extern", "volatile"))
    if words in INTEGER_SPELLINGS:
        return C_BY_NAME[INTEGER_SPELLINGS[words]]
    return next((t for t in C_BY_NAME.values() if sorted(t.c_name.split()) == sorted(words.split())), None)
