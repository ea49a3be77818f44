"""Block programs as text for Triton; its interpreter runs them in tests/kernel/test_block_program.py."""

import ast

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop.block_frontend import read_block_program, triton_text
from tests.kernel.block_programs import EXAMPLES, matmul


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_python_without_words_of_ours(name: str) -> None:
    text = triton_text(read_block_program(EXAMPLES[name].function, {}))
    assert ast.parse(text)
    assert "bl." not in text
    assert text.count("@triton.jit") == 1


def test_the_product() -> None:
    text = triton_text(read_block_program(matmul, {}))
    assert "total += tl.dot(a, b, input_precision='ieee')" in text
    assert "matmul_kernel[(triton.cdiv(M, BM), triton.cdiv(N, BN),)](A, B, C, M, K, N, C.stride(0)" in text


def test_edges_are_powers_of_two() -> None:
    with pytest.raises(UnsupportedScopError, match="BM is 12"):
        triton_text(read_block_program(matmul, {"BM": 12}))
