"""`polysched place` as a user runs it."""

import json
import xml.etree.ElementTree as ET

import pytest

from polysched.mesh import MeshTarget
from tests.cli.command import REFUSED, is_refusal, polysched
from tests.mesh.random_graphs import random_graph


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "g.json").write_text(json.dumps(random_graph(1, 6).to_json()))
    return tmp_path


def test_a_graph_is_placed_verified_and_drawn(folder) -> None:
    done = polysched("place", "g.json", "--mesh", "4x4", "--dead", "1,1", "--json", "p.json", "--picture", "p.svg",
                     "--verify", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "(bound " in done.stdout
    assert "verified: " in done.stdout
    value = json.loads((folder / "p.json").read_text())
    assert value["verified"] is True
    assert len(value["operators"]) == 6
    assert ET.parse(folder / "p.svg").getroot().tag.endswith("svg")


def test_options_change_the_mesh(folder) -> None:
    (folder / "m.json").write_text(json.dumps({"rows": 5, "columns": 4, "hop": 1.0}))
    done = polysched("place", "g.json", "--mesh", "m.json", "--link", "1e6", "--method", "greedy", "--json",
                     folder=folder)
    target = json.loads(done.stdout)["target"]
    assert (target["rows"], target["link"], target["hop"]) == (5, 1e6, 1.0)
    assert target["memory"] == MeshTarget(rows=1, columns=1).memory


def test_simpler_orders_stand_beside_it(folder) -> None:
    done = polysched("place", "g.json", "--mesh", "4x4", "--method", "greedy", "--compare", folder=folder)
    assert "row-major pipeline: interval " in done.stdout
    assert "compute-shift order: interval " in done.stdout
    done = polysched("place", "g.json", "--mesh", "4x4", "--dead", "3,3", "--method", "greedy", "--compare", "--json",
                     folder=folder)
    compared = json.loads(done.stdout)["compared"]
    assert set(compared["this placement"]) == {"interval", "latency"}
    assert "every core" in compared["compute-shift order"]


@pytest.mark.parametrize(("words", "said"), [
    (("g.json", "--mesh", "2x2"), "the operators need 6 cores"), (("none.json", "--mesh", "2x2"), "cannot be read"),
    (("g.json", "--mesh", "2by2"), "ROWSxCOLUMNS"), (("g.json", "--mesh", "4x4", "--size", "n=3"), "--size is of")])
def test_refusals(words, said, folder) -> None:
    done = polysched("place", *words, folder=folder)
    assert done.returncode == REFUSED
    assert said in done.stderr
    assert is_refusal(done)


def test_a_dead_core_is_a_row_and_a_column(folder) -> None:
    done = polysched("place", "g.json", "--mesh", "4x4", "--dead", "3", folder=folder)
    assert done.returncode == REFUSED
    assert "'3' is not ROW,COLUMN" in done.stderr
