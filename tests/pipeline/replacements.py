"""Instructions in plain C that every machine executes, right and wrong, and programs that they match."""

import platform
from dataclasses import replace

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register

INTS = "__attribute__((vector_size(16))) int"
LANES = Register(c_type=INTS, load="__builtin_memcpy(&{register}, {pointer}, 16);",
                 store="__builtin_memcpy({pointer}, &{register}, 16);", zero="{register} = {register} ^ {register};")
FOUR = Register(c_type=INTS, load=f"{{register}} = ({INTS})" "{ %s };" % ", ".join(["*({pointer})"] * 4))
RIGHT = Intrinsic(
    name="lanes_of_four", section="a test", cost=Cost(issue_cycles=0.001, latency_cycles=1),
    isa=Isa(name="plain_c", machine=platform.machine(), manual="a test"),
    semantics="""
void lanes_of_four(int32_t C[4], const int32_t A[1], const int32_t B[4]) {
    for (int i = 0; i < 4; i++)
        C[i] += A[0] * B[i];
}""",
    operands=(Operand(name="C", register=LANES), Operand(name="A", register=FOUR, mode=LoadMode.BROADCAST),
              Operand(name="B", register=LANES, mode=LoadMode.PACKED)),
    template="{C} += {A} * {B};")
WRONG = replace(RIGHT, name="lanes_of_four", template="{C} += {A} * ({B} | 1);")
TRAPS = replace(RIGHT, name="lanes_of_four", template="if ({B}[3] == 0) __builtin_trap(); {C} += {A} * {B};")
LOOPS = replace(RIGHT, name="lanes_of_four",
                template="for (volatile int again = {B}[3] == 0; again; ) ; {C} += {A} * {B};")
NO_C = replace(RIGHT, name="lanes_of_four", template="{C} += {A} *;")

PRODUCT = """
#include <stdint.h>
void product(int32_t C[24][24], int32_t A[24][24], int32_t B[24][24])
{
#pragma scop
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 24; j++)
            for (int k = 0; k < 24; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
