"""Loops around which ranks exchange values: the fewest steps after which every value has arrived where it is read.

A step is an affine function of an instance.  Within a step a rank runs its instances in the order of the program; what
others read is sent at the step's end.  So no dependence may run backwards, and a value that one rank passes to another
must be read in a later step.  Where one function cannot do that, further ones stand inside it, as in Feautrier's
multidimensional schedules: each takes care of as many dependences between ranks as it can.

Source: P. Feautrier, "Some efficient solutions to the affine scheduling problem, part II", IJPP 21(6), 1992.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.legality import Active
from polysched.distribute.limits import LIMITS
from polysched.errors import IllegalScheduleError
from polysched.records import dataclass
from polysched.scheduling.solving.farkas import Cone
from polysched.scheduling.solving.integer_program import IntegerProgram, Solved, solve
from polysched.scheduling.solving.problem import Problem, make_problem
from polysched.scop.scop import Statement

Step = Mapping[str, isl.Aff]
"""Per statement its step, a function of its iterators and the parameters."""

STEP = "polysched_step"


def step_names(steps: Sequence[Step]) -> tuple[str, ...]:
    """The parameters that say which step it is, outermost loop first."""
    return tuple(f"{STEP}{at}" for at in range(len(steps)))


@dataclass(frozen=True, eq=False)
class Part:
    """A convex part of a dependence.

    Parameters
    ----------
    crosses : a loop shall order it: source and sink run on different ranks, and a value passes.
    """

    dependence: Dependence
    relation: isl.Map
    crosses: bool = False


def find_steps(dependences: Dependences, owners: Mapping[str, isl.Map]) -> tuple[Step, ...]:
    """The loops of steps, outermost first; none where no value passes between ranks.

    Parameters
    ----------
    owners : `{ S[i, j] -> [a] }` per statement: instances of different coordinates may run on different ranks.

    Raises
    ------
    IllegalScheduleError : values pass between ranks in a way that no such loops order.
    """
    problem = make_problem(dependences)
    left = [part for pair in dependences.pairs if pair.kind is not DependenceKind.INPUT
            for part in _parts(pair, owners)]
    steps: list[Step] = []
    while crossing := [part for part in left if part.crosses]:
        step = _best_step(problem, left) if len(steps) < LIMITS.most_dimensions else None
        if step is None:   # a loop that orders nothing between ranks may have to stand around one that does
            anything = [replace(part, crosses=True) for part in left]
            step = _best_step(problem, anything) if len(steps) < LIMITS.most_dimensions else None
        if step is None:
            raise _refusal(dependences, crossing[0])
        steps.append(step)
        left = [part for part in (_at_the_same(step, part) for part in left) if part is not None]
    return tuple(steps)


def _parts(pair: Dependence, owners: Mapping[str, isl.Map]) -> list[Part]:
    """The dependence as it is; of values also, on their own, those that pass to lower and to higher coordinates."""
    found = [Part(pair, pair.relation)]
    if pair.kind is not DependenceKind.FLOW:
        return found
    for order in ("<", ">"):
        apart = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [a] -> [b] : a {order} b }}")
        between = owners[pair.source].apply_range(apart).apply_range(owners[pair.sink].reverse())
        crossing = pair.relation.intersect(between).coalesce()
        found += [Part(pair, isl.Map.from_basic_map(b), crosses=True) for b in crossing.get_basic_maps()
                  if not b.is_empty()]
    return found


def _at_the_same(step: Step, part: Part) -> Part | None:
    """What a loop of steps leaves unordered of a dependence."""
    source, sink = (isl.Map.from_aff(step[name]) for name in (part.dependence.source, part.dependence.sink))
    together = source.apply_range(sink.reverse())
    relation = part.relation.intersect(together)
    return None if relation.is_empty() else Part(part.dependence, relation, part.crosses)


class _Program:
    """The integer program of one loop: coefficients per statement, and whether a crossing part is ordered by it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.program = IntegerProgram()
        self.parameters = problem.scop.context.dim(isl.dim_type.param)
        most = LIMITS.largest_coefficient
        self.iterators: dict[str, list[tuple[int, int]]] = {}
        self.sizes: dict[str, list[int]] = {}
        self.shifts: dict[str, int] = {}
        for statement in problem.scop.statements:
            self.iterators[statement.name] = [(self.program.variable(0, most), self.program.variable(0, most))
                                              for _ in range(statement.depth)]
            self.sizes[statement.name] = self.program.variables(self.parameters, 0, 1)
            self.shifts[statement.name] = self.program.variable(0, LIMITS.largest_shift)

    def require(self, part: Part, cone: Cone) -> int | None:
        """The sink's step is not before the source's, and behind it where the variable that comes back is 1."""
        ordered = self.program.variable(0, 1) if part.crosses else None
        source, sink = part.dependence.source, part.dependence.sink
        for row in cone:
            terms: dict[int, int] = {}

            def add(variable: int, factor: int, terms: dict[int, int] = terms) -> None:
                terms[variable] = terms.get(variable, 0) + factor

            add(self.shifts[sink], row.constant)
            add(self.shifts[source], -row.constant)
            if ordered is not None:
                add(ordered, -row.constant)
            for at, factor in enumerate(row.parameters):
                add(self.sizes[sink][at], factor)
                add(self.sizes[source][at], -factor)
            for at, factor in enumerate(row.source):
                up, down = self.iterators[source][at]
                add(up, -factor)
                add(down, factor)
            for at, factor in enumerate(row.sink):
                up, down = self.iterators[sink][at]
                add(up, factor)
                add(down, -factor)
            self.program.add_row(terms, equal=row.equal)
        return ordered

    def step(self, statement: Statement, values: Sequence[int]) -> isl.Aff:
        """The function that was found for a statement."""
        domain = statement.domain.align_params(self.problem.scop.context.get_space())
        found = isl.Aff.val_on_domain(isl.LocalSpace.from_space(domain.get_space()),
                                      isl.Val(values[self.shifts[statement.name]]))
        for at, variable in enumerate(self.sizes[statement.name]):
            found = found.set_coefficient_val(isl.dim_type.param, at, isl.Val(values[variable]))
        for at, (up, down) in enumerate(self.iterators[statement.name]):
            found = found.set_coefficient_val(isl.dim_type.in_, at, isl.Val(values[up] - values[down]))
        return found


