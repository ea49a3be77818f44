"""`records.dataclass` is `dataclasses.dataclass`, but a `repr` is one line, and methods come at their first lookup."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import pickle
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import pytest

from polysched import records
from polysched.records import LONGEST, whole

Decorator = Callable[..., Callable[[type], type]]
OPTIONS = [dict(zip(("repr", "eq", "frozen", "kw_only"), chosen, strict=True))
           for chosen in itertools.product((True, False), repeat=4)]


def classes(dataclass: Decorator) -> dict[str, Any]:
    """The same classes by either decorator."""
    @dataclass
    class Plain:
        x: int
        y: tuple[int, ...] = (1, 2)
        z: list[int] = field(default_factory=list, compare=False)
        w: str = field(default="w", repr=False)
        count: ClassVar[int] = 3

    @dataclass
    class Derived(Plain):
        """With a field more, and another default."""

        y: tuple[int, ...] = ()
        more: int = field(default=5, init=False)
        hidden: int = field(default=7, hash=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "more", self.x + 1)

    @dataclass
    class Again(Plain):
        y: tuple[int, ...]
        w: str

    @dataclass
    class Own:
        self: int = 1

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    @dataclass
    class Hashed:
        x: int = 1

        def __hash__(self) -> int:
            return 11

    @dataclass
    class Made:
        x: int = 1

        def __init__(self) -> None:
            object.__setattr__(self, "x", 9)

    @dataclass
    class Empty:
        pass

    return {kind.__name__: kind for kind in (Plain, Derived, Again, Own, Hashed, Made, Empty)}


def tried(act: Callable[[], object]) -> object:
    """A result, or the error in words."""
    try:
        return act()
    except (TypeError, AttributeError) as error:
        return type(error).__name__, str(error)


def changed(value: Any) -> object:
    value.x = 4
    del value.x
    return "changed"


def behaviour(kind: Any) -> list[object]:
    """What can be seen of a class and of its values."""
    arguments: tuple[dict[str, Any], ...] = ({}, {"x": 2}, {"x": 2, "y": (3,), "z": [4]}, {"x": 2, "w": "v"}, {"q": 1})
    values = [value for each in arguments if not isinstance(value := tried(partial(kind, **each)), tuple)]
    seen: list[object] = [tried(lambda: str(inspect.signature(kind))), kind.__match_args__, kind.__hash__ is None,
                          [(f.name, f.type, f.kw_only) for f in dataclasses.fields(kind)],
                          str(kind.__dataclass_params__), hasattr(kind, "__replace__"),
                          tried(lambda: kind(1, (2,)) and 1),
                          *(tried(partial(kind, **each)) for each in arguments if not values)]
    for value in values:
        seen += [repr(value).partition(" object at ")[0], tried(lambda v=value: isinstance(hash(v), int)),
                 [tried(lambda v=value, o=other: v == o) for other in (*values, 1)],
                 value == copy.deepcopy(value), vars(value), tried(lambda v=value: vars(dataclasses.replace(v, x=8))),
                 tried(lambda v=value: dataclasses.astuple(v)), tried(lambda v=value: changed(v))]
    return seen


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(name for name, on in o.items() if on) or "none")
def test_values_behave_as_those_of_the_standard_library(options: dict[str, bool]) -> None:
    usual = classes(partial(dataclasses.dataclass, **options))    # type: ignore[call-overload]
    for name, kind in classes(lambda cls: records.dataclass(**options)(cls)).items():
        assert behaviour(kind) == behaviour(usual[name]), name


@records.dataclass(frozen=True)
class Pair:
    """Two numbers."""

    x: int
    y: int = 2


def test_a_method_is_generated_once_and_for_its_class() -> None:
    @records.dataclass(frozen=True)
    class Triple(Pair):
        z: int = 3

    assert all(type(vars(Triple)[name]).__name__ == "_Placeholder" for name in ("__init__", "__eq__", "__hash__"))
    assert Triple(1) == Triple(1, 2, 3) != Pair(1)
    assert hash(Triple(1)) == hash((1, 2, 3))
    assert all(inspect.isfunction(vars(Triple)[name]) for name in ("__init__", "__eq__", "__hash__"))
    assert Triple.__init__.__qualname__ == f"{Triple.__qualname__}.__init__"
    assert Triple.__init__.__module__ == __name__


def test_what_is_unpickled_first_is_frozen_and_compared() -> None:
    """Nothing has been looked up of a class whose values come from another process."""
    @records.dataclass(frozen=True)
    class Sent:
        x: int = 0

    first, second = (object.__new__(Sent) for _ in range(2))
    vars(first)["x"] = vars(second)["x"] = 3
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        first.x = 4    # type: ignore[misc]
    assert first == second
    assert {first: 1}[second] == 1


def test_values_can_be_pickled_and_matched() -> None:
    assert pickle.loads(pickle.dumps(Pair(5))) == Pair(5)
    match Pair(4):
        case Pair(x, 2):
            assert x == 4
        case _:
            pytest.fail("not matched")


def test_what_would_be_no_field_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="'x' is a field but has no type annotation"):
        @records.dataclass
        class Bare:
            x = field(default=1)

    with pytest.raises(TypeError, match="Passed has an InitVar, which is for dataclasses"):
        @records.dataclass
        class Passed:
            x: dataclasses.InitVar[int]


def test_other_options_are_those_of_the_standard_library() -> None:
    @records.dataclass(order=True, slots=True)
    class Ordered:
        x: int

    assert Ordered(1) < Ordered(2)
    assert not hasattr(Ordered(1), "__dict__")


@records.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0
    hidden: str = field(default="", repr=False)


@records.dataclass(frozen=True)
class Holder:
    points: Sequence[object]
    text: str = ""


@records.dataclass(frozen=True)
class Named:
    x: int

    def __repr__(self) -> str:
        return "own"


class HeldPair(NamedTuple):
    first: Holder
    second: int = 0


@records.dataclass(frozen=True, slots=True)
class Slotted(Point):
    z: int = 1


def test_a_short_record_is_shown_as_ever() -> None:
    assert repr(Point(1, hidden="no")) == "Point(x=1, y=0)"
    assert repr(Slotted(1)) == "Slotted(x=1, y=0, z=1)"
    assert repr(Named(1)) == "own"


@pytest.mark.parametrize("value", [
    Holder(tuple(Point(n) for n in range(1000))), Holder((), "a\n" * 500), Holder((Point(0),), "x" * 100000)])
def test_a_long_one_is_one_line(value: Holder) -> None:
    line = repr(value)
    assert len(line) <= LONGEST
    assert "\n" not in line
    assert line.startswith("Holder(points=(")
    assert line.endswith(")")
    assert "..." in line


def test_a_record_that_holds_itself_ends() -> None:
    held: list[object] = []
    holder = Holder(held)
    held.append(holder)
    assert repr(holder) == whole(holder) == "Holder(points=[...], text='')"
    assert whole(held) == "[Holder(points=..., text='')]"


def test_records_deep_inside_one_another_are_shown_and_keyed() -> None:
    """A level takes no more of Python's calls than in the standard library."""
    def nested(depth: int) -> Slotted:
        inside: Any = nested(depth - 1) if depth else 0
        return Slotted(inside)

    assert repr(nested(280)).startswith("Slotted(x=Slotted(x=")
    assert whole(nested(450)).count("Slotted") == 451


def test_many_fields_are_cut_at_the_end() -> None:
    wide = records.dataclass(type("Wide", (), {"__annotations__": {f"field_{n}": int for n in range(60)}}))
    line = repr(wide(*range(60)))
    assert len(line) == LONGEST
    assert line.endswith("...)")


def test_keys_tell_apart_what_lines_do_not() -> None:
    first, second = (Holder(tuple(Point(n) for n in (*range(100), last))) for last in (1, 2))
    assert repr(first) == repr(second)
    assert whole(first) != whole(second)
    assert whole([{"a": first}]) != whole([{"a": second}])
    assert whole(HeldPair(first)) != whole(HeldPair(second))
    assert whole(((1,), [2], {"k": Point(3)})) == "((1,), [2], {'k': Point(x=3, y=0)},)"
    assert whole(frozenset({Point(2), Point(1)})) == "{Point(x=1, y=0), Point(x=2, y=0)}"
