"""The loop IR as the lines of a region: every node has its text, and what needs a scope gets one."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.parser import parse_loops
from tests.emit_c.printers import facts_of, printed, printer_of

ROWS = "for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n    "
COPY = printer_of(ROWS + "A[i][j] = 2 * B[i][j];")


def loop_of(text: str) -> For:
    loop = parse_loops(text)
    assert isinstance(loop, For)
    return loop


@pytest.mark.parametrize(("loops", "text"), [
    ("S0(i, 3)", "A[i][3] = 2 * B[i][3];"),
    ("for i in range(0, n):\n    S0(i, 0)", "for (long i = 0; i < n; i++)\n  A[i][0] = 2 * B[i][0];"),
    ("for i in range(1, n, 4):\n    S0(i, 0)", "for (long i = 1; i < n; i += 4)\n  A[i][0] = 2 * B[i][0];"),
    ("if n > 3:\n    S0(0, 0)\nelse:\n    S0(1, 0)",
     "if (n > 3) {\n  A[0][0] = 2 * B[0][0];\n} else {\n  A[1][0] = 2 * B[1][0];\n}"),
    ("with let(c, 3*i):\n    S0(c, 0)", "const long c = 3 * i;\nA[c][0] = 2 * B[c][0];"),
    ("with block():\n    pass", ""),
])
def test_nodes(loops: str, text: str) -> None:
    assert printed(COPY, loops) == text


def test_names_of_two_declarations_do_not_meet() -> None:
    text = printed(COPY, "with let(c, 3*i):\n    S0(c, 0)\nwith let(c, 3*i + 1):\n    S0(c, 1)")
    assert text.count("{") == text.count("}") >= 1
    assert text.count("const long c = ") == 2


def test_temporaries_are_declared_around_what_uses_them() -> None:
    made = printer_of("for (int i = 0; i < n; i++) {\n  float t[4];\n  t[1] = y[i];\n  y[i] = t[1];\n}")
    text = printed(made, "with local(Temporary(array='t', name='t_0', kept=(0, ), bases=(linear(0), ), "
                         "extents=(4, ))):\n"
                         "    S0(i, temporaries=(Temporary(array='t', name='t_0', kept=(0, ), bases=(linear(0), ), "
                         "extents=(4, )), ))")
    assert text.splitlines()[0].startswith("float t_0[4]")
    assert text.splitlines()[-1] == "t_0[1] = y[i];"


@pytest.mark.parametrize(("mark", "pragma"), [
    ("role=loop parallel=1", "#pragma omp parallel for"), ("role=loop simd=1", "#pragma omp simd")])
def test_marks_become_pragmas_unless_nobody_wants_them(mark: str, pragma: str) -> None:
    loops = f"for i in range(0, n, mark='{mark}'):\n    S0(i, 0)"
    assert pragma in printed(COPY, loops)
    plain = printer_of(ROWS + "A[i][j] = 2 * B[i][j];", openmp=False, simd=False)
    assert "#pragma" not in printed(plain, loops)


def test_a_trace_tells_each_instance() -> None:
    traced = printer_of(ROWS + "A[i][j] = 2 * B[i][j];", trace="visit")
    assert printed(traced, "S0(i, 3)").splitlines()[0]== "visit_0((long)i, (long)3);"


@pytest.mark.parametrize(("statement", "width"), [
    ("A[i][j] = 2 * B[i][j];", 4), ("A[i][j] = x[i] * B[i][j];", 2), ("A[i][j] = B[i][at[j]];", 0),
    ("A[i][j] = B[i][j];", 0)])      # a copy is left to the compiler below 512 bits
def test_widths_of_vectors(statement: str, width: int) -> None:
    made = printer_of(ROWS + statement)
    loop = loop_of("for j in range(0, m, mark='role=loop simd=1'):\n    S0(i, j)")
    assert made.vector_width(loop, facts_of(made)) == width


def test_sizes_that_only_parameters_decide_have_a_text() -> None:
    loop = loop_of("for j in range(0, 3*n + 1):\n    S0(0, j)")
    assert COPY.size_text(loop.upper) is not None
    assert COPY.size_text(loop_of("for j in range(0, min(n, 7)):\n    pass").upper) is None


def test_functions_of_vectors_are_seen() -> None:
    head = "#include <math.h>\nvoid f(int n, float y[restrict n], float z[restrict n])\n{\n#pragma scop\n"
    made = printer_of("for (int i = 0; i < n; i++)\n  y[i] = expf(z[i]);", head=head)
    assert made.has_vector_calls(parse_loops("S0(i)"))
    assert not COPY.has_vector_calls(parse_loops("S0(i, j)"))
