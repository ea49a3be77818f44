"""Contractions say what one iteration writes and reads, and refuse to be put together wrongly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.scop.body import Load, walk
from polysched.scop.dtypes import INT64
from polysched.tensorize.description.contraction import Contraction, Dimension, Kind
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Affine, Element

LOOP = "for (int i = 0; i < 4; i++) "
HEAD = "int32_t Y[4], int32_t Z[4], const int16_t X[8], const uint8_t T[16]"
TEXTS: dict[str, tuple[str, set[Kind]]] = {
    "sum": ("Y[i] += X[i];", set()), "set": ("Y[i] = X[i];", {Kind.OVERWRITES}),
    "both": ("{ Y[i] += X[i]; Z[i] += X[i]; }", {Kind.SEVERAL_RESULTS}),
    "one of both set": ("{ Y[i] += X[i]; Z[i] = X[i]; }", {Kind.SEVERAL_RESULTS, Kind.OVERWRITES}),
    "pairs": ("Y[i] += X[2*i] * X[2*i + 1];", {Kind.READ_TWICE}),
    "table": ("Y[i] += T[X[i] & 15];", {Kind.TABLE}),
    "triangle": ("for (int k = 0; k <= i; k++) Y[i] += X[k];", {Kind.TRIANGLE}),
    "swap": ("{ int32_t t = Y[i]; Y[i] = Z[i]; Z[i] = t; }", {Kind.SEVERAL_RESULTS}),
    "one is read": ("{ int32_t t = Y[i]; Y[i] = X[i]; Z[i] = t; }", {Kind.SEVERAL_RESULTS, Kind.OVERWRITES})}


def made(body: str) -> Contraction:
    return derive(parse(f"void f({HEAD}) {{ {LOOP}{body} }}"))


@pytest.mark.parametrize("name", TEXTS)
def test_kinds_are_what_a_reader_has_to_know(name: str) -> None:
    body, kinds = TEXTS[name]
    assert made(body).kinds == kinds


def test_a_second_stage_is_a_kind_of_its_own() -> None:
    found = derive(parse(f"void f({HEAD}) {{ {LOOP}Y[i] += X[i]; {LOOP}Z[i] = Y[i] * Y[3 - i]; }}"))
    assert Kind.STAGES in found.kinds
    assert not found.whole


@pytest.mark.parametrize("name", TEXTS)
def test_results_read_what_their_values_load(name: str) -> None:
    contraction = made(TEXTS[name][0])
    for number, result in enumerate(contraction.results):
        loads = {x.reference for x in walk(result.update) if isinstance(x, Load)}
        assert {str(e) for e in result.reads} == loads
        alone = contraction.alone(number)
        assert alone.results[0].update == result.update
        assert alone.others == ()
        assert {str(e) for e in alone.inputs} == loads - {str(result.output)}
        assert alone.accumulates is result.reads_itself
    assert contraction.written.keys() == {r.output.array for r in contraction.results}


def test_a_swapped_element_is_an_input_of_the_other_result() -> None:
    contraction = made(TEXTS["swap"][0])
    first = contraction.alone(0)
    assert [str(e) for e in first.inputs] == ["Z[i]"]
    assert [t.name for t in first.input_dtypes] == ["int32"]


def test_dimensions_index_operands_or_are_added_up() -> None:
    contraction = derive(parse("void f(int32_t Y[4], const int16_t X[4][2], const int16_t W[2]) { "
                               "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) Y[i] += X[i][k] * W[k]; }"))
    assert contraction.indexes("i") == {"Y", "X"}
    assert contraction.indexes("k") == {"X", "W"}
    assert contraction.reductions == ("k",)
    assert contraction.tables == ()
    assert made(TEXTS["table"][0]).tables == ("T",)


def test_a_dimension_has_the_iterations_of_its_loop() -> None:
    full, part = Dimension("k", 4), Dimension("k", 4, Affine((("i", 1),)), Affine((("i", 1),), 2))
    assert full.is_box
    assert not part.is_box
    assert list(part.values({"i": 1}, {})) == [1, 2]
    assert list(part.values({"i": 3}, {})) == [3], "never past the extent"
    assert list(Dimension("k", "n").values({}, {"n": 2})) == [0, 1]


@pytest.mark.parametrize(("change", "why"), [
    ({"input_dtypes": ()}, "every distinct element read has one entry"),
    ({"output_dtype": INT64}, "the update is int32, the output int64"),
    ({"inputs": (Element("X", (Affine((("i", 2),)),)),)}, "which is no input")])
def test_what_does_not_fit_together_is_refused(change: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        replace(made(TEXTS["sum"][0]), **change)
