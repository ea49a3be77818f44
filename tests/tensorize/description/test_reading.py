"""What the reader makes of C: types of constants, conversions, and what it refuses, with the sub-expression."""

import pytest

from polysched.errors import SourceSyntaxError
from polysched.records import whole
from polysched.scop.body import Binary, Cast, Load
from polysched.scop.dtypes import INT16, INT32, INT64, UINT32, UINT64, DType
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Loop, Update

PARAMETERS = ("int32_t O[8], int64_t L[8], int16_t H[8], const int32_t A[8], const int16_t S[8], const uint8_t B[8], "
              "const float F[8], const bf16 X[8]")


def body(text: str) -> Update:
    (loop,) = parse(f"void u({PARAMETERS}) {{ for (int i = 0; i < 8; i++) {text} }}").body
    assert isinstance(loop, Loop)
    (update,) = loop.body
    assert isinstance(update, Update)
    return update


CONSTANTS = [("2", INT32), ("2u", UINT32), ("0xFFFFFFFF", UINT32), ("0x7FFFFFFF", INT32), ("2147483648", INT64),
             ("037777777777", UINT32), ("1LL", INT64), ("1ull", UINT64), ("0x8000000000000000", UINT64)]


@pytest.mark.parametrize(("text", "dtype"), CONSTANTS)
def test_constants_have_the_type_of_c(text: str, dtype: DType) -> None:
    value = body(f"L[i] = {text} && 1;").value
    assert isinstance(value, Cast)
    assert isinstance(value.operand, Binary)
    assert value.operand.left.dtype == dtype


def test_octal_constants_are_octal() -> None:
    value = body("O[i] = 010 && 1;").value
    assert isinstance(value, Binary)
    assert value.left.value == 8


def test_an_assignment_converts_to_its_target() -> None:
    value = body("H[i] += A[i];").value
    assert isinstance(value, Cast)
    assert value.dtype == INT16
    assert isinstance(value.operand, Binary)
    assert value.operand.dtype == INT32


def test_a_mask_of_32_bits_is_unsigned() -> None:
    value = body("L[i] += A[i] & 0xFFFFFFFF;").value
    assert isinstance(value, Binary)
    assert value.dtype == INT64
    assert value.right.dtype == UINT32


def test_what_is_read_twice_is_two_elements() -> None:
    update = body("O[i] += A[i] * A[7 - i] + A[i];")
    assert [str(e) for e in update.elements] == ["O[i]", "A[i]", "A[-1*i + 7]"]


def test_tables_are_read_at_computed_subscripts() -> None:
    assert "A[]" in whole(body("O[i] = A[B[i] & 7];").value)


REFUSED = {
    "O[i] += A[i] && X[i];": ("bfloat16 is no number of C", "A[i] && X[i]"),
    "O[i] = F[i];": ("a conversion of a float to an integer is undefined", "F[i]"),
    "O[i] = (int)F[i];": ("a conversion of a float to an integer is undefined", "(int) F[i]"),
    "O[i] = A[B[i]];": ("a subscript of A may leave its 8 elements", "A[B[i]]"),
    "O[i] = O[B[i] & 7];": ("what is read at computed subscripts is an operand that is const", "O[B[i] & 7]"),
    "A[i] = O[i];": ("A is const and is written", "A[i] = O[i]"),
    "O[i] = f(A[i]);": ("no function f", "f(A[i])"),
    "O[i] = sat_i16(A[i], 3);": ("sat_i16 takes 1 arguments", "sat_i16(A[i], 3)"),
    "O[i] = F[i] % 2;": ("no such operation on floats", "F[i] % 2"),
    "{ int A = 1; O[i] = A; }": ("A stands for two things", "int A = 1"),
    "while (1) O[i] = 1;": ("no such statement", "while (1)"),
    "for (int i = 0; i < 3; i++) O[i] = 1;": ("i stands for two things", "for"),
    "for (int k = 0; k < 0; k++) O[i] = 1;": ("a loop of no iteration", "for"),
    "O[i] = (A[i], 3);": ("no such expression", "A[i], 3"),
    "O[i] = *A;": ("no such expression", "*A"),
    "{ int t[2] = {1, 2}; O[i] = t[0]; }": ("no such initial value", "t[2]"),
    "{ int t[2] = {1}; O[i] = t[0]; }": ("an array of locals starts from zero or nothing", "t[2]"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_is_quoted(text: str) -> None:
    with pytest.raises(SourceSyntaxError) as refusal:
        body(text)
    problem, witness = REFUSED[text]
    assert problem in refusal.value.problem
    assert witness in str(refusal.value.witness)


def test_loops_may_be_triangular() -> None:
    (outer,) = parse("void u(int32_t O[8], const int32_t A[8]) { for (int i = 0; i < 8; i++) "
                     "for (int k = i; k <= i + 3; k++) O[i] += 1; }").body
    assert isinstance(outer, Loop)
    (inner,) = outer.body
    assert isinstance(inner, Loop)
    assert inner.extent == 11
    assert list(inner.values({"i": 2}, {})) == [2, 3, 4, 5]


def test_two_functions_are_refused() -> None:
    with pytest.raises(SourceSyntaxError, match="exactly one function"):
        parse("int g; void u(int32_t O[8]) { O[0] = 1; }")


def test_loads_name_the_elements() -> None:
    assert any(isinstance(e, Load) for e in (body("O[i] = A[i];").value,))
