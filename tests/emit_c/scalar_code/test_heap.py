"""Temporary arrays without a place in the loops: which fit the stack, and how memory is asked for and given back."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polysched.emit_c.loop_ir.loops import Temporary
from polysched.emit_c.scalar_code.heap import (
    FEW_BYTES,
    STACK_BYTES,
    constant_elements,
    constant_extents,
    declared,
    ends,
    extent_texts,
    fits_stack,
    is_expanded,
    local_declarations,
    part_of_thread,
    parts_of_threads,
    prototypes,
    whole_array,
    with_memory,
)
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from tests.scop.c_frontend.same_output import SANITIZED, same_output

TEXT = """void f(int n, double y[n])
{{
#pragma scop
  double t[{extents}], s;
  for (int i = 0; i < n; i++)
    t[{subscripts}] = y[i];
  for (int i = 0; i < n; i++) {{
    s = t[{subscripts}];
    y[i] = s * s;
  }}
#pragma endscop
}}
"""


def program(extents: str = "n", subscripts: str = "i") -> Scop:
    return from_c_text(TEXT.format(extents=extents, subscripts=subscripts))


@pytest.mark.parametrize(("extents", "subscripts", "elements"), [
    ("n", "i", None), ("100", "i % 100", 100), ("n][4", "i][3", None), ("7][4", "i % 7][3", 28)])
def test_extents_that_are_numbers(extents: str, subscripts: str, elements: int | None) -> None:
    array = program(extents, subscripts).array("t")
    assert constant_elements(array) == elements
    assert fits_stack(array) is (elements is not None)
    assert len(constant_extents(array)) == len(array.extents)


def test_a_large_array_does_not_fit_the_stack() -> None:
    most = STACK_BYTES // 8
    assert fits_stack(program(str(most), f"i % {most}").array("t"))
    assert not fits_stack(program(str(most + 1), f"i % {most}").array("t"))


def test_a_scalar_has_one_element() -> None:
    assert constant_elements(program().array("s")) == 1


def test_an_array_of_the_program_is_declared_as_the_program_does() -> None:
    scop = program("n + 1][4", "i][3")
    assert extent_texts(scop, scop.array("t")) == ("n + 1", "4")
    assert local_declarations(scop, {"t": "t_2", "s": "s"}) == ["double t_2[n + 1][4];", "double s;"]
    assert local_declarations(scop, {}) == [], "arrays that became buffers are not declared"


def test_an_extent_that_may_be_nothing_is_one_at_least() -> None:
    scop = program()
    assert extent_texts(scop, scop.array("t")) == ("n",), "the declaration says that n is 1 at least"
    anything = replace(scop, context=isl.Set.universe(scop.context.get_space()))
    (text,) = extent_texts(anything, scop.array("t"))
    assert "1" in text
    assert "n" in text


def test_an_expanded_array_has_dimensions_that_nobody_declared() -> None:
    array = program().array("t")
    assert not is_expanded(array)
    assert is_expanded(replace(array, c_extents=(None,)))


def test_memory_of_a_whole_array_is_in_lines() -> None:
    scop = program("n + 1][4", "i][3")
    made = whole_array(scop, "t", "m")
    assert made.declaration.startswith("double (*m)[4] = aligned_alloc(64, ((unsigned long)(")
    assert "/ 64 * 64" in made.declaration
    assert not made.per_thread


def test_a_part_per_thread() -> None:
    scop = program("n + 1][4", "i][3")
    row = Temporary("t", "t_row", kept=(1,), memory="t_parts")
    both = Temporary("t", "t_all", kept=(0, 1), memory="t_parts")
    assert parts_of_threads(scop, row, line_bytes=64).per_thread
    assert "omp_get_max_threads()" in parts_of_threads(scop, row, line_bytes=64).declaration
    assert part_of_thread(scop, row, line_bytes=64).startswith("double *t_row = t_parts + omp_get_thread_num() * (")
    assert part_of_thread(scop, both, line_bytes=64).startswith("double (*t_all)[4] = (double (*)[4])(t_parts + ")


def test_what_is_declared_without_headers_is_taken_back() -> None:
    scop = program("n + 1][4", "i][3")
    whole, part = whole_array(scop, "t", "m"), parts_of_threads(
        scop, Temporary("t", "r", kept=(1,), memory="p"), line_bytes=64)
    assert prototypes([]) == ends([]) == ends([whole]) == []
    assert len(prototypes([whole])) == 2
    text = "\n".join([*prototypes([part]), *ends([part])])
    assert set(re.findall(r"#define (\w+)", text)) == set(re.findall(r"#undef (\w+)", text))
    assert text.count("#if") == text.count("#endif")


def test_without_memory_the_original_code_runs() -> None:
    scop = program("n + 1][4", "i][3")
    lines = with_memory(scop, ["BODY;"], [whole_array(scop, "t", "m"), whole_array(scop, "t", "k")])
    text = "\n".join(lines)
    assert "if (m && k) {" in text
    assert text.index("BODY;") < text.index("else") < text.index("y[i] = s * s;") < text.index("free(m);")
    assert text.count("free(") == 3, "the prototype, and one for each"


def test_a_call_that_needs_few_bytes_has_them_on_the_stack() -> None:
    scop = program("n + 1][4", "i][3")
    made = whole_array(scop, "t", "m", "few")
    assert declared([made]) == [
        f"double few[{FEW_BYTES // 8}] __attribute__((aligned(64)));",
        f"double (*m)[4] = (unsigned long)((n + 1) * (4) * sizeof(double)) <= {FEW_BYTES} ? (void *)few : "
        "aligned_alloc(64, ((unsigned long)((n + 1) * (4) * sizeof(double)) + 127) / 64 * 64);"]
    assert made.released == "if ((void *)m != (void *)few) free(m);"
    row = Temporary("t", "t_row", kept=(1,), memory="t_parts")
    parts = parts_of_threads(scop, row, line_bytes=64, few="few_parts")
    assert f"<= {FEW_BYTES} ? (void *)few_parts : aligned_alloc(" in parts.declaration
    assert whole_array(scop, "t", "m").released == "free(m);"


@pytest.mark.parametrize("n", [0, 1, 9, FEW_BYTES // 8 - 1, FEW_BYTES // 8, FEW_BYTES // 8 + 1, 3000])
def test_memory_of_any_size(tmp_path: Path, n: int) -> None:
    """Sizes at which the temporary array stands on the stack, just fits it, and comes from the heap."""
    text = """void f(int n, double *restrict a, double *restrict b, double *restrict c) {
  double t;
#pragma scop
  for (int i = 0; i < n; i++) {
    t = a[i] * 2 + b[i];
    b[i] = t * t;
    c[i + 1] = c[i] * t + b[i];
  }
#pragma endscop
}
"""
    made = same_output(tmp_path, text, f"""
      int n = {n}; double *a = calloc(n + 1, 8), *b = calloc(n + 1, 8), *c = calloc(n + 1, 8);
      filled(a, n + 1), filled(b, n + 1), filled(c, n + 1); f(n, a, b, c);
      shown("b", b, n + 1); shown("c", c, n + 1); free(a); free(b); free(c);""", SANITIZED)
    assert f"<= {FEW_BYTES} ? (void *)" in made.text
