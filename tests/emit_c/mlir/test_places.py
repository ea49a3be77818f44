"""What is refused while a region is written names the region's file and line."""

import pytest

from polysched.dependence import analyse
from polysched.emit_c.mlir import affine_text
from polysched.emit_c.mlir.places import refusing_to_write
from polysched.emit_c.tir import tir_text
from polysched.errors import NoLoopsError, UnsupportedScopError
from polysched.scheduling import original
from polysched.scop import all_from_c_text
from polysched.tiling.tiled_schedule import TiledSchedule

TEXT = """void f(int n, long double a[n]) {

#pragma scop
  for (int i = 0; i < n; i++) a[i] = 1;
#pragma endscop
}
"""


@pytest.mark.parametrize("written", [affine_text, tir_text])
def test_the_file_and_line_of_the_region(written: object) -> None:
    schedule = original(analyse(all_from_c_text(TEXT, path="in.c")[0]))
    assert callable(written)
    with pytest.raises(UnsupportedScopError, match=r"^in\.c:3: .* no such type of elements\n  witness: long double"):
        written(TiledSchedule(schedule=schedule, tree=schedule.tree))


@pytest.mark.parametrize("written", [affine_text, tir_text])
def test_a_region_without_statements_is_refused(written: object) -> None:
    schedule = original(analyse(all_from_c_text(
        TEXT.replace("  for (int i = 0; i < n; i++) a[i] = 1;\n", ""), path="in.c")[0]))
    assert callable(written)
    with pytest.raises(UnsupportedScopError, match=r"^in\.c:3: the region has no statement that ever runs\n  hint: "):
        written(TiledSchedule(schedule=schedule, tree=schedule.tree))


def test_a_place_of_its_own_and_the_kind_stay() -> None:
    scop = all_from_c_text(TEXT, path="in.c")[0]
    with pytest.raises(NoLoopsError, match=r"^in\.c:3: no loops"), refusing_to_write(scop):
        raise NoLoopsError("no loops")
    with pytest.raises(UnsupportedScopError, match=r"^there: no"), refusing_to_write(scop):
        raise UnsupportedScopError("no", where="there")
