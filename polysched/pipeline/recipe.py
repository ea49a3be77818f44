"""Recipe: every choice about one region that a search may make, as a value that is stored and applied."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, field, fields, is_dataclass, replace
from functools import cache, cached_property
from typing import Any, Literal, NoReturn

from polysched.errors import UsageError
from polysched.pipeline.limits import LIMITS
from polysched.pipeline.options import BEST, PipelineOptions
from polysched.records import dataclass, shortened, whole
from polysched.scheduling.primitives.step import LARGEST, Step
from polysched.scheduling.primitives.stored import step_from_json
from polysched.scheduling.strategy import Strategy
from polysched.tensorize.instruction_choice import InstructionChoice
from polysched.tensorize.options import DEFAULT, NONE, TensorizeOptions
from polysched.tiling.options import BandOptions, TilingOptions

FORMAT = "polysched recipe 1"
NO_NAMES = frozenset({"step", "name", "tiling"})
"""Fields of a step that name nothing of the program."""
OF_STRATEGY = frozenset({"dimensions", "cost", "rows", "forbidden", "weights", "vectorize", "together", "apart",
                         "fusion"})
"""Names of fields, which are none of the program's."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Every choice about one region that a search may make; what it leaves out, the models choose.

    It is data: names out of closed lists, numbers, and names of the program.  `apply_recipe` makes options of it, and
    every check of the pipeline holds for what comes of them.

    Parameters
    ----------
    scheduler, strategy, fusion, split_index_sets, concurrent_start : of the schedule, as `PipelineOptions` has them.
    steps : by hand, on the schedule, before it is tiled.
    tile : of all bands that `bands` does not name.
    bands : the choices for single bands, by their number in pre-order behind the steps.
    split_tiles, diamond, parallel_degrees : forms of tiles over time, of all bands.
    vector_bits : width of the vectors; None is that of the options.
    instruction : which instruction computes statements: `default`, `auto`, `none`, or a name.
    instructions : of single statements, by their names: the instruction, its mapping, and its plan.
    collapse, expand : as `PipelineOptions` has them.
    flags : of the compiler, out of `PipelineOptions`' closed list.

    Raises
    ------
    UsageError : a value that no room has.
    """

    scheduler: str = "pluto"
    strategy: Strategy | None = None
    fusion: str = "smart"
    split_index_sets: bool = False
    concurrent_start: int = 0
    steps: tuple[Step, ...] = ()
    tile: int | tuple[int, ...] | Literal["auto", "off"] = "auto"
    bands: Mapping[int, BandOptions] = field(default_factory=dict)
    split_tiles: bool | None = None
    diamond: bool = False
    parallel_degrees: int = 1
    vector_bits: int | None = None
    instruction: str = DEFAULT
    instructions: Mapping[str, InstructionChoice] = field(default_factory=dict)
    collapse: bool = True
    expand: bool = True
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "bands", dict(sorted(self.bands.items())))
        object.__setattr__(self, "instructions", dict(sorted(self.instructions.items())))
        _check(self)

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.text == other.text

    @cached_property
    def text(self) -> str:
        """The recipe as one line of JSON, the same for equal recipes."""
        return json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))

    def with_band(self, number: int, choices: BandOptions) -> Recipe:
        """The recipe with the choices for one band added to those that it has."""
        before = self.bands.get(number, BandOptions())
        given: dict[str, Any] = choices.given()
        return replace(self, bands={**self.bands, number: replace(before, **given)})

    def to_json(self) -> dict[str, Any]:
        """What differs from the models' choice, as JSON values."""
        value: dict[str, Any] = {"format": FORMAT}
        for own in fields(self):
            chosen = getattr(self, own.name)
            default = own.default_factory() if own.default_factory is not MISSING else own.default
            if chosen != default:
                value[own.name] = _as_json(chosen)
        return value

    @classmethod
    def from_json(cls, value: object) -> Recipe:
        """The recipe that `to_json` wrote.

        Raises
        ------
        UsageError : it is no recipe, or has a value that no room has.
        """
        if not isinstance(value, Mapping) or value.get("format") != FORMAT:
            raise UsageError("this is no recipe", witness=repr(value)[:60], hint=f"its format would be {FORMAT!r}")
        _check_values(value)
        known = {own.name for own in fields(cls)}
        if unknown := sorted(set(value) - known - {"format"}):
            raise UsageError(f"a recipe has no {unknown[0]!r}", hint=f"it has {', '.join(sorted(known))}")
        given: dict[str, Any] = {name: _tuples(v) for name, v in value.items() if name != "format"}
        try:
            return cls(**{name: _field_from_json(name, v, value[name]) for name, v in given.items()})
        except (TypeError, ValueError, AttributeError) as error:
            raise UsageError("the recipe has a value of another type", witness=str(error)[:120]) from None

    def renamed(self, names: Mapping[str, str]) -> Recipe:
        """The recipe for the same program with other names of arrays, statements, iterators and parameters."""
        value = self.to_json()
        for step in value.get("steps", ()):
            step.update({k: _renamed(v, names) for k, v in step.items() if k not in NO_NAMES})
        for band in value.get("bands", {}).values():
            if isinstance(band.get("packed"), list):
                band["packed"] = _renamed(band["packed"], names)
        if "instructions" in value:
            value["instructions"] = {names.get(statement, statement): _with_names(own, names)
                                     for statement, own in value["instructions"].items()}
        if "strategy" in value:
            value["strategy"] = _renamed(value["strategy"], names)
        return Recipe.from_json(value)

    def __str__(self) -> str:
        told = {name: v for name, v in self.to_json().items() if name != "format"}
        words = "; ".join(f"{name} {_in_words(v)}" for name, v in told.items())
        return words or "what the models choose"

    def __repr__(self) -> str:
        line = f"Recipe({self})"
        return shortened(line)


