"""A match for all sizes: what was found at sample sizes, proved for every size and written over the parameters.

Matching compares sets at sample sizes.  The same holds for all sizes where the program is regular, which isl decides
with the sizes as parameters: the iterations are a box whose sides are affine in them, every subscript moves by the same
numbers, those of the result by one loop each, and no dependence leads back to the statement or ahead of it.  Then
operands correspond loop by loop, so that the extents do not matter: an element of an operand is told by the loops that
index it, and a window reads it where they say.  Anything else is no match for all sizes, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.records import dataclass
from polysched.scop.body import Expr, IteratorRef, Load, ParameterRef, walk
from polysched.scop.points import SetOrMap, isl_value
from polysched.scop.scop import Access, AccessKind, Scop, Storage
from polysched.tensorize.description.contraction import Kind
from polysched.tensorize.matching.general_loops import NotGeneralError, affine_sum, loops_of_all_sizes, number
from polysched.tensorize.matching.grouping import are_one_at_all_sizes
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.operand_layout import LayoutTable
from polysched.tensorize.matching.parametric_proofs import at_all_sizes, changed_order, several_elements
from polysched.tensorize.preparing.ordering import leading_back
from polysched.tensorize.proofs.body_proofs import fits
from polysched.tensorize.proofs.contents import parts_of
from polysched.tensorize.proofs.ideal import sums_from_zero
from polysched.tensorize.proofs.isl_check import IslCheck
from polysched.tensorize.software.elements import subscripts_of
from polysched.tensorize.software.fragment import Fragment, SoftwareLoop, are_one
from polysched.tensorize.software.sizes import (
    LEAST,
    Conditions,
    Size,
    bytes_fit,
    is_general,
    run_time_sizes,
    same,
)

LOOPS_STAY, TIED = "loops stay around the instruction", "depend on each other"
"""Reasons; the pipeline then looks inside of the loop that statements share, whose iterator is one more size."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneralFragment(Fragment):
    """A fragment whose loops and arrays have sizes known at run time.

    Parameters
    ----------
    inner_extents : per array its extents without the outermost.
    whole_extents : per array all of them, where the outermost is affine in the sizes, too.
    points, around : the domain, and the box of all loops, over the parameters.
    linearised : per access that is written with fewer subscripts than its array has dimensions, one per dimension.
    """

    inner_extents: Mapping[str, tuple[int, ...]]
    whole_extents: Mapping[str, tuple[int, ...]]
    points: isl.Set
    around: isl.Set
    linearised: Mapping[str, tuple[Expr, ...]]

    @cached_property
    def subscripts(self) -> dict[str, tuple[Expr, ...]]:
        """Per access reference one subscript per dimension of its array, over iterators and parameters."""
        return {a.reference: self.linearised.get(a.reference, a.subscripts) for a in self.statement.accesses}

    @cached_property
    def is_box(self) -> bool:
        """For all sizes."""
        return bool(self.around.is_subset(self.points))

    @property
    def iterations_of_all_sizes(self) -> tuple[isl.Set, isl.Set]:
        return self.points, self.around

    @cached_property
    def reached_always(self) -> bool:
        """No loop is kept outside."""
        return True

    def extents(self, name: str) -> list[int] | None:
        """All extents of an array; None where one is not known."""
        return list(self.whole_extents[name]) if name in self.whole_extents else None

    def extents_inside(self, name: str) -> list[int] | None:
        """Extents of an array without the outermost; None where one is not known."""
        return list(self.inner_extents[name]) if name in self.inner_extents else None


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneralMatch:
    """A match over the program's parameters.

    Parameters
    ----------
    match : whose fragment has sizes known at run time.
    unknown : the parameters that are handed over.
    conditions : on these, under which emitted code may run; emission adds what it takes for granted.
    temporaries : extents of the region's own arrays.
    """

    match: Match
    unknown: tuple[str, ...]
    conditions: Conditions
    temporaries: Mapping[str, tuple[int, ...]]


