"""Sums that wrap or are cut on their way, in the program as in the instruction: matched as a whole, executed, equal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import splice
from polysched.pipeline import PipelineOptions, analysed
from polysched.pipeline.way import optimized_region
from polysched.scop import from_c_text
from polysched.tensorize.called import CallDecision, call_function
from polysched.tensorize.functions.units import has_partial_sum
from polysched.tensorize.options import TensorizeOptions
from tests.tensorize import described
from tests.tensorize.compiled import AS_WRITTEN
from tests.tensorize.functions.replaced import region, same_results
from tests.tensorize.functions.test_units import unit

WRAPS = unit("""
void wraps(int64_t C[4], const int32_t A[4], const int16_t B[4][4]) {
    for (int i = 0; i < 4; i++) {
        int16_t t = 0;
        for (int k = 0; k < 4; k++)
            t += A[k] * B[i][k];
        C[i] += t;
    }
}""", "C A B")
HEAD = "#include <stdint.h>\n"
TYPES = "int m, int32_t A[m][8], int16_t B[8][8], int64_t C[m][8]"
NEST = "for (int i = 0; i < m; i++) for (int j = 0; j < 8; j++) "
TERM = "t += A[i][k] * B[k][j];"
SAME = {
    "four terms": NEST + f"{{ int16_t t = 0; for (int k = 0; k < 4; k++) {TERM} C[i][j] += t; }}",
    "terms counted from three": NEST + "{ int16_t t = 0; for (int k = 3; k < 7; k++) t += A[i][k - 3] * B[k - 3][j]; "
                                       "C[i][j] += t; }",
    "fours in a row": NEST + f"for (int s = 0; s < 8; s += 4) {{ int16_t t = 0; for (int k = s; k < s + 4; k++) {TERM} "
                             "C[i][j] += t; }",
}
ALMOST = {
    "a wider local": SAME["four terms"].replace("int16_t t", "int32_t t"),
    "a narrower local": SAME["four terms"].replace("int16_t t", "int8_t t"),
    "an unsigned local": SAME["four terms"].replace("int16_t t", "uint16_t t"),
    "five terms": SAME["four terms"].replace("k < 4", "k < 5"),
    "three terms": SAME["four terms"].replace("k < 4", "k < 3"),
    "eight terms in one local": SAME["four terms"].replace("k < 4", "k < 8"),
    "another start": SAME["four terms"].replace("t = 0", "t = 1"),
    "a local that goes on": NEST + f"{{ int16_t t = 0; for (int s = 0; s < 8; s += 4) {{ "
                                   f"for (int k = s; k < s + 4; k++) {TERM} C[i][j] += t; }} }}",
    "fours that overlap": SAME["fours in a row"].replace("k < s + 4", "k < s + 5").replace("s < 8", "s < 4"),
}


def decision(body: str) -> CallDecision:
    dependences = analysed(from_c_text(region(TYPES, body, HEAD)), for_instructions=True).dependences
    return call_function(dependences, WRAPS, TensorizeOptions())


def data(m: int) -> dict[str, np.ndarray]:
    """Corners and values between them: most sums wrap."""
    chooser = np.random.default_rng(7)
    return {"A": chooser.integers(-(1 << 15), 1 << 15, (m, 8)).astype(np.int32),
            "B": chooser.choice(np.array([-32768, 32767, 3, 300], np.int16), (8, 8)), "C": np.full((m, 8), 5, np.int64)}


@pytest.mark.parametrize("name", SAME)
def test_the_same_wraps_are_one_call(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert has_partial_sum(WRAPS)
    text = region(TYPES, SAME[name], HEAD)
    monkeypatch.setattr(TensorizeOptions, "considered", lambda _: [WRAPS])
    made = optimized_region(from_c_text(text), PipelineOptions(
        tensorize=TensorizeOptions(intrinsic="unit"), **AS_WRITTEN), {})
    other, reasons = splice(text, [made.source]), made.instructions
    assert "wraps(" in other, reasons
    assert any("verified" in r for r in reasons)
    for m in (6, 1):
        same_results(text, other, data(m), {"m": m}, tmp_path)


@pytest.mark.parametrize("name", ALMOST)
def test_other_wraps_are_none(name: str) -> None:
    made = decision(ALMOST[name])
    assert made.program is None
    assert made.reasons


WHOLE = unit("""
void whole(int32_t C[4], const uint8_t A[4], const uint8_t B[4][4]) {
    for (int i = 0; i < 4; i++) {
        int32_t t = 0;
        for (int k = 0; k < 4; k++)
            t += (A[k] > B[i][k] ? A[k] : B[i][k]);
        C[i] += t;
    }
}""", "C A B")


@pytest.mark.parametrize(("kept", "matches"), [("int32_t", True), ("int8_t", False)])
def test_parts_of_a_sum_that_nothing_cuts_are_one_call_too(kept: str, matches: bool, tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    """The same parts in variables of the same type, although the instruction as a sum has no variable."""
    assert not WHOLE.contraction.limits
    assert has_partial_sum(WHOLE)
    body = NEST + (f"for (int s = 0; s < 8; s += 4) {{ {kept} t = 0; for (int k = s; k < s + 4; k++) "
                   "t += A[i][k] > B[j][k] ? A[i][k] : B[j][k]; C[i][j] += t; }")
    text = region("int m, uint8_t A[m][8], uint8_t B[8][8], int32_t C[m][8]", body, HEAD)
    monkeypatch.setattr(TensorizeOptions, "considered", lambda _: [WHOLE])
    made = optimized_region(from_c_text(text), PipelineOptions(
        tensorize=TensorizeOptions(intrinsic="unit"), **AS_WRITTEN), {})
    assert any("verified" in r for r in made.instructions) is matches, made.instructions
    if matches:
        chooser = np.random.default_rng(8)
        arrays = {"A": chooser.integers(0, 256, (5, 8)).astype(np.uint8),
                  "B": chooser.integers(0, 256, (8, 8)).astype(np.uint8), "C": np.full((5, 8), 5, np.int32)}
        same_results(text, splice(text, [made.source]), arrays, {"m": 5}, tmp_path)


NOT = described.unit("inverted", "uint32_t C[4][8], const uint16_t A[8], const uint64_t B[4][8]",
                     "for (int i = 0; i < 4; i++) for (int j = 0; j < 8; j++) { int16_t t = 0; t += ~A[j] * B[i][j]; "
                     "C[i][j] += t; }")
INVERTED = "for (int i = 0; i < 5; i++) for (int j = 0; j < 9; j++) C[i][j] += (int16_t)(~A[j] * B[i][j]);"


@pytest.mark.parametrize(("change", "matches"), [
    (("", ""), True), (("~A[j] * B[i][j]", "B[i][j] * ~A[j]"), True), (("~A[j]", "(uint16_t)~A[j]"), True),
    (("(int16_t)", ""), False), (("(int16_t)", "(int8_t)"), False), (("~", "!"), False), (("~", "-"), False),
    (("~A[j] * B[i][j]", "~(A[j] * B[i][j])"), False)])
def test_bits_that_are_turned_over_are_no_sum_of_products(change: tuple[str, str], matches: bool,
                                                          tmp_path: Path) -> None:
    """The low 16 bits alone count, which a conversion to these keeps."""
    scop = described.program("uint32_t C[5][9], uint16_t A[9], uint64_t B[5][9]", INVERTED.replace(*change))
    found = described.matched(scop, NOT)
    assert bool(found.count) is matches, [str(e) for e in found.explanations]
    if matches:
        described.executes(scop, found, tmp_path)
