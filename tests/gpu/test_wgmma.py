"""The text of WGMMA: every operand of the assembly once, and as many results as the manual says."""

from __future__ import annotations

import re

import pytest

from polysched.gpu.wgmma import CORE_BYTES, JOINED, WGMMA_BY_KIND, WGMMA_BY_NAME
from polysched.tensorize.description.agreement import require_agreement
from tests.tiers import and_campaign

BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "s8": 1, "u8": 1}


@pytest.mark.parametrize("name", WGMMA_BY_NAME)
@pytest.mark.parametrize("joined", [1, JOINED])
def test_the_registers_of_the_manual(name: str, joined: int) -> None:
    own = WGMMA_BY_NAME[name]
    text = own.product("c", "a", "b", joined)
    columns = 8 * joined
    assert f"wgmma.mma_async.sync.aligned.m64n{columns}k{own.sums}.{own.results}.{own.operands}.{own.operands} " in text
    results = columns // 2   # "N/2 number of registers"
    assert [int(n) for n in re.findall(r"%(\d+)", text)] == [results + 2, *range(results + 2)]
    assert text.count(f'"+{"f" if own.results == "f32" else "r"}"') == results
    assert text.count(", 0, 0; }") == (own.operands in ("f16", "bf16"))   # only these may be transposed
    assert (", adds; }" in text) == (own.results == "s32")                # only floats are scaled


@pytest.mark.parametrize("name", WGMMA_BY_NAME)
def test_a_product_sums_over_two_cores(name: str) -> None:
    own = WGMMA_BY_NAME[name]
    assert own.sums * BYTES[own.operands] == 2 * CORE_BYTES


@pytest.mark.parametrize("kind", WGMMA_BY_KIND)
def test_the_described_instruction_is_this_text(kind: str) -> None:
    for intrinsic in WGMMA_BY_KIND[kind]:
        own = WGMMA_BY_NAME[intrinsic.name]
        assert intrinsic.template == own.product("{C}.v", "{A}", "{B}")
        assert [operand.shape for operand in intrinsic.parsed.operands] == [(64, 8), (64, own.sums), (own.sums, 8)]


@pytest.mark.parametrize("name", and_campaign(["wgmma_64x8x8_tf32"], WGMMA_BY_NAME))
def test_the_three_readings_of_its_text_agree(name: str) -> None:
    """What no registry has, no other test compares; the search for products takes it for compared."""
    (own,) = [i for units in WGMMA_BY_KIND.values() for i in units if i.name == name]
    assert require_agreement(own.semantics).emulator > 0
