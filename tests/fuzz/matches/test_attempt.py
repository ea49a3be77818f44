"""What is emitted of a pair: a user's file loaded, the cheapest match and some others, and refusals in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from polysched.errors import NoIntrinsicMatchError, PolyschedError
from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.attempt import MOST_EMITTED, emissions, load, some_of
from polysched.fuzz.matches.c_tree import Assign, Binary, Element, Function, Loop
from polysched.fuzz.matches.harness import Version, compared
from polysched.fuzz.matches.pairs import SAME, Pair, program_text
from polysched.fuzz.matches.units import Unit
from polysched.scop import from_c_text
from polysched.target import find_compiler
from polysched.tensorize.matching.match import Matches

AT = Affine((("i", 1),))


def sums(op: str, extent: int, *, types: tuple[str, str] = ("int32_t", "int16_t")) -> Function:
    """`C[i] += A[i] * A[i]`, or another operator in the place of the product."""
    value = Binary(op, Element("A", (AT,)), Element("A", (AT,)))
    body = (Loop("i", Affine(), Affine((), extent), (Assign(Element("C", (AT,)), "+=", value),)),)
    return Function("unit", (("C", types[0]), ("A", types[1])), body)


def of(description: Function, program: Function) -> Pair:
    unit = Unit(description, "by hand", frozenset("i"), frozenset(), ("DIRECT", "PACKED"))
    return Pair(5, unit, SAME, (), "", (program, program))


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pair, Any]:
    own = of(sums("*", 4), sums("*", 8))
    return own, load(own, tmp_path_factory.mktemp("unit"))


def test_a_description_is_loaded_by_its_name(squares: tuple[Pair, Any]) -> None:
    own, unit = squares
    assert unit.name == own.unit.function.name
    assert own.unit.function.text(region=False).strip() in unit.semantics
    assert [o.name for o in unit.operands] == ["C", "A"]


def test_a_program_in_the_same_words_is_computed_by_the_description(squares: tuple[Pair, Any]) -> None:
    own, unit = squares
    made = emissions(from_c_text(program_text(own.programs[0])), unit, own, 0)
    assert 1 <= len(made) <= MOST_EMITTED
    for emission in made:
        assert "by_5_0_" in emission.region
        assert "emulated_unit(" in emission.preamble
        assert emission.mapping.startswith("S0: ")


def test_another_function_is_refused_in_words(squares: tuple[Pair, Any]) -> None:
    own, unit = squares
    other = of(own.unit.function, sums("+", 8))
    with pytest.raises(NoIntrinsicMatchError) as refused:
        emissions(from_c_text(program_text(other.programs[0])), unit, other, 0)
    assert refused.value.witness
    assert len(str(refused.value.witness)) <= 600


def test_a_description_that_is_none_is_refused(tmp_path: Path) -> None:
    function = sums("*", 4)
    endless = replace(function, body=(*function.body, Assign(Element("C", (Affine(),)), "=", Element("nowhere"))))
    with pytest.raises(PolyschedError):
        load(of(endless, function), tmp_path)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 9])
def test_the_cheapest_match_is_the_first_and_all_differ(count: int) -> None:
    matches = [SimpleNamespace(cost_cycles=(7 * n + 3) % 11, number=n) for n in range(count)]
    found = cast(Matches, SimpleNamespace(with_mirrors=matches))
    chosen = cast(list[Any], some_of(found, 3))
    assert len({c.number for c in chosen}) == len(chosen) == min(count, MOST_EMITTED)
    assert [c.cost_cycles for c in chosen[:1]] == sorted(m.cost_cycles for m in matches)[:1]
    assert some_of(found, 3) == chosen


def test_a_program_with_parameters_is_also_computed_by_one_function_for_all_sizes(
        squares: tuple[Pair, Any], tmp_path: Path) -> None:
    """Found at the sizes of the other program; both run at both."""
    _, unit = squares
    body = (Loop("i", Affine(), Affine((("n", 1),)), sums("*", 8).body[0].body),)
    programs = tuple(replace(sums("*", 8), body=body, sizes=(("n", size),)) for size in (13, 30))
    own = replace(of(sums("*", 4), sums("*", 8)), programs=programs)
    versions = []
    for size in (0, 1):
        made = emissions(from_c_text(program_text(own.programs[size])), unit, own, size)
        general = [e for e in made if e.mapping.endswith("at all sizes")]
        assert len(general) == 1
        assert f"any_5_{size}_0_fits(" in general[0].region
        versions += [Version(own, size, number, e) for number, e in enumerate(made)]
    assert set(compared(versions, tmp_path, find_compiler()).values()) == {""}
