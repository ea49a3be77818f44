"""What values of all stages show: the counts in the picture and the table are those of the value."""

from __future__ import annotations

from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling.picture import draw_tiles, draw_tree
from tests.html_reader import Page
from tests.smooth import INSTANCES, arrows_by_hand, smooth, tiled_by_hand


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
