"""Products of converted arrays in NumPy's words read the arrays themselves, and no converted copy is left."""

from collections.abc import Callable

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.tensorize import find_intrinsic, match
from tests.scop.python_frontend.running import extracted

M, N, K = 6, 18, 20


def operator(C, A, B):
    C += A.astype(np.int32) @ B.astype(np.int32)


def temporaries(C, A, B):
    wide = A.astype(np.int32)
    other = B.astype("int32")
    C += wide @ other


def einsum(C, A, B):
    C += np.einsum("ik,kj->ij", A.astype(np.int32), B.astype(np.int32))


def einsum_in_a_type(C, A, B):
    C += np.einsum("ik,kj->ij", A, B, dtype=np.int32)


def dot(C, A, B):
    C += np.dot(A.astype(np.int32), B.astype(np.int32))


def matmul(C, A, B):
    C[:, :] = np.matmul(A.astype(np.int32), B.astype(np.int32))


def matmul_in_a_type(C, A, B):
    C += np.matmul(A, B, dtype=np.int32)


def types_as_functions(C, A, B):
    C += np.int32(A) @ np.int32(B)


def copies_twice(C, A, B):
    wide = A.astype(np.int16).copy()
    C += wide.astype(np.int32) @ B.astype(np.int32)


SPELLINGS = [operator, temporaries, einsum, einsum_in_a_type, dot, matmul, matmul_in_a_type, types_as_functions,
             copies_twice]


@pytest.mark.parametrize("function", SPELLINGS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ["vpdpbusd", "vpmaddwd"])
def test_the_product_reads_what_was_converted(function: Callable[..., None], name: str) -> None:
    arrays = np.zeros((M, N), np.int32), np.zeros((M, K), np.uint8), np.zeros((K, N), np.int8)
    python = extracted(function, *arrays)
    dependences = analysed(python.scop, for_instructions=True).dependences
    sizes = {"C_0": M, "C_1": N, "A_0": M, "A_1": K, "B_0": K, "B_1": N}
    found = match(dependences.scop, find_intrinsic(name), dependences=dependences,
                  sizes={p.name: sizes[p.name] for p in dependences.scop.parameters})
    assert found.count, [str(e) for e in found.explanations]
    operands = found.matches[0].to_json()["operands"]
    assert {operands["A"], operands["B"]} == {"A[i][k]", "B[k][j]"}
    assert {a.name for s in dependences.scop.statements for a in dependences.scop.arrays
            if a.name in {x.array for x in s.accesses}} <= {"A", "B", "C"}


def narrow(C, A, B):
    C += A @ B   # of bytes, in sixteen bits: wraps


def changed(C, A, B):
    wide = A.astype(np.int32)
    A[0, 0] = 1
    C += wide @ B.astype(np.int32)


@pytest.mark.parametrize("function", [narrow, changed], ids=lambda f: f.__name__)
def test_what_is_no_product_of_the_bytes_has_no_match(function: Callable[..., None]) -> None:
    arrays = np.zeros((M, N), np.int32), np.zeros((M, K), np.uint8), np.zeros((K, N), np.int8)
    dependences = analysed(extracted(function, *arrays).scop, for_instructions=True).dependences
    sizes = {"C_0": M, "C_1": N, "A_0": M, "A_1": K, "B_0": K, "B_1": N}
    assert match(dependences.scop, find_intrinsic("vpdpbusd"), dependences=dependences,
                 sizes={p.name: sizes[p.name] for p in dependences.scop.parameters}).count == 0
