"""What every automatic scheduler starts from: statement spaces and active dependences with their cones."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from weakref import WeakKeyDictionary

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.dependence.legality import Active, all_active
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.solving.farkas import Cone, cones, without_divs
from polysched.scheduling.solving.rows import Edge, StatementRow, StatementSpace
from polysched.scop.assumptions import ASSUMED
from polysched.scop.budget import with_budget
from polysched.scop.points import isl_value
from polysched.scop.scop import Scop, Statement

CONE_OPERATIONS = LIMITS.cone_operations

CONE_SECONDS = LIMITS.cone_seconds


_KNOWN_CONES: WeakKeyDictionary[Dependences, dict[str, tuple[Cone, ...]]] = WeakKeyDictionary()
"""Cones by the text of their relation: the schedulers of one program, and the steps of one, ask for the same ones."""


@dataclass(eq=False)
class ConeCount:
    """What the cones of one program have cost, and how many relations got simpler supersets for lack of budget."""

    seconds: float = 0.0
    simplified: int = 0

    @property
    def operations(self) -> int:
        """The budget of the next relation."""
        return CONE_OPERATIONS if self.seconds < CONE_SECONDS else CONE_OPERATIONS // 10


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """A scheduling problem.

    Parameters
    ----------
    dependences : what has to be respected.
    spaces : statement spaces by name, in textual order.
    inputs : input dependences that should be kept short; empty unless asked for.
    cone_count : shared by everything that schedules this problem.
    unbounded_context : the context without upper limits of single parameters.  With a limit such as the
        largest int a constant would bound any distance, and growth with a parameter would look free.
    """

    dependences: Dependences
    spaces: Mapping[str, StatementSpace]
    unbounded_context: isl.Set
    inputs: tuple[Active, ...] = ()
    cone_count: ConeCount = field(default_factory=ConeCount)

    @property
    def scop(self) -> Scop:
        return self.dependences.scop

    def edges(self, active: Iterable[Active]) -> tuple[Edge, ...]:
        """Active dependences as edges; equal ones once."""
        found: dict[Edge, None] = {}
        for part in active:
            pair = part.dependence
            edge = Edge(source=pair.source, sink=pair.sink, ordered=part.ordered,
                        cones=self._cones_within_budget(part.relation))
            found[edge] = None
        return tuple(found)

    def _cones_within_budget(self, relation: isl.Map) -> tuple[Cone, ...]:
        """The cones of a relation, or of ever simpler supersets of it when isl's elimination runs away.

        A superset only forbids more schedules.  The last one is everything, for which only equal rows are legal.
        """
        known = _KNOWN_CONES.setdefault(self.dependences, {})
        key = str(relation)
        if key in known:
            return known[key]
        started = time.thread_time()
        operations = self.cone_count.operations
        found = with_budget(operations, lambda: self._cones(without_divs(relation)))
        if found is not None:
            known[key] = found
        else:
            self.cone_count.simplified += 1
            found = with_budget(operations, lambda: self._cones(
                isl.Map.from_basic_map(relation.remove_divs().simple_hull())))
        self.cone_count.seconds += time.thread_time() - started
        return found if found is not None else self._cones(isl.Map.universe(relation.get_space()))

    def _cones(self, relation: isl.Map) -> tuple[Cone, ...]:
        relation = relation.gist_params(self.scop.context).intersect_params(self.unbounded_context)
        return cones(relation, self.scop.context.get_space())


def make_problem(dependences: Dependences, *, input_dependences: bool = False, weighed: bool = False) -> Problem:
    """Collect the spaces of the statements; the input dependences and the weights of iterators on request."""
    inputs = tuple(Active(dependence=d, relation=d.relation, ordered=False) for d in dependences.pairs
                   if d.kind is DependenceKind.INPUT) if input_dependences else ()
    if input_dependences and not inputs and not dependences.inputs:
        raise UsageError("the scheduler shall use input dependences, but none were computed",
                         hint="analyse(scop, inputs=True)")
    scop = dependences.scop
    unbounded = without_upper_limits(scop.context)
    return Problem(dependences=dependences, inputs=inputs, unbounded_context=unbounded,
                   spaces={s.name: _space(scop, s, unbounded, weighed=weighed) for s in scop.statements})


def without_upper_limits(context: isl.Set) -> isl.Set:
    """The context without the constraints `parameter <= constant`; a superset of it."""
    result = isl.Set.empty(context.get_space())
    for basic in context.get_basic_sets():
        kept = isl.BasicSet.universe(context.get_space())
        for constraint in basic.get_constraints():
            used = [constraint.get_coefficient_val(isl.dim_type.param, i)
                    for i in range(context.dim(isl.dim_type.param))]
            used = [value for value in used if not value.is_zero()]
            limit = len(used) == 1 and used[0].is_neg() and not constraint.is_equality()
            if not limit and not constraint.is_div_constraint():
                kept = kept.add_constraint(constraint)
        result = result.union(isl.Set.from_basic_set(kept))
    return result


def initial_active(problem: Problem) -> list[Active]:
    """Everything that has to be ordered, at the root."""
    return all_active(problem.dependences)


def _space(scop: Scop, statement: Statement, unbounded: isl.Set, *, weighed: bool) -> StatementSpace:
    domain = statement.domain.gist_params(scop.context).intersect_params(unbounded)
    domain = domain.align_params(scop.context.get_space())
    constants, parameters = [0], [0]
    for basic in domain.get_basic_sets():
        for constraint in basic.get_constraints():
            constants.append(abs(int(constraint.get_constant_val().to_python())))
            for position in range(domain.dim(isl.dim_type.param)):
                value = constraint.get_coefficient_val(isl.dim_type.param, position)
                parameters.append(abs(int(value.to_python())))
    return StatementSpace(name=statement.name, domain=domain, equalities=_equalities(domain),
                          contiguous=_contiguous(statement) if weighed else (),
                          vectorizable=_vectorizable(statement) if weighed else (),
                          smaller=_smaller(domain) if weighed else (),
                          largest_constant=max(constants), largest_parameter=max(parameters))


def _contiguous(statement: Statement) -> tuple[int, ...]:
    """Per iterator the number of accesses whose last subscript moves by one element with it."""
    counts = [0] * statement.depth
    for access in statement.accesses:
        dimensions = access.relation.dim(isl.dim_type.out)
        if not dimensions or not access.exact or not access.relation.is_single_valued():
            continue
        pieces = access.relation.as_pw_multi_aff().get_at(dimensions - 1).get_pieces()
        for k in range(statement.depth):
            steps = [piece.get_coefficient_val(isl.dim_type.in_, k) for _, piece in pieces]
            counts[k] += all(step.is_one() or step.is_negone() for step in steps)
    return tuple(counts)


def _vectorizable(statement: Statement) -> tuple[int, ...]:
    """Per iterator 1 when lanes along it meet neighbouring elements or one and the same, in every access."""
    contiguous = [0] * statement.depth
    possible = [1] * statement.depth
    for access in statement.accesses:
        if not access.exact or not access.relation.is_single_valued():
            return (0,) * statement.depth
        subscripts = access.relation.as_pw_multi_aff()
        rank = access.relation.dim(isl.dim_type.out)
        for k in range(statement.depth):
            steps = [[piece.get_coefficient_val(isl.dim_type.in_, k) for _, piece in subscripts.get_at(d).get_pieces()]
                     for d in range(rank)]
            still = all(step.is_zero() for own in steps[:-1] for step in own)
            last = steps[-1] if steps else []
            possible[k] &= still and all(step.is_zero() or step.is_one() or step.is_negone() for step in last)
            contiguous[k] |= any(not step.is_zero() for step in last)
    return tuple(int(bool(p and c)) for p, c in zip(possible, contiguous, strict=True))


def at_large_size(values: isl.Set) -> isl.Set:
    """The set with every parameter at the typical size."""
    for k in range(values.dim(isl.dim_type.param)):
        values = values.fix_val(isl.dim_type.param, k, isl_value(ASSUMED.typical_size))
    return values


def _smaller(domain: isl.Set) -> tuple[int, ...]:
    """Per iterator how many of the other loops are longer, with every parameter at one large size."""
    domain = at_large_size(domain)
    depth = domain.dim(isl.dim_type.set)
    if domain.is_empty() or not domain.is_bounded():
        return (0,) * depth
    lengths = [int(domain.dim_max_val(k).sub(domain.dim_min_val(k)).to_python()) for k in range(depth)]
    return tuple(sum(other > length for other in lengths) for length in lengths)


def _equalities(domain: isl.Set) -> tuple[tuple[int, ...], ...]:
    """Iterator parts of the equations of the affine hull that hold without existential variables."""
    hull = domain.affine_hull()
    depth = hull.dim(isl.dim_type.set)
    found = []
    for constraint in hull.get_constraints():
        if not constraint.is_equality() or constraint.is_div_constraint():
            continue
        if any(not constraint.get_coefficient_val(isl.dim_type.div, i).is_zero()
               for i in range(constraint.dim(isl.dim_type.div))):
            continue
        found.append(tuple(int(constraint.get_coefficient_val(isl.dim_type.set, i).to_python())
                           for i in range(depth)))
    return tuple(row for row in found if any(row))


def band_values(problem: Problem, rows: Sequence[Mapping[str, StatementRow]]) -> isl.MultiUnionPwAff:
    """The partial schedule of a band: one member per row."""
    members = isl.UnionPwAffList.alloc(isl.DEFAULT_CONTEXT, len(rows))
    for row in rows:
        member = isl.UnionPwAff.empty_ctx(isl.DEFAULT_CONTEXT)
        for name, values in row.items():
            member = member.union_add(isl.UnionPwAff.from_pw_aff(row_value(problem.spaces[name], values)))
        members = members.add(member)
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(rows))
    return isl.MultiUnionPwAff.from_union_pw_aff_list(space, members)


def row_value(space: StatementSpace, row: StatementRow) -> isl.PwAff:
    """One statement row as a function on the statement's instances."""
    value = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space.domain.get_space()))
    for kind, coefficients in ((isl.dim_type.in_, row.iterators), (isl.dim_type.param, row.parameters)):
        for position, coefficient in enumerate(coefficients):
            if coefficient:
                value = value.set_coefficient_val(kind, position, coefficient)
    return isl.PwAff.from_aff(value.set_constant_val(row.constant))
