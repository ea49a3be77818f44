"""A faulty pair made smaller: whatever is tried is C that compiles, and the smallest that is faulty comes out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.fuzz.matches.c_tree import Assign, Binary, Converted, Element, Function, Loop, Number, walk
from polysched.fuzz.matches.pairs import HEAD, Pair, pair
from polysched.fuzz.matches.shrinking import reductions, shrink, smaller, weight
from polysched.target import find_compiler

SEEDS = range(0, 400, 23)
NEVER = math.inf


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return [pair(seed) for seed in SEEDS]


def test_every_reduction_is_a_function_that_compiles(pairs: list[Pair], tmp_path: Path) -> None:
    found = list(dict.fromkeys(new for own in pairs for f in (own.programs[0], own.unit.function)
                               for _, new in list(reductions(f))[::25]))
    assert len(found) > 40
    text = "".join(f.text(f"f{at}") for at, f in enumerate(found))
    (tmp_path / "all.c").write_text(
        f"{HEAD}int16_t sat_i16(int32_t); int32_t sat_i32(int64_t); float fma_f32(float, float, float);\n{text}")
    done = find_compiler().run(["-std=gnu11", "-fsyntax-only", "-w", str(tmp_path / "all.c")])
    assert done.returncode == 0, done.stderr[:3000]


def test_nothing_that_is_declared_is_left_over(pairs: list[Pair]) -> None:
    for own in pairs[:6]:
        for name, new in reductions(own.programs[0]):
            text = new.text()
            assert all(text.count(array) > 1 for array, _ in new.arrays), name
            assert new.written
            assert all(n.body for n in walk(new.body) if isinstance(n, Loop))


def has(kind: type, **values: object) -> Callable[[Function], bool]:
    return lambda f: any(isinstance(n, kind) and all(getattr(n, k) == v for k, v in values.items())
                         for n in walk(f.body))


@pytest.mark.parametrize("wanted", [has(Loop), has(Converted), has(Binary, op="*"), has(Number)])
def test_what_makes_the_fault_stays_and_little_else(wanted: Callable[[Function], bool]) -> None:
    own = next(p for p in map(pair, range(500)) if wanted(p.programs[0]) and 150 < weight(p) < 300)

    def fault(p: Pair) -> str | None:
        return "there" if wanted(p.programs[0]) else None

    found = shrink(own, fault, deadline=NEVER)
    assert fault(found) == "there"
    assert weight(found) < weight(own) / 2
    assert not any(weight(p) < weight(found) and fault(p) for p in smaller(found))
    assert found.programs[0] == found.programs[1]
    assert (found.lanes, found.strict) == (False, False)
    assert len([n for n in walk(found.programs[0].body) if isinstance(n, Assign)]) == 1


def test_a_pair_without_a_fault_and_one_that_is_out_of_time_stay(pairs: list[Pair]) -> None:
    assert shrink(pairs[0], lambda p: None, deadline=NEVER) is pairs[0]
    assert shrink(pairs[0], lambda p: "always", deadline=0) is pairs[0]


def test_sizes_by_name_become_numbers() -> None:
    own = next(p for p in map(pair, range(200)) if p.programs[0].sizes)
    numeric = next(p for p in smaller(own) if not p.programs[0].sizes)
    (first, second) = (own.programs[0], numeric.programs[0])
    assert first.boxes == second.boxes
    assert not any(name in second.text().split() for name, _ in first.sizes)


def test_options_and_long_numbers_weigh(pairs: list[Pair]) -> None:
    def of(text: str) -> int:
        function = Function("f", (("C", "int32_t"),), (Assign(Element("C"), "=", Number(text)),))
        return weight(replace(own, programs=(function, function)))

    own = replace(pairs[0], lanes=False, strict=False)
    assert weight(replace(own, lanes=True)) > weight(own) < weight(replace(own, strict=True))
    assert of("0") == of("1") < of("2") < of("2u") < of("1000")
