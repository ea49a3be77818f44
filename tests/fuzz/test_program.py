"""Random programs as values: every access stays inside its array, by running the loops over small sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

import pytest

from polysched.fuzz.affine import Affine
from polysched.fuzz.contractions import contraction
from polysched.fuzz.generator import Shape, generate
from polysched.fuzz.program import (
    Clamp,
    Guard,
    Layout,
    Loop,
    Node,
    Program,
    Reference,
    Statement,
    Term,
    computes,
    iterators,
    references,
    walk,
)
from tests.fuzz.loops import I_, ZERO, N, assign, loop

SIZES = ({"n": 0, "m": 0}, {"n": 1, "m": 0}, {"n": 0, "m": 3}, {"n": 2, "m": 5}, {"n": 4, "m": 3})


def value(affine: Affine, values: Mapping[str, int]) -> int:
    return affine.constant + sum(c * values[name] for name, c in affine.terms)


def executed(nodes: tuple[Node, ...], values: dict[str, int]) -> Iterator[tuple[Statement, dict[str, int]]]:
    """Every instance, as C runs them."""
    for node in nodes:
        match node:
            case Statement():
                yield node, values
            case Loop():
                low, high = max(value(a, values) for a in node.lower), min(value(a, values) for a in node.upper)
                at = high if node.downward else low
                while low <= at <= high:
                    yield from executed(node.body, values | {node.iterator: at})
                    at += -node.step if node.downward else node.step
            case Guard():
                held = [value(a, values) >= 0 if m is None else value(a, values) % m == 0 for a, m in node.conditions]
                taken = all(held) if node.joiner == "&&" else any(held)
                yield from executed(node.then if taken else node.otherwise, values)


def programs() -> list[Program]:
    return [*(generate(seed, shape=Shape(depth=3, data_dependent=0.2)) for seed in range(12)),
            *(contraction(seed) for seed in range(15))]


def test_every_access_is_inside_the_declared_extents() -> None:
    for program in programs():
        layout = Layout.of(program)
        for sizes in SIZES:
            for statement, values in islice(executed(program.body, dict(sizes)), 200):
                for reference in references(statement):
                    extents = [value(e, sizes) for e in layout.extents(reference.array)]
                    lows = [value(a, sizes) for a in layout.lowest[reference.array]]
                    at = [value(s, values) - low for s, low in zip(reference.subscripts, lows, strict=True)]
                    assert all(0 <= a < extent for a, extent in zip(at, extents, strict=True)), program.text()


def test_extents_are_positive_at_any_sizes() -> None:
    for program in programs():
        layout = Layout.of(program)
        for name in layout.lowest:
            assert all(e.constant >= 1 and all(c > 0 for _, c in e.terms) for e in layout.extents(name))


def test_what_computes_something_is_what_runs() -> None:
    for program in programs():
        for sizes in SIZES:
            assert computes(program, sizes) == any(True for _ in executed(program.body, dict(sizes)))


def test_walk_is_in_the_order_of_the_text() -> None:
    first, second, third = (assign(Reference("A", (I_,)), Term(str(n))) for n in (1, 2, 3))
    guard = Guard(((I_, None),), "&&", (first,), (second,))
    body = (loop("i", guard, loop("j", third)), first)
    assert [n for n in walk(body) if isinstance(n, Statement)] == [first, second, third, first]
    assert iterators(body) == {"i", "j"}


def test_a_declared_temporary_is_no_element_of_an_array() -> None:
    term = Term("1", Reference("A", (I_,)), times=Reference("B"), by=Reference("c"))
    statement = replace(assign(Reference("t"), term), when=Reference("d"))
    assert [r.array for r in references(statement)] == ["t", "d", "A", "B", "c"]
    assert [r.array for r in references(replace(statement, declares="int"))] == ["d", "A", "B", "c"]


@pytest.mark.parametrize(("term", "text"), [
    (Term("2"), "2"), (Term("2", I_), "2 * (i)"), (Term("1", Reference("A", (I_,))), "A[i]"),
    (Term("3u", Reference("A", (I_,)), times=Reference("s")), "3u * A[i] * s"),
    (Term("1", Reference("A", (I_,)), times=Reference("s"), cast="int", zeros=(3, -128)),
     "((int)A[i] - 3) * ((int)s + 128)"),
    (Term("1", Reference("A", (I_,)), times=Reference("s"), distance=True), "(A[i] > s ? A[i] - s : s - A[i])"),
    (Term("1", Reference("A", (I_,)), times=Reference("s"), by=Reference("t")), "t * A[i] * s")])
def test_a_term_as_c(term: Term, text: str) -> None:
    program = Program("f", ("n",), dict.fromkeys(("A", "s", "t", "C"), "int"), (loop("i", assign(
        Reference("C", (I_,)), term, op="+=")),))
    assert f"C[i] += {text};" in program.text()


@pytest.mark.parametrize(("clamp", "text"), [
    (Clamp(-128, 127, "int"), "s = 1 > 127 ? 127 : 1 < (-127 - 1) ? (-127 - 1) : 1;"),
    (Clamp(0, 255, "long", named=True),
     "{ long cut = 1; if (cut > 255) cut = 255; if (cut < 0) cut = 0; s = cut; }")])
def test_a_value_is_cut_to_a_range(clamp: Clamp, text: str) -> None:
    statement = replace(assign(Reference("s"), Term("1")), clamp=clamp)
    assert text in Program("f", (), {"s": "int"}, (statement,)).text()


def test_subscripts_below_zero_move_up_and_scalars_come_back() -> None:
    down = Affine((("i", -1), ("n", 2)))
    program = Program("f", ("n",), {"A": "int", "s": "double"}, (
        loop("i", assign(Reference("A", (down.plus(N, -1),)), Term("2", Reference("s"))), lower=ZERO, upper=N),
        assign(Reference("s"), Term("1.5"))))
    text = program.text()
    assert "void f(int n, int A[n + 1], double s_out[1])" in text
    assert "A[-i + n - 1] = 2 * s;" in text
    assert text.index("double s = s_out[0];") < text.index("#pragma scop")
    assert text.index("s_out[0] = s;") > text.index("#pragma endscop")
