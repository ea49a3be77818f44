"""Large panels of a thread: their address is asked for outside of the loops that read them."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from polysched.emit_c import EmitOptions, emit, splice
from polysched.emit_c.loop_ir.names import taken_names
from polysched.emit_c.scalar_code.thread_arrays import array_of_thread
from polysched.scop import from_c_text
from polysched.target import Target, find_compiler
from polysched.tiling import TilingOptions, tile
from tests.schedules import pluto_of

BATCHED = """void f(float A[12][101][131], float B[12][131][67], float C[12][101][67]) {
#pragma scop
  for (int b = 0; b < 12; b++)
    for (int i = 0; i < 101; i++)
      for (int j = 0; j < 67; j++)
        for (int k = 0; k < 131; k++)
          C[b][i][j] += A[b][i][k] * B[b][k][j];
#pragma endscop
}
"""


def test_the_declarations() -> None:
    taken = taken_names(from_c_text(BATCHED))
    assert array_of_thread("float", "p", (4, 8), taken) == [
        "static _Thread_local float p_memory[4][8] __attribute__((aligned(64)));", "float (*p)[8] = p_memory;",
        '__asm__("" : "+r"(p));']
    assert array_of_thread("int", "p", (4,), taken)[1] == "int *p = p_memory;"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads assembly of x86-64")
def test_no_loop_of_a_sum_calls_anything(tmp_path: Path) -> None:
    compiler = find_compiler()
    machine = Target(vector_bits=256, vector_registers=16, cores=2)
    tiled = tile(pluto_of(BATCHED), TilingOptions(target=machine))
    text = splice(BATCHED, [emit(tiled, options=EmitOptions(vector_bits=256))])
    assert "_Thread_local" in text
    (tmp_path / "f.c").write_text(text)
    options = ["-O3", "-mavx2", "-mfma", *compiler.openmp_compile, "-fPIC", "-S", "f.c", "-o", "f.s"]
    assert compiler.run(options, folder=tmp_path).returncode == 0
    sums = [loop for loop in loops((tmp_path / "f.s").read_text().splitlines()) if sum("vfmadd" in x for x in loop) > 8]
    assert any(len(loop) < 60 for loop in sums), "a loop with a block of sums"
    assert not [loop for loop in sums if len(loop) < 120 and any("call" in line for line in loop)]


def loops(lines: list[str]) -> list[list[str]]:
    """The lines between each label and a jump back to it."""
    labels = {line.split(":")[0]: at for at, line in enumerate(lines) if re.match(r"\.L\w+:", line)}
    jumps = [(at, found[1]) for at, line in enumerate(lines) if (found := re.match(r"\tj\w+\t(\.L\w+)", line))]
    return [lines[labels[label]:at + 1] for at, label in jumps if labels.get(label, at) < at]
