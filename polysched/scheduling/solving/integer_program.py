"""One exact type of integer program, and its solution by CP-SAT.

Bounded integer variables, sparse linear rows, disjunctions "some of these rows is not zero", and an
objective of tiers that are minimised lexicographically.  Consecutive tiers become one weighted objective as
long as the weights stay below 2^60; the objectives that remain are solved one after the other.

The result is a value: `Solved`, `Infeasible` or `OutOfBudget`.  One worker, a fixed seed and a limit in the
solver's deterministic time make a run repeatable on any machine.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias

from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.solving.cp_sat import cp_sat, new_model

Terms: TypeAlias = Mapping[int, int]
"""A sparse linear expression: coefficient by variable."""

WEIGHT_LIMIT = 1 << 60
SOLVER_LIMIT = 1 << 62
"""Of a sum; the solver computes with 64 bits."""


@dataclass(frozen=True)
class Solved:
    """An optimal solution: one value per variable."""

    values: tuple[int, ...]


@dataclass(frozen=True)
class Infeasible:
    """There is no solution."""


@dataclass(frozen=True)
class OutOfBudget:
    """The solver stopped at its limit without a proof; `deterministic_seconds` is the limit.

    Parameters
    ----------
    in_all : the limit is that of all programs of one schedule together.
    too_large : the program was not tried: its numbers are beyond the solver's.
    """

    deterministic_seconds: float
    in_all: bool = False
    too_large: bool = False

    def __str__(self) -> str:
        if self.too_large:
            return "numbers of more than the solver's 64 bits"
        return f"{self.deterministic_seconds:g} solver seconds{' for all programs of the schedule' * self.in_all}"


Outcome: TypeAlias = Solved | Infeasible | OutOfBudget


@dataclass
class IntegerProgram:
    """An integer program under construction.

    Parameters
    ----------
    bounds : least and largest value per variable.
    rows : `sum(terms) >= least`, or `== least` when the flag is set; no row twice.
    disjunctions : each a list of expressions of which at least one must not be zero.
    tiers : objective expressions, the most important first; each is minimised.
    """

    bounds: list[tuple[int, int]] = field(default_factory=list)
    rows: dict[tuple[tuple[tuple[int, int], ...], bool], int] = field(default_factory=dict)
    disjunctions: list[list[Terms]] = field(default_factory=list)
    tiers: list[Terms] = field(default_factory=list)
    feasible: bool = True

    def variable(self, least: int, largest: int) -> int:
        """A new variable."""
        self.bounds.append((least, largest))
        return len(self.bounds) - 1

    def variables(self, count: int, least: int, largest: int) -> list[int]:
        """Several new variables with the same bounds."""
        return [self.variable(least, largest) for _ in range(count)]

    def add_row(self, terms: Terms, least: int = 0, *, equal: bool = False) -> None:
        """Require `sum(terms) >= least`, or `== least`."""
        kept = tuple(sorted((v, c) for v, c in terms.items() if c))
        if not kept:
            self.feasible = self.feasible and (least == 0 if equal else least <= 0)
            return
        key = (kept, equal)
        known = self.rows.get(key)
        if known is not None and equal and known != least:
            self.feasible = False
        self.rows[key] = least if known is None else max(known, least)

    def add_some_nonzero(self, expressions: list[Terms]) -> None:
        """Require that at least one expression is not zero; a plain row when no sign can differ."""
        if all(self._never_negative(e) for e in expressions):
            total: dict[int, int] = {}
            for expression in expressions:
                for variable, coefficient in expression.items():
                    total[variable] = total.get(variable, 0) + coefficient
            self.add_row(total, 1)
        else:
            self.disjunctions.append(expressions)

    def range_of(self, terms: Terms) -> tuple[int, int]:
        """Least and largest value that the bounds alone allow."""
        ends = [(c * self.bounds[v][0], c * self.bounds[v][1]) for v, c in terms.items()]
        return sum(min(e) for e in ends), sum(max(e) for e in ends)

    def fits(self) -> bool:
        """Whether every sum of a row stays within what the solver adds."""
        sums = [self.range_of(dict(row)) for row, _ in self.rows]
        sums += [*self.bounds, *((least, least) for least in self.rows.values())]
        return all(-SOLVER_LIMIT < least and largest < SOLVER_LIMIT for least, largest in sums)

    def _never_negative(self, terms: Terms) -> bool:
        return self.range_of(terms)[0] >= 0


@dataclass
class SolveCount:
    """What the solver was asked so far; a scheduler keeps one and reports it.

    Parameters
    ----------
    solves, seconds : programs solved and wall time for them.
    variables, rows : of the largest one.
    deterministic_seconds : what they took in the solver's own, repeatable time.
    """

    solves: int = 0
    variables: int = 0
    rows: int = 0
    seconds: float = 0.0
    deterministic_seconds: float = 0.0

    def add(self, program: IntegerProgram, seconds: float, deterministic_seconds: float) -> None:
        self.solves += 1
        self.deterministic_seconds += deterministic_seconds
        self.variables = max(self.variables, len(program.bounds))
        self.rows = max(self.rows, len(program.rows))
        self.seconds += seconds


@dataclass
class _Limit:
    """Deterministic seconds that one program may take, and has taken."""

    seconds: float
    used: float = 0.0


def solve(program: IntegerProgram, *, deterministic_seconds: float = LIMITS.solver_seconds,
          count: SolveCount | None = None, in_all: float = math.inf) -> Outcome:
    """Solve exactly: the lexicographic optimum of the tiers, or the proof that there is no solution.

    Parameters
    ----------
    deterministic_seconds : limit of this program.
    count : what was asked before; this program is added to it.
    in_all : limit of everything in `count`, in deterministic seconds.
    """
    started = time.perf_counter()
    left = in_all - (count.deterministic_seconds if count is not None else 0.0)
    limit = _Limit(min(deterministic_seconds, left))
    try:
        if not program.feasible:
            return Infeasible()
        if not program.fits():
            return OutOfBudget(limit.seconds, too_large=True)
        outcome = OutOfBudget(limit.seconds) if left <= 0 else _solve_groups(program, _weighted_groups(program), limit)
        shared = isinstance(outcome, OutOfBudget) and left < deterministic_seconds
        return OutOfBudget(in_all, in_all=True) if shared else outcome
    finally:
        if count is not None:
            count.add(program, time.perf_counter() - started, limit.used)


def _weighted_groups(program: IntegerProgram) -> list[dict[int, int]]:
    """The tiers as few objectives: consecutive tiers share one whose order is their lexicographic order."""
    groups: list[dict[int, int]] = []
    weight, total = 1, dict[int, int]()
    for tier in reversed(program.tiers):
        least, largest = program.range_of(tier)
        if weight * (largest - least + 1) >= WEIGHT_LIMIT and total:
            groups.append(total)
            weight, total = 1, {}
        for variable, coefficient in tier.items():
            total[variable] = total.get(variable, 0) + weight * coefficient
        weight *= largest - least + 1
    return [*([total] if total else []), *reversed(groups)]


def _solve_groups(program: IntegerProgram, groups: list[dict[int, int]], limit: _Limit) -> Outcome:
    """Minimise the groups one after the other, each with the values of those before it fixed."""
    fixed: list[tuple[Terms, int]] = []
    outcome = _solve_one(program, groups[0] if groups else {}, fixed, limit)
    for done, objective in itertools.pairwise(groups):
        if not isinstance(outcome, Solved):
            break
        fixed.append((done, sum(c * outcome.values[v] for v, c in done.items())))
        outcome = _solve_one(program, objective, fixed, limit)
    return outcome


def _solve_one(program: IntegerProgram, objective: Terms, fixed: list[tuple[Terms, int]],
               limit: _Limit) -> Outcome:
    """One CP-SAT call; `fixed` holds the objectives that are already decided, with their values."""
    cp_model = cp_sat()
    model = new_model()
    variables = [model.new_int_var(least, largest, "") for least, largest in program.bounds]
    for (row, equal), least in program.rows.items():
        expression = _expression(cp_model, variables, dict(row))
        model.add(expression == least if equal else expression >= least)
    for terms, value in fixed:
        model.add(_expression(cp_model, variables, terms) == value)
    for expressions in program.disjunctions:
        choices = []
        for terms in expressions:
            up, down = model.new_bool_var(""), model.new_bool_var("")
            model.add(_expression(cp_model, variables, terms) >= 1).only_enforce_if(up)
            model.add(_expression(cp_model, variables, terms) <= -1).only_enforce_if(down)
            choices += [up, down]
        model.add_bool_or(choices)
    if objective:
        model.minimize(_expression(cp_model, variables, objective))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False  # else Ctrl-C ends the process without KeyboardInterrupt from then on
    solver.parameters.random_seed = 1
    solver.parameters.cp_model_presolve = False
    solver.parameters.max_deterministic_time = max(limit.seconds - limit.used, 0.0)
    status = solver.solve(model)
    limit.used += solver.response_proto.deterministic_time
    if status == cp_model.OPTIMAL or (status == cp_model.FEASIBLE and not objective):
        return Solved(tuple(int(solver.value(v)) for v in variables))
    if status == cp_model.INFEASIBLE:
        return Infeasible()
    return OutOfBudget(limit.seconds)


def _expression(cp_model: Any, variables: list[Any], terms: Terms) -> Any:
    return cp_model.LinearExpr.weighted_sum([variables[v] for v in terms], list(terms.values()))
