"""`polysched schedule`: the tree for people and for scripts, strategies, and refusals."""

import json
from pathlib import Path

import islpy as isl

from polysched.cli.options import FUSIONS, SCHEDULERS
from polysched.scheduling import ALGORITHMS
from polysched.scheduling.options import FUSION_POLICIES
from tests.cli.command import PRODUCT, is_refusal, polysched


def test_the_tree_and_the_report(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("schedule", "in.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pluto, " in done.stdout
    assert "band permutable\n" in done.stdout
    assert "parallel    S" in done.stdout


def test_json(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("schedule", "in.c", "--scheduler", "isl", "--json", folder=tmp_path)
    value = json.loads(done.stdout)
    assert value["algorithm"] == "isl"
    assert value["report"]["rungs"] == ["isl"]
    assert any(m["parallel"] for band in value["bands"] for m in band["members"])
    assert isl.Schedule(value["tree"]).get_domain().n_set() >= 1


def test_a_strategy_file(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    (tmp_path / "s.json").write_text('{"fusion": "none", "dimensions": [{"cost": ["feautrier"]}]}')
    done = polysched("schedule", "in.c", "--strategy", "s.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "strategy, " in done.stdout
    (tmp_path / "s.json").write_text('{"fusion": "often"}')
    for name, message in (("s.json", "no fusion policy 'often'"), ("none.json", "the strategy cannot be read")):
        refused = polysched("schedule", "in.c", "--strategy", name, folder=tmp_path)
        assert is_refusal(refused)
        assert message in refused.stderr


def test_the_choices_are_those_of_the_scheduling_room() -> None:
    assert set(SCHEDULERS) == {*ALGORITHMS, "best"}
    assert FUSIONS == FUSION_POLICIES
