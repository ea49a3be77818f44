"""Matches for machines that are not here: the same C with the real header, cross-compiled and run under qemu-user."""

import subprocess
from pathlib import Path

import pytest

from polysched.tensorize import INTRINSICS, Match, find_intrinsic, match, operators
from polysched.tensorize.conformance.conformance import fill_in, toolchain
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission import EmissionOptions, emit_match

PRODUCTS = {name: i for name, i in INTRINSICS.items()
            if i.isa.machine in ("aarch64", "riscv64") and i.contraction.accumulates}
M, N, K = 7, 11, 13


def best(name: str) -> Match:
    left, right = INTRINSICS[name].contraction.input_dtypes
    scop = operators.gmm(m=M, n=N, k=K, dtype=left.name, right_dtype=right.name,
                         accumulator=INTRINSICS[name].output.dtype.name)
    found = match(scop, find_intrinsic(name))
    assert found.count >= 1, [str(e) for e in found.explanations]
    return found.matches[0]


def checking_program(name: str) -> str:
    """A main that compares the emitted function with the plain loop nest."""
    function = emit_match(best(name), "product", EmissionOptions(parallel=False))
    left, right = INTRINSICS[name].contraction.input_dtypes
    a, b, c = (C_NAMES[d.name] for d in (left, right, INTRINSICS[name].output.dtype))
    read, write = ("bf16_to_f32", "f32_to_bf16") if left.name == "bfloat16" else ("", "")
    sum_type = c if write else "uint32_t"   # integers wrap
    arguments = ", ".join(function.arrays)
    return f"""{function.unit}
#include <stdio.h>
int main(void) {{
    {fill_in(INTRINSICS[name].isa.prepare, refuse="return 77")}
    static {a} A[{M}*{K}]; static {b} B[{K}*{N}]; static {c} C[{M}*{N}], wanted[{M}*{N}];
    for (int i = 0; i < {M}*{K}; i++) A[i] = {write or f"({a})"}({"i % 9 - 4" if write else "i * 37 + 11"});
    for (int i = 0; i < {K}*{N}; i++) B[i] = {write or f"({b})"}({"i % 7 - 3" if write else "i * 53 + 5"});
    for (int i = 0; i < {M}*{N}; i++) C[i] = wanted[i] = ({c})(i * 3);
    for (int i = 0; i < {M}; i++) for (int j = 0; j < {N}; j++) for (int k = 0; k < {K}; k++)
        wanted[i * {N} + j] = ({c})(({sum_type})wanted[i * {N} + j]
            + ({sum_type})({read}(A[i * {K} + k]) * {read}(B[k * {N} + j])));
    product({arguments});
    for (int i = 0; i < {M}*{N}; i++) if (C[i] != wanted[i]) {{ printf("%d\\n", i); return 1; }}
    return 0;
}}
"""


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_under_qemu(name: str, tmp_path: Path) -> None:
    intrinsic = INTRINSICS[name]
    compiler, how, why = toolchain(intrinsic)
    if not compiler:
        pytest.skip(why)
    source, binary = tmp_path / "product.c", tmp_path / "product"
    source.write_text(checking_program(name))
    done = subprocess.run([*compiler, *intrinsic.isa.flags, "-O1", "-w", str(source), "-o", str(binary), "-lm"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runner = () if how == "native" else intrinsic.isa.runner
    ran = subprocess.run([*runner, str(binary)], capture_output=True, text=True, timeout=60, check=False)
    if ran.returncode == 77:
        pytest.skip("the processor refuses it")
    assert ran.returncode == 0, f"first wrong element {ran.stdout}"
