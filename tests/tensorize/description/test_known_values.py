"""Subscripts of tables that a condition or a local keeps inside, and those that nothing does."""

import pytest

from polysched.errors import SourceSyntaxError
from polysched.tensorize.description.agreement import require_agreement
from polysched.tensorize.description.reading import parse

PARAMETERS = "uint8_t O[8], const uint8_t T[16], const uint8_t I[8], const int8_t S[8]"
INSIDE = [
    "O[i] = I[i] < 16 ? T[I[i]] : 0;", "O[i] = 15 < I[i] ? 0 : T[I[i]];",
    "if (I[i] <= 15) O[i] = T[I[i]]; else O[i] = 7;", "if (!(I[i] < 16)) O[i] = 0; else O[i] = T[I[i]];",
    "O[i] = S[i] >= 0 && S[i] < 16 ? T[S[i]] : 0;", "O[i] = S[i] < 0 || S[i] > 15 ? 0 : T[S[i]];",
    "int n = I[i]; O[i] = n < 16 ? T[n] : 0;", "int n = I[i] >> 4; O[i] = T[n];",
    "int n = I[i]; int m = n + 1; if (m < 17 && m > 0) O[i] = T[m - 1 & 15];",
    "O[i] = I[i] == 5 ? T[I[i]] : 1;", "O[i] = I[i] < 16u ? T[I[i]] : 0;",
]
OUTSIDE = [
    "O[i] = I[i] < 17 ? T[I[i]] : 0;", "O[i] = S[i] < 16 ? T[S[i]] : 0;", "O[i] = I[i] < 16 ? 0 : T[I[i]];",
    "O[i] = I[i] < 16 || S[i] > 0 ? T[I[i]] : 0;", "O[i] = S[i] > 3u ? T[S[i] & 31] : 0;",
    "O[i] = S[i] < 16u ? T[S[i]] : 0;", "int n = I[i]; if (n < 16) { n = n + 1; O[i] = T[n]; }",
    "int n = I[i] & 15; n = n * 2; O[i] = T[n];", "O[i] = I[i] != 5 ? T[I[i]] : 0;",
    "int n = I[i]; if (n < 16) O[i] = 1; O[i] = T[n];",
    "int n = 0; for (int k = 0; k < 2; k++) { O[i] += T[n]; n = 20; }",
    "int n = I[i] & 15; for (int k = 0; k < 2; k++) { int m; m = 99; O[i] += T[m]; }",
]


@pytest.mark.parametrize("body", INSIDE)
def test_a_subscript_stays_inside(body: str) -> None:
    require_agreement(f"void unit({PARAMETERS}) {{ for (int i = 0; i < 8; i++) {{ {body} }} }}")


@pytest.mark.parametrize("body", OUTSIDE)
def test_a_subscript_may_leave_its_table(body: str) -> None:
    with pytest.raises(SourceSyntaxError, match="may leave its 16 elements"):
        parse(f"void unit({PARAMETERS}) {{ for (int i = 0; i < 8; i++) {{ {body} }} }}")


def test_many_locals_that_double_take_no_time() -> None:
    locals_ = "int32_t v0 = I[i];" + "".join(f"int32_t v{n + 1} = v{n} + v{n};" for n in range(60))
    with pytest.raises(SourceSyntaxError, match="may leave"):
        parse(f"void unit({PARAMETERS}) {{ for (int i = 0; i < 8; i++) {{ {locals_} O[i] = T[v60]; }} }}")
