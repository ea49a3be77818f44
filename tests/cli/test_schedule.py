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
    assert " integer programs of at most " in done.stdout
    assert "\n  found as asked: " in done.stdout
    assert "band permutable\n" in done.stdout
    assert "parallel    S" in done.stdout


def test_json(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("schedule", "in.c", "--scheduler", "isl", "--json", folder=tmp_path)
    value = json.loads(done.stdout)
    assert value["algorithm"] == "isl"
    assert value["report"]["rungs"] == value["rung"] == ["isl"]
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


RING = """
void ring(int T, int n, double a[restrict n], double b[restrict n]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < n; i++)
      b[i] = 0.33 * (a[(i + n - 1) % n] + a[i] + a[(i + 1) % n]);
    for (int i = 0; i < n; i++)
      a[i] = b[i];
  }
#pragma endscop
}
"""


def test_index_sets_are_split_on_request(tmp_path: Path) -> None:
    (tmp_path / "ring.c").write_text(RING)
    plain = polysched("schedule", "ring.c", "--json", folder=tmp_path)
    split = polysched("schedule", "ring.c", "--iss", "--json", folder=tmp_path)
    found = [json.loads(done.stdout) for done in (plain, split)]
    assert [len(value["bands"][0]["members"]) for value in found] == [1, 2]
    assert found[1]["report"]["rungs"][0] == "index-set splitting of S0, S1 in the last dimension after (n - 1)/2"
    done = polysched("c2c", "ring.c", "--iss", "--tile", "8", "--verify-order", "-o", "out.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "order of ring verified" in done.stderr
    assert "/* tiles of one wavefront */" in (tmp_path / "out.c").read_text()


def test_the_best_of_several(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    text = polysched("schedule", "in.c", "--scheduler", "best", folder=tmp_path).stdout
    assert "  candidate pluto, fusion smart: " in text
    assert text.count(", chosen\n") == 1
    done = polysched("schedule", "in.c", "--scheduler", "best", "--json", folder=tmp_path)
    report = json.loads(done.stdout)["report"]
    assert sum(candidate["chosen"] for candidate in report["candidates"]) == 1
    assert all(candidate["note"] or candidate["predicted_seconds"] > 0 for candidate in report["candidates"])


def test_the_pipeline_takes_what_the_schedule_takes(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    (tmp_path / "s.json").write_text('{"fusion": "none"}')
    done = polysched("c2c", "in.c", "--strategy", "s.json", "--parallel-degrees", "2", "--tile", "8",
                     "--json", "r.json", "-o", "out.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    options = json.loads((tmp_path / "r.json").read_text())["options"]
    assert (options["scheduler"], options["parallel_degrees"]) == ("strategy", 2)
    assert "collapse(2)" in (tmp_path / "out.c").read_text()
    for wrong in (("--strategy", "none.json"), ("--parallel-degrees", "0"), ("--scheduler", "fastest")):
        assert polysched("c2c", "in.c", *wrong, folder=tmp_path).returncode != 0


TEMPORARY = """
void rows(int n, double A[restrict n][n], double B[restrict n][n], double s) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      s = A[i][j] * 2.0;
      B[i][j] = s * s;
    }
#pragma endscop
}
"""


def test_every_command_schedules_the_same_program(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(TEMPORARY)
    kept = polysched("schedule", "in.c", "--no-expand", folder=tmp_path).stdout
    assert "temporary s" not in kept
    shown = json.loads(polysched("schedule", "in.c", "--json", folder=tmp_path).stdout)
    assert [m["parallel"] for m in shown["bands"][0]["members"]] == [True, True]
    assert shown["expanded"] == {"s": ["i", "j"]}
    assert ": 1 band, 1 tiled" in polysched("tile", "in.c", "--tile", "8", folder=tmp_path).stdout
    polysched("c2c", "in.c", "--tile", "8", "--dump-stages", "stages", "-o", "out.c", folder=tmp_path)
    stage = (tmp_path / "stages" / "3-schedule.txt").read_text()
    assert isl.Schedule(shown["tree"]).plain_is_equal(isl.Schedule(stage[stage.index("domain:"):]))


def test_forms_and_given_schedules(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("schedule", "in.c", "--form", "pluto", folder=tmp_path)
    assert done.stdout == "T(S1): (i, j, k)\n"
    (tmp_path / "order.txt").write_text("T(S1): (k, i, j)\n")
    assert "S0: k" in polysched("schedule", "in.c", "--given", "order.txt", folder=tmp_path).stdout
    (tmp_path / "order.txt").write_text("T(S1): (-k, i, j)\n")
    refused = polysched("schedule", "in.c", "--quiet", "--given", "order.txt", folder=tmp_path)
    assert is_refusal(refused)
    assert "must run before" in refused.stderr


def test_the_region_in_the_affine_dialect(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("schedule", "in.c", "--form", "affine", folder=tmp_path)
    assert done.stdout.startswith("func.func @product(%n: index, %C: memref<?x?xf64>,")
    assert "affine.for %i0 = 0 to" in done.stdout


def test_a_schedule_that_was_given_has_no_solves(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    (tmp_path / "tree").write_text(polysched("schedule", "in.c", "--form", "tree", folder=tmp_path).stdout)
    done = polysched("schedule", "in.c", "--given", "tree", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    head, second = done.stdout.splitlines()[:2]
    assert head.endswith(": imported")
    assert second.startswith("band")
    done = polysched("schedule", "in.c", "--given", "tree", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["rung"] == []


def test_what_is_no_text_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    (tmp_path / "bytes").write_bytes(b"{ \xa8")
    done = polysched("schedule", "in.c", "--given", "bytes", folder=tmp_path)
    assert is_refusal(done)
    assert "bytes: the schedule cannot be read: it is no text\n  witness: the byte 0xa8 at 2" in done.stderr
    done = polysched("schedule", "in.c", "--given", ".", folder=tmp_path)
    assert is_refusal(done)
    assert "cannot be read: Is a directory" in done.stderr
