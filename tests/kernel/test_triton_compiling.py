"""Block programs compiled by Triton without a GPU."""

from __future__ import annotations

import os

import pytest

import polysched
from polysched.errors import CompileError, UsageError
from polysched.kernel.triton_compiling import triton_resources
from polysched.scop.block_frontend import read_block_program
from polysched.scop.dtypes import FLOAT64
from polysched.scop.python_frontend.signature import ArrayType
from tests.kernel.block_programs import EXAMPLES, matmul, vector_add
from tests.kernel.test_triton_calls import needs_triton

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
NAMED = {"dropout": {"key": "uint64", "limit": "uint64"}, "grouped_matmul": {"rows": "int64"}}


@needs_triton
@pytest.mark.skipif(INTERPRETED, reason="TRITON_INTERPRET=1 compiles nothing")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_all_programs_are_compiled(name: str, architecture: str) -> None:
    kernel = polysched.block_program(EXAMPLES[name].function).with_constants()
    found = kernel.triton_resources(kernel.types_of({"": "float32", **NAMED.get(name, {})}), architecture)
    assert found.name == f"{name}_kernel"
    assert found.registers > 0
    assert found.spilled == 0


@needs_triton
@pytest.mark.skipif(INTERPRETED, reason="TRITON_INTERPRET=1 compiles nothing")
def test_what_triton_refuses_is_told() -> None:
    source = read_block_program(matmul, {"BM": 2048, "BN": 2048})
    types = {name: ArrayType(FLOAT64, (None, None)) for name in source.arguments}
    with pytest.raises(CompileError, match="Triton refused matmul for sm_80"):
        triton_resources(source, types)


def test_an_architecture_has_a_number() -> None:
    with pytest.raises(UsageError, match="'H100' is no architecture"):
        triton_resources(read_block_program(vector_add, {}), {}, "H100")
