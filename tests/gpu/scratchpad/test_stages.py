"""What the cube computes, and what not."""

from __future__ import annotations

import pytest

from polysched.gpu.scratchpad.stages import CubeStage, Stage
from tests.gpu.scratchpad.accelerated import chain, mapped, norm, product, program


def _stages(text: str, target: str = "davinci") -> list[Stage]:
    return [s for own in mapped(text, target, tile=(16,)).groups.values() for s in own.plan.stages]


def test_the_cube_starts_from_zero_in_place_of_a_statement() -> None:
    (stage,) = _stages(product(32, 48, 16))
    assert isinstance(stage, CubeStage)
    assert stage.cleared == "S0"
    assert stage.units == (16, 16, 16)
    assert str(stage) == "S1 by davinci_cube: rows i, columns j, sums k, from zero in place of S0"


@pytest.mark.parametrize("zero", ["-0.0f", "1.0f", "0.0f * A[0][0]"])
def test_another_value_is_no_zero(zero: str) -> None:
    text = product(16, 16, 16).replace("C[i][j] = 0;", f"C[i][j] = {zero};")
    stages = _stages(text)
    assert [isinstance(stage, CubeStage) for stage in stages] == [False, True]


def test_a_part_of_the_result_that_is_cleared_is_not_all() -> None:
    text = program("float C[32][32], const _Float16 A[32][32], const _Float16 B[32][32]",
                   "for (int i = 0; i < 32; i++) for (int j = 0; j < 31; j++) C[i][j] = 0.0f;\n"
                   "for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) for (int k = 0; k < 32; k++)\n"
                   "  C[i][j] += (float)A[i][k] * (float)B[k][j];")
    assert all(not isinstance(s, CubeStage) or not s.cleared for s in _stages(text))


@pytest.mark.parametrize("change", [("_Float16", "float"), ("k < 32", "k <= i"), ("C[i][j] +=", "C[i][j] -=")])
def test_what_the_instruction_does_not_compute_is_the_vector_units(change: tuple[str, str]) -> None:
    stages = _stages(product(32, 32, 32).replace(*change))
    assert not any(isinstance(stage, CubeStage) for stage in stages)


def test_int8_is_gemminis_and_half_precision_is_davincis() -> None:
    assert not any(isinstance(s, CubeStage) for s in _stages(product(16, 16, 16), "gemmini"))
    assert any(isinstance(s, CubeStage) for s in _stages(product(16, 16, 16, integers=True), "gemmini"))


def test_stages_follow_the_dependences() -> None:
    names = [s.statements for s in _stages(norm(16, 16))]
    assert names == [(f"S{k}",) for k in range(7)]
    assert [s.statements[-1] for s in _stages(chain(16, 16, 16, 16))] == ["S1", "S2", "S4"]


def test_a_circle_of_dependences_is_one_stage() -> None:
    text = program("float a[16][9], float b[16][9]",
                   "for (int i = 0; i < 16; i++) for (int j = 1; j < 9; j++) { a[i][j] = b[i][j - 1]; "
                   "b[i][j] = a[i][j] + 1.0f; }")
    assert [s.statements for s in _stages(text)] == [("S0", "S1")]