def _best_step(problem: Problem, parts: Sequence[Part]) -> Step | None:
    """The function that orders the most crossing parts; None where it orders none."""
    made = _Program(problem)
    ordered = []
    for part in parts:
        (edge,) = problem.edges([Active(dependence=part.dependence, relation=part.relation)])
        for cone in edge.cones:
            if (variable := made.require(part, cone)) is not None:
                ordered.append(variable)
    program = made.program
    program.tiers = [
        dict.fromkeys(ordered, -1),
        {v: 1 for sizes in made.sizes.values() for v in sizes},
        {v: 1 for own in made.iterators.values() for pair in own for v in pair} | {
            down: 2 for own in made.iterators.values() for _, down in own},
        dict.fromkeys(made.shifts.values(), 1)]
    outcome = solve(program, deterministic_seconds=LIMITS.solver_seconds)
    if not isinstance(outcome, Solved) or not any(outcome.values[v] for v in ordered):
        return None
    return {s.name: made.step(s, outcome.values) for s in problem.scop.statements}


def _refusal(dependences: Dependences, part: Part) -> IllegalScheduleError:
    pair = part.dependence
    return IllegalScheduleError(
        f"the value of {pair.array} that {pair.source} passes to {pair.sink} on another rank fits no step",
        where=dependences.scop.name, witness=str(part.relation.intersect_params(dependences.scop.context).sample()),
        hint="distribute another loop; `polysched deps --blocks LOOP` lists what ties its iterations together")
