"""Matching inside programs: what is found, what is refused, and how that is explained."""

from dataclasses import replace
from pathlib import Path

import pytest

from polysched.errors import SourceSyntaxError, UsageError
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tensorize import (
    INTRINSICS,
    Extents,
    Matches,
    MatchOptions,
    find_intrinsic,
    load_intrinsics,
    match,
    operators,
    registry,
)
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.matching.operand_layout import LoadMode
from polysched.tensorize.matching.symmetry import automorphisms
from polysched.tensorize.proofs.ideal import accumulates_sum
from tests.tensorize.described import unit


def program(parameters: str, body: str) -> Scop:
    return from_c_text(f"#include <stdint.h>\nvoid f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


PRODUCT = """for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++)
      C[i][j] += A[i][k] * B[k][j];"""


def product(c: str, a: str, b: str) -> Scop:
    return program(f"int n, {c} C[n][n], {a} A[n][n], {b} B[n][n]", PRODUCT)


def explained(found: Matches) -> str:
    assert found.count == 0
    return "\n".join(map(str, found.explanations))


def test_the_operand_type_is_named_with_the_rewrite() -> None:
    triangle = program("int n, int32_t C[n][n], uint8_t A[n][n], uint8_t B[n][n]", PRODUCT.replace("k < n", "k <= i"))
    text = explained(match(triangle, find_intrinsic("vpdpbusd")))
    assert "operand B: the program has uint8, vpdpbusd wants int8" in text
    assert "nearest miss: 1 fact away" in text
    assert "use (x - 128) and add 128 times the sum of the other operand" in text


def test_the_rewrite_is_done_for_boxes() -> None:
    found = match(product("int32_t", "uint8_t", "uint8_t"), find_intrinsic("vpdpbusd"))
    assert found.count
    assert found.matches[0].to_json()["zero_points"]


def test_what_was_found_shows_itself_on_one_line_and_in_full() -> None:
    found = match(product("int32_t", "uint8_t", "int8_t"), find_intrinsic("vpdpbusd"))
    assert repr(found) == "<Matches of f on vpdpbusd: 1 match>"
    assert str(found).startswith("f on vpdpbusd, rule exact: 1 match (1 with mirror images, ")
    assert f"  {found.matches[0]}\n    executed " in str(found)
    assert "f on vpdpbusd" in found._repr_html_()


def test_following_the_rewrite_gives_a_match() -> None:
    offset = program("int n, int32_t C[n][n], uint8_t A[n][n], uint8_t B[n][n]",
                     PRODUCT.replace("B[k][j]", "(B[k][j] - 128)"))
    found = match(offset, find_intrinsic("vpdpbusd"))
    assert found.count == 1
    assert "B = B[k][j] - 128" in str(found.matches[0])


def test_operands_are_exchanged_when_only_that_fits() -> None:
    found = match(product("int32_t", "int8_t", "uint8_t"), find_intrinsic("tdpbusd"))
    assert found.total == 1
    assert dict(found.matches[0].to_json()["operands"])["A"] == "B[k][j]"


def test_the_accumulator_type_is_named() -> None:
    text = explained(match(product("int64_t", "uint8_t", "int8_t"), find_intrinsic("vpdpbusd")))
    assert "the program accumulates in int64, vpdpbusd in int32" in text


def test_a_narrow_product_is_another_arithmetic() -> None:
    wraps = program("int n, int32_t C[n][n], int16_t A[n][n], int16_t B[n][n]",
                    PRODUCT.replace("A[i][k] * B[k][j]", "(int16_t)(A[i][k] * B[k][j])"))
    assert "not vpdpwssd's in its own arithmetic" in explained(match(wraps, find_intrinsic("vpdpwssd")))
    fits = program("int n, int32_t C[n][n], uint8_t A[n][n], int8_t B[n][n]",
                   PRODUCT.replace("A[i][k] * B[k][j]", "(int16_t)(A[i][k] * B[k][j])"))
    assert match(fits, find_intrinsic("vpdpbusd")).count == 1


def test_saturation_is_not_wrapping() -> None:
    text = explained(match(product("int32_t", "uint8_t", "int8_t"), find_intrinsic("vpdpbusds")))
    assert "vpdpbusds saturates its result, the program wraps" in text


CLAMPED = """for (int i = 0; i < n; i++)
  for (int k = 0; k < n; k++) {
    %s
  }"""
CLAMPS = ["C[i] = (int64_t)C[i] + A[k] * B[k][i] > 2147483647LL ? 2147483647LL : "
          "(int64_t)C[i] + A[k] * B[k][i] < -2147483648LL ? -2147483648LL : (int64_t)C[i] + A[k] * B[k][i];",
          "C[i] = (int64_t)C[i] + A[k] * B[k][i] < -2147483648LL ? -2147483648LL : "
          "2147483647LL < (int64_t)C[i] + A[k] * B[k][i] ? 2147483647LL : (int64_t)C[i] + A[k] * B[k][i];"]


@pytest.mark.parametrize("clamp", CLAMPS)
def test_saturation_written_as_clamps_matches_the_saturating_form(clamp: str) -> None:
    scop = program("int n, int32_t C[n], uint8_t A[n], int8_t B[n][n]", CLAMPED % clamp)
    found = match(scop, find_intrinsic("vpdpbusds"))
    assert found.count == 1
    assert found.matches[0].outer == ("k",)   # each step saturates: k stays outside
    assert "clamps every sum" in explained(match(scop, find_intrinsic("vpdpbusd")))


def test_a_clamp_to_other_bounds_does_not_match() -> None:
    scop = program("int n, int32_t C[n], uint8_t A[n], int8_t B[n][n]",
                   CLAMPED % CLAMPS[0].replace("2147483647LL", "2147483646LL"))
    assert match(scop, find_intrinsic("vpdpbusds")).count == 0


def test_inside_an_imperfect_nest_with_initialisation_and_epilogue() -> None:
    scop = program("int n, double C[n][n], double A[n][n], double B[n][n]", """
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    C[i][j] = 0.0;
    for (int k = 0; k < n; k++)
      C[i][j] += A[i][k] * B[k][j];
    C[i][j] = C[i][j] * 0.5;
  }""")
    found = match(scop, find_intrinsic("cblas_dgemm"))
    assert found.count == 1
    assert found.matches[0].outer == ()


def test_a_loop_that_carries_a_dependence_with_another_statement_stays_outside() -> None:
    scop = program("int n, double C[n][n][n], double A[n][n], double B[n][n]", """
for (int t = 1; t < n; t++) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = C[t - 1][j][i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[t][i][j] += A[i][k] * B[k][j];
}""")
    found = match(scop, find_intrinsic("cblas_dgemm"), sizes={"n": 8})
    assert found.count >= 1
    assert all("t" in m.outer for m in found.matches)


def test_a_product_that_reads_its_own_result_is_refused_by_isl() -> None:
    """C[i][j] += C[i-1][k] * B[k][j]: rows depend on the row above."""
    scop = program("int n, double C[n][n], double B[n][n]", """
for (int i = 1; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++)
      C[i][j] += C[i - 1][k] * B[k][j];""")
    found = match(scop, find_intrinsic("cblas_dgemm"), sizes={"n": 9})
    assert found.count == 0
    assert found.refused
    assert "dependent iterations" in found.refused[0]
    rows = match(scop, find_intrinsic("cblas_dgemv"), sizes={"n": 9})
    assert rows.count == 1   # one row at a time is sound
    assert "i" in rows.matches[0].outer


def test_two_lanes_on_one_element_are_refused() -> None:
    scop = program("int n, double C[2 * n], double A[n], double B[n]", """
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    C[i + j] += A[i] * B[j];""")
    found = match(scop, find_intrinsic("cblas_dgemm"), sizes={"n": 5})
    assert found.count == 0
    assert "same element" in "".join(found.refused)


@pytest.mark.parametrize(("change", "assumed"), [(("k < n", "k <= i"), True), (("j < n", "j <= i"), False)])
def test_zeros_of_padding_meet_finite_values(change: tuple[str, str], assumed: bool) -> None:
    """`0 * NaN` is NaN: only what is not stored may be computed of padding."""
    scop = program("int n, float C[n][n], float A[n][n], float B[n][n]", PRODUCT.replace(*change))
    for numerics in (Numerics(), Numerics(finite=False)):
        found = match(scop, find_intrinsic("fma_f32_avx512"), MatchOptions(numerics=numerics))
        assert all(("what is multiplied by zero is finite" in m.assumptions) == assumed for m in found.matches)
        assert (found.count == 0) == (assumed and not numerics.finite)
    assert not assumed or "allow it with --allow finite" in explained(found)


def test_strict_float_arithmetic_is_respected() -> None:
    scop = product("float", "float", "float")
    strict = MatchOptions(numerics=Numerics(reassociate=False, contract=False))
    assert "reorders float additions" in explained(match(scop, find_intrinsic("gemv_unit"), strict))
    assert "products are fused" in explained(match(scop, find_intrinsic("fma_f32_avx2"), strict))
    assert match(scop, find_intrinsic("axpy_unit"), strict).count >= 1
    assert "mantissa of tf32" in explained(match(scop, find_intrinsic("mma_16x16x8_tf32")))
    assert match(scop, find_intrinsic("mma_16x16x8_tf32"), MatchOptions(numerics=Numerics(narrow=True))).count == 1


def test_triangular_domains_are_padded_where_that_has_no_effect() -> None:
    scop = program("int n, int32_t C[n][n], int8_t A[n][n], int8_t B[n][n]", PRODUCT.replace(
        "k = 0; k < n", "k = 0; k <= i"))
    found = match(scop, find_intrinsic("mma_16x16x16_s8"), sizes={"n": 20})
    assert found.count == 1
    across = program("int n, int32_t C[n][n], int8_t A[n][n], int8_t B[n][n]", PRODUCT.replace(
        "k = 0; k < n", "k = 0; k < 2 * n - i - j - 1 && k < n"))
    found = match(across, find_intrinsic("mma_16x16x16_s8"), sizes={"n": 20})
    assert found.count == 0 or all(len(m.outer) > 0 for m in found.matches)


def test_the_cheapest_match_needs_no_packing() -> None:
    found = match(product("double", "double", "double"), find_intrinsic("fma_f64_avx512"), sizes={"n": 64})
    best = found.matches[0]
    assert best.assignment.operands[1][0] == "B"
    assert {v.operand: v.mode for v in best.layouts} == {
        "C": LoadMode.DIRECT, "A": LoadMode.BROADCAST, "B": LoadMode.DIRECT}


def test_symmetries_of_square_units_only() -> None:
    assert len(automorphisms(find_intrinsic("mma_16x16x16"))) == 2
    assert len(automorphisms(find_intrinsic("mma_16x8x16"))) == 1
    assert len(automorphisms(find_intrinsic("tdpbssd"))) == 2
    assert len(automorphisms(find_intrinsic("tdpbusd"))) == 1


def test_no_such_intrinsic_names_the_closest() -> None:
    with pytest.raises(UsageError, match="no intrinsic is called") as caught:
        find_intrinsic("vpdpbus")
    assert "vpdpbusd" in str(caught.value)


def test_unknown_sizes_are_refused() -> None:
    with pytest.raises(UsageError, match="has no parameter m"):
        match(product("float", "float", "float"), find_intrinsic("cblas_sgemm"), sizes={"m": 3})


def test_results_are_plain_values() -> None:
    value = match(operators.gmm(), find_intrinsic("mma_16x16x16")).to_json()
    assert value["count"] == len(value["matches"]) == 1
    assert value["matches"][0]["mapping"] == {"i": ["i"], "j": ["j"], "k": ["k"]}


def page_recipe() -> str:
    text = (Path(__file__).parents[3] / "docs/instructions.md").read_text()
    return text.split("```python\n")[1].split("```")[0]


def test_the_recipe_of_the_page_is_a_working_description(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(page_recipe())
    assert len(page_recipe().splitlines()) < 40
    mine = load_intrinsics(str(file))["my_dot"]
    assert match(product("int32_t", "uint8_t", "int8_t"), mine).count == 1


@pytest.mark.parametrize(("text", "problem"), [
    ("x = 1\n", "defines no Intrinsic"), ("x = y\n", "does not run"), ("def\n", "does not run")])
def test_files_without_intrinsics_are_refused(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(UsageError, match=problem):
        load_intrinsics(str(file))


def test_a_text_that_is_no_sum_of_products_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(page_recipe().replace("            C[i] += A[k] * B[i][k];",
                                            "            C[i] = A[k] * B[i][k] + 2 * C[i];"))
    with pytest.raises(SourceSyntaxError, match="no sum, and updates one element several times"):
        load_intrinsics(str(file))


def test_an_operand_on_which_no_result_depends_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(page_recipe().replace("            C[i] += A[k] * B[i][k];", "            C[i] += A[k];"))
    with pytest.raises(SourceSyntaxError, match="the result does not depend on operand B"):
        load_intrinsics(str(file))


COUNTER = """from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, Operand, Register
unit = Intrinsic(name="unit", section="-", template="-", cost=Cost(issue_cycles=1, latency_cycles=1),
                 isa=Isa(name="mine", machine="none", manual="-"), semantics="void unit(int32_t C[1]) { C[0] += 1; }",
                 operands=(Operand(name="C", register=Register(c_type="int", load="", store="", zero="")),))
"""


def test_a_text_that_reads_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(COUNTER)
    with pytest.raises(SourceSyntaxError, match="reads nothing but its result"):
        load_intrinsics(str(file))


@pytest.mark.parametrize(("parameters", "body"), [
    ("int32_t C[8]", "C[i] = C[i] < 0 ? 0 : C[i];"),
    ("int32_t C[8], int32_t D[8]", "{ int32_t t = C[i]; C[i] = t + D[i]; D[i] = t - D[i]; }")])
def test_results_may_be_all_that_a_text_reads(parameters: str, body: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    names = [p.split("[")[0].split()[-1] for p in parameters.split(",")]
    file.write_text(COUNTER.replace("int32_t C[1]) { C[0] += 1; }",
                                    f"{parameters}) {{ for (int i = 0; i < 8; i++) {body} }}").replace(
        'operands=(Operand(name="C", register=Register(c_type="int", load="", store="", zero="")),)',
        'operands=tuple(Operand(name=n, register=Register(c_type="int", load="", store="", zero=""))'
        f' for n in {names})'))
    assert load_intrinsics(str(file))


def test_every_shipped_intrinsic_would_be_taken_from_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "require_agreement", lambda text: None)   # which test_agreement asks of all
    for intrinsic in INTRINSICS.values():
        registry._require_description(intrinsic)


def test_operands_of_any_stage_count(tmp_path: Path) -> None:
    """A sum in a local, that is scaled at the end: its factors stand in an earlier stage than the result."""
    file = tmp_path / "mine.py"
    file.write_text(COUNTER.replace("int32_t C[1]) { C[0] += 1; }", (
        "int32_t C[2], const int8_t A[2][2], const int8_t B[2][2], const int32_t bias[2]) {"
        " for (int i = 0; i < 2; i++) { int32_t t = bias[i];"
        " for (int k = 0; k < 2; k++) { t += A[i][k] * B[i][k]; } C[i] = t >> 3; } }")).replace(
        'operands=(Operand(name="C", register=Register(c_type="int", load="", store="", zero="")),)',
        'operands=tuple(Operand(name=n, register=Register(c_type="int", load="", store="", zero=""))'
        ' for n in ("C", "A", "B", "bias"))'))
    assert not load_intrinsics(str(file))["unit"].contraction.whole


def test_a_statement_without_loops_is_one_instance() -> None:
    scop = program("int32_t C[16], int8_t X[31], int8_t W[16]", "C[3] += X[2] * W[5];")
    window = unit("window", "int32_t C[4], const int8_t X[5], const int8_t W[2]",
                  "for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) C[i] += X[i + k] * W[k];")
    assert match(scop, window).matches


@pytest.mark.parametrize("update", ["A[k] > B[i][k] ? A[k] - B[i][k] : B[i][k] - A[k]", "(A[k] * B[i][k]) >> 3"])
def test_a_text_may_choose_or_shift(update: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(page_recipe().replace("A[k] * B[i][k];", f"{update};"))
    scop = from_c_text(f"""#include <stdint.h>
void f(int32_t C[33], uint8_t A[16], int8_t B[33][16]) {{
#pragma scop
for (int i = 0; i < 33; i++)
  for (int k = 0; k < 16; k++)
    C[i] += {update};
#pragma endscop
}}
""")
    assert match(scop, load_intrinsics(str(file))["my_dot"]).count == 1


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(UsageError, match="no such file"):
        load_intrinsics("nowhere.py")


def test_every_shipped_intrinsic_has_what_a_description_needs() -> None:
    for name, intrinsic in INTRINSICS.items():
        assert intrinsic.name == name
        assert intrinsic.section
        assert intrinsic.template
        assert intrinsic.cost.issue_cycles > 0
        assert intrinsic.cost.latency_cycles > 0


def test_what_accumulates_adds_up_apart_from_butterflies() -> None:
    others = {n for n, i in INTRINSICS.items() if i.contraction.accumulates and not accumulates_sum(i)}
    assert others == {"butterfly_i16_avx2", "butterfly_i32_avx2"}
    extrema = [i for n, i in INTRINSICS.items() if n.startswith(("vpmin", "vpmax"))]
    assert extrema
    assert not any(i.contraction.accumulates for i in extrema)


def test_a_zero_point_in_a_saturating_product_is_named_with_its_rewrite() -> None:
    scop = program("int n, int32_t C[n][n], uint8_t A[n][n], int8_t B[n][n], int32_t z",
                   PRODUCT.replace("A[i][k]", "(A[i][k] - z)"))
    text = explained(match(scop, find_intrinsic("vpdpbusds")))
    assert "take the zero point out of the product: (x - z) * y = x * y - z * y" in text


@pytest.mark.parametrize(("numerics", "grouped"), [(Numerics(), True), (Numerics(reassociate=False), False)])
def test_a_third_factor_is_multiplied_into_an_operand(numerics: Numerics, grouped: bool) -> None:
    """(a * b) * z: with leave a * (b * z); without it z * (a * b), which rounds as the program does."""
    scop = program("int n, float C[n][n], float A[n][n], float B[n][n], float z",
                   PRODUCT.replace("B[k][j]", "B[k][j] * z"))
    found = match(scop, find_intrinsic("fma_f32_avx512"), MatchOptions(numerics=numerics)).matches
    regrouped = ["factors of a product are multiplied in another order" in m.assumptions for m in found]
    assert found
    assert any(regrouped) == grouped
    assert regrouped[0] == grouped
    assert "z" not in [found[0].to_json()["operands"][n] for n in "AB"] or not grouped


@pytest.mark.parametrize("name", ["axpy_unit", "fma_f32_avx512"])
def test_lanes_that_meet_in_one_element_are_refused_where_an_operand_is_constant(name: str) -> None:
    """A constant operand agrees with every loop; that says nothing about the elements of the result."""
    scop = program("float y[64], const float x[8][32]",
                   "for (int i = 0; i < 8; i++) for (int j = 0; j < 32; j++) y[i + j] += x[i][j];")
    found = match(scop, find_intrinsic(name))
    assert sorted(m.loops[0] for m in found.matches) == [("i",), ("j",)]
    assert any("two places of the result would hold the same element" in text for text in found.refused)


def test_loops_that_are_too_short_are_named_with_their_padding() -> None:
    scop = from_c_text("""
#include <stdint.h>
void f(int32_t C[20][7], uint8_t A[20][5], int8_t B[5][7]) {
#pragma scop
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 7; j++)
            for (int k = 0; k < 5; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""")
    found = match(scop, find_intrinsic("vpdpbusd"), MatchOptions(extents=Extents.REACH))
    assert found.count == 0
    explanation = found.explanations[0].to_json()
    assert explanation["conflicts"] == ["dimension i takes 16 iterations, and j has 7"]
    assert explanation["rewrites"] == ["pad j with zeros to 16 iterations, as extents: any does"]
    assert match(scop, find_intrinsic("vpdpbusd")).count == 1


@pytest.mark.parametrize("update", ["C[i][j] += A[i][k] + B[k][j];", "C[i][j] = C[i][j] * A[i][k] * B[k][j];",
                                    "C[i][j] = 0;", "C[i][j] *= 3;"])
def test_nothing_would_help_an_update_without_products(update: str) -> None:
    text = explained(match(program("int n, int32_t C[n][n], uint8_t A[n][n], int8_t B[n][n]", PRODUCT.replace(
        "C[i][j] += A[i][k] * B[k][j];", update)), find_intrinsic("vpdpbusd")))
    assert "does not have the form" in text
    assert "would help" not in text


def test_the_form_of_an_instruction_is_shown_with_its_factors() -> None:
    unit = replace(find_intrinsic("vpdpwssd"), name="distance", semantics="""
void distance(int32_t C[16], const int16_t A[2], const int16_t B[16][2]) {
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 2; k++)
            C[i] += (A[k] - B[i][k]) * (A[k] - B[i][k]);
}""")
    negative = PRODUCT.replace("A[i][k] * B[k][j]", "(A[i][k] - B[k][j]) * (B[k][j] - A[i][k])")
    text = explained(match(program("int n, int32_t C[n][n], int16_t A[n][n], int16_t B[n][n]", negative), unit))
    assert "against C[i] = C[i] + A[k] * A[k] - 2 * A[k] * B[i][k] + B[i][k] * B[i][k]" in text.replace(
        "+ B[i][k] * B[i][k] - 2 * A[k] * B[i][k]", "- 2 * A[k] * B[i][k] + B[i][k] * B[i][k]")
    assert "one statement per product" not in text


def test_a_wrong_description_leaves_others_of_its_file_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "mine.py"
    wrong = page_recipe().split("MY_DOT = ")[1].replace('"my_dot"', '"my_wrong"').replace(
        "C[i] += A[k] * B[i][k];", "C[i] = A[k] * B[i][k] + 2 * C[i];")
    file.write_text(f"{page_recipe()}\nMY_WRONG = {wrong}")
    assert [*load_intrinsics(str(file), wanted="my_dot")] == [*load_intrinsics(str(file), wanted="vpdpbusd")] == [
        "my_dot"]
    assert "my_wrong of" in caplog.text
    assert "no sum, and updates one element several times" in caplog.text
    for asked in ("my_wrong", ""):
        with pytest.raises(SourceSyntaxError, match="no sum, and updates one element several times"):
            load_intrinsics(str(file), wanted=asked)


def test_nobody_is_told_why_where_nobody_asks() -> None:
    scop = product("double", "uint8_t", "int8_t")
    told, silent = (match(scop, find_intrinsic("vpdpbusd"), MatchOptions(explained=asked)) for asked in (True, False))
    assert told.count == silent.count == 0
    assert told.explanations
    assert not silent.explanations
