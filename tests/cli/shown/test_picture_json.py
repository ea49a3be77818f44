"""What `polysched draw --json` says of each kind of picture, beside what the program computes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from polysched.cli.shown.picture_json import picture_to_json
from polysched.dependence import analyse
from polysched.dependence.picture import draw_dependences
from polysched.scheduling import pluto
from polysched.scheduling.cache_lines import draw_cache_lines
from polysched.scheduling.picture import draw_schedule, draw_tiles, draw_tree
from polysched.scheduling.solids import draw_solid
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile
from tests.cli.command import is_refusal, polysched

SPACE = """void space(int n, double a[restrict n][n][n]) {
#pragma scop
  for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) for (int k = 1; k < n; k++)
    a[i][j][k] = a[i - 1][j][k] + a[i][j - 1][k];
#pragma endscop
}
"""
FLAT = """void flat(int n, double a[restrict n][n]) {
#pragma scop
  for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = a[i - 1][j] + 1;
#pragma endscop
}
"""


def drawn(text: str, view: str, n: int = 5) -> dict[str, Any]:
    schedule = pluto(analyse(from_c_text(text)))
    tree, given = tile(schedule, TilingOptions(sizes=2, register=False)).tree, {"n": n}
    dependences = schedule.dependences
    picture: Any = {
        "tiles": lambda: draw_tiles(dependences, tree, parameters=given),
        "order": lambda: draw_schedule(dependences, schedule.tree, tiles=tree, parameters=given),
        "dependences": lambda: draw_dependences(dependences, parameters=given),
        "solid": lambda: draw_solid(dependences, tree, parameters=given),
        "lines": lambda: draw_cache_lines(dependences, tree, parameters=given, line_bytes=16),
        "tree": lambda: draw_tree(tree)}[view]()
    value: dict[str, Any] = json.loads(json.dumps(picture_to_json(picture), allow_nan=False))
    return value


def test_tiles_cover_the_domain_and_have_turns() -> None:
    found = drawn(FLAT, "tiles")
    (panel,) = found["panels"]
    domain = {(i, j) for i in range(1, 5) for j in range(5)}
    by_name = dict(zip(panel["axes"], (0, 1), strict=True))
    assert {(p[by_name["i"]], p[by_name["j"]]) for p in panel["points"]} == domain
    assert {tuple(own["point"]) for own in panel["tiles"]} == set(map(tuple, panel["points"]))
    assert {own["tile"] for own in panel["tiles"]} == {turn["tile"] for turn in found["turns"]}
    assert len(panel["arrows"]) == 3 * 5, "each row but the first reads the row before it"


def test_a_solid_has_three_axes() -> None:
    found = drawn(SPACE, "solid")
    assert sorted(found["axes"]) == ["i", "j", "k"]
    assert len(found["points"]) == 4 ** 3
    assert {tuple(own["point"]) for own in found["tiles"]} == set(map(tuple, found["points"]))


def test_memory_has_elements_by_tile() -> None:
    found = drawn(FLAT, "lines")
    (array,) = found["arrays"]
    assert array == {"name": "a", "elements": 25, "element_bytes": 8, "line_bytes": 16}
    written = [element for own in found["tiles"] for element in own["writes"].get("a", [])]
    assert sorted(written) == list(range(5, 25)), "each element once"


def test_a_tree_has_rows() -> None:
    rows = drawn(FLAT, "tree")["rows"]
    assert rows[0]["depth"] == 0
    assert any("band" in row["label"] for row in rows)


@pytest.mark.parametrize("view", ["order", "dependences"])
def test_other_views_are_panels(view: str) -> None:
    assert drawn(FLAT, view)["panels"]


def test_messages_have_steps_and_elements(tmp_path) -> None:
    (tmp_path / "flat.c").write_text(FLAT)
    done = polysched("draw", "flat.c", "--view", "messages", "--distribute", "i", "--ranks", "2", "--size", "n=5",
                     "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    sent = [message for step in found["steps"] for message in step["messages"]]
    assert [(m["sender"], m["receiver"], m["array"]) for m in sent] == [(0, 1, "a")]
    assert sum(run["own"] for step in found["steps"] for run in step["runs"]) == 4 * 5
    assert len(found["gathered"]) == 2


def test_the_command_writes_it_beside_the_picture(tmp_path) -> None:
    (tmp_path / "flat.c").write_text(FLAT)
    done = polysched("draw", "flat.c", "--size", "n=5", "-o", "flat.svg", "--json", "flat.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "flat.svg").read_text().startswith("<svg")
    found = json.loads((tmp_path / "flat.json").read_text())
    assert (found["function"], found["view"]) == ("flat", "tiles")
    refused = polysched("draw", "flat.c", "--view", "explorer", "--json", folder=tmp_path)
    assert is_refusal(refused)
    assert "--view explorer has no --json" in refused.stderr
