"""What values of all stages show: the counts in the picture and the table are those of the value."""

from __future__ import annotations

from polysched.dependence import analyse
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling import steps
from polysched.scheduling.picture import draw_tiles, draw_tree
from polysched.scheduling.primitives import Skew, Tile
from polysched.scheduling.schedule import Schedule
from polysched.scop.c_frontend.frontend import from_c_text
from tests.html_reader import Page

STENCIL = """\
void smooth(int steps, int n, double a[n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            a[i] = (a[i - 1] < a[i + 1]) ? a[i - 1] : a[i + 1];
#pragma endscop
}
"""
INSTANCES = 7 * (7 - 2)   # a picture takes steps = 7, n = 7


def smooth() -> Schedule:
    scop = from_c_text(STENCIL)
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def tiled_by_hand() -> Schedule:
    return steps.apply(smooth(), Skew(loop="i", by="t", factor=1), Tile(loops=("t", "i"), sizes=(2, 3)))


def arrows_by_hand() -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """Flow, anti and output dependences of STENCIL by running through its instances."""
    order = [(t, i) for t in range(7) for i in range(1, 6)]
    found = set()
    written: dict[int, tuple[int, int]] = {}
    readers: dict[int, set[tuple[int, int]]] = {}
    for t, i in order:
        for element in (i - 1, i + 1):
            if element in written:
                found.add((written[element], (t, i)))
            readers.setdefault(element, set()).add((t, i))
        found |= {(reader, (t, i)) for reader in readers.pop(i, set())}
        if i in written:
            found.add((written[i], (t, i)))
        written[i] = (t, i)
    return found


def test_optimized_shows_both_programs_and_every_step():
    optimized = optimize(smooth().scop, PipelineOptions(tile=3))
    page = Page(optimized._repr_html_())
    for expected in (*optimized.steps(), optimized.text, "for (int t = 0; t < steps; t++)"):
        assert expected in page.text
    assert str(optimized).endswith(optimized.text)


def test_text_of_every_stage_names_what_it_holds():
    optimized = optimize(smooth().scop, PipelineOptions(tile=3, parallel=False))
    assert "statement S0, line 6:" in str(optimized.scop)
    assert str(optimized.dependences).count("\n") == len(optimized.dependences.pairs)
    assert str(tiled_by_hand()).startswith("schedule of smooth by original\nstep: skew loop=\"i\" by=\"t\" factor=1\n")
    assert "band 0: tiles 3 × 3" in str(optimized.tiled)
    assert str(optimized.source) == optimized.text


def test_pictures_as_text_count_what_they_show():
    schedule = tiled_by_hand()
    arrows = len(arrows_by_hand())
    tiles = len({(t // 2, (t + i) // 3) for t in range(7) for i in range(1, 6)})
    assert str(draw_tiles(schedule.dependences, schedule.tree, parameters={"steps": 7, "n": 7})) == (
        f"S0: {INSTANCES} instances, {arrows} arrows, {tiles} tiles\n")
    assert str(draw_tree(schedule.tree)).count("\n") == 4
