"""Strides that are parameters of the program and 1 in most calls: a version of the region for that case.

    y[i * incy] += a * x[i * incx];   ->   if (incx == 1 && incy == 1) { vectors } else { the strided loop }

Compilers version such loops, too (GCC 12 manual, 3.11, `-fversion-loops-for-strides`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import islpy as isl

from polysched.emit_c.c_source import CSource, approximated_of
from polysched.emit_c.scalar_code.original_code import inside
from polysched.emit_c.scalar_code.statements import branches
from polysched.records import dataclass
from polysched.scop.body import Binary, Expr, ParameterRef, rebuild
from polysched.scop.scop import Access, Array, Parameter, Scop


@dataclass(frozen=True, eq=False, kw_only=True)
class UnitStrides:
    """A program where some strides are 1.

    Parameters
    ----------
    scop : the program whose arrays are contiguous.
    condition : C that is true where they are.
    """

    scop: Scop
    condition: str


def unit_strides(scop: Scop) -> UnitStrides | None:
    """The program for strides of 1; None where no stride is a parameter.

    An array has such a stride where the program writes one subscript (`y[i * incy]`), its rows are as long as a
    parameter, and every access reaches the first element of a row only.
    """
    found = {array.name: stride for array in scop.arrays if (stride := _stride(scop, array)) is not None}
    if not found:
        return None
    strides = [p for p in scop.parameters if p.name in {stride.name for stride in found.values()}]
    names, context = {stride.name for stride in strides}, scop.context
    for stride in strides:
        context = context.intersect_params(_is_one(context, stride))
    if context.is_empty():
        return None

    def one(part: Expr) -> Expr:
        return _without_factor(part, names)

    def changed(access: Access) -> Access:
        if access.array not in found:
            return access
        relation = access.relation
        last = relation.dim(isl.dim_type.out) - 1
        return replace(access, relation=relation.project_out(isl.dim_type.out, last, 1).set_tuple_name(
            isl.dim_type.out, access.array), subscripts=tuple(rebuild(e, one) for e in access.subscripts))

    def contiguous(array: Array) -> Array:
        return array if array.name not in found else replace(
            array, extents=array.extents[:-1], c_extents=array.c_extents[:-1])

    statements = tuple(replace(s, accesses=tuple(map(changed, s.accesses))) for s in scop.statements)
    unit = replace(scop, context=context, arrays=tuple(map(contiguous, scop.arrays)), statements=statements)
    return UnitStrides(scop=unit, condition=" && ".join(f"{stride.spelling} == 1" for stride in strides))


def with_unit_strides(general: CSource, unit: CSource, condition: str) -> CSource:
    """The region in two versions; that for strides of 1 needs nothing at the top of the file.

    Rewrite:  GENERAL  ->  if (strides are 1) { UNIT } else { GENERAL }
    """
    lines = branches(condition, map(inside, unit.text.splitlines()), map(inside, general.text.splitlines()))
    pays = f"({condition} ? {unit.pays} : {general.pays})" if unit.pays and general.pays else ""
    return replace(general, pays=pays, text="".join(f"{line}\n" for line in lines), teams=general.teams + unit.teams,
                   fallbacks=tuple(dict.fromkeys((*general.fallbacks, *unit.fallbacks))),
                   approximated=approximated_of((general, unit)))


def _without_factor(part: Expr, ones: Collection[str]) -> Expr:
    """A product without the factors that are 1."""
    if isinstance(part, Binary) and part.op == "*":
        for factor, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(factor, ParameterRef) and factor.name in ones and factor.dtype == part.dtype == other.dtype:
                return other
    return part


def _stride(scop: Scop, array: Array) -> Parameter | None:
    """The parameter that is the length of an array's rows, of which only the first elements are reached."""
    if len(array.extents) < 2 or array.c_element.count("{}") != 1:
        return None
    stride = next((p for p in scop.parameters if p.spelling == array.c_extents[-1]), None)
    accesses = [a for s in scop.statements for a in s.accesses if a.array == array.name]
    if stride is None or not all(a.exact and _reaches_first(a) for a in accesses):
        return None
    return stride


def _reaches_first(access: Access) -> bool:
    last = access.relation.dim(isl.dim_type.out) - 1
    zero = access.relation.fix_val(isl.dim_type.out, last, isl.Val.zero(isl.DEFAULT_CONTEXT))
    return bool(access.relation.is_subset(zero))


def _is_one(context: isl.Set, stride: Parameter) -> isl.Set:
    at = context.find_dim_by_name(isl.dim_type.param, stride.name)
    return isl.Set.universe(context.get_space()).fix_val(isl.dim_type.param, at, isl.Val.one(isl.DEFAULT_CONTEXT))
