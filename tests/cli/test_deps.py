"""`polysched deps`: exact relations, reductions and what blocks a loop."""

import json
from pathlib import Path

import islpy as isl

from tests.cli.command import PRODUCT, is_refusal, polysched


def test_deps_prints_exact_relations(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    value = json.loads(polysched("deps", "in.c", "--json", folder=tmp_path).stdout)
    expected = isl.UnionMap(
        "[n] -> { S0[i, j, k] -> S0[i, j, k + 1] : n <= 2147483647 and 0 <= i, j < n and 0 <= k < n - 1 }")
    assert isl.UnionMap(value["flow"]).is_equal(expected)
    assert isl.UnionMap(value["output"]).is_equal(expected)
    assert isl.UnionMap(value["anti"]).is_empty()


def test_memory_based_dependences_are_more(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    value = json.loads(polysched("deps", "in.c", "--json", "--memory-based", folder=tmp_path).stdout)
    assert value["value_based"] is False
    distance_two = isl.UnionMap("[n] -> { S0[0, 0, 0] -> S0[0, 0, 2] : n = 5 }")
    assert distance_two.is_subset(isl.UnionMap(value["flow"]))


def test_deps_names_the_reductions(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text("""
void f(int n, double a[n], double s[1], double best[1], int where[1]) {
#pragma scop
  for (int i = 0; i < n; i++)
    s[0] += a[i];
  for (int i = 0; i < n; i++)
    if (a[i] > best[0]) {
      best[0] = a[i];
      where[0] = i;
    }
#pragma endscop
}
""")
    lines = polysched("deps", "in.c", folder=tmp_path).stdout.splitlines()
    assert lines[-2:] == ["reduction S0: sum of float64, another order rounds differently",
                          "reduction S1: argmax of float64, in order, because the first of equal values counts"]
    found = json.loads(polysched("deps", "in.c", "--json", folder=tmp_path).stdout)["reductions"]
    assert [(r["operator"], r["exact"], r["any_order"], r["ties"]) for r in found] == [
        ("sum", False, True, None), ("argmax", True, False, "first")]


def test_what_blocks_a_loop(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("deps", "in.c", "--blocks", "k", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("function product, loops as written:\nloop k around S0, line 8\n  parallel: 2 dep")
    assert "removed by reduction" in done.stdout
    value = json.loads(polysched("deps", "in.c", "--blocks", "k", "--json", folder=tmp_path).stdout)
    assert value["loops"][0]["answers"][0]["blocks"][0]["pair"]["sink"] == [0, 0, 1]
    refused = polysched("deps", "in.c", "--blocks", "x", folder=tmp_path)
    assert is_refusal(refused)
    assert "witness: loop i around S0" in refused.stderr
