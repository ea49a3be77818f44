from __future__ import annotations

import pytest

from polysched.notebook.tutorial.answers import State, check
from polysched.notebook.tutorial.instructions import ExecutionsOf, InstructionFor, ProgramFor, imaginary
from polysched.scop import from_c_text
from polysched.tensorize import match

VECTOR = """#include <stdint.h>
void vector(int y[restrict 16], int8_t A[restrict 16][32], int8_t x[restrict 32]) {
#pragma scop
  for (int i = 0; i < 16; i++)
    for (int k = 0; k < 32; k++)
      y[i] += A[i][k] * x[k];
#pragma endscop
}"""


def unit(rows: int, columns: int, result: str = "int32_t") -> str:
    return f"""
void unit({result} C[{rows}], const int8_t A[{rows}][{columns}], const int8_t B[{columns}]) {{
    for (int i = 0; i < {rows}; i++)
        for (int k = 0; k < {columns}; k++)
            C[i] += A[i][k] * B[k];
}}"""


@pytest.fixture(scope="module")
def question():
    return InstructionFor(scop=from_c_text(VECTOR), executions=32, most_work=16)


@pytest.mark.parametrize(("text", "said"), [
    (unit(3, 5), "it matches, and runs 42 times"), (unit(8, 4), "one execution makes 32 updates"),
    (unit(4, 4, "int16_t"), "it computes nothing of the program"), ("x", "is not C"), (4, "quotation marks")])
def test_other_instructions_are_wrong(question, text, said):
    verdict = check(text, question)
    assert verdict.state is State.WRONG
    assert said in verdict.text


def test_an_instruction_that_is_executed_seldom_enough_is_right(question):
    assert check(unit(4, 4), question).state is State.RIGHT


def test_executions_count_padding():
    question = ExecutionsOf(found=match(from_c_text(VECTOR), imaginary(unit(5, 8))))
    assert check(16, question).state is State.RIGHT
    assert check(13, question).text == "13 is too few"


def test_a_program_is_proved_and_says_it_in_other_words():
    question = ProgramFor(instruction=imaginary("""
void average(uint8_t O[16], const uint8_t A[16], const uint8_t B[16]) {
    for (int i = 0; i < 16; i++)
        O[i] = (A[i] + B[i] + 1) >> 1;
}"""), without=("+",))

    def blend(value: str) -> str:
        return f"""#include <stdint.h>
void blend(uint8_t o[restrict 64], uint8_t a[restrict 64], uint8_t b[restrict 64]) {{
#pragma scop
  for (int i = 0; i < 64; i++)
    o[i] = {value};
#pragma endscop
}}"""

    assert check(blend("(a[i] | b[i]) - ((a[i] ^ b[i]) >> 1)"), question).state is State.RIGHT
    assert check(blend("(a[i] & b[i]) - ((a[i] ^ b[i]) >> 1)"), question).text == "the instruction does not compute it"
    assert check(blend("(a[i] + b[i] + 1) >> 1"), question).text == "it contains the operator +"
    assert check("int x;", question).state is State.WRONG