def for_all_sizes(match: Match, dependences: Dependences, unknown: Sequence[str], *,
                  gone: Iterable[str] = (), given: Scop | None = None) -> GeneralMatch:
    """The match as one for all values of some parameters.

    Parameters
    ----------
    gone : statements that the match makes superfluous: they clear its result.
    given : the program before statements that are computed at once became one, and one that adds several products
        became several.

    Raises
    ------
    NotGeneralError : it is not proved for all sizes; the text says what is missing.
    """
    fragment = match.fragment
    scop = fragment.scop
    _refuse_special(match, dependences)
    context = _context(scop, fragment.sizes, unknown)
    domain = over(fragment.statement.domain, fragment.sizes, unknown).intersect_params(context)
    _prove_merged(fragment, given or scop, context, unknown)
    _prove_separated(fragment, given or scop)
    values, conditions = run_time_sizes(fragment.sizes, unknown)
    loops, around, lowers = loops_of_all_sizes(fragment, domain, context, values)
    _require_whole_sums(match, loops, conditions)
    _require_iterations(loops, conditions)
    extents = _Extents(fragment, unknown, context, values)
    inner = extents.of_all(1) | {a.array: extents.of(a.array, 1) for a in fragment.statement.accesses}
    temporaries = _temporaries(scop, extents, conditions)
    tables = _tables(match, extents)
    _prove_subscripts(match, domain, unknown, tables, {loop.name for loop in loops if same(loop.extent, 1)})
    _prove_values(match, loops, conditions)
    _prove_order(match, dependences, context, unknown)
    _prove_places(match, dependences, loops, lowers, domain, context, unknown)
    for name in gone:
        _prove_cleared(fragment, name, domain, context, unknown)
    general = GeneralFragment(
        scop=scop, statement=fragment.statement, sizes=values, domain=fragment.domain, loops=loops,
        target=fragment.target, update=fragment.update, others=fragment.others, kept=(), inner_extents=inner,
        points=domain, around=around, whole_extents=extents.of_all(0),
        linearised=_linearised(fragment, domain, unknown, tables))
    made = replace(match, fragment=general, table=LayoutTable(general, match.intrinsic, match.groups))
    if why := made.counts_padding():
        raise NotGeneralError(why)
    if not general.is_box or not fragment.is_box:
        _prove_slanted(made, fragment)
    return GeneralMatch(match=made, unknown=tuple(unknown), conditions=conditions, temporaries=temporaries)


def _prove_merged(fragment: Fragment, given: Scop, context: isl.Set, unknown: Sequence[str]) -> None:
    """Statements of the given program that are computed at once keep their order."""
    def fix(relation: SetOrMap) -> SetOrMap:
        return over(relation, fragment.sizes, unknown).intersect_params(context)

    if fragment.others and not are_one_at_all_sizes(given, fragment, fix):
        raise NotGeneralError("statements that are computed at once would change their order at some sizes")


def _prove_separated(fragment: Fragment, given: Scop) -> None:
    """Of a statement that was one per product no part reads what another one adds to, but to add to it."""
    if fragment.others or fragment.scop is given:
        return
    known = {s.name: s for s in given.statements}
    for part in fragment.scop.statements:
        if known.get(part.name) is part:
            continue
        (target,) = {a.array for a in part.writes}
        if any(a.array == target and not any(are_one(a, w) for w in part.writes) for a in part.reads):
            raise NotGeneralError(f"a statement that adds several products reads other elements of {target}")


def _require_whole_sums(match: Match, loops: Sequence[SoftwareLoop], conditions: Conditions) -> None:
    """An execution that sums from zero holds the whole sum: longer sums are left to ordinary code."""
    if not sums_from_zero(match.intrinsic):
        return
    extents, told = {loop.name: loop.extent for loop in loops}, match.fragment.loops_of(match.result)
    for name in match.outer:
        if name not in told and is_general(extents[name]):
            conditions.require(f"{extents[name]} == 1")
    for group, members in enumerate(match.loops):
        if {*members} - told and is_general(*(extents[n] for n in members)):
            whole = " * ".join(f"(double){extents[n]}" for n in members)
            conditions.require(f"{whole} <= {match.extent(group)}")


