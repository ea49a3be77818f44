"""Random descriptions: loops that programs may enlarge are there, operands have a mode each, and clamps clamp."""

from __future__ import annotations

import math

import pytest

from polysched.fuzz.matches.c_tree import (
    Assign,
    Declare,
    Element,
    Loop,
    walk,
)
from polysched.fuzz.matches.unit_parts import MOST_INSTANCES
from polysched.fuzz.matches.units import FIRST_OF_MANUALS, FIRST_OF_MORE_KINDS, NAME, Unit, unit
from polysched.tensorize.description.reading import parse


@pytest.fixture(scope="module")
def units() -> list[Unit]:
    return [unit(seed) for seed in range(500)]


def test_loops_that_may_run_further_are_those_of_the_description(units: list[Unit]) -> None:
    for own in units:
        found = {n.iterator for n in walk(own.function.body) if isinstance(n, Loop)}
        assert own.enlarged | own.pieces <= found
        assert not own.enlarged & own.pieces


def test_loops_in_whole_pieces_stand_behind_a_local(units: list[Unit]) -> None:
    """Its first value would be lost in the middle of a longer loop."""
    met = 0
    for own in units:
        if own.pieces:
            nodes = list(walk(own.function.body))
            declared = next(at for at, n in enumerate(nodes) if isinstance(n, Declare))
            inner = [at for at, n in enumerate(nodes) if isinstance(n, Loop) and n.iterator in own.pieces]
            assert all(at > declared for at in inner)
            met += 1
    assert met > 5


def test_every_operand_has_a_mode_and_results_are_direct_and_first(units: list[Unit]) -> None:
    for own in units:
        names = [n for n, _ in own.function.arrays]
        assert own.function.name == NAME
        assert len(own.modes) == len(names) == len(set(names))
        written = [n in own.function.written for n in names]
        assert written == sorted(written, reverse=True)
        assert any(written)
        assert all(mode == "DIRECT" for mode, w in zip(own.modes, written, strict=True) if w)
        assert set(own.modes) <= {"DIRECT", "PACKED"}


def test_what_is_named_is_declared_and_every_iterator_has_its_loop(units: list[Unit]) -> None:
    for own in units:
        known = set(own.function.types)
        loops_ = {n.iterator for n in walk(own.function.body) if isinstance(n, Loop)}
        for e in walk(own.function.body):
            if isinstance(e, Element):
                assert e.array in known
                assert {n for s in e.subscripts for n in s.names()} <= loops_


def test_descriptions_are_small(units: list[Unit]) -> None:
    for own in units:
        extents = [n.end.constant for n in walk(own.function.body) if isinstance(n, Loop)]
        assert math.prod(extents) <= 4 * MOST_INSTANCES


def test_a_number_gives_one_description(units: list[Unit]) -> None:
    assert unit(123) == units[123]
    assert len(set(units)) > 450


def test_later_descriptions_are_of_more_kinds(units: list[Unit]) -> None:
    """Earlier ones stay what they are in the records."""
    later = [unit(seed) for seed in range(FIRST_OF_MORE_KINDS, FIRST_OF_MORE_KINDS + 300)]
    assert {u.kind for u in later} - {u.kind for u in units} == {"triangle", "calls", "masks", "in place"}
    for own in later:
        slanted = [n for n in walk(own.function.body) if isinstance(n, Loop) and (n.first.terms or n.end.terms)]
        assert bool(slanted) is (own.kind == "triangle")
        assert not own.enlarged & {n.iterator for n in slanted}
        read = {n.array for a in walk(own.function.body) if isinstance(a, Assign | Declare)
                for n in walk(a.value) if isinstance(n, Element)}
        assert own.kind != "in place" or own.function.written <= read


def test_latest_descriptions_are_in_words_of_manuals() -> None:
    latest = [unit(seed) for seed in range(FIRST_OF_MANUALS, FIRST_OF_MANUALS + 200)]
    assert {"as manuals write", "swap", "bounded table"} <= {u.kind for u in latest}
    for own in latest:
        assert bool(own.spelling) == (own.kind in ("as manuals write", "bounded table")), own.kind
        parse(own.described.text(region=False))
