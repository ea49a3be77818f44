"""Nest: what the models know about one band: its loops' extents and its references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from functools import cached_property
from math import prod

import islpy as isl

from polysched.dependence.parameter_sizes import largest_parameters
from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import multi_union_pw_aff
from polysched.scop.assumptions import ASSUMED
from polysched.scop.body import Binary, BodyStatement, Call, Expr, Unary, assignments, statement_expressions, walk
from polysched.scop.budget import with_budget
from polysched.scop.points import fix_parameters, isl_value
from polysched.scop.scop import Scop
from polysched.tiling.footprints.box_shares import COUNTING_OPERATIONS, Instances
from polysched.tiling.footprints.point_count import point_count
from polysched.tiling.footprints.references import Reference, extent_of, nest_references
from polysched.tiling.limits import LIMITS
from polysched.tiling.tree.distribute import sets_of, statement_names
from polysched.tiling.tree.position import Position, branch, inside, is_independent
from polysched.tiling.tree.rows_in_step import row_lag

SMALL_SIZE = LIMITS.small_size
BOX = LIMITS.box_share


@dataclass(frozen=True, kw_only=True)
class Nest:
    """One band as the models see it.

    Parameters
    ----------
    loops : how the loops are called in explanations, outermost first.
    extents : iterations per loop (of the bounding box), at the assumed parameter values.
    references : what the statements touch.
    parameters : the parameter values assumed.
    deepest : the statements inside all loops; the models count these.
    row_independent : per loop, whether a row of one statement along it carries no dependence: lanes may share it.
    row_lags : per loop, how many columns rows along it have to be behind each other to go in step (`row_lag`, with
        the loop `around` them); not known where empty.
    operations : arithmetic operations of one instance of each of the deepest statements, added up.
    instructions : what these take, a product that is added to something being part of the addition.
    fixed : per loop, whether the extent holds for all parameter values.
    density : statement instances per point of the bounding box: a half for a triangle, two for two statements.
    small_density : the same at small sizes, where loops at an angle leave much of their box empty; None for `density`.
    expected : per loop, whether the extent holds for the parameter values that the user names, or arrays bound.
    free : per loop, whether it has the same iterations wherever the others are; not asked for in a box.
    constant : per loop, whether its values are the same for all parameter values for which it runs at all.
    counted : the instances themselves, where somebody wants to count what they touch.
    """

    loops: tuple[str, ...]
    extents: tuple[int, ...]
    references: tuple[Reference, ...]
    parameters: Mapping[str, int]
    deepest: tuple[str, ...] = ()
    row_independent: tuple[bool, ...] = ()
    row_lags: tuple[int | None, ...] = ()
    operations: int = 2
    instructions: int = 1
    fixed: tuple[bool, ...] = ()
    expected: tuple[bool, ...] = ()
    density: float = 1.0
    small_density: float | None = None
    free: tuple[bool, ...] = ()
    constant: tuple[bool, ...] = ()
    counted: Instances | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.fixed:
            object.__setattr__(self, "fixed", (False,) * len(self.loops))
        if not self.expected:
            object.__setattr__(self, "expected", self.fixed)
        if not self.row_independent:
            object.__setattr__(self, "row_independent", (False,) * len(self.loops))

    @property
    def element_bytes(self) -> int:
        """Of the widest elements: they decide how many lanes a vector has."""
        return max((r.element_bytes for r in self.references), default=8)

    @property
    def depth(self) -> int:
        return len(self.loops)

    def around(self, innermost: int) -> int:
        """The loop around the innermost one: the last of the others, at least where an order by hand says no other."""
        return _around(innermost, self.depth)

    @property
    def is_box(self) -> bool:
        """The instances fill the bounding box, but for a statement or two that run once."""
        return (self.density if self.small_density is None else self.small_density) > BOX

    def is_straight(self, *loops: int) -> bool:
        """Whether blocks of these loops are whole but for the last one of each."""
        return self.is_box or (bool(self.free) and all(self.free[loop] for loop in loops))

    @property
    def instances(self) -> int:
        """Iterations of the bounding box."""
        return prod(self.extents)

    @cached_property
    def one_by_one(self) -> tuple[Nest, ...]:
        """Each of the deepest statements with what it alone touches; the nest itself where it has one statement."""
        known = self.counted
        if len(self.deepest) < 2 or known is None:
            return (self,)
        return tuple(replace(self, deepest=(name,), density=1.0, references=nest_references(
            known.scop, (name,), known.path, self.parameters, first=known.first)) for name in self.deepest)

    @cached_property
    def touched_alike(self) -> frozenset[object]:
        """What tells traffic apart: how many references of each form there are, and whether they write."""
        return frozenset(Counter((r.form, r.writes) for r in self.references).items())


def nest_of(scop: Scop, position: Position, members: tuple[isl.UnionPwAff, ...],
            parameters: Mapping[str, int], named: Collection[str] = ()) -> Nest:
    """Describe the loops `members` that stand at a position.

    Parameters
    ----------
    named : the parameters whose values the user names, or arrays bound.
    """
    path = (*position.path, *members)
    names = tuple(statement_names(position.domain))
    depth = max(scop.statement(name).depth for name in names)
    small = {name: min(value, SMALL_SIZE) for name, value in parameters.items()}
    filled = _density(position.domain, path, depth, small)
    independent = tuple(_row_is_independent(position, members, k) for k in range(len(members)))
    sizes = [sizes_of(position.domain, member) for member in members]
    return Nest(loops=tuple(_loop_name(scop, names, member) for member in members),
                extents=tuple(extent_along(position.domain, member, parameters) for member in members),
                references=nest_references(scop, names, path, parameters, first=len(position.path)),
                counted=Instances(scop=scop, domain=position.domain, path=path, first=len(position.path),
                                  parameters=parameters),
                density=_density(position.domain, path, depth, parameters), small_density=filled,
                free=free_loops(position.domain, path, len(members)) if filled <= BOX else (),
                constant=tuple(not sizes_of(position.domain, member, where_it_runs=True) for member in members),
                parameters=parameters, deepest=tuple(n for n in names if scop.statement(n).depth == depth),
                row_independent=independent, row_lags=_row_lags(position, members, independent),
                operations=sum(operation_count(scop.statement(n).body) for n in names
                               if scop.statement(n).depth == depth),
                instructions=sum(instruction_count(scop.statement(n).body) for n in names
                                 if scop.statement(n).depth == depth),
                fixed=tuple(not names for names in sizes), expected=tuple(names <= {*named} for names in sizes))


def _row_is_independent(position: Position, members: tuple[isl.UnionPwAff, ...], loop: int) -> bool:
    for part in sets_of(position.domain):
        alone = branch(position, isl.UnionSet.from_set(isl.Set.universe(part.get_space())))
        for other, member in enumerate(members):
            if other != loop:
                alone = inside(alone, member)
        if not is_independent(alone, members[loop]):
            return False
    return True


def _row_lags(position: Position, members: tuple[isl.UnionPwAff, ...],
              independent: tuple[bool, ...]) -> tuple[int | None, ...]:
    depth = len(members)
    return tuple(None if independent[k] or depth == 1 else row_lag(position, members, _around(k, depth), k)
                 for k in range(depth))


def _around(innermost: int, depth: int) -> int:
    return depth - 1 if innermost < depth - 1 else depth - 2


def operation_count(body: tuple[BodyStatement, ...]) -> int:
    """Arithmetic operators and calls of one execution of a body."""
    counted = sum(isinstance(e, Binary | Unary | Call) for top in statement_expressions(body) for e in walk(top))
    return counted + sum(a.op is not None for a in assignments(body))


def instruction_count(body: tuple[BodyStatement, ...]) -> int:
    """As `operation_count`, where a product that is added to something takes no instruction of its own."""
    fused = sum(_takes_a_product(e.op, (e.left, e.right)) for top in statement_expressions(body) for e in walk(top)
                if isinstance(e, Binary))
    return operation_count(body) - fused - sum(_takes_a_product(a.op, (a.value,)) for a in assignments(body))


def _takes_a_product(operator: str | None, operands: tuple[Expr, ...]) -> bool:
    return operator in ("+", "-") and any(isinstance(e, Binary) and e.op == "*" for e in operands)


def assumed_parameters(scop: Scop, given: Mapping[str, int]) -> dict[str, int]:
    """A value for every parameter: as given, else the largest that arrays of constant extents admit, else typical.

    Each is one that the context allows.  Programs whose arrays have sizes of their own mostly fill them.
    """
    context = scop.context
    given = {**largest_parameters(scop), **given}
    values: dict[str, int] = {}
    names = [parameter.name for parameter in scop.parameters]
    for name in sorted(names, key=lambda n: n not in given):
        at = context.find_dim_by_name(isl.dim_type.param, name)
        if at < 0:
            values[name] = given.get(name, ASSUMED.typical_size)
            continue
        wanted = given.get(name, ASSUMED.typical_size)
        fixed = _fix(context, at, wanted)
        if fixed.is_empty():
            wanted = _nearest(context, at, wanted)
            fixed = _fix(context, at, wanted)
        values[name], context = wanted, fixed
    return values


def _fix(context: isl.Set, at: int, value: int) -> isl.Set:
    return context.fix_val(isl.dim_type.param, at, isl_value(value))


def _nearest(context: isl.Set, at: int, wanted: int) -> int:
    """A value near the wanted one that some point of the context has."""
    line = context.params()
    for other in reversed([i for i in range(line.dim(isl.dim_type.param)) if i != at]):
        line = line.project_out(isl.dim_type.param, other, 1)
    line = line.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, 1)
    for bound in (line.dim_max_val(0), line.dim_min_val(0)):
        if bound.is_int() and abs(int(bound.to_python()) - wanted) < 1 << 40:
            return int(bound.to_python())
    return int(line.sample_point().get_coordinate_val(isl.dim_type.set, 0).to_python())


def extent_along(domain: isl.UnionSet, member: isl.UnionPwAff, parameters: Mapping[str, int]) -> int:
    """How far apart the values of a loop are at most, and one; of one that never runs one."""
    values = isl.UnionMap.from_union_pw_aff(member).intersect_domain(domain).range()
    if values.is_empty():
        return 1
    return extent_of(fix_parameters(isl.Set.from_union_set(values), parameters), 0)


def _density(domain: isl.UnionSet, path: tuple[isl.UnionPwAff, ...], depth: int,
             parameters: Mapping[str, int]) -> float:
    """Statement instances of full depth per point of the loops' bounding box.

    Of loops at an angle (`t + i`), few time steps beside long rows fill much more of their box than equal extents do.
    """
    def share() -> float:
        counts = [point_count(fix_parameters(part, parameters)) for part in sets_of(domain)
                  if part.dim(isl.dim_type.set) == depth]
        box = prod(extent_along(domain, member, parameters) for member in path)
        return sum(counts) / box if any(counts) else 1.0

    counted = with_budget(COUNTING_OPERATIONS, share)
    return 1.0 if counted is None else counted


def free_loops(domain: isl.UnionSet, path: tuple[isl.UnionPwAff, ...], count: int) -> tuple[bool, ...]:
    """Per loop of the last `count`, whether all instances are its own values times those of the other loops.

    Loops at an angle inside a box (`c` and `2c + r`) are not free, those around them are.
    """
    parts = sets_of(domain)
    if len(parts) != 1:
        return (False,) * count

    def asked() -> tuple[bool, ...]:
        place = isl.Map.from_union_map(isl.UnionMap.from_multi_union_pw_aff(multi_union_pw_aff(path)).intersect_domain(
            isl.UnionSet.from_set(parts[0]))).range()
        return tuple(_is_free(place, loop) for loop in range(len(path) - count, len(path)))

    return with_budget(COUNTING_OPERATIONS, asked) or (False,) * count


def _is_free(place: isl.Set, loop: int) -> bool:
    dims = isl.dim_type.set
    others = place.project_out(dims, loop, 1).insert_dims(dims, loop, 1)
    own = place.project_out(dims, loop + 1, place.dim(dims) - loop - 1).project_out(dims, 0, loop)
    own = own.insert_dims(dims, 0, loop).insert_dims(dims, loop + 1, place.dim(dims) - loop - 1)
    return bool(others.reset_tuple_id().intersect(own.reset_tuple_id()).is_equal(place.reset_tuple_id()))


def sizes_of(domain: isl.UnionSet, member: isl.UnionPwAff, *, where_it_runs: bool = False) -> set[str]:
    """The parameters on which the extent of the loop depends.

    Parameters
    ----------
    where_it_runs : do not count whether it has any iterations at all.
    """
    values = isl.UnionMap.from_union_pw_aff(member).intersect_domain(domain).range().get_set_list()
    sets = [values.get_at(index) for index in range(values.n_set())]
    if where_it_runs:
        sets = [s.gist_params(s.params()) for s in sets]
    return {name for s in sets for i in range(s.dim(isl.dim_type.param)) if s.involves_dims(isl.dim_type.param, i, 1)
            if (name := s.get_dim_name(isl.dim_type.param, i)) is not None}


def _loop_name(scop: Scop, names: tuple[str, ...], member: isl.UnionPwAff) -> str:
    """The function of the deepest statement, for instance `i` or `t + i`."""
    deepest = max(names, key=lambda name: scop.statement(name).depth)
    space = scop.statement(deepest).domain.get_space()
    pieces = member.intersect_domain_space(space).get_pw_aff_list()
    if pieces.n_pw_aff() == 0:
        return "0"
    return str(pieces.get_at(0)).rsplit("->", 1)[-1].split(":", 1)[0].strip(" {}[]()")
