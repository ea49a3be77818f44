"""Each kind of near miss changes what it is named after, and what it makes is C whose meaning is settled."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import (
    Assign,
    Binary,
    Choice,
    Converted,
    Declare,
    Element,
    Expr,
    Function,
    Loop,
    Number,
    walk,
)
from polysched.fuzz.matches.loop_words import embedded
from polysched.fuzz.matches.near_misses import MISSES, is_defined, missed
from polysched.fuzz.matches.pairs import HEAD
from polysched.fuzz.matches.units import unit
from polysched.target import find_compiler

Change = tuple[Function, Function]
COUNT = 200
SHAPE_CHANGES = {"window opened", "cast removed", "cast added", "wrap of a local"}


@pytest.fixture(scope="module")
def changes() -> dict[str, list[Change]]:
    """Programs before and after, by the kind of change."""
    found: dict[str, list[Change]] = defaultdict(list)
    for seed in range(COUNT):
        function, _ = embedded(random.Random(seed), unit(seed))
        for name, (miss, _) in MISSES.items():
            new = miss(random.Random(seed), function)
            if new is not None and new != function:
                found[name].append((function, new))
    return found


def differing(before: Function, after: Function) -> list[tuple[object, object]]:
    """Leaves that differ: of nodes that differ only in their parts, the parts."""
    pairs = list(zip(walk(before.body), walk(after.body), strict=True))
    return [(a, b) for a, b in pairs if type(a) is not type(b) or parts(a) != parts(b)]


def parts(node: object) -> tuple[object, ...]:
    """What a node has beside other nodes."""
    match node:
        case Element():
            return (node.array, node.subscripts)
        case Loop():
            return (node.iterator, node.first, node.end, node.step, node.descending)
        case Assign() | Binary():
            return (node.op,)
        case Declare():
            return (node.name, node.ctype)
        case Converted():
            return (node.ctype,)
        case Number():
            return (node.text,)
    return ()


def test_every_kind_happens(changes: dict[str, list[Change]]) -> None:
    assert set(changes) == set(MISSES)
    assert min(len(found) for found in changes.values()) > 5


@pytest.mark.parametrize(("name", "node"), [("constant", Number), ("operator", Binary), ("kind of update", Assign),
                                            ("subscript", Element), ("subscripts swapped", Element),
                                            ("type of a local", Declare)])
def test_one_node_of_its_kind_is_another(name: str, node: type, changes: dict[str, list[Change]]) -> None:
    for before, after in changes[name]:
        ((old, new),) = differing(before, after)
        assert isinstance(old, node)
        assert isinstance(new, node)
        assert before.arrays == after.arrays


def test_a_parameter_has_another_type_of_its_kind_and_the_text_is_as_before(changes: dict[str, list[Change]]) -> None:
    for before, after in changes["type of an array"]:
        assert before.body == after.body
        (changed,) = [n for (n, _), (m, _) in zip(before.arrays, after.arrays, strict=True)
                      if before.types[n] != after.types[m]]
        assert before.types[changed].is_float == after.types[changed].is_float


def test_a_cast_comes_or_goes(changes: dict[str, list[Change]]) -> None:
    for name, more in (("cast added", 1), ("cast removed", -1)):
        for before, after in changes[name]:
            counts = [sum(isinstance(e, Converted) for e in walk(f.body)) for f in (before, after)]
            assert counts[1] - counts[0] == more
            lengths = [len(list(walk(f.body))) for f in (before, after)]
            assert lengths[1] - lengths[0] == more


def test_swapped_operands_are_the_same_ones(changes: dict[str, list[Change]]) -> None:
    for before, after in changes["swapped"]:
        found = [(a, b) for a, b in zip(walk(before.body), walk(after.body), strict=True)
                 if isinstance(a, Choice | Binary) and a != b and a in (
                     replace(b, left=b.right, right=b.left) if isinstance(b, Binary) else None,
                     replace(b, then=b.otherwise, otherwise=b.then) if isinstance(b, Choice) else None)]
        assert found


def test_targets_stay_where_they_are_but_for_an_opened_window(changes: dict[str, list[Change]]) -> None:
    for name in set(changes) - SHAPE_CHANGES:
        for before, after in changes[name]:
            targets = [[n.target for n in walk(f.body) if isinstance(n, Assign)] for f in (before, after)]
            assert targets[0] == targets[1], name


def test_an_opened_window_has_one_dimension_more_whose_sum_is_the_old_subscript(
        changes: dict[str, list[Change]]) -> None:
    opened = 0
    for before, after in changes["window opened"]:
        for old, new in zip(walk(before.body), walk(after.body), strict=True):
            if isinstance(old, Element) and old != new:
                assert isinstance(new, Element)
                assert len(new.subscripts) == len(old.subscripts) + 1
                total = [Affine()]
                for s in (*new.subscripts, *(s.plus(s, -2) for s in old.subscripts)):
                    total.append(total[-1].plus(s))
                assert total[-1] == Affine()
                opened += 1
    assert opened > 5


def test_what_is_missed_compiles(tmp_path: Path) -> None:
    functions = [missed(random.Random(f"c {seed}"), embedded(random.Random(seed), unit(seed))[0])[0]
                 for seed in range(80)]
    text = "\n".join(f.text(f"f{at}") for at, f in enumerate(functions))
    (tmp_path / "missed.c").write_text(
        f"{HEAD}int16_t sat_i16(int32_t); int32_t sat_i32(int64_t); float fma_f32(float, float, float);\n{text}")
    done = find_compiler().run(["-std=gnu11", "-fsyntax-only", "-Werror=shift-count-overflow", "-Werror=div-by-zero",
                                "-Werror=shift-count-negative", "-Wno-unknown-pragmas", str(tmp_path / "missed.c")])
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize(("op", "right", "ctype", "defined"), [
    ("<<", Number("31"), "int32_t", True), ("<<", Number("32"), "int32_t", False), ("<<", Number("31"), "int8_t", True),
    ("<<", Number("63"), "int64_t", True), (">>", Number("64"), "uint64_t", False), (">>", Number("0"), "int8_t", True),
    ("<<", Binary("+", Number("31"), Number("0x1")), "uint32_t", False),
    (">>", Binary("-", Number("1"), Number("2")), "int32_t", False), ("<<", Element("B"), "int32_t", True),
    ("/", Binary("-", Number("1"), Converted("int64_t", Number("1"))), "int32_t", False),
    ("%", Number("0u"), "int32_t", False), ("%", Binary("*", Number("2"), Number("1")), "int32_t", True)])
def test_shifts_below_the_width_and_divisors_other_than_zero_are_defined(
        op: str, right: Expr, ctype: str, defined: bool) -> None:
    body = (Assign(Element("C"), "=", Binary(op, Element("A"), right)),)
    assert is_defined(Function("f", (("C", "int32_t"), ("A", ctype), ("B", "int32_t")), body)) == defined
