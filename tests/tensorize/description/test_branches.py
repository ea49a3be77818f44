"""Branches of a description: choices that all three readings agree on, and what is refused with its reason."""

import numpy as np
import pytest

from polysched.errors import SourceSyntaxError
from polysched.tensorize.description.agreement import require_agreement
from polysched.tensorize.description.python_emulator import as_list, emulated
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Local, Loop, Update

ARRAYS = "int32_t P[4], int16_t Q[4], int32_t R[8], const int32_t A[4], const uint8_t B[4]"
READ = {   # body, how many locals keep old values, how many elements are written
    "a swap": ("if (P[i] > R[i]) { int32_t t = P[i]; P[i] = R[i]; R[i] = t; }", 1, 2),
    "one way": ("if (A[i] > P[i]) P[i] = A[i];", 0, 1),
    "both ways": ("if (B[i]) Q[i] = A[i]; else Q[i] = P[i];", 0, 1),
    "a chain": ("if (A[i] > 5) P[i] = 5; else if (A[i] < -5) P[i] = -5; else P[i] = A[i];", 0, 1),
    "a maximum and its place": ("if (A[i] > P[i]) { P[i] = A[i]; Q[i] = i; }", 1, 2),
    "written twice": ("if (B[i] < 9) { P[i] = A[i]; P[i] = P[i] * 2; }", 0, 1),
    "a narrow element": ("if (A[i] > 0) { Q[i] = A[i]; P[i] = Q[i]; }", 0, 2),
    "neighbours": ("if (R[2 * i] > R[2 * i + 1]) { int32_t t = R[2 * i]; R[2 * i] = R[2 * i + 1]; R[2 * i + 1] = t; }",
                   1, 2),
    "what is not computed": ("if (B[i] != 0) P[i] = A[i] / B[i]; else P[i] = 0;", 0, 1),
    "the same name twice": ("if (A[i] > 0) { int32_t t = A[i]; P[i] = t; } "
                            "if (A[i] < 0) { int16_t t = A[i]; Q[i] = t; }", 0, 2),
    "by position": ("if (i < 2) P[i] = A[i]; else P[i] = B[i];", 0, 1),
    "compound": ("if (A[i] & 1) P[i] += A[i]; else P[i] -= 1;", 0, 1),
}


@pytest.mark.parametrize("name", READ)
def test_a_branch_is_read_as_choices(name: str) -> None:
    body, kept, written = READ[name]
    text = f"void u({ARRAYS}) {{ for (int i = 0; i < 4; i++) {{ {body} }} }}"
    (loop,) = parse(text).body
    assert isinstance(loop, Loop)
    assert sum(isinstance(x, Local) for x in loop.body) == kept
    assert len({x.target for x in loop.body if isinstance(x, Update)}) == written
    require_agreement(text)


def test_the_python_reading_takes_one_way() -> None:
    run = emulated("void u(int32_t P[2], const int32_t A[2]) { for (int i = 0; i < 2; i++) "
                   "if (A[i] < 0) { P[i] = 1; } else P[i] += 7; }")
    memory = {"P": as_list(np.array([3, 4], np.int32)), "A": as_list(np.array([-1, 1], np.int32))}
    run.run(memory)
    assert memory["P"] == [1, 11]


REFUSED = {
    "if (A[i]) for (int k = 0; k < 2; k++) P[i] += k;": "a branch around the loop over k",
    "if (A[i]) { int32_t t[2]; P[i] = 1; }": "an array of locals, t",
    "if (A[i]) { int32_t t; P[i] = t; }": "the local t is read before it has a value",
    "for (int j = 0; j < 4; j++) if (R[i] > R[j]) R[i] = R[j];": "may be one element",
    "if (A[i]) { int32_t t = 1; } P[i] = t;": "such element",
    "if (A[i]) B[i] = 3;": "is const",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_no_choice_is_refused(body: str) -> None:
    with pytest.raises(SourceSyntaxError) as caught:
        parse(f"void u({ARRAYS}) {{ for (int i = 0; i < 4; i++) {{ {body} }} }}")
    assert REFUSED[body] in str(caught.value)
