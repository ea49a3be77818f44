"""C functions as values, beside gcc for their types and beside their own execution for their extents."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches.c_tree import (
    COMPARISONS,
    TYPES,
    Assign,
    Binary,
    Choice,
    Converted,
    Declare,
    Element,
    Expr,
    Function,
    Looked,
    Loop,
    Node,
    Number,
    Unary,
    common,
    mapped,
    promoted,
    replaced_at,
    span,
    type_of,
    walk,
)
from polysched.fuzz.matches.loop_words import embedded
from polysched.fuzz.matches.units import unit
from polysched.target import find_compiler

VARIABLES = {f"v_{name}": name for name in TYPES}
NUMBERS = ("0", "1u", "2147483647", "2147483648", "4294967295", "0x7fffffff", "0x80000000", "0xFFFFFFFF", "0x100000000",
           "0xFFFFFFFFFFFFFFFF", "9223372036854775807", "1L", "1ul", "0x8000000000000000L", "4294967296u", "1.5",
           "1.5f", "2e3f", "0xFu", "0x1eF")
BY_I = Affine((("i", 1),))


def expressions() -> Iterator[Expr]:
    """Every operator on every pair of types, and numbers at the ends of the types that they may have."""
    values = [Element(name) for name in VARIABLES]
    yield from map(Number, NUMBERS)
    for left, right in itertools.product(values, repeat=2):
        yield from (Binary(op, left, right) for op in ("*", "<", "&&"))
        yield Choice(Element("v_int32_t"), left, right)
        if "v_float" not in (left.array, right.array) and "v_double" not in (left.array, right.array):
            yield from (Binary(op, left, right) for op in ("<<", "%", "^"))
    for e in values:
        yield from (Unary("-", e), Unary("!", e), Converted("int8_t", e), Unary("-", Converted("uint8_t", e)))


def test_every_type_is_the_one_that_gcc_finds(tmp_path: Path) -> None:
    own = Function("f", tuple(VARIABLES.items()), ())
    types = {name: TYPES[ctype] for name, ctype in VARIABLES.items()}
    checks = [f"_Static_assert(_Generic(({own.word(e)}), {type_of(e, types).name}: 1, default: 0), "
              f'"{own.word(e)} is no {type_of(e, types).name}");' for e in expressions()]
    declared = "".join(f"{ctype} {name};\n" for name, ctype in VARIABLES.items())
    (tmp_path / "types.c").write_text("\n".join(["#include <stdint.h>", declared, *checks]))
    done = find_compiler().run(["-std=gnu11", "-fsyntax-only", "-w", str(tmp_path / "types.c")])
    assert done.returncode == 0, done.stderr[:2000]
    assert len(checks) > 600


def test_conversions_are_symmetric_and_stay_where_they_are() -> None:
    for left, right in itertools.product(TYPES.values(), repeat=2):
        assert common(left, right) == common(right, left)
        assert promoted(common(left, right)) == common(common(left, right), left) == common(left, right)


@pytest.mark.parametrize(("text", "value", "suffix"), [("255", 255, ""), ("0xFFu", 255, "u"), ("0x1eF", 495, ""),
                                                       ("7uL", 7, "uL"), ("0", 0, "")])
def test_numbers_have_the_value_of_their_spelling(text: str, value: int, suffix: str) -> None:
    assert (Number(text).value, Number(text).suffix, Number(text).is_float) == (value, suffix, False)


def executed(nodes: tuple[Node, ...], values: dict[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every element that is accessed, by running the loops."""
    for node in nodes:
        if isinstance(node, Loop):
            first, end = (span(a, {n: (v, v) for n, v in values.items()})[0] for a in (node.first, node.end))
            points = range(first, end, node.step)
            for i in reversed(points) if node.descending else points:
                yield from executed(node.body, values | {node.iterator: i})
        else:
            for e in walk(node):
                if isinstance(e, Element):
                    yield e.array, tuple(span(s, {n: (v, v) for n, v in values.items()})[0] for s in e.subscripts)


def test_extents_are_the_least_that_hold_every_access() -> None:
    for seed in range(60):
        function = unit(seed).function
        met: dict[str, list[tuple[int, ...]]] = {}
        for name, at in executed(function.body, {}):
            met.setdefault(name, []).append(at)
        for name, subscripts in met.items():
            boxes = function.boxes[name]
            columns = list(zip(*subscripts, strict=True))
            if not any(isinstance(e, Looked) and e.array == name for e in walk(function.body)):
                assert [(min(c), max(c)) for c in columns] == boxes
            assert function.extents(name) == [high - min(low, 0) + 1 for low, high in boxes]


