"""Why there is no match: the fewest facts in the way, the form that differs, or the statement that cannot be read."""

from __future__ import annotations

import json

import pytest

from polysched.scop.scop import Scop
from polysched.tensorize import Intrinsic
from polysched.tensorize.description.contraction import Kind
from polysched.tensorize.matching.explanation import Explanation, not_handled
from polysched.tensorize.matching.facts import Fact
from tests.tensorize.described import matched, programs_of, unit

PRODUCT = unit("product", "int32_t Y[4], const int16_t X[4], const int16_t W[4]",
               "for (int i = 0; i < 4; i++) Y[i] += X[i] * W[i];")
LARGER = unit("larger", "int16_t Y[4], const int16_t X[4], const int16_t W[4]",
              "for (int i = 0; i < 4; i++) Y[i] = X[i] > W[i] ? X[i] : W[i];")
ARRAYS = "int C[8], short A[8], short B[8], int D[8], unsigned char I[8]"
LOOP = "for (int i = 0; i < 8; i++) "
TEXTS: dict[str, tuple[str, Intrinsic, str, str]] = {   # the reason, and the rewrite
    "one type": ("C[i] += A[i] * D[i];", PRODUCT, "the program has int32, product wants int16",
                 "cast the operand to int16 if its values are known to fit"),
    "twice the old value": ("C[i] = 2 * C[i] + A[i] * B[i];", PRODUCT, "does not have the form that product computes",
                            "scale or combine C[i] in a statement of its own"),
    "no sum": ("C[i] = A[i] * B[i];", PRODUCT, "does not have the form", "write the sum as C[i] += ..."),
    "a choice": ("A[i] = A[i] > B[i] ? B[i] : A[i];", LARGER, "larger", ""),
    "by data": ("if (D[i] > 0) C[i] += A[i] * B[i];", PRODUCT, "whether it runs depends on data (D[i] > 0)",
                "multiply by (D[i] > 0) ? factor : 0"),
    "an unknown element": ("C[I[i] & 7] += A[i] * B[i];", PRODUCT, "which element C[I[i] & 7] is depends on data",
                           "copy C into the order of the loops first"),
    "an unknown operand": ("C[i] += A[I[i] & 7] * B[i];", PRODUCT, "which element A[I[i] & 7] is depends on data",
                           "copy A into the order of the loops first"),
    "a loop that ends by data": ("while (C[i] < 5) C[i] += A[i] * B[i] + 1;", PRODUCT, "it is a loop that ends by data",
                                 "")}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return programs_of({n: (ARRAYS, LOOP + t[0]) for n, t in TEXTS.items()}, tmp_path_factory.mktemp("why"))


@pytest.mark.parametrize("name", TEXTS)
def test_a_statement_without_match_is_explained(name: str, programs: dict[str, Scop]) -> None:
    _, intrinsic, why, rewrite = TEXTS[name]
    found = matched(programs[name], intrinsic)
    assert found.count == 0
    (explanation,) = found.explanations
    assert explanation.statement == "S0"
    assert any(why in c for c in explanation.conflicts), explanation.conflicts
    told = [f.rewrite for f in explanation.nearest]
    assert any(rewrite in x for x in told) if rewrite else not told, told


def test_the_nearest_miss_has_the_fewest_facts(programs: dict[str, Scop],
                                               tmp_path_factory: pytest.TempPathFactory) -> None:
    (one,) = matched(programs["one type"], PRODUCT).explanations
    assert len(one.nearest) == 1
    assert str(one).splitlines()[-2:] == [
        "  nearest miss: 1 fact away", f"  would help: {one.nearest[0].rewrite} ({one.nearest[0].text})"]
    scops = programs_of({"two": (ARRAYS, LOOP + "C[i] += D[i] * D[i];")}, tmp_path_factory.mktemp("two"))
    (two,) = matched(scops["two"], PRODUCT).explanations
    assert len(two.nearest) == 2
    assert "nearest miss: 2 facts away" in str(two)


def test_an_explanation_is_plain_values_and_says_nothing_twice() -> None:
    made = Explanation(statement="S0", intrinsic="unit", conflicts=("first",),
                       nearest=(Fact("type", "a", "do b"), Fact("type", "c")))
    assert json.loads(json.dumps(made.to_json())) == {
        "statement": "S0", "conflicts": ["first"], "nearest_miss": ["a", "c"], "rewrites": ["do b"]}
    assert made.because("first") is made
    assert made.because("second").conflicts == ("first", "second")
    assert "would help: do b (a)" in str(made)
    assert "(c)" not in str(made)


def test_kinds_of_instructions_that_no_program_is_compared_with() -> None:
    found = not_handled("S0", PRODUCT, [Kind.STAGES, Kind.OVERWRITES])
    assert found.conflicts == ("no statement of the program is compared with product, which computes in several stages "
                               "and replaces its result instead of adding to it",)
    bits = unit("bits", "int32_t O[8], const int32_t A[8][4]",
                "for (int i = 0; i < 8; i++) { O[i] = 0; for (int k = 0; k < 4; k++) O[i] ^= A[i][k]; }")
    (told,) = not_handled("S0", bits, [Kind.OVERWRITES]).conflicts
    assert told.endswith("by something else than a sum over k; described as an update of the old value, it would be "
                         "compared")
