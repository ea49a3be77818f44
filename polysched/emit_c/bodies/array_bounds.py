"""Whether an access can be carried out for more instances than the program would."""

from __future__ import annotations

from functools import partial, reduce

import islpy as isl

from polysched.dependence.if_conversion import same_element
from polysched.dependence.reductions import Reduction
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Variable, variable
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.scop.body import Assign, BodyStatement, If, IteratorRef, unconditional_references, walk
from polysched.scop.budget import with_budget
from polysched.scop.construction.affine_sets import extent_box
from polysched.scop.scop import Access, Scop, Statement, Storage

READ_OPERATIONS = LIMITS.read_operations


def inside_array(scop: Scop, access: Access) -> bool:
    """Whether every instance of the statement's domain reaches an element that exists.

    False also where the extents or the subscripts are not known exactly.
    """
    array, relation = scop.array(access.array), without_condition(scop, access)
    if relation is None:
        return False
    reached = relation.range()
    if not access.exact or reached.dim(isl.dim_type.set) != len(array.extents):
        return False
    for position, extent in enumerate(array.extents):
        if extent is None:
            return False
        line = reached.project_out(isl.dim_type.set, position + 1, len(array.extents) - position - 1)
        line = line.project_out(isl.dim_type.set, 0, position)
        if not line.is_empty() and not _between(line, extent):
            return False
    return True


def can_be_read(scop: Scop, access: Access) -> bool:
    """Whether every instance of the statement's domain may read the element, also where a condition skips it.

    It may where the element is inside an array, or where the program reaches it without a condition, sooner or later.
    """
    return inside_array(scop, access) or (access.exact and bool(with_budget(
        READ_OPERATIONS, partial(_reached_anyway, scop, access))))


def can_be_written(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether every instance of the statement's domain may write its old value back to the element.

    It may where the array is the region's own, where every branch writes the element, or where the program writes it
    without a condition, sooner or later: then it is not read-only, and no other thread may access it meanwhile (C11
    5.1.2.4p25).  Dependences know of no access where an affine condition of the body skips it: there another thread of
    the region itself may write the element.
    """
    if not statement.domain.intersect_params(scop.context.params()).is_subset(access.relation.domain()):
        return False
    if any(same_element(written, access) for written in _always_written(statement, statement.body)):
        return True
    if scop.array(access.array).storage is Storage.LOCAL and inside_array(scop, access):
        return True
    return access.exact and bool(with_budget(READ_OPERATIONS, partial(_reached_anyway, scop, access, writing=True)))


def all_elements_are_written(scop: Scop, array: str) -> bool:
    """Whether the program writes every element of an array without a condition, as far as is known."""
    if scop.array(array).storage is Storage.LOCAL:
        return True
    if any(extent is None for extent in scop.array(array).extents):
        return False
    box = extent_box(scop.array(array)).intersect_params(scop.context.params())
    return bool(with_budget(READ_OPERATIONS, partial(_is_reached, scop, array, box, writing=True)))


def _always_written(statement: Statement, items: tuple[BodyStatement, ...]) -> list[Access]:
    """What is written on every way through some items of a body."""
    found: list[Access] = []
    for item in items:
        match item:
            case Assign():
                found.append(statement.access(item.target))
            case If():
                then, otherwise = (_always_written(statement, way) for way in (item.then, item.otherwise))
                found += [a for a in then if any(same_element(a, b) for b in otherwise)]
    return found


def without_condition(scop: Scop, access: Access) -> isl.Map | None:
    """The relation for every instance of the statement, also those for which a condition skips the access.

    None where the subscripts are not the same affine ones for all, or the condition fixes what stands in them: where
    it says that i is below 4, the relation has 0 for i / 4.
    """
    relation = access.relation.intersect_params(scop.context.params())
    domain = scop.statement(relation.get_tuple_name(isl.dim_type.in_)).domain.intersect_params(scop.context.params())
    if domain.is_subset(relation.domain()):
        return relation
    if not _is_affine_as_written(access) or not relation.is_single_valued():
        return None
    if not domain.affine_hull().is_equal(relation.domain().affine_hull()):
        return None
    pieces: list[isl.MultiAff] = []
    isl.PwMultiAff.from_map(relation).foreach_piece(lambda _, subscripts: pieces.append(subscripts))
    return isl.Map.from_multi_aff(pieces[0]).intersect_domain(domain) if len(pieces) == 1 else None


def _is_affine_as_written(access: Access) -> bool:
    """Whether no subscript divides."""
    names = {node.name: variable(node.name) for subscript in access.subscripts for node in walk(subscript)
             if isinstance(node, IteratorRef)}
    forms = [linear_form(subscript, names) for subscript in access.subscripts]
    return all(form is not None and all(isinstance(atom, Variable) for atom, _ in form.terms) for form in forms)


def accumulators_exist(scop: Scop, reduction: Reduction) -> bool:
    """Whether partial results have somewhere to go, also where no condition ever holds under which there is one."""
    statement = scop.statement(reduction.statement)
    certain = set(unconditional_references(statement.body))
    accesses = [statement.access(reference) for part in reduction.accumulators
                for reference in (part.write, *part.places) if reference not in certain]
    return all(can_be_read(scop, access) if access.exact
               else all(extent is not None for extent in scop.array(access.array).extents) for access in accesses)


def _reached_anyway(scop: Scop, access: Access, *, writing: bool = False) -> bool:
    relation = without_condition(scop, access)
    return relation is not None and _is_reached(scop, access.array, relation.range(), writing=writing)


def _is_reached(scop: Scop, array: str, wanted: isl.Set, *, writing: bool) -> bool:
    """Whether the program accesses some elements without a condition; `writing`: whether it writes them."""
    anyway = [other.relation.range() for statement in scop.statements
              for reference in unconditional_references(statement.body)
              if (other := statement.access(reference)).array == array and other.exact
              and (other.is_write or not writing)]
    return bool(anyway) and bool(wanted.is_subset(reduce(isl.Set.union, anyway)))


def _between(line: isl.Set, extent: isl.PwAff) -> bool:
    """Whether a one-dimensional set lies in [0, extent) for all parameters."""
    if not line.is_bounded():
        return False
    least, largest = line.dim_min(0), line.dim_max(0)
    zero = least.sub(least)
    return bool(least.lt_set(zero).is_empty() and largest.ge_set(extent).is_empty())
