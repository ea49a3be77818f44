"""One row of an affine schedule: the integer program that finds it.

For every statement S the row is phi_S(s) = c_S.s + d_S.n + e_S.  Every active dependence s -> t gives
phi_T(t) - phi_S(s) >= 0 (legality) and phi_T(t) - phi_S(s) <= u.n + w (bounding), both by Farkas' lemma.
Minimised lexicographically: sum of u, sum of w, sum of |c|, outer iterators first, parametric shifts, shifts.
Each component of a fused group has its own u and w, and so has what runs between components.

Source: Bondhugula, Hartono, Ramanujam, Sadayappan, "A practical automatic polyhedral parallelizer and
locality optimizer", PLDI 2008; Bondhugula, Acharya, Cohen, "The Pluto+ algorithm", TOPLAS 38(3), 2016.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import islpy as isl

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.options import SchedulerOptions
from polysched.scheduling.solving.farkas import Cone, ConeRow
from polysched.scheduling.solving.integer_program import (
    Infeasible,
    IntegerProgram,
    OutOfBudget,
    SolveCount,
    Solved,
    solve,
)
from polysched.scheduling.solving.linear_algebra import null_space
from polysched.scheduling.strategy import Strategy


@dataclass(frozen=True, eq=False, kw_only=True)
class StatementSpace:
    """What the integer program needs to know about a statement.

    Parameters
    ----------
    name : the statement.
    domain : its domain within the context, parameters aligned with the context.
    equalities : iterator parts of the equations that hold on the domain; directions that need no row.
    contiguous : per iterator, how many accesses walk an innermost array dimension with it.
    vectorizable : per iterator, 1 when every access stays or moves by one element with it.
    smaller : per iterator, how many loops of the statement are longer.
    largest_constant, largest_parameter : the largest absolute constant and parameter coefficient among the
        domain's constraints, from which the bounds on w and u follow.
    """

    name: str
    domain: isl.Set
    equalities: tuple[tuple[int, ...], ...]
    largest_constant: int
    largest_parameter: int
    contiguous: tuple[int, ...] = ()
    vectorizable: tuple[int, ...] = ()
    smaller: tuple[int, ...] = ()

    @property
    def depth(self) -> int:
        return int(self.domain.dim(isl.dim_type.set))

    @property
    def parameter_count(self) -> int:
        return int(self.domain.dim(isl.dim_type.param))


@dataclass(frozen=True)
class StatementRow:
    """phi(s) = iterators.s + parameters.n + constant."""

    iterators: tuple[int, ...]
    parameters: tuple[int, ...]
    constant: int


@dataclass(frozen=True, kw_only=True)
class Edge:
    """A dependence as the integer program sees it.

    Parameters
    ----------
    source, sink : statements.
    cones : one per basic map of the relation.
    ordered : legality holds for it; otherwise only closeness is wanted (input dependences).
    """

    source: str
    sink: str
    cones: tuple[Cone, ...]
    ordered: bool = True


@dataclass(frozen=True)
class RowMode:
    """Which rung of the ladder: the coefficients that may be used and what is minimised.

    Parameters
    ----------
    name : for the report.
    negative : iterator coefficients and shifts may be negative.
    parametric : shifts by parameters are allowed.
    bounded : the distance bound is minimised.
    carry : Feautrier's objective instead: satisfy strongly as many dependences as possible.
    """

    name: str
    negative: bool = False
    parametric: bool = False
    bounded: bool = True
    carry: bool = False


OUTER_FIRST = LIMITS.outer_first

NON_NEGATIVE = RowMode("non-negative coefficients")
REVERSING = RowMode("negative coefficients", negative=True)
NEGATIVE = RowMode("negative coefficients and parametric shifts", negative=True, parametric=True)
UNBOUNDED = RowMode("no bound on distances", negative=True, parametric=True, bounded=False)
FEAUTRIER = RowMode("Feautrier", negative=True, parametric=True, carry=True)

NO_BOUND = (1 << 64, 0)
"""The cost of distances that nobody has bounded: more than any bound that the solver finds."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row for every statement of a group.

    Parameters
    ----------
    of : the statement rows by name.
    costs : (sum of u, w) per component of the group, and between components at the end; `NO_BOUND` inside every
        component where the mode bounds no distance.
    """

    of: Mapping[str, StatementRow]
    costs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Group:
    """The statements that get a common row.

    Parameters
    ----------
    statements : their spaces, in textual order.
    components : the strongly connected components, by names.
    edges : the active dependences between them.
    found : per statement the iterator parts of the rows found so far.
    fixed : rows of further statements that edges touch, already decided.
    above : the rows of the same band found so far.
    strategy : what the user wants of the schedule; `depth` is the dimension that the row is for.
    """

    statements: tuple[StatementSpace, ...]
    components: tuple[tuple[str, ...], ...]
    edges: tuple[Edge, ...]
    found: Mapping[str, tuple[tuple[int, ...], ...]]
    fixed: Mapping[str, StatementRow] = field(default_factory=dict)
    above: tuple[Row, ...] = ()
    strategy: Strategy = field(default_factory=Strategy)
    depth: int = 0

    @property
    def given(self) -> tuple[str, ...]:
        """The statements whose row the strategy gives."""
        return tuple(s.name for s in self.statements if s.name in self.strategy.at(self.depth).rows)

    @property
    def wishes(self) -> bool:
        """Whether the strategy gives or forbids rows here."""
        here = self.strategy.at(self.depth)
        return any(s.name in here.rows or s.name in here.forbidden for s in self.statements)


def coefficients(space: StatementSpace, values: Mapping[str, int]) -> StatementRow:
    """A row from coefficients by name; the constant is named `1`.

    Raises
    ------
    UsageError : a name is neither an iterator of the statement nor a parameter.
    """
    domain = space.domain
    iterators = [domain.get_dim_name(isl.dim_type.set, i) for i in range(space.depth)]
    parameters = [domain.get_dim_name(isl.dim_type.param, i) for i in range(space.parameter_count)]
    for name in values:
        if name not in (*iterators, *parameters, "1"):
            raise UsageError(f"{space.name} has no iterator or parameter {name!r}",
                             hint=f"it has {', '.join(str(n) for n in (*iterators, *parameters))}")
    return StatementRow(tuple(values.get(str(n), 0) for n in iterators),
                        tuple(values.get(str(n), 0) for n in parameters), values.get("1", 0))


def missing_directions(space: StatementSpace, found: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """A basis of the directions in which a statement has no row yet; empty when its rank is full."""
    return null_space((*space.equalities, *found), space.depth)


def find_row(group: Group, mode: RowMode, options: SchedulerOptions, count: SolveCount
             ) -> Row | Infeasible | OutOfBudget:
    """Find the best row for a group in one mode."""
    return _RowProgram(group, mode, options).solve(count)


class _RowProgram:
    """The variables of one row problem and the rows over them."""

    def __init__(self, group: Group, mode: RowMode, options: SchedulerOptions) -> None:
        self.group, self.mode, self.options = group, mode, options
        self.program = IntegerProgram()
        self.iterators: dict[str, list[int]] = {}
        self.parameters: dict[str, list[int]] = {}
        self.constant: dict[str, int] = {}
        self.parameter_count = group.statements[0].parameter_count
        self.wanted = group.strategy.at(group.depth)
        self.unit = self.program.variable(1, 1)   # carries what fixed rows contribute
        for space in group.statements:
            self._add_statement(space)
        self.component_of = {name: k for k, names in enumerate(group.components) for name in names}
        self.component_of.update(dict.fromkeys(group.fixed, -1))
        self.bounds = self._add_bounds() if mode.bounded or mode.carry else []
        carry = mode.carry or "parallel-inner" in self.wanted.cost
        self.carried = [self.program.variable(0, 1) if carry and e.ordered and not any(
            _carries(row, e) for row in group.above) else None for e in group.edges]
        for edge, flag in zip(group.edges, self.carried, strict=True):
            self._add_edge(edge, flag)
        self._set_objective()

    def solve(self, count: SolveCount) -> Row | Infeasible | OutOfBudget:
        outcome = solve(self.program, deterministic_seconds=self.options.solver_seconds, count=count,
                        in_all=self.options.all_solver_seconds)
        if not isinstance(outcome, Solved):
            return outcome
        value = outcome.values
        if self.mode.carry and not any(value[f] for f in self.carried if f is not None):
            return Infeasible()
        rows = {s.name: StatementRow(tuple(value[v] for v in self.iterators[s.name]),
                                     tuple(value[v] for v in self.parameters[s.name]),
                                     value[self.constant[s.name]]) for s in self.group.statements}
        return Row(of=rows, costs=self._row_costs(value))

    def _row_costs(self, value: Sequence[int]) -> tuple[tuple[int, int], ...]:
        if not self.bounds:   # a mode for single components: nothing lies between them
            return (*(NO_BOUND for _ in self.group.components), (0, 0))
        return tuple((sum(value[v] for v in u), value[w] if w >= 0 else 0) for u, w in self.bounds)

    def _add_statement(self, space: StatementSpace) -> None:
        given = self.wanted.rows.get(space.name)
        if given is not None:
            self._add_given_row(space, given)
            return
        most, shift = self.options.max_coefficient, self.options.shift_limit
        low = -1 if self.mode.negative else 0
        self.iterators[space.name] = self.program.variables(space.depth, low * most, most)
        reach = most if self.mode.parametric else 0
        self.parameters[space.name] = self.program.variables(self.parameter_count, -reach, reach)
        self.constant[space.name] = self.program.variable(low * shift, shift)
        directions = missing_directions(space, self.group.found[space.name])
        if directions and not self.mode.carry:
            own = self.iterators[space.name]
            self.program.add_some_nonzero([dict(zip(own, d, strict=True)) for d in directions])
        for forbidden in self.wanted.forbidden.get(space.name, ()):
            others = null_space((coefficients(space, forbidden).iterators,), space.depth)
            own = self.iterators[space.name]
            self.program.add_some_nonzero([dict(zip(own, d, strict=True)) for d in others])

    def _add_given_row(self, space: StatementSpace, given: Mapping[str, int]) -> None:
        row = coefficients(space, given)
        self.iterators[space.name] = [self.program.variable(v, v) for v in row.iterators]
        self.parameters[space.name] = [self.program.variable(v, v) for v in row.parameters]
        self.constant[space.name] = self.program.variable(row.constant, row.constant)

    def _add_bounds(self) -> list[tuple[list[int], int]]:
        """u and w per component and, last, between components; their limits follow from the domains."""
        most, shift = self.options.max_coefficient, self.options.shift_limit
        depth = max((s.depth for s in self.group.statements), default=0)
        reach = 2 * most * max(depth, 1)
        u_limit = reach * max(1, max(s.largest_parameter for s in self.group.statements)) + 2 * most
        w_limit = reach * (1 + max(s.largest_constant for s in self.group.statements)) + 2 * shift
        used = {self._bound_index(e) for e in self.group.edges}
        none: list[int] = []
        return [(self.program.variables(self.parameter_count, 0, u_limit), self.program.variable(0, w_limit))
                if k in used else (none, -1) for k in range(len(self.group.components) + 1)]

    def _bound_index(self, edge: Edge) -> int:
        source, sink = self.component_of[edge.source], self.component_of[edge.sink]
        return source if source == sink else len(self.group.components)

    def _add_edge(self, edge: Edge, carried: int | None) -> None:
        for cone in edge.cones:
            for row in cone:
                difference = self._difference(edge, row)
                if edge.ordered:
                    terms = dict(difference)
                    if carried is not None:
                        terms[carried] = -row.constant
                    self.program.add_row(terms, equal=row.equal)
                if self.bounds:
                    self._add_bound(row, difference, self.bounds[self._bound_index(edge)],
                                    both_signs=not edge.ordered)

    def _difference(self, edge: Edge, row: ConeRow) -> dict[int, int]:
        """A cone row applied to phi_T(t) - phi_S(s)."""
        terms: dict[int, int] = {}

        def add(variable: int, coefficient: int) -> None:
            if coefficient:
                terms[variable] = terms.get(variable, 0) + coefficient

        for name, sign, parts in ((edge.sink, 1, row.sink), (edge.source, -1, row.source)):
            if (fixed := self.group.fixed.get(name)) is not None:
                add(self.unit, sign * (row.constant * fixed.constant + _dot(row.parameters, fixed.parameters)
                                       + _dot(parts, fixed.iterators)))
                continue
            add(self.constant[name], sign * row.constant)
            for variable, coefficient in zip(self.parameters[name], row.parameters, strict=True):
                add(variable, sign * coefficient)
            for variable, coefficient in zip(self.iterators[name], parts, strict=True):
                add(variable, sign * coefficient)
        return terms

    def _add_bound(self, row: ConeRow, difference: dict[int, int], bound: tuple[list[int], int], *,
                   both_signs: bool) -> None:
        """The same cone row applied to u.n + w - (phi_T(t) - phi_S(s)), and to the sum if asked for."""
        for sign in (-1, 1) if both_signs else (-1,):
            terms = {v: sign * c for v, c in difference.items()}
            for variable, coefficient in zip(bound[0], row.parameters, strict=True):
                terms[variable] = coefficient
            terms[bound[1]] = row.constant
            self.program.add_row(terms, equal=row.equal)

    def _set_objective(self) -> None:
        shifts = [v for own in self.parameters.values() for v in own]
        names = tuple(dict.fromkeys((*(("feautrier",) if self.mode.carry else ()), *self.wanted.cost, "proximity")))
        tiers = [self._vector_costs(), *(tier for name in names for tier in self._costs(name)),
                 self._size_costs(dict.fromkeys(shifts, 1)),
                 self._size_costs({v: OUTER_FIRST + k for own in self.iterators.values() for k, v in enumerate(own)}),
                 self._size_costs(dict.fromkeys(self.constant.values(), 1))]
        self.program.tiers = [tier for tier in tiers if tier]

    def _costs(self, name: str) -> list[dict[int, int]]:
        """The objective tiers of one cost function."""
        match name:
            case "feautrier" | "parallel-inner":
                return [{f: -1 for f in self.carried if f is not None}]
            case "parallel":
                return [self._carrying_groups()]
            case "contiguity":
                return [self._iterator_costs({s.name: s.contiguous for s in self.group.statements})]
            case "vectorization":
                return [self._iterator_costs({s.name: s.vectorizable for s in self.group.statements})]
            case "big-loops-first":
                return [self._iterator_costs({s.name: s.smaller for s in self.group.statements})]
            case "weights":
                weights = self.group.strategy.weights
                return [self._iterator_costs({s.name: coefficients(s, weights.get(s.name, {})).iterators
                                              for s in self.group.statements})]
            case _:
                return [{v: 1 for u, _ in self.bounds for v in u}, {w: 1 for _, w in self.bounds if w >= 0}]

    def _iterator_costs(self, weights: Mapping[str, tuple[int, ...]]) -> dict[int, int]:
        return {self._absolute(v): weight for name, own in weights.items()
                for v, weight in zip(self.iterators[name], own, strict=True) if weight}

    def _carrying_groups(self) -> dict[int, int]:
        """One flag per bound, set where the bound is not zero."""
        flags: dict[int, int] = {}
        for u, w in self.bounds:
            if w < 0:
                continue
            flag = self.program.variable(0, 1)
            for variable in (*u, w):
                self.program.add_row({flag: self.program.bounds[variable][1], variable: -1})
            flags[flag] = 1
        return flags

    def _vector_costs(self) -> dict[int, int]:
        """Use of the iterator that should be the vector loop, while the statement has other directions left."""
        costs = {}
        for space in self.group.statements:
            wanted = self.group.strategy.vectorize.get(space.name)
            if wanted is not None and len(missing_directions(space, self.group.found[space.name])) > 1:
                row = coefficients(space, {wanted: 1}).iterators
                costs.update({self._absolute(v): c for v, c in zip(self.iterators[space.name], row, strict=True) if c})
        return costs

    def _size_costs(self, weights: Mapping[int, int]) -> dict[int, int]:
        """Weighted absolute values; of two values of equal size the positive one is the cheaper."""
        costs: dict[int, int] = {}
        for variable, weight in weights.items():
            size = self._absolute(variable)
            if size == variable:
                costs[variable] = 2 * weight - 1
            else:
                costs[size], costs[variable] = 2 * weight, -1
        return costs

    def _absolute(self, variable: int) -> int:
        """A variable that is at least the absolute value; the objective makes it equal."""
        least, largest = self.program.bounds[variable]
        if least >= 0:
            return variable
        size = self.program.variable(0, max(-least, largest))
        self.program.add_row({size: 1, variable: -1})
        self.program.add_row({size: 1, variable: 1})
        return size


def _carries(row: Row, edge: Edge) -> bool:
    """Whether a row advances by one or more along every instance of a dependence."""
    source, sink = row.of[edge.source], row.of[edge.sink]
    for cone in edge.cones:
        for r in cone:
            distance = (r.constant * (sink.constant - source.constant - 1) + _dot(r.sink, sink.iterators)
                        + _dot(r.parameters, sink.parameters) - _dot(r.parameters, source.parameters)
                        - _dot(r.source, source.iterators))
            if distance < 0 or (r.equal and distance):
                return False
    return True


def _dot(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))
