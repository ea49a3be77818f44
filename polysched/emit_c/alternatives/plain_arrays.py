"""A region as a C function of arrays of known extents, in the order of the program."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.emit_c.c_source import CSource, EmitOptions
from polysched.emit_c.emission import emit
from polysched.emit_c.function import CFunction, emit_function
from polysched.emit_c.limits import LIMITS
from polysched.errors import UnsupportedScopError
from polysched.scheduling.original import original
from polysched.scop.points import fix_parameters, value_at
from polysched.scop.scop import Array, Scop, Storage
from polysched.tensorize.software.polynomials import of_affine, polynomial_c
from polysched.tiling.tiled_schedule import TiledSchedule

MOST_BYTES = LIMITS.most_check_bytes


PLAIN = EmitOptions(openmp=False, simd=False, vector_bits=0, math="libm", packing=False, comments=False)


def as_written_function(alone: Scop, name: str) -> CFunction:
    """The statements as a C function, in the order of the program, without threads or vectors."""
    return emit_function(_in_order(alone), name=name, options=PLAIN)


def as_written(alone: Scop) -> CSource:
    """The same as a part of a region."""
    return emit(_in_order(alone), options=PLAIN)


def _in_order(alone: Scop) -> TiledSchedule:
    schedule = original(analyse(alone))
    return TiledSchedule(schedule=schedule, tree=schedule.tree)


def with_plain_arrays(scop: Scop, sizes: Mapping[str, int], *, temporaries: bool = False,
                      symbolic: bool = False) -> Scop:
    """The program with arrays of known extents that are handed in as pointers, whatever they are in its source.

    Parameters
    ----------
    temporaries : those of the region stay its own.
    symbolic : extents are spelt over the parameters, so that the code is that of all sizes; where that can be said.
    """
    arrays = tuple(a if temporaries and a.storage is Storage.LOCAL else _plain(a, scop, sizes, symbolic=symbolic)
                   for a in scop.arrays)
    total = sum(math.prod(shape_of(a, scop, sizes)) * a.dtype.bytes for a in scop.arrays)
    if total > MOST_BYTES:
        raise UnsupportedScopError("the arrays are too large to run the replaced statement on", where=scop.name,
                                   witness=f"{total >> 20} MiB, the limit is {MOST_BYTES >> 20}")
    return replace(with_arrays_of(scop, {}), arrays=arrays)


def with_arrays_of(scop: Scop, arrays: Mapping[str, Array], *, parameters: Collection[str] | None = None,
                   temporaries: bool = False) -> Scop:
    """The program on the arrays of another one with the same names, in a function of its parameters.

    Parameters
    ----------
    parameters : those of the function; all of the program when None.
    temporaries : those of the program stay its own.
    """
    same = tuple(a if temporaries and a.storage is Storage.LOCAL else arrays.get(a.name, a) for a in scop.arrays)
    own = tuple(replace(p, c_name="", definition="") if parameters is None or p.name in parameters else p
                for p in scop.parameters)
    return replace(scop, arrays=same, parameters=own)


def _plain(array: Array, scop: Scop, sizes: Mapping[str, int], *, symbolic: bool) -> Array:
    """An argument of the same elements: `grid->A[{}][{}]` becomes `A[{}][{}]` with extents in numbers."""
    written = any(a.array == array.name for s in scop.statements for a in s.writes)
    argument = replace(array, storage=Storage.ARGUMENT, constant=not written, restrict=True, dead_after=False)
    if array.is_scalar:
        return replace(argument, c_element=f"(*{array.name})", c_extents=())
    extents = shape_of(array, scop, sizes)
    subscripts = array.c_element.count("{}") or len(extents)
    if subscripts not in (1, len(extents)):
        raise UnsupportedScopError(f"{array.name} has {len(extents)} dimensions and {subscripts} subscripts",
                                   where=scop.name)
    shown = tuple(map(str, extents))
    if symbolic:
        shown = tuple(of_parameters(e) or n for e, n in zip(array.extents, shown, strict=True))
        shown = ("", *shown[1:])   # what the first extent is does not matter to a pointer
    if subscripts == 1:
        shown = ("" if symbolic else str(math.prod(extents)), *("1" for _ in extents[1:]))
    element = f"{array.name}{'[{}]' * subscripts}"
    return replace(argument, c_element=element, c_extents=tuple(n or None for n in shown[:subscripts]))


def extents_can_be_said(scop: Scop) -> bool:
    """Whether C over the parameters spells all extents but the first, so that one code serves all sizes."""
    return all(of_parameters(e) for a in scop.arrays for e in a.extents[1:])


def of_parameters(extent: isl.PwAff | None) -> str:
    """An extent as C over the parameters' names; "" where it is not affine."""
    value = None if extent is None else of_affine(extent)
    return "" if value is None else f"({polynomial_c(value, {})})"


def shape_of(array: Array, scop: Scop, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The extents at these sizes; what the declaration does not say is as long as the subscripts reach."""
    found = []
    for position, extent in enumerate(array.extents):
        if extent is not None:
            found.append(value_at(extent, sizes))
            continue
        reached = [fix_parameters(a.relation.intersect_domain(s.domain), sizes).range()
                   for s in scop.statements for a in s.accesses if a.array == array.name]
        ends = [int(r.dim_max_val(position).get_num_si()) for r in reached if not r.is_empty()]
        found.append(1 + max(ends, default=0))
    return tuple(found)
