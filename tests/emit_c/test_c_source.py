"""The CSource value: what is emitted unless somebody says otherwise, and how it shows itself."""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_c import EmitOptions, emit
from polysched.emit_c.c_source import options_for
from polysched.target import Costs, host
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tree.light_iterations import team_iterations
from tests.schedules import original_of

SCHEDULE = original_of(
    "void f(int n, float A[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) A[i] = i;\n#pragma endscop\n}")


def test_vectors_are_those_of_the_machine_that_the_tiles_were_made_for() -> None:
    machine = replace(host(), vector_bits=128, costs=Costs(team_worth=1000.0))
    tiled = tile(SCHEDULE, TilingOptions(sizes="off", target=machine))
    assert options_for(tiled) == EmitOptions(
        vector_bits=128, last_cache_bytes=machine.caches[-1].size_bytes, vector_registers=machine.vector_registers,
        team_iterations=team_iterations(machine), team_bytes=machine.team_bytes)
    assert options_for(tiled).team_bytes > EmitOptions().team_bytes
    assert options_for(tiled).team_iterations > EmitOptions().team_iterations
    assert emit(tiled).loops == emit(tiled, options=options_for(tiled)).loops
    assert options_for(replace(tiled, options=None)) == EmitOptions()


def test_a_source_is_its_text_and_one_line_inside_others() -> None:
    source = emit(tile(SCHEDULE, TilingOptions(sizes="off")), options=EmitOptions(vector_bits=0))
    assert str(source) == source.text
    assert source.headline() == f"of f: {len(source.text.splitlines())} lines of C"
    assert source.scop is SCHEDULE.scop
    assert source.packed == ()
