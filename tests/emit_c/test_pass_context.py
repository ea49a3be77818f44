"""What passes may ask: the context before bodies are settled, and with the printer behind."""

from __future__ import annotations

from typing import Any

import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions
from polysched.emit_c.loop_ir.loops import Block
from polysched.emit_c.pass_context import PassContext, pass_context, with_bodies
from polysched.scheduling import original
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile

HEAD = ("void f(int n, float x[restrict n], float y[restrict n], int r[restrict 4], int b[restrict n], "
        "double d[restrict 4]) {\n#pragma scop\n")
SUM = "for (int i = 0; i < n; i++) r[0] += b[i];"
FLOATS = "for (int i = 0; i < n; i++) y[0] += x[i];"


def context(body: str = SUM, *, own_memory: bool = True, **options: Any) -> PassContext:
    scop = from_c_text(HEAD + body + "\n#pragma endscop\n}\n")
    tiled = tile(original(analyse(scop)), TilingOptions(sizes="off", parallel=False, simd=False))
    return pass_context(tiled, EmitOptions(vector_bits=256, **options), own_memory=own_memory)


def test_passes_ahead_of_the_bodies_have_no_printer() -> None:
    made = context()
    with pytest.raises(ValueError, match="before the bodies are settled"):
        _ = made.code
    settled = with_bodies(made, Block(()))
    assert settled.code.scop.statements[0].name == made.scop.statements[0].name
    assert settled.tiled is made.tiled


def test_reductions_of_integers_are_free_and_those_of_floats_by_leave() -> None:
    assert list(context(SUM).free_reductions()) == ["S0"]
    assert context(FLOATS).free_reductions() == {}
    assert list(context(FLOATS, reassociate=True).free_reductions()) == ["S0"]


def test_wide_sums_are_free_in_lanes_by_leave_but_not_for_threads() -> None:
    wide = "for (int i = 0; i < n; i++) d[0] += x[i];"
    assert context(wide).free_reductions() == {}
    allowed = context(wide, wide_sums=True)
    assert list(allowed.free_reductions()) == list(allowed.reductions_in_lanes()) == ["S0"]
    assert allowed.reductions_in_parts() == {}
    assert context(FLOATS, wide_sums=True).free_reductions() == {}


def test_reductions_in_parts_have_more_operators_than_those_in_lanes() -> None:
    last = "for (int i = 0; i < n; i++) if (b[i] > 0) r[0] = i;"
    assert context(last).free_reductions() == {}
    assert list(context(last).reductions_in_parts()) == ["S0"]


def test_names_that_are_made_up_are_free() -> None:
    made = context()
    assert made.memory_name("x") == "x_parts"
    taken = from_c_text("int x_parts;\n" + HEAD + SUM + "\n#pragma endscop\n}\n")
    tiled = tile(original(analyse(taken)), TilingOptions(sizes="off"))
    assert pass_context(tiled, EmitOptions(), own_memory=True).memory_name("x") == "x_parts_2"


def test_a_trace_is_a_name_that_no_pass_may_take() -> None:
    assert "visit" in context(trace="visit").taken.used
    assert context(trace="visit").contracted_arrays == ()


def test_arrays_whose_values_are_the_regions_own_may_be_contracted() -> None:
    body = "for (int i = 0; i < n; i++) { x[i] = b[i]; y[i] = x[i] * x[i]; }"
    assert context(body, own_memory=False).contracted_arrays == ()


def test_facts_are_those_of_the_whole_region() -> None:
    made = context()
    assert made.facts.constraints == ()
    assert made.facts.context.is_equal(made.guard.context)
