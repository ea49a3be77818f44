"""`Privatize`: one copy of an array per iteration of a loop (array expansion)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.errors import IllegalScheduleError, UsageError
from polysched.records import dataclass
from polysched.scheduling.primitives.loops import Loop, LoopRef, find_loop
from polysched.scheduling.primitives.step import ProgramStep
from polysched.scheduling.tree.loop_tree import LoopTree, to_isl
from polysched.scop.body import IteratorRef
from polysched.scop.dtypes import INT64
from polysched.scop.scop import Access, Array, Scop, Statement, Storage


@dataclass(frozen=True, kw_only=True)
class Privatize(ProgramStep):
    """Give each iteration of a loop its own copy of an array.

    Rewrite:  for i: t = f(i); B[i] = t   ->  for i: t[i] = f(i); B[i] = t[i]

    This removes the anti and output dependences that the one copy carries between iterations.  Before: the
    array is dead after the region, and every read inside the loop gets a value that the same iteration
    wrote (`same_values` holds it).  After: the array has one more, outermost, dimension, indexed by the
    loop's iterator.

    Parameters
    ----------
    array : the array or scalar; declared inside the region.
    loop : a loop around every access of the array, over one source iterator of each statement.

    Source: P. Feautrier, "Array expansion", ICS 1988.
    """

    NAME: ClassVar[str] = "privatize"
    array: str
    loop: LoopRef

    def rewrite_program(self, dependences: Dependences, tree: LoopTree) -> tuple[Scop, LoopTree]:
        scop = dependences.scop
        array = _array(scop, self.array)
        loop = find_loop(tree, self.loop)
        users = [s for s in scop.statements if any(a.array == array.name for a in s.accesses)]
        iterators = {s.name: _iterator(loop, s, array) for s in users}
        extent = _extent(scop, users, iterators)
        expanded = replace(
            array, extents=(extent, *array.extents), c_extents=(None, *array.c_extents),
            c_element=_element_with_one_more(array))
        statements = tuple(
            _expand_statement(s, array.name, iterators[s.name]) if s.name in iterators else s for s in scop.statements)
        arrays = tuple(expanded if a is array else a for a in scop.arrays)
        return replace(scop, arrays=arrays, statements=statements, schedule=to_isl(tree)), tree


def _array(scop: Scop, name: str) -> Array:
    try:
        array = scop.array(name)
    except KeyError as error:
        raise UsageError(f"the program has no array {name!r}",
                         hint=f"it has {', '.join(a.name for a in scop.arrays)}") from error
    if array.storage is not Storage.LOCAL:
        raise IllegalScheduleError(f"{name!r} may be read after the region, so its last value must stay in place",
                                   witness=f"its storage is {array.storage.value}",
                                   hint="declare it inside the region when it is a temporary")
    return array


def _iterator(loop: Loop, statement: Statement, array: Array) -> str:
    name = loop.names.get(statement.name)
    if name is None:
        raise UsageError(f"{statement.name} accesses {array.name!r} outside loop {loop.name!r}",
                         hint="privatize by a loop around every access")
    if name not in statement.iterators:
        raise UsageError(f"loop {loop.name!r} does not enumerate one iterator of {statement.name}",
                         witness=name, hint="privatize before tiling or skewing the loop")
    return name


def _extent(scop: Scop, users: list[Statement], iterators: dict[str, str]) -> isl.PwAff:
    """One more than the largest iteration, over all statements; iterations start at zero or later."""
    largest: isl.PwAff | None = None
    for statement in users:
        position = statement.iterators.index(iterators[statement.name])
        domain = statement.domain.intersect_params(scop.context)
        least = domain.dim_min(position)
        if not least.lt_set(least.scale_val(isl.Val.zero(isl.DEFAULT_CONTEXT))).is_empty():
            raise UsageError(f"iterator {iterators[statement.name]!r} of {statement.name} can be negative",
                             hint="shift the loop in the source, so that it starts at zero")
        top = domain.dim_max(position).add_constant_val(isl.Val.one(isl.DEFAULT_CONTEXT))
        largest = top if largest is None else largest.union_max(top)
    if largest is None:
        raise UsageError("no statement uses the array")
    return largest


def _element_with_one_more(array: Array) -> str:
    subscripts = "[{}]" * (len(array.extents) + 1)
    base = array.name.replace(".", "_")
    return f"{base}{subscripts}"


def _expand_statement(statement: Statement, array: str, iterator: str) -> Statement:
    position = statement.iterators.index(iterator)
    return replace(statement, accesses=tuple(
        _expand_access(a, position, iterator) if a.array == array else a for a in statement.accesses))


def _expand_access(access: Access, position: int, iterator: str) -> Access:
    name = access.relation.get_tuple_name(isl.dim_type.out)
    relation = access.relation.insert_dims(isl.dim_type.out, 0, 1)
    relation = relation.equate(isl.dim_type.in_, position, isl.dim_type.out, 0)
    return replace(access, relation=relation.set_tuple_name(isl.dim_type.out, name),
                   subscripts=(IteratorRef(iterator, INT64), *access.subscripts))