@cache
def _plain_options() -> PipelineOptions:
    """The options that a recipe is checked with; that they are made once makes recipes cheap."""
    return PipelineOptions()


def _check(recipe: Recipe) -> None:
    """Refuse values that no room has, or that contradict each other; what was found good once is not looked at again.

    Choices for bands count one by one: they only have to agree with what holds for all.
    """
    if recipe.scheduler == BEST:
        raise UsageError("a recipe names one scheduler", witness=repr(BEST), hint="`best` is a search among them")
    rest = tuple((name, _key(value)) for name, default in _OF_ALL if (value := getattr(recipe, name)) is not default)
    tiling = _GOOD.get(rest)
    if tiling is None:
        tiling = replace(apply_recipe(_plain_options(), recipe).tiling, bands={})
        _forgotten(_GOOD)[rest] = tiling
    for number, own in recipe.bands.items():
        key = rest, whole(own)
        if key not in _GOOD_BANDS:
            replace(tiling, bands={number: own})   # refuses what contradicts the rest
            _forgotten(_GOOD_BANDS)[key] = tiling


def _forgotten(known: dict[Any, TilingOptions]) -> dict[Any, TilingOptions]:
    """What is known to be good, emptied where that is much."""
    if len(known) > LIMITS.kept_checks:
        known.clear()
    return known


_GOOD: dict[Hashable, TilingOptions] = {}
_GOOD_BANDS: dict[Hashable, TilingOptions] = {}
_OF_ALL = tuple((own.name, None if own.default is MISSING else own.default) for own in fields(Recipe)
                if own.name != "bands")


def _key(value: object) -> Hashable:
    """The same for equal values of one type alone: `True` is no edge of 1."""
    return (type(value), value) if value is None or isinstance(value, str | int) else whole(value)