def _temporaries(scop: Scop, extents: _Extents, conditions: Conditions) -> dict[str, tuple[int, ...]]:
    """Extents of the region's own arrays, for which there is memory."""
    found = {a.name: extents.of(a.name, 0) for a in scop.arrays if a.storage is Storage.LOCAL}
    for name, known in found.items():
        conditions.require(bytes_fit(known, scop.array(name).dtype.bytes))
    return found


def _refuse_special(match: Match, dependences: Dependences) -> None:
    fragment = match.fragment
    for found, why in (
            (bool(fragment.kept), LOOPS_STAY),
            (fragment.scop is not dependences.scop or bool(match.rest), "a loop was cut at a size"),
            (Kind.TRIANGLE in match.intrinsic.contraction.kinds, "the instruction computes no box of iterations"),
            (_reads_results_elsewhere(fragment), "the result's array is read elsewhere")):
        if found:
            raise NotGeneralError(why)


def _reads_results_elsewhere(fragment: Fragment) -> bool:
    """Whether the statement reads other elements of the arrays that it writes."""
    results = [fragment.statement.access(r.target) for r in fragment.results]
    return any(a.array in {r.array for r in results} and not any(are_one(a, r) for r in results)
               for a in fragment.statement.reads)


def _context(scop: Scop, sizes: Mapping[str, int], unknown: Sequence[str]) -> isl.Set:
    bounds = " and ".join(f"{n} >= {LEAST}" for n in unknown)
    own = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{', '.join(unknown)}] -> {{ : {bounds} }}")
    return over(scop.context.params(), sizes, unknown).intersect_params(own)


def over(relation: SetOrMap, sizes: Mapping[str, int], unknown: Sequence[str]) -> SetOrMap:
    """A set or map over the unknown parameters, the others at their values."""
    for at in reversed(range(relation.dim(isl.dim_type.param))):
        name = str(relation.get_dim_name(isl.dim_type.param, at))
        if name not in unknown:
            relation = relation.fix_val(isl.dim_type.param, at, isl_value(int(sizes[name])))
            relation = relation.project_out(isl.dim_type.param, at, 1)
    return relation


def _prove_slanted(match: Match, sample: Fragment) -> None:
    """What lies inside the box and outside the domain adds nothing, or is not stored, at any size."""
    fragment, indexes = match.fragment, [part.indexes for part in match.groups]
    if match.intrinsic.library or sample.is_box or fragment.is_box:
        raise NotGeneralError("its iterations are a box at some sizes only")
    for operand, e in match.assignment.operands:
        hidden = {n for part, loops in zip(match.groups, match.loops, strict=True)
                  if operand not in part.indexes for n in loops}
        if hidden & fragment.loops_of(e):
            raise NotGeneralError(f"the ends of loops tell which element operand {operand} holds")
    check = IslCheck(fragment)
    if witness := check.padding(dict(match.assignment.operands), match.intrinsic.output.name, indexes, match.loops):
        raise NotGeneralError(f"its iterations are no box, and the padding at {witness} would be counted")


def _require_iterations(loops: Sequence[SoftwareLoop], conditions: Conditions) -> None:
    """Loops run at least once at the sizes that are computed: buffers have no negative sizes."""
    for loop in loops:
        if isinstance(extent := loop.extent, Size) and (extent.least is None or extent.least < 1):
            conditions.require(f"{extent} >= 1")


@dataclass(frozen=True, eq=False)
class _Extents:
    """Extents of arrays over the parameters."""

    fragment: Fragment
    unknown: Sequence[str]
    context: isl.Set
    values: Mapping[str, int]

    def of_all(self, first: int) -> dict[str, tuple[int, ...]]:
        """Those of all arrays where they are affine."""
        found = {}
        for array in self.fragment.scop.arrays:
            with suppress(NotGeneralError):
                found[array.name] = self.of(array.name, first)
        return found

    def of(self, name: str, first: int) -> tuple[int, ...]:
        """Those from one dimension on."""
        found = []
        for extent in self.fragment.scop.array(name).extents[first:]:
            form = None
            if extent is not None:
                values = over(isl.Set.from_pw_aff(extent), self.fragment.sizes, self.unknown)
                form = affine_sum(values.dim_max(0), self.context)
            if form is None:
                raise NotGeneralError(f"the extents of {name} are not affine in the sizes")
            found.append(number(form, self.values))
        return tuple(found)


