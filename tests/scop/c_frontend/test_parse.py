"""C that cannot be parsed: the compiler's message, or what is beyond standard C."""

import pytest

from polysched.errors import SourceSyntaxError, UnsupportedScopError
from polysched.scop import from_c_text


def test_syntax_error_has_the_compilers_message():
    with pytest.raises(SourceSyntaxError) as caught:
        from_c_text("void f(int n, int A[n]) {\n#pragma scop\n for (int i = 0; i < n i++) A[i] = 0;\n"
                    "#pragma endscop\n}\n", path="given.c")
    assert caught.value.where.line == 3
    assert "expected ';'" in caught.value.problem
    assert "error:" in caught.value.witness


def test_beyond_standard_c_is_not_called_a_syntax_error():
    with pytest.raises(UnsupportedScopError) as caught:
        from_c_text('int g(int x) { asm goto ("nop" : : : : out); out: return x; }\n'
                    "void f(int n) {\n#pragma scop\n#pragma endscop\n}\n", path="given.c")
    assert caught.value.where.line == 1
    assert "beyond standard C" in caught.value.problem
    assert "__POLYSCHED_FRONTEND__" in caught.value.hint


def test_error_directive():
    with pytest.raises(SourceSyntaxError, match="wrong turn"):
        from_c_text("#error wrong turn\n", path="given.c")