def loop_of(first: int, end: int, step: int, subscript: Affine, *, descending: bool = False) -> Function:
    body = (Loop("i", Affine((), first), Affine((), end), (Assign(Element("A", (subscript,)), "=", Number("1")),), step,
                 descending),)
    return Function("f", (("A", "int32_t"),), body)


@pytest.mark.parametrize(("first", "end", "step"), [(0, 7, 1), (1, 8, 3), (-2, 3, 2), (4, 5, 9)])
@pytest.mark.parametrize("factor", [1, 2, -1])
def test_subscripts_below_zero_are_moved_up(first: int, end: int, step: int, factor: int) -> None:
    function = loop_of(first, end, step, Affine((("i", factor),)))
    met = [at for _, (at,) in executed(function.body, {})]
    moved = [at - min(0, *met) for at in met]
    assert function.extents("A") == [max(moved) + 1]
    low = min(0, *met)
    assert function.word(Element("A", (BY_I,))) == (f"A[i + {-low}]" if low else "A[i]")


def test_loops_are_written_as_they_run() -> None:
    up, down = loop_of(1, 5, 1, BY_I).text(), loop_of(1, 5, 1, BY_I, descending=True).text()
    assert "for (int i = 1; i < 5; i++) {" in up
    assert "for (int i = 4; i >= 1; i--) {" in down
    assert "for (int i = 1; i < 5; i += 2) {" in loop_of(1, 5, 2, BY_I).text()


def test_a_value_is_replaced_at_its_position_and_nowhere_else() -> None:
    for seed in range(25):
        function, _ = embedded(random.Random(seed), unit(seed))
        before = list(walk(function.body))
        for at, value in enumerate(before):
            if isinstance(value, Number | Element):
                after = list(walk(replaced_at(function.body, at, Number("77"))))
                assert after[at] == Number("77")
                assert len(after) == len(before)
                assert [type(a) for a in after[at + 1:]] == [type(b) for b in before[at + 1:]]
                assert replaced_at(function.body, at, value) == function.body


def test_one_of_two_equal_values_is_replaced() -> None:
    body = (Assign(Element("A"), "=", Binary("+", Number("1"), Number("1"))),)
    texts = [Function("f", (("A", "int32_t"),), replaced_at(body, at, Number("2"))).text() for at in (3, 4)]
    assert ["A = 2 + 1;" in texts[0], "A = 1 + 2;" in texts[1]] == [True, True]
    assert replaced_at(body, 0, []) == ()
    assert replaced_at(body, 0, [*body, *body]) == body * 2
    assert replaced_at(body, 5, Number("2")) == body


def test_inner_values_change_before_outer_ones_and_a_node_may_become_several() -> None:
    seen: list[object] = []

    def change(node: object) -> object:
        seen.append(node)
        match node:
            case Number("1"):
                return Number("2")
            case Assign():
                return [node, node]
        return node

    body = (Loop("i", Affine(), Affine((), 2), (Assign(Element("A", (BY_I,)), "+=", Number("1")),)),)
    (new,) = mapped(body, change)
    assert [a.value for a in new.body] == [Number("2")] * 2
    assert [type(s) for s in seen] == [Element, Number, Assign, Loop]
    assert mapped(body, lambda node: node) == body


def test_a_function_is_a_program_or_a_description() -> None:
    body = (Declare("t", "uint8_t", Number("0")), Assign(Element("C", (BY_I.with_value("i", Affine()),)), "+=", Binary(
        "*", Unary("-", Element("t")), Choice(Binary(COMPARISONS[0], Element("s"), Number("1")), Element("s"),
                                              Looked("T", Binary("&", Element("s"), Number("3")), 4)))))
    own = Function("f", (("C", "int64_t"), ("T", "uint16_t"), ("s", "int8_t")), body, respelled=True)
    assert own.head() == "void f(long C[1], unsigned short T[4], signed char s)"
    assert own.text("g", region=False).splitlines() == [
        "void g(long C[1], const unsigned short T[4], signed char s)", "{", "    unsigned char t = 0;",
        "    C[0] += (-t) * ((s < 1) ? s : T[s & 3]);", "}"]
    assert own.written == {"C"}
    assert [line.strip() for line in own.text().splitlines() if "#" in line] == ["#pragma scop", "#pragma endscop"]


def test_a_span_is_what_all_points_give() -> None:
    for first, second, constant in itertools.product((-3, 0, 2), (-1, 1, 4), (-5, 7)):
        affine = Affine((("i", first), ("j", second)), constant)
        values = [first * i + second * j + constant for i in range(-2, 4) for j in range(5, 8)]
        assert span(affine, {"i": (-2, 3), "j": (5, 7)}) == (min(values), max(values))