def _tables(match: Match, extents: _Extents) -> set[str]:
    """The accesses of the instruction's tables, whose extents are affine.

    Of a longer array what the instruction's own subscripts reach is copied, and zeros behind a shorter one.
    """
    found = set()
    for operand in match.intrinsic.contraction.tables:
        for held in walk(match.contents[operand]):
            if isinstance(held, Load):
                extents.of(match.fragment.statement.access(held.reference).array, 0)
                found.add(held.reference)
    return found


def _prove_subscripts(match: Match, domain: isl.Set, unknown: Sequence[str], tables: Collection[str],
                      still: Collection[str]) -> None:
    """Every subscript is the same sum of loops times numbers at all sizes; what is written tells the loops in it.

    Where every iteration that meets others in an element has a sum of its own, those are added, wherever they meet.

    Parameters
    ----------
    tables : references of accesses that data decide.
    still : loops of one iteration, which move nothing.
    """
    fragment = match.fragment
    for access in (a for a in fragment.statement.accesses if a.reference not in tables):
        indices = fragment.indices[access.reference]
        names = [n for index in indices for n, _ in index.coefficients]
        several = any(len(index.coefficients) > 1 for index in indices) or len(names) != len({*names})
        if not all(index.affine for index in indices):
            raise NotGeneralError(f"subscripts of {access.array} are no sums of multiples of the loops")
        if not _moves_as(access, fragment, domain, unknown, still):
            raise NotGeneralError(f"subscripts of {access.array} depend on the sizes")
        if several and access.kind is not AccessKind.READ and not match.overlapping and not _tells_loops(
                over(access.relation, fragment.sizes, unknown).intersect_domain(domain), fragment, {*names}):
            raise NotGeneralError(f"iterations of several loops may meet in one element of {access.array}")


def _tells_loops(relation: isl.Map, fragment: Fragment, loops: Collection[str]) -> bool:
    """Whether iterations that reach one element have the same values of some loops."""
    met = relation.apply_range(relation.reverse())
    alike = met
    for at, name in enumerate(fragment.statement.iterators):
        alike = alike.equate(isl.dim_type.in_, at, isl.dim_type.out, at) if name in loops else alike
    return bool(met.is_subset(alike))


def _linearised(fragment: Fragment, domain: isl.Set, unknown: Sequence[str],
                tables: Collection[str]) -> dict[str, tuple[Expr, ...]]:
    """Subscripts per dimension of what is written as one sum for several: `A[i * n + j]` of rows of n elements."""
    found = {}
    for access in fragment.statement.accesses:
        if len(access.subscripts) != access.relation.dim(isl.dim_type.out) and access.reference not in tables:
            told = subscripts_of(over(access.relation, fragment.sizes, unknown).intersect_domain(domain),
                                 fragment.statement.iterators)
            if told is None:   # `_prove_subscripts` has seen that it has this form
                raise NotGeneralError(f"{access.array} is addressed by one sum for several dimensions")
            found[access.reference] = told
    return found


def _moves_as(access: Access, fragment: Fragment, domain: isl.Set, unknown: Sequence[str],
              still: Collection[str]) -> bool:
    """Whether the relation has, for all sizes, the coefficients that were read at the sample sizes."""
    relation = over(access.relation, fragment.sizes, unknown).intersect_domain(domain)
    if not relation.is_single_valued():
        return False
    reached = isl.PwMultiAff.from_map(relation).gist(relation.domain()).coalesce()
    if not reached.isa_multi_aff():
        return False
    elements = reached.as_multi_aff()
    for at, index in enumerate(fragment.indices[access.reference]):
        aff, wanted = elements.get_aff(at), dict(index.coefficients)
        if _divides_iterators(aff) or not aff.get_denominator_val().is_one():
            return False
        for position, name in enumerate(fragment.statement.iterators):
            moved = int(aff.get_coefficient_val(isl.dim_type.in_, position).get_num_si())
            if name not in still and moved != wanted.get(name, 0):
                return False
    return True


