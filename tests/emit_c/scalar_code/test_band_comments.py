"""One comment where a band begins, and none inside of it."""

from __future__ import annotations

import pytest

from polysched.emit_c.loop_ir.index import constant, variable
from polysched.emit_c.loop_ir.loops import Block, For
from polysched.emit_c.scalar_code.band_comments import BandComments
from polysched.scheduling.marks import Gaps, LoopMark, Role
from polysched.tiling.tiled_schedule import BandTiling


def loop(**mark: object) -> For:
    return For("i", constant(0), variable("n"), 1, Block(()), LoopMark(**mark))


TILE = loop(role=Role.TILE, band=1)
WAVEFRONT = loop(role=Role.WAVEFRONT, band=1)
COMMENTS = BandComments(bands={1: BandTiling(band=1, sizes=(4, 8), wavefront=False, pieces=0, tile_members=(0, 1),
                                             parallel_member=0)})


@pytest.mark.parametrize(("mark", "above", "text"), [
    ({"role": Role.TILE, "band": 1}, (), "band 1: tiles of 4 x 8"),
    ({"role": Role.TILE, "band": 2}, (), "band 2: tiles"),
    ({"role": Role.TILE, "band": 1, "member": 1}, (TILE,), None),
    ({"role": Role.WAVEFRONT, "band": 1}, (), "band 1: wavefronts of tiles, one after the other"),
    ({"role": Role.TILE, "band": 1}, (WAVEFRONT,), "tiles of one wavefront"),
    ({"role": Role.POINT, "band": 1}, (TILE,), "points of one tile"),
    ({"role": Role.LOOP, "band": 1}, (), None),
    ({"role": Role.TILE, "band": 1, "gaps": Gaps.STEPS}, (TILE,),
     "the gaps between the pieces, which have grown meanwhile: step by step"),
])
def test_in_front_of_a_loop(mark: dict[str, object], above: tuple[For, ...], text: str | None) -> None:
    assert COMMENTS.before(loop(**mark), above=above) == ([] if text is None else [f"/* {text} */"])
