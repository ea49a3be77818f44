"""Every shipped description against the real instruction, and wrong descriptions that must be caught."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from polysched.tensorize.conformance.conformance import Conformance, Verdict, conformance, conformances
from polysched.tensorize.description.field_proof import same_function
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.avx512_bf16 import VDPBF16PS
from polysched.tensorize.intrinsics.avx512_vnni import VPDPBUSD, VPDPBUSDS
from polysched.tensorize.registry import INTRINSICS, load_intrinsics

WRONG = load_intrinsics(str(Path(__file__).parents[3] / "experiments" / "conformance" / "wrong_descriptions.py"))


@cache
def of_set(name: str, asked: frozenset[str]) -> dict[str, Conformance]:
    """The comparisons of the instructions of a set that are asked for, which are one program."""
    found = conformances([i for i in INTRINSICS.values() if i.isa.name == name and i.name in asked], trials=300)
    return {result.intrinsic: result for result in found}


@pytest.fixture(scope="module")
def asked(request: pytest.FixtureRequest) -> frozenset[str]:
    """The instructions whose tests run."""
    tests = [item for item in request.session.items if isinstance(item, pytest.Function)]
    return frozenset(item.callspec.params["intrinsic"].name for item in tests
                     if item.originalname == "test_the_instruction_does_what_its_text_says")


@pytest.mark.parametrize("intrinsic", sorted(INTRINSICS.values(), key=lambda i: i.isa.name), ids=lambda i: i.name)
def test_the_instruction_does_what_its_text_says(intrinsic: Intrinsic, asked: frozenset[str]) -> None:
    result = of_set(intrinsic.isa.name, asked)[intrinsic.name]
    if result.verdict is Verdict.EMULATED_ONLY:
        pytest.skip(str(result))
    assert result.verdict is Verdict.CONFORMS, str(result)
    assert result.trials == 300


@pytest.mark.parametrize("intrinsic", INTRINSICS.values(), ids=INTRINSICS.keys())
def test_the_matcher_sees_the_function_of_the_text(intrinsic: Intrinsic) -> None:
    sizes = dict(zip(intrinsic.parsed.sizes, (3, 2, 5, 4), strict=False))
    assert same_function(intrinsic.parsed, intrinsic.contraction, sizes=sizes)


def refuted(intrinsic: Intrinsic, trials: int = 4000) -> None:
    result = conformance(intrinsic, trials=trials)
    if result.verdict is Verdict.EMULATED_ONLY:
        pytest.skip(str(result))
    assert result.verdict is Verdict.DIFFERS, str(result)
    assert "element" in result.reason


@pytest.mark.parametrize(("right", "wrong"), [
    ("fma_flush(", "fma_f32("),                                     # denormals kept
    ("fma_flush(bf16_to_f32(A[k]), bf16_to_f32(B[i][k]), C[i])",    # product rounded on its own
     "add_flush(C[i], bf16_to_f32(A[k]) * bf16_to_f32(B[i][k]))"),
], ids=["denormals", "not fused"])
def test_wrong_bf16_descriptions_are_caught(right: str, wrong: str) -> None:
    assert right in VDPBF16PS.semantics
    refuted(replace(VDPBF16PS, semantics=VDPBF16PS.semantics.replace(right, wrong)))


def test_wrapping_is_not_saturating() -> None:
    refuted(replace(VPDPBUSDS, semantics=VPDPBUSD.semantics), trials=20000)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_descriptions_of_the_experiment_are_caught(name: str) -> None:
    refuted(WRONG[name])


def test_pmaddubsw_with_its_saturation_conforms() -> None:
    """The same pair of instructions, described as it is: pairs saturate to 16 bits."""
    result = conformance(replace(WRONG["pmaddubsw_pmaddwd"], semantics="""
void pmaddubsw_pmaddwd(int32_t C[8], const uint8_t A[4], const int8_t B[8][4]) {
    for (int i = 0; i < 8; i++)
        for (int h = 0; h < 2; h++) {
            int32_t t = 0;
            for (int k = 0; k < 2; k++)
                t += A[2 * h + k] * B[i][2 * h + k];
            C[i] += sat_i16(t);
        }
}"""))
    if result.verdict is Verdict.EMULATED_ONLY:
        pytest.skip(str(result))
    assert result.verdict is Verdict.CONFORMS, str(result)


def test_a_machine_that_is_not_here_is_said_to_be_missing() -> None:
    result = conformance(INTRINSICS["gemmini_matmul"])
    assert result.verdict is Verdict.EMULATED_ONLY
    assert "executes gemmini" in str(result)
