"""A strategy against the program that it is for: names that exist, and wishes that no schedule can fulfil."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NoReturn

import islpy as isl

from polysched.dependence.legality import Active, backward, member_values, witness_of
from polysched.errors import UsageError
from polysched.scheduling.solving.problem import Problem, band_values
from polysched.scheduling.solving.rows import Group, coefficients
from polysched.scheduling.strategy import Strategy
from polysched.scop.scop import Scop


def require_known_names(scop: Scop, strategy: Strategy) -> None:
    """Refuse statements, iterators and parameters that the program lacks.

    Raises
    ------
    UsageError : with the names that there are.
    """
    known = {s.name for s in scop.statements}
    if unknown := strategy.statements() - known:
        raise UsageError(f"the strategy names a statement {sorted(unknown)[0]!r} that the program lacks",
                         where=scop.name, hint=f"it has {', '.join(sorted(known))}")
    for name, iterator in strategy.vectorize.items():
        _require_iterators(scop, name, (iterator,), f"{scop.name}, vectorize")
    for name, weights in strategy.weights.items():
        _require_iterators(scop, name, weights, f"{scop.name}, weights")
    space = scop.context.get_space()
    parameters = [str(space.get_dim_name(isl.dim_type.param, k)) for k in range(space.dim(isl.dim_type.param))]
    for position, dimension in enumerate(strategy.dimensions):
        where = f"{scop.name}, dimension {position}"
        for name, row in dimension.rows.items():
            _require_iterators(scop, name, row, where, others=(*parameters, "1"))
        for name, directions in dimension.forbidden.items():
            for direction in directions:
                _require_iterators(scop, name, direction, where)


def _require_iterators(scop: Scop, statement: str, names: Iterable[str], where: str,
                       others: Sequence[str] = ()) -> None:
    iterators = scop.statement(statement).iterators
    for name in names:
        if name not in (*iterators, *others):
            raise UsageError(f"{statement} has no iterator{' or parameter' if others else ''} {name!r}", where=where,
                             hint=f"it has {', '.join((*iterators, *others)) or 'none'}")


def require_separable(scop: Scop, strategy: Strategy, components: Iterable[Sequence[str]],
                      order: Sequence[tuple[str, str]]) -> None:
    """Refuse `apart` for statements that every schedule runs in a common loop: they depend on each other both ways.

    Raises
    ------
    UsageError : with the circle of dependences.
    """
    for component in components:
        for group in strategy.apart:
            for one, other in combinations([n for n in group if n in component], 2):
                circle = [*_path(order, one, other), *_path(order, other, one)[1:]]
                raise UsageError(f"{one} and {other} cannot be apart: each depends on the other", where=scop.name,
                                 witness=" -> ".join(circle), hint="a primitive can distribute loops further inside")


def _path(order: Sequence[tuple[str, str]], start: str, end: str) -> list[str]:
    """The statements on a shortest way along the dependences."""
    before = {start: ""}
    waiting = [start]
    while end not in before:
        here = waiting.pop(0)
        for source, sink in order:
            if source == here and sink not in before:
                before[sink] = here
                waiting.append(sink)
    found = [end]
    while found[-1] != start:
        found.append(before[found[-1]])
    return found[::-1]


def refuse_rows(problem: Problem, group: Group, active: Iterable[Active]) -> NoReturn:
    """There is no row for a group because of the rows that the strategy gives or forbids.

    Raises
    ------
    UsageError : with one pair of instances that the given rows run in the wrong order, where there is one.
    """
    where = f"{problem.scop.name}, dimension {group.depth}"
    wanted = group.strategy.at(group.depth)
    if not group.given:
        forbidden = {s.name: [dict(d) for d in wanted.forbidden[s.name]] for s in group.statements
                     if s.name in wanted.forbidden}
        raise UsageError(f"no row is left for {', '.join(forbidden)} at dimension {group.depth} beside the forbidden "
                         "directions", where=where, witness=str(forbidden), hint="forbid fewer directions")
    rows = {s.name: coefficients(s, wanted.rows[s.name]) for s in group.statements if s.name in group.given}
    values = member_values(band_values(problem, [rows]), 0)
    wrong = next((replace(part, relation=pairs) for part in active
                  if part.ordered and {part.dependence.source, part.dependence.sink} <= set(rows)
                  and not (pairs := backward(part, values)).is_empty()), None)
    raise UsageError(
        f"the rows given for {', '.join(group.given)} at dimension {group.depth} are not legal there", where=where,
        witness=None if wrong is None else str(witness_of(wrong, "the rows run the later instance first")),
        hint="give rows to every statement that they depend on, or leave them to the scheduler")


def unused_rows(strategy: Strategy, dimensions: Mapping[str, set[int]]) -> list[str]:
    """What the strategy gives and nothing asked for, in words: rows for dimensions that a statement does not have.

    Parameters
    ----------
    dimensions : the dimensions at which each statement got a row.
    """
    return [f"the row given for {name} at dimension {position} was not used: {name} has rows at "
            f"{', '.join(map(str, sorted(dimensions.get(name, ())))) or 'no dimension'} only"
            for position, dimension in enumerate(strategy.dimensions) for name in dimension.rows
            if position not in dimensions.get(name, ())]
