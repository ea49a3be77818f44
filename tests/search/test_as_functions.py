"""Programs that stand in no C file are called, compared and timed as functions."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest

from polysched.emit_c.function import emit_function
from polysched.measure.field import Ran, Verdict
from polysched.measure.paired import MeasureOptions
from polysched.pipeline.recipe import Recipe
from polysched.scop.expression import axis, build, compute, exp, max, placeholder, sum
from polysched.scop.interpreter import execute
from polysched.search import as_functions
from polysched.search.as_functions import FUNCTION, file_of, function_of, in_a_file
from polysched.search.building import Candidate, Wanted, emitted, file_text, local_runner, made_candidate
from polysched.search.identity import canonical_scop
from polysched.search.space import Proposal
from tests.search.programs import OPTIONS


def scores(rows: int = 12, columns: int = 9):
    a, b, k, m = placeholder("A", (rows, 7)), placeholder("B", (7, columns)), axis("k"), axis("m")
    product = compute((rows, columns), lambda i, j: sum(a[i, k] * b[k, j], over=k), name="T")
    most = compute((rows,), lambda i: max(product[i, m], over=m), name="R")
    return build(compute((rows, columns), lambda i, j: exp(product[i, j] - most[i]), name="Y"), name="scores")


def race(texts: dict[str, str]) -> dict[str, Ran]:
    scop, told = scores(), {}
    candidates = [Candidate(name=name, proposal=Proposal(recipe=Recipe()), text=text, code=name)
                  for name, text in texts.items()]
    with local_runner(scop, {}, MeasureOptions(threads=1, flags=("-O1",))) as runner:
        runner.race(candidates, against=None, pairs=1, slow_ratio=9.0, told=lambda c, ran: told.update({c.name: ran}))
    return told


def test_code_of_an_expression_is_held_against_its_own_order():
    right = made_candidate(Wanted(number=1, proposal=Proposal(recipe=Recipe(tile=4))), scores(), OPTIONS)
    assert isinstance(right, Candidate)
    told = race({"right": right.text, "wrong": right.text.replace("A[", "A[0*")})
    assert (told["right"].verdict, len(told["right"].pairs)) == (Verdict.TIMED, 1)
    assert told["wrong"].verdict is not Verdict.TIMED


def test_the_reference_computes_what_the_interpreter_does(tmp_path):
    scop = scores()
    stood = in_a_file(scop, tmp_path)
    assert stood.source is not None
    assert canonical_scop(stood).digest == canonical_scop(scop).digest
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", tmp_path / "f.so", stood.source.path, "-lm"], check=True)
    names = [p.name for p in stood.source.signature.parameters]
    rng = np.random.default_rng(1)
    arrays = {a.name: rng.random([int(e) for e in a.c_extents], np.float32) for a in scop.arrays if a.name in names}
    wanted = {n: a.copy() for n, a in arrays.items()}
    execute(scop, {}, wanted)
    getattr(ctypes.CDLL(str(tmp_path / "f.so")), FUNCTION)(*(ctypes.c_void_p(arrays[n].ctypes.data) for n in names))
    np.testing.assert_allclose(arrays["Y"], wanted["Y"], rtol=1e-5)


def test_a_region_without_large_temporaries_is_printed_once(monkeypatch):
    made = emitted(scores(), OPTIONS, Recipe(fusion="none"))
    again = emit_function(made.tiled, name="f", options=made.options.emit_options())
    monkeypatch.setattr(as_functions, "emit_function", lambda *_, **__: pytest.fail("it is printed again"))
    assert function_of(made, name="f").text == again.text


def test_a_function_that_asks_for_memory_has_the_same_name_and_no_result():
    made = emitted(scores(4096, 2048), OPTIONS, Recipe(fusion="none"))
    function = function_of(made, name=f"{FUNCTION}_body")
    text = file_of(function)
    assert f"void {FUNCTION}(" in text
    assert file_text(made) == text
