"""Block programs as text for Triton; its interpreter runs them in tests/kernel/test_block_program.py."""

import ast

import pytest

import polysched.scop.block_frontend.language as bl
from polysched.errors import UnsupportedScopError
from polysched.scop.block_frontend import read_block_program, triton_text
from tests.kernel.block_programs import EXAMPLES, matmul


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_python_without_words_of_ours(name: str) -> None:
    text = triton_text(read_block_program(EXAMPLES[name].function, {}))
    assert ast.parse(text)
    assert "bl." not in text
    assert f"@triton.jit\ndef {name}_kernel" in text


def test_the_product() -> None:
    text = triton_text(read_block_program(matmul, {}))
    assert "total += tl.dot(a, b, input_precision='ieee')" in text
    assert "matmul_kernel[(triton.cdiv(M, BM), triton.cdiv(N, BN),)](A, B, C, M, K, N, C.stride(0)" in text


def test_edges_are_powers_of_two() -> None:
    with pytest.raises(UnsupportedScopError, match="BM is 12"):
        triton_text(read_block_program(matmul, {"BM": 12}))


def divided(x, out, B=8):  # type: ignore[no-untyped-def]
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, B)) * B
    lanes = bl.arange(0, B)
    a = bl.load(bl.block(x, (n,), (at,), (B,)))
    a //= 3
    bl.store(bl.block(out, (n,), (at // 2 * 2,), (B,)), a + (lanes - 1) % 4 + lanes % 4)


def test_division_rounds_down_as_in_python() -> None:
    text = triton_text(read_block_program(divided, {}))
    assert "a = polysched_floordiv(a, 3)" in text
    assert "polysched_mod(lanes - 1, 4) + lanes % 4" in text
    assert "at // 2 * 2" in text
    assert text.count("@triton.jit") == 3