def _divides_iterators(aff: isl.Aff) -> bool:
    """Whether it rounds a quotient that iterators change; `n / 2` of a size stands still."""
    used = [aff.get_div(at) for at in range(aff.dim(isl.dim_type.div))
            if not aff.get_coefficient_val(isl.dim_type.div, at).is_zero()]
    return any(_divides_iterators(div) or any(not div.get_coefficient_val(isl.dim_type.in_, at).is_zero()
                                              for at in range(div.dim(isl.dim_type.in_))) for div in used)


def _prove_order(match: Match, dependences: Dependences, context: isl.Set, unknown: Sequence[str]) -> None:
    """No dependence leads from the statement, or one behind it, back to it or ahead of it, at any size.

    Updates of one sum may change places where its order does not matter.
    """
    statement, sizes = match.fragment.statement, match.fragment.sizes
    results = {statement.access(r.target).array for r in match.fragment.results}
    itself = [p for p in dependences.pairs if p.source == p.sink == statement.name and p.array not in results]
    for pair in (*itself, *leading_back(match.fragment, dependences, sums=not match.ordered)):
        if not over(pair.relation, sizes, unknown).intersect_params(context).is_empty():
            raise NotGeneralError(f"{pair.source} and {pair.sink} {TIED} on {pair.array}")


def _prove_values(match: Match, loops: Sequence[SoftwareLoop], conditions: Conditions) -> None:
    """What operands are computed of iterators and sizes has their types; iterators may have to stay within a range."""
    fragment = match.fragment
    for operand, e in ((o, part) for o, held in match.assignment.operands for part in parts_of(held)):
        counted = {x.name for x in walk(e) if isinstance(x, IteratorRef | ParameterRef)}
        limited = bool(match.intrinsic.contraction.limits)
        if not counted or (not limited and fits(e, match.intrinsic.parsed.operand(operand).dtype, {})):
            continue
        if limited or any(isinstance(x, ParameterRef) for x in walk(e)):
            raise NotGeneralError(f"the values of operand {operand} depend on the sizes")
        for loop in (x for x in loops if x.name in counted):
            low, high = fragment.ranges[loop.name]
            conditions.require(f"{loop.lower} >= {low} && {loop.lower + loop.extent - 1} <= {high}")


def _prove_places(match: Match, dependences: Dependences, loops: tuple[SoftwareLoop, ...], lowers: Mapping[str, str],
                  domain: isl.Set, context: isl.Set, unknown: Sequence[str]) -> None:
    """Elements that instances share are one element at every size, and sums that keep their order keep it."""
    fragment, sizes = match.fragment, match.fragment.sizes
    relations = {a.reference: over(a.relation, sizes, unknown).intersect_domain(domain)
                 for a in fragment.statement.accesses}
    there = at_all_sizes(fragment, loops, domain, relations, lowers=lowers, unknown=unknown)
    own = [over(p.relation, sizes, unknown).intersect_params(context) for p in dependences.pairs
           if p.source == p.sink == fragment.statement.name]
    if why := several_elements(match, there) or changed_order(match, there, own):
        raise NotGeneralError(why)


def _prove_cleared(fragment: Fragment, name: str, domain: isl.Set, context: isl.Set, unknown: Sequence[str]) -> None:
    """The statement writes exactly the elements of the result, at every size."""
    statement, sizes = fragment.scop.statement(name), fragment.sizes
    there = over(statement.domain, sizes, unknown).intersect_params(context)
    cleared = [over(a.relation, sizes, unknown).intersect_domain(there).range() for a in statement.writes]
    target = fragment.statement.access(fragment.target)
    result = over(target.relation, sizes, unknown).intersect_domain(domain).range()
    if len(cleared) != 1 or not cleared[0].is_equal(result):
        raise NotGeneralError(f"{name} clears other elements than {fragment.statement.name} adds to, at some sizes")
