"""What each pass made of the loops, and that their chain has no gap."""

from __future__ import annotations

from itertools import pairwise

import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit
from polysched.emit_c.loop_ir.text import loop_text
from polysched.emit_c.pass_history import pass_history
from polysched.scheduling import pluto
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tiled_schedule import TiledSchedule

OPTIONS = EmitOptions(vector_bits=256)


@pytest.fixture(scope="module")
def tiled() -> TiledSchedule:
    return tile(pluto(analyse(from_c_text("""void f(int n, float A[n][n], float x[n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = A[i][j] * 2 + x[j];
#pragma endscop
}"""))), TilingOptions(sizes="off"))


def test_every_pass_begins_where_the_one_before_ended(tiled: TiledSchedule) -> None:
    records = pass_history(tiled, OPTIONS)
    assert len(records) > 3
    for earlier, later in pairwise(records):
        assert later.before is earlier.after
    assert records[-1].after == emit(tiled, options=OPTIONS).loops


def test_a_difference_is_there_where_something_changed(tiled: TiledSchedule) -> None:
    records = pass_history(tiled, OPTIONS)
    assert any(record.changed for record in records)
    assert not all(record.changed for record in records)
    for record in records:
        assert bool(record.difference()) is (loop_text(record.before) != loop_text(record.after))
        if record.changed:
            assert record.difference().startswith(f"--- before {record.loop_pass.name}")
