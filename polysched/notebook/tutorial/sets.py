"""Questions about iteration domains: which instances a statement has, and how many."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

import islpy as isl

from polysched.errors import UsageError
from polysched.measure.programs.point_count import count_points
from polysched.notebook.tutorial.answers import Verdict, as_number, as_text, right, sizes_text, wrong
from polysched.records import dataclass
from polysched.scop.points import fix_parameters, points_of
from polysched.scop.scop import Scop

NEAR = range(-3, 20)
"""Coordinates of points that are looked for first."""
SHOWN_POINTS = 12
TRIED_SIZES = (1, 2, 3, 4, 7, 50)


@dataclass(frozen=True, eq=False, kw_only=True)
class DomainOf:
    """Which instances does a statement have?  The answer is a set in isl's notation."""

    scop: Scop
    statement: str = "S0"

    @property
    def expects(self) -> str:
        """A set."""
        return f"a set in isl's notation, {self._example()}"

    def _example(self) -> str:
        iterators = ", ".join(self.scop.statement(self.statement).iterators)
        return f'"[{", ".join(p.name for p in self.scop.parameters)}] -> {{ {self.statement}[{iterators}] : ... }}"'

    def judge(self, answer: object) -> Verdict:
        """By isl: nothing is in one of the two sets alone."""
        domain = self.scop.statement(self.statement).domain.intersect_params(self.scop.context)
        given = read_set(answer, self._example())
        require_parameters(given, self.scop)
        if given.get_tuple_name() != self.statement or given.dim(isl.dim_type.set) != domain.dim(isl.dim_type.set):
            return wrong("these points are no instances of the statement", f"write {self._example()}")
        given = given.intersect_params(self.scop.context)
        for points, problem in ((domain.subtract(given), "is an instance of the loops, and not in your set"),
                                (given.subtract(domain), "is in your set, and no instance of the loops")):
            if not points.is_empty():
                sizes, at = first_point(points)
                return wrong(f"{self.statement}[{', '.join(map(str, at))}] {problem}{sizes_text(sizes.items())}",
                             "put its numbers into the conditions of the loops")
        return right("isl finds no point that is in one of the two sets alone")


@dataclass(frozen=True, eq=False, kw_only=True)
class CountOf:
    """How many instances does a statement have at these sizes?  The answer is a number."""

    scop: Scop
    sizes: Mapping[str, int]
    statement: str = "S0"

    expects = "a whole number"

    def judge(self, answer: object) -> Verdict:
        """By counting the points of the domain."""
        given, domain = as_number(answer), self.scop.statement(self.statement).domain
        found = count_points(fix_parameters(domain, self.sizes))
        if given == found:
            return right(f"{found} points{sizes_text(self.sizes.items())}")
        small = {name: min(value, 3) for name, value in self.sizes.items()}
        points = sorted(points_of(fix_parameters(domain, small)))
        shown = ", ".join(map(str, points[:SHOWN_POINTS])) + (", ..." if len(points) > SHOWN_POINTS else "")
        return wrong(f"{given} is too {'many' if given > found else 'few'}",
                     f"count row by row;{sizes_text(small.items())} the points are {shown}: {len(points)}")


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaOf:
    """How many instances does a statement have at any size?  The answer is a function of the sizes."""

    scop: Scop
    statement: str = "S0"

    @property
    def expects(self) -> str:
        """A function."""
        names = ", ".join(p.name for p in self.scop.parameters)
        return f"a function, lambda {names}: ..."

    def judge(self, answer: object) -> Verdict:
        """By calling it at several sizes, and counting the points at each."""
        names = [p.name for p in self.scop.parameters]
        if not callable(answer):
            raise UsageError("the answer should be a function", witness=f"it is {answer!r}"[:80],
                             hint=f"for instance lambda {', '.join(names)}: {names[0]} * {names[0]}")
        try:
            inspect.signature(answer).bind(*names)
        except TypeError:
            raise UsageError(f"the function should take {', '.join(names)}") from None
        domain = self.scop.statement(self.statement).domain
        tried: list[int] = []
        for first in TRIED_SIZES:
            sizes = {name: first + 2 * at for at, name in enumerate(names)}
            if fix_parameters(self.scop.context, sizes).is_empty():
                continue
            given, found = answer(*sizes.values()), count_points(fix_parameters(domain, sizes))
            if isinstance(given, bool) or not isinstance(given, int | float) or given != found:
                return wrong(f"{given!r} is not the number of instances{sizes_text(sizes.items())}",
                             f"there are {found}" + (f", and {tried[-1]} before" if tried else ""))
            tried.append(found)
        return right(f"counted at {len(tried)} sizes: {', '.join(map(str, tried))}")


def read_set(answer: object, example: str) -> isl.Set:
    """A set that somebody typed.

    Raises
    ------
    UsageError : it is none.
    """
    if isinstance(answer, isl.Set):
        return answer
    text = as_text(answer, example)
    try:
        return isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)
    except isl.Error:
        raise UsageError("isl cannot read this as a set", witness=text[:80], hint=f"write {example}") from None


def require_parameters(given: isl.Set | isl.UnionMap, scop: Scop) -> None:
    """Refuse a parameter that the program does not have.

    Raises
    ------
    UsageError : there is one.
    """
    known = {p.name for p in scop.parameters}
    space = given.get_space()
    for at in range(space.dim(isl.dim_type.param)):
        if (name := space.get_dim_name(isl.dim_type.param, at)) not in known:
            raise UsageError(f"{name} is no parameter of this program", hint=f"it has {', '.join(sorted(known))}")


def first_point(points: isl.Set) -> tuple[dict[str, int], tuple[int, ...]]:
    """The least point of a set at the least sizes near zero; any where there is none near.

    Returns
    -------
    The sizes by name, and the coordinates.
    """
    names = [str(points.get_dim_name(isl.dim_type.param, at)) for at in range(points.dim(isl.dim_type.param))]
    moved = points.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, len(names)) if names else points
    near = moved
    for at in range(moved.dim(isl.dim_type.set)):
        near = near.lower_bound_val(isl.dim_type.set, at, isl.Val(NEAR[0])).upper_bound_val(
            isl.dim_type.set, at, isl.Val(NEAR[-1]))
    point = (moved if near.is_empty() else near.lexmin()).sample_point()
    values = [int(point.get_coordinate_val(isl.dim_type.set, at).to_python())
              for at in range(moved.dim(isl.dim_type.set))]
    return dict(zip(names, values, strict=False)), tuple(values[len(names):])
