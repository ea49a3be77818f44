"""Affine forms compute what Python computes, loops run as C's loops do, and names of elements are told apart."""

from __future__ import annotations

import itertools

import pytest

from polysched.scop.body import Binary, Load
from polysched.scop.dtypes import FLOAT16, INT32, INT64, UINT8, UINT32
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import (
    C_NAMES,
    TYPES,
    ZERO,
    Affine,
    Element,
    Loop,
    Update,
    Variable,
    is_table_read,
    reads_table,
    table_of,
    table_reads,
)

FORMS = [Affine(terms, constant) for terms in ((), (("i", 2),), (("i", -1), ("j", 3)), (("j", -3),))
         for constant in (0, -5)]


@pytest.mark.parametrize("point", [{"i": i, "j": j} for i in (0, 3) for j in (-2, 1)])
def test_sums_and_multiples_of_forms_have_the_values_of_both(point: dict[str, int]) -> None:
    for a, b in itertools.product(FORMS, FORMS):
        for factor in (-3, 0, 1, 2):
            total = a.plus(b, factor)
            assert total.evaluate(point) == a.evaluate(point) + factor * b.evaluate(point)
            assert a.times(factor).evaluate(point) == factor * a.evaluate(point)
            assert all(c for _, c in total.terms), "no zero coefficient"
            assert list(total.terms) == sorted(total.terms)
        assert a.evaluate(point) == eval(str(a), {}, point)


def test_equal_forms_are_equal_values() -> None:
    i, j = Affine((("i", 1),)), Affine((("j", 1),))
    assert i.plus(j) == j.plus(i)
    assert i.plus(i, -1) == ZERO == j.times(0)
    assert str(ZERO) == "0"
    assert i.plus(j, 2).names == {"i", "j"}


def test_an_element_is_spelt_as_its_reference() -> None:
    element = Element("A", (Affine((("i", 4),), 1), ZERO))
    assert str(element) == "A[4*i + 1][0]"
    assert element.names == {"i"}
    assert str(Element("s")) == "s"
    assert Element("s").names == frozenset()


@pytest.mark.parametrize("text", [
    "for (int j = 0; j < 4; j++)", "for (int j = i; j < 4; j++)", "for (int j = 0; j <= i; j++)",
    "for (int j = 3; j >= 0; j--)", "for (int j = 3; j >= i; j--)", "for (int j = 0; j < 2*i; j++)"])
def test_loops_run_as_in_c(text: str) -> None:
    semantics = parse(f"void f(int32_t C[4][9]) {{ for (int i = 0; i < 4; i++) {text} C[i][j] += 1; }}")
    outer = semantics.body[0]
    assert isinstance(outer, Loop)
    (inner,) = outer.body
    assert isinstance(inner, Loop)
    first, condition, _ = text[5:-1].split(";")
    start, down = first.split("=")[1], "j--" in text
    for i in outer.values({}, {}):
        wanted, j = [], eval(start, {}, {"i": i})
        while eval(condition.strip(), {}, {"i": i, "j": j}):
            wanted.append(j)
            j += -1 if down else 1
        assert list(inner.values({"i": i}, {})) == wanted
        assert all(j < inner.extent for j in wanted), "the extent bounds every iteration"


def test_extents_may_be_parameters_of_functions() -> None:
    loop, array = Loop("i", "n", False, ()), Variable("A", UINT8, ("n", 4))
    assert list(loop.values({}, {"n": 3})) == [0, 1, 2]
    assert array.elements_of({"n": 5}) == 20
    with pytest.raises(ValueError, match="A: extent n is symbolic"):
        _ = array.elements
    assert Variable("s", INT32).elements == 1


def test_types_of_c_are_those_of_the_machine_and_every_type_has_one_name() -> None:
    assert TYPES["unsigned"] == UINT32
    assert TYPES["long"] == TYPES["long long"] == INT64
    assert TYPES[C_NAMES["float16"]] == FLOAT16
    assert all(TYPES.get(name, dtype).name == dtype for dtype, name in C_NAMES.items() if name in TYPES)


def test_an_update_knows_the_elements_that_it_loads() -> None:
    semantics = parse("void f(int32_t C[4], const uint8_t T[16], const uint8_t A[4]) "
                      "{ for (int i = 0; i < 4; i++) C[i] += T[A[3 - i] & 15] + A[i]; }")
    (loop,) = semantics.body
    assert isinstance(loop, Loop)
    (update,) = loop.body
    assert isinstance(update, Update)
    assert update.element("A[-1*i + 3]") == Element("A", (Affine((("i", -1),), 3),))
    assert [str(e) for e in update.elements] == ["C[i]", "A[-1*i + 3]", "A[i]"]
    assert reads_table(update.value)
    (read,) = table_reads(update.value)
    assert table_of(read) == "T"
    assert not is_table_read(Load("T", UINT8))
    assert not reads_table(Binary("+", Load("T", UINT8), Load("A[i]", UINT8), INT32))
    with pytest.raises(KeyError):
        semantics.operand("D")
