"""The CSource value: what is emitted unless somebody says otherwise, and how it shows itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.emit_c import EmitOptions, emit
from polysched.emit_c.c_source import options_for
from polysched.target import Costs, host
from polysched.target.target import CorePorts
from polysched.tiling import TilingOptions, tile
from tests.schedules import original_of

SCHEDULE = original_of(
    "void f(int n, float A[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) A[i] = i;\n#pragma endscop\n}")


def test_vectors_are_those_of_the_machine_that_the_tiles_were_made_for() -> None:
    machine = replace(host(), vector_bits=128, costs=Costs(team_worth=1000.0))
    tiled = tile(SCHEDULE, TilingOptions(sizes="off", target=machine))
    assert options_for(tiled) == EmitOptions(
        vector_bits=128, last_cache_bytes=machine.caches[-1].size_bytes, vector_registers=machine.vector_registers,
        target=machine)
    assert options_for(tiled).team_iterations > EmitOptions().team_iterations
    assert emit(tiled).loops == emit(tiled, options=options_for(tiled)).loops
    assert options_for(replace(tiled, options=None)) == EmitOptions()
    assert hash(EmitOptions()) == hash(EmitOptions())


def test_a_source_is_its_text_and_one_line_inside_others() -> None:
    source = emit(tile(SCHEDULE, TilingOptions(sizes="off")), options=EmitOptions(vector_bits=0))
    assert str(source) == source.text
    assert source.headline() == f"of f: {len(source.text.splitlines())} lines of C"
    assert source.scop is SCHEDULE.scop
    assert source.packed == ()


@pytest.mark.parametrize(("pipes", "latency", "registers", "rows"), [
    (2, 4, 32, 8), (2, 4, 16, 8), (2, 5, 32, 10), (4, 9, 32, 16), (1, 1, 32, 2)])
def test_rows_side_by_side_keep_the_pipes_busy_within_half_of_the_registers(
        pipes: int, latency: int, registers: int, rows: int) -> None:
    machine = replace(host(), ports=CorePorts(fma_pipes=pipes, fma_latency_cycles=latency))
    assert EmitOptions(vector_bits=256, vector_registers=registers, target=machine).rows_in_flight == rows
