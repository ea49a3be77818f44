"""Strategies: a scheduler configured per dimension, as a Python value or a JSON file.

A strategy says which cost functions decide a row, in order, which rows are given or forbidden, and which
statements stay together or apart.  The named schedulers are strategies too (`STRATEGIES`).

    {"dimensions": [{"cost": ["contiguity", "proximity"]},
                    {"cost": ["proximity"], "rows": {"S1": {"j": 1}}}],
     "fusion": "smart", "together": [["S0", "S1"]], "vectorize": {"S1": "j"}}

The costs of the last entry of `dimensions` hold for all further ones.  Cost functions, each minimised:

    proximity        growth and size of dependence distances (Pluto)
    feautrier        dependences not carried by the row (Feautrier)
    parallel         groups of statements whose row carries a dependence: parallel loops go outward
    parallel-inner   dependences that the row does not carry: parallel loops go inward, the band stays permutable
    contiguity       use of iterators that walk an innermost array dimension: they go inward
    vectorization    use of iterators along which every access stays or moves by one element: they go inward
    big-loops-first  use of iterators of small loops: they go inward
    weights          the user's own cost per statement and iterator, from `weights`

Source: Consolaro, Cohen et al., "PolyTOPS: reconfigurable and flexible polyhedral scheduler", CGO 2024.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from itertools import combinations
from typing import Any, NoReturn, TypeVar

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.options import FUSION_POLICIES

Wish = TypeVar("Wish")

COSTS = ("proximity", "feautrier", "parallel", "parallel-inner", "contiguity", "vectorization", "big-loops-first",
         "weights")

LARGEST = LIMITS.largest_strategy_number


def _refuse(problem: str, value: object, hint: str | None = None) -> NoReturn:
    raise UsageError(problem, witness=repr(value)[:60], hint=hint)


def _names(value: Any, problem: str) -> tuple[str, ...]:
    if not _is_list(value) or not all(isinstance(name, str) for name in value):
        _refuse(problem, value)
    return tuple(value)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _by_name(value: Any, name: str, form: str) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(entry, str) for entry in value):
        _refuse(f"{name} gives {form}", value)
    return dict(value)


def _numbers(value: Any, what: str, *, least: int = -LARGEST) -> dict[str, int]:
    """Integers by name, within the limits."""
    numbers = _by_name(value, what, "a number per name")
    for name, number in numbers.items():
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= LARGEST:
            _refuse(f"{what} has an integer from {least} to {LARGEST} for {name!r}", number)
    return numbers


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """What holds for one schedule dimension.

    Parameters
    ----------
    cost : cost functions, the most important first.
    rows : given rows: per statement the coefficient per iterator or parameter, and of the constant as `1`;
        what is not named is 0.
    forbidden : directions that must not be chosen, in any multiple, per statement: the coefficients per iterator.

    Raises
    ------
    UsageError : a field has a value of another form.
    """

    cost: tuple[str, ...] = ("proximity",)
    rows: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    forbidden: Mapping[str, tuple[Mapping[str, int], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _names(self.cost, "cost is a list of cost functions"):
            if name not in COSTS:
                raise UsageError(f"no cost function {name!r}", hint=f"one of {', '.join(COSTS)}")
        for statement, row in _by_name(self.rows, "rows", "per statement a row").items():
            _numbers(row, f"the row for {statement}")
        forbidden = _by_name(self.forbidden, "forbidden", "per statement a list of directions")
        for statement, directions in forbidden.items():
            if not _is_list(directions):
                _refuse(f"forbidden for {statement} is a list of directions", directions, 'for instance [{"i": 1}]')
            for direction in directions:
                if not any(_numbers(direction, f"a forbidden direction of {statement}").values()):
                    _refuse(f"a forbidden direction of {statement} has a coefficient that is not 0", direction)


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """How a schedule is to be found.

    Parameters
    ----------
    dimensions : per schedule dimension, outermost first; the last one's costs hold for all further ones.
    fusion : fusion policy; None leaves it to the options.
    together : statements that share a band from the outermost dimension on.
    apart : statements that share no band.
    vectorize : per statement the iterator that should come last.
    weights : per statement the cost of a unit of each iterator, 0 or more, for the cost function `weights`.

    Raises
    ------
    UsageError : a field has a value of another form, or two of them contradict each other.
    """

    dimensions: tuple[Dimension, ...] = (Dimension(),)
    fusion: str | None = None
    together: tuple[tuple[str, ...], ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()
    vectorize: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.dimensions:
            raise UsageError("a strategy needs at least one dimension")
        if self.fusion is not None and self.fusion not in FUSION_POLICIES:
            raise UsageError(f"no fusion policy {self.fusion!r}", hint=f"one of {', '.join(FUSION_POLICIES)}")
        for name, groups in (("together", self.together), ("apart", self.apart)):
            if not _is_list(groups):
                _refuse(f"{name} is a list of groups of statements", groups, 'for instance [["S0", "S1"]]')
            for group in groups:
                if len(set(_names(group, f"a group of {name} is a list of statements"))) < 2:
                    _refuse(f"a group of {name} has two statements or more", group)
        for statement, iterator in _by_name(self.vectorize, "vectorize", "per statement an iterator").items():
            if not isinstance(iterator, str):
                _refuse(f"vectorize names one iterator of {statement}", iterator)
        for statement, weights in _by_name(self.weights, "weights", "per statement a weight per iterator").items():
            _numbers(weights, f"the weights of {statement}", least=0)
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        joined: list[set[str]] = []
        for group in self.together:
            meeting = [other for other in joined if other & set(group)]
            joined = [*(other for other in joined if other not in meeting), set(group).union(*meeting)]
        for group in self.apart:
            for one, other in combinations(group, 2):
                if one != other and any({one, other} <= set(names) for names in joined):
                    _refuse(f"{one} and {other} are wanted together and apart", [one, other])
        asked = any("weights" in dimension.cost for dimension in self.dimensions)
        if asked and not self.weights:
            raise UsageError("a dimension has the cost function 'weights', and no weights are given",
                             hint='for instance "weights": {"S0": {"i": 2}}')
        if self.weights and not asked:
            raise UsageError("weights are given, and no dimension has the cost function 'weights'",
                             hint='for instance "dimensions": [{"cost": ["weights", "proximity"]}]')

    def at(self, depth: int) -> Dimension:
        """What holds for the dimension at this depth, from 0; given and forbidden rows hold for one only."""
        if depth < len(self.dimensions):
            return self.dimensions[depth]
        return Dimension(cost=self.dimensions[-1].cost)

    def statements(self) -> set[str]:
        """Every statement that the strategy names."""
        named = {s for group in (*self.together, *self.apart) for s in group}
        for dimension in self.dimensions:
            named |= set(dimension.rows) | set(dimension.forbidden)
        return named | set(self.vectorize) | set(self.weights)

    def for_parts(self, parts: Mapping[str, Sequence[str]]) -> Strategy:
        """The same wishes for a program whose statements are cut into parts (`index_sets`).

        Parts of one statement stay free to be apart from, or together with, each other unless their statement is
        named in `together`.
        """
        def each(wishes: Mapping[str, Wish]) -> dict[str, Wish]:
            return {part: wish for name, wish in wishes.items() for part in parts[name]}

        return replace(
            self, dimensions=tuple(replace(d, rows=each(d.rows), forbidden=each(d.forbidden)) for d in self.dimensions),
            together=tuple(tuple(part for name in group for part in parts[name]) for group in self.together),
            apart=tuple((first, second) for group in self.apart for a, b in combinations(group, 2)
                        for first in parts[a] for second in parts[b]),
            vectorize=each(self.vectorize), weights=each(self.weights))

    @classmethod
    def from_json(cls, text: str) -> Strategy:
        """Read a strategy file.

        Raises
        ------
        UsageError : it is no JSON, or has an unknown field, cost function or policy.
        """
        try:
            value = json.loads(text, object_pairs_hook=_once)
        except ValueError as error:
            raise UsageError("the strategy is no JSON", witness=str(error)) from error
        known = _fields(cls, value, "strategy")
        dimensions = known.pop("dimensions", ({},))
        if not isinstance(dimensions, tuple):
            raise UsageError("a strategy's dimensions are a list", witness=json.dumps(dimensions)[:60])
        made = []
        for position, entry in enumerate(dimensions):
            try:
                made.append(Dimension(**_fields(Dimension, entry, "dimension")))
            except UsageError as error:
                raise UsageError(error.problem, where=f"dimension {position}", witness=error.witness, hint=error.hint
                                 ) from None
        return cls(dimensions=tuple(made), **known)


STRATEGIES: dict[str, Strategy] = {
    "pluto": Strategy(),
    "feautrier": Strategy(dimensions=(Dimension(cost=("feautrier", "proximity")),)),
    "contiguous": Strategy(dimensions=(Dimension(cost=("contiguity", "proximity")),)),
    "big-loops-first": Strategy(dimensions=(Dimension(cost=("big-loops-first", "proximity")),)),
    "vector-loops-inward": Strategy(dimensions=(Dimension(cost=("vectorization", "proximity")),)),
    "parallel-loops-inward": Strategy(dimensions=(Dimension(cost=("parallel-inner", "proximity")),)),
}
"""Strategies by name; `pluto` and `feautrier` give the schedules of the schedulers of those names."""


def _fields(kind: type, value: Any, what: str) -> dict[str, Any]:
    """The object's entries, all of them fields of `kind`, with tuples for its lists."""
    if not isinstance(value, dict):
        raise UsageError(f"a {what} is a JSON object", witness=json.dumps(value)[:60])
    known = [f.name for f in fields(kind)]
    for name in value:
        if name not in known:
            raise UsageError(f"a {what} has no field {name!r}", hint=f"its fields are {', '.join(known)}")
    return {name: _with_tuples(entry) for name, entry in value.items()}


def _with_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_tuples(entry) for name, entry in value.items()}
    return tuple(_with_tuples(entry) for entry in value) if isinstance(value, list) else value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of a name that stands there twice, neither value would be meant."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(f"the strategy has {name!r} twice in one object", witness=f"{found[name]!r} and {value!r}")
        found[name] = value
    return found
