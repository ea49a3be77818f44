"""Sums in one form: what becomes a loop, and what looks like one and is none."""

import pytest

from polysched.tensorize.description.agreement import require_agreement
from polysched.tensorize.description.contraction import Contraction
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Local, Loop
from polysched.tensorize.description.sums import without_second_names

I32, I8 = "int32_t C[8], const int8_t A[32], const int8_t B[32]", "for (int i = 0; i < 8; i++)"
FLOATS = "float C[2], const float A[8], const float B[8]"


def read(parameters: str, body: str) -> Contraction:
    text = f"void unit({parameters}) {{ {body} }}"
    require_agreement(text)
    return derive(parse(text))


ONE_FORM = {   # parameters, body, all loops
    "a second name": (I32, f"{I8} {{ int32_t t = C[i]; for (int k = 0; k < 4; k++) "
                           "{ int32_t a = A[4 * i + k]; t = t + a * B[4 * i + k]; } C[i] = t; }", "i k"),
    "written out": (I32, f"{I8} C[i] = C[i] + A[4 * i] * B[4 * i] + A[4 * i + 1] * B[4 * i + 1] + "
                         "A[4 * i + 2] * B[4 * i + 2] + A[4 * i + 3] * B[4 * i + 3];", "i k"),
    "by statements": (I32, f"{I8} {{ C[i] += A[4 * i + 1] * B[1]; C[i] += A[4 * i] * B[0]; }}", "i k"),
    "in another order": (I32, f"{I8} C[i] += A[4 * i + 3] + A[4 * i] + A[4 * i + 2] + A[4 * i + 1];", "i k"),
    "a name that is taken": (I32, f"{I8.replace('i', 'k').replace('knt', 'int')} C[k] += A[2 * k] + A[2 * k + 1];",
                             "k k_"),
    "from zero": (I32, f"{I8} C[i] = A[2 * i] * B[i] + A[2 * i + 1] * B[i];", "i k"),
    "a condition": (I32, f"{I8} for (int k = 0; k < 4; k++) if (A[k]) C[i] += B[4 * i + k];", "i k"),
    "floats in order": (FLOATS, "for (int i = 0; i < 2; i++) C[i] = C[i] + A[4 * i] * B[0] + A[4 * i + 1] * B[1];",
                        "i k"),
}
OTHERS = {   # no loop is made of these
    "other factors": (I32, f"{I8} C[i] += 2 * A[2 * i] + 3 * A[2 * i + 1];"),
    "other steps": (I32, f"{I8} C[i] += A[i] + A[i + 1] + A[i + 3];"),
    "one element": (I32, f"{I8} C[i] += A[i] + A[i];"),
    "a difference": (I32, f"{I8} C[i] += A[2 * i] - A[2 * i + 1];"),
    "a sum that wraps": ("int64_t C[8], const int32_t A[32]", f"{I8} C[i] += A[2 * i] + A[2 * i + 1];"),
    "an early conversion": ("int32_t C[8], const int16_t A[32]", f"{I8} C[i] += (int16_t)(A[2 * i] + A[2 * i + 1]);"),
    "floats in pairs": (FLOATS, "for (int i = 0; i < 2; i++) C[i] += A[4 * i] * B[0] + A[4 * i + 1] * B[1];"),
    "floats backwards": (FLOATS, "for (int i = 0; i < 2; i++) C[i] = A[4 * i] + (A[4 * i + 1] + C[i]);"),
}


@pytest.mark.parametrize("name", ONE_FORM)
def test_sums_have_one_form(name: str) -> None:
    parameters, body, loops = ONE_FORM[name]
    found = read(parameters, body)
    assert " ".join(d.name for d in found.dimensions) == loops
    assert found.whole
    assert found.output.array == "C"


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_looks_like_a_loop(name: str) -> None:
    assert [d.name for d in read(*OTHERS[name]).dimensions] == ["i"]


def test_a_text_that_writes_a_sum_out_is_kept_beside_its_loop() -> None:
    text = f"void unit({I32}) {{ {I8} C[i] += A[2 * i] + A[2 * i + 1]; }}"
    assert [str(e) for e in derive(parse(text)).inputs] == ["A[2*i + k]"]
    assert [str(e) for e in derive(parse(text), as_written=True).inputs] == ["A[2*i]", "A[2*i + 1]"]


@pytest.mark.parametrize("between", [
    "C[i] = 1;", "t += C[0];", "", "for (int k = 0; k < 4; k++) B[k] = C[k];"])
def test_a_local_that_is_no_second_name(between: str) -> None:
    end = "C[i] = t; B[i] = t;" if not between else "C[i] = t;"
    items = parse("void unit(int32_t C[8], int32_t B[8], const int32_t A[8]) { for (int i = 0; i < 8; i++) "
                  f"{{ int32_t t = C[i]; t += A[i]; {between} {end} }} }}").body
    (loop,) = without_second_names(items)
    assert isinstance(loop, Loop)
    assert isinstance(loop.body[0], Local)


def test_the_last_of_several_sums_is_no_sum_of_them() -> None:
    found = read(I32, f"{I8} for (int k = 0; k < 4; k++) C[i] = A[k] + A[k + 1];")
    assert [d.name for d in found.dimensions] == ["i", "k"]
    assert found.whole