def apply_recipe(options: PipelineOptions, recipe: Recipe) -> PipelineOptions:
    """The options with the choices of a recipe; numerics, the machine and the source stay those of the options.

    Raises
    ------
    UsageError : a value that no room has, or two that contradict each other.
    """
    emission = options.emission
    if recipe.vector_bits is not None:
        emission = replace(emission, vector_bits=recipe.vector_bits)
    return replace(
        options, scheduler=recipe.scheduler, strategy=recipe.strategy, steps=recipe.steps, flags=recipe.flags,
        scheduling=replace(options.scheduling, fusion=recipe.fusion, split_index_sets=recipe.split_index_sets,
                           concurrent_start=recipe.concurrent_start),
        tiling=replace(options.tiling, sizes=recipe.tile, bands=recipe.bands, split=recipe.split_tiles,
                       diamond=recipe.diamond, parallel_degrees=recipe.parallel_degrees),
        emission=emission, tensorize=_instruction(options.tensorize, recipe),
        collapse=recipe.collapse and options.collapse, expand=recipe.expand and options.expand)


def _instruction(given: TensorizeOptions | None, recipe: Recipe) -> TensorizeOptions | None:
    """Which instructions may compute statements, with the numerics that the options have.

    Where the options rule all instructions out, the recipe cannot bring them back.
    """
    if recipe.instruction == NONE and not recipe.instructions:
        return None
    if given is None:
        return None
    wanted = recipe.instruction if recipe.instruction != NONE else DEFAULT
    named = given if wanted == DEFAULT else replace(given, intrinsic=wanted)
    return replace(named, chosen=recipe.instructions) if recipe.instructions else named


def _with_names(choice: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A choice of an instruction for the same program with other names of arrays and iterators."""
    made = {**choice, "loops": _renamed(choice.get("loops", []), names), "operands": [
        "+".join(names.get(array, array) for array in operand.split("+")) for operand in choice.get("operands", [])]}
    return {name: v for name, v in made.items() if v != []}


def _as_json(value: object) -> Any:
    if isinstance(value, Step):
        return value.to_json()
    if isinstance(value, InstructionChoice):
        return value.to_json()
    if isinstance(value, BandOptions):
        return {name: _as_json(v) for name, v in value.given().items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {own.name: _as_json(chosen) for own in fields(value)
                if (chosen := getattr(value, own.name)) != _default(own)}
    if isinstance(value, Mapping):
        return {str(k): _as_json(v) for k, v in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_as_json(v) for v in value]
    return value


def _default(own: Any) -> Any:
    return own.default_factory() if own.default_factory is not MISSING else own.default


def _field_from_json(name: str, value: Any, plain: Any) -> Any:
    if name == "strategy":
        return Strategy.from_json(json.dumps(plain))
    if name == "steps":
        return tuple(step_from_json(step) for step in plain)
    if name == "instructions":
        return {str(statement): InstructionChoice.from_json(own) for statement, own in value.items()}
    if name == "bands":
        return {int(number): BandOptions(**own) for number, own in value.items()}
    return value


def _tuples(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _tuples(v) for k, v in value.items()}
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def _check_values(value: object, left: int = LIMITS.recipe_entries, depth: int = 0) -> int:
    """Refuse what is too large to be a recipe, or no JSON; how many entries may follow."""
    left -= 1
    if left < 0 or depth > LIMITS.recipe_depth:
        _refuse_size(value)
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str):
                _refuse_size(name)
            left = _check_values(inner, left, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            left = _check_values(inner, left, depth + 1)
    elif isinstance(value, int) and not isinstance(value, bool):
        if abs(value) > LARGEST:
            _refuse_size(value)
    elif not isinstance(value, str | bool) and value is not None:
        _refuse_size(value)
    return left


def _refuse_size(value: object) -> NoReturn:
    raise UsageError("this is too large for a recipe, or no value of one", witness=repr(value)[:60])


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {k if k in OF_STRATEGY else names.get(k, k): v if k in ("cost", "fusion") else _renamed(v, names)
                for k, v in value.items()}
    if isinstance(value, list):
        return [_renamed(v, names) for v in value]
    if isinstance(value, str):
        return names.get(value) or ".".join(names.get(part, part) for part in value.split("."))   # S0.i is a loop
    return value


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_in_words(v)}" for k, v in value.items())
    if isinstance(value, list):
        numbers = value and all(isinstance(v, int) for v in value)
        return "x".join(map(str, value)) if numbers else f"[{', '.join(map(_in_words, value))}]"
    return str(value)
