"""An instruction that every machine executes: four lanes of gcc's vectors, multiplied and added in C."""

from __future__ import annotations

import numpy as np

from polysched.scop.scop import Scop
from polysched.tensorize import Intrinsic
from polysched.tensorize.description.intrinsic import Cost, Isa, LoadMode, Operand, Register
from tests.tensorize.described import program

VECTOR = "__attribute__((vector_size(16))) int"
LANES = Register(c_type=VECTOR, load="__builtin_memcpy(&{register}, {pointer}, 16);",
                 store="__builtin_memcpy({pointer}, &{register}, 16);", zero="{register} = {register} ^ {register};",
                 count=16)
ONE = Register(c_type="int", load="{register} = *({pointer});", count=16)
FOUR = Intrinsic(
    name="four", isa=Isa(name="mine", machine="any", manual="none"), section="none", template="{Y} += {X} * {W};",
    cost=Cost(issue_cycles=1, latency_cycles=4), semantics="void four(int32_t Y[4], const int32_t X[1], "
    "const int32_t W[4]) { for (int i = 0; i < 4; i++) Y[i] += X[0] * W[i]; }",
    operands=(Operand(name="Y", register=LANES), Operand(name="X", register=ONE, mode=LoadMode.BROADCAST),
              Operand(name="W", register=LANES)))
SIZES = [(2, 2, 2), (3, 4, 5), (4, 5, 3), (19, 23, 29), (5, 7, 31), (8, 16, 2), (17, 3, 4), (2, 33, 9)]


def product(m: int, n: int, k: int, *, turned: bool = False) -> Scop:
    """A product of matrices; the right one by columns where it is turned."""
    right = f"int B[{n}][{k}]" if turned else f"int B[{k}][{n}]"
    return program(f"int C[{m}][{n}], int A[{m}][{k}], {right}",
                   f"for (int i = 0; i < {m}; i++) for (int j = 0; j < {n}; j++) for (int k = 0; k < {k}; k++) "
                   f"C[i][j] += A[i][k] * {'B[j][k]' if turned else 'B[k][j]'};")


def matrices(m: int, n: int, k: int, *, turned: bool = False) -> dict[str, np.ndarray]:
    """Random elements of the whole range."""
    chooser = np.random.default_rng(m * n + k)
    return {name: chooser.integers(-(1 << 31), 1 << 31, shape).astype(np.int32)
            for name, shape in (("C", (m, n)), ("A", (m, k)), ("B", (n, k) if turned else (k, n)))}


def expected(given: dict[str, np.ndarray], *, turned: bool = False, zero: bool = False) -> np.ndarray:
    """What the program leaves in C."""
    right = given["B"].T if turned else given["B"]
    with np.errstate(over="ignore"):
        return (0 if zero else given["C"]) + given["A"] @ right
