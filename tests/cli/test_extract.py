"""`polysched extract`: JSON that other programs can read back, and text for people."""

import json
from pathlib import Path

import islpy as isl

from tests.cli.command import PRODUCT, is_refusal, polysched


def test_extract_prints_sets_that_isl_reads(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("extract", "in.c", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["parameters"] == ["n"]
    assert [(a["name"], a["dtype"], len(a["extents"])) for a in value["arrays"]] == [
        ("C", "float64", 2), ("A", "float64", 2), ("B", "float64", 2)]
    (statement,) = value["statements"]
    assert statement["line"] == 8
    assert isl.Set(statement["domain"]).is_equal(
        isl.Set("[n] -> { S0[i, j, k] : 0 <= i < n and 0 <= j < n and 0 <= k < n }"))
    writes = isl.UnionMap(statement["must_writes"])
    assert writes.is_equal(isl.UnionMap("[n] -> { S0[i, j, k] -> C[i, j] : 0 <= i, j, k < n }"))
    assert isl.UnionMap(statement["may_writes"]).is_empty()
    assert not isl.UnionMap(statement["reads"]).is_empty()
    assert "C[i][j]" in json.dumps(statement["body"]) or statement["body"]
    assert isl.Schedule(value["schedule"]).get_domain().is_equal(isl.UnionSet(statement["domain"]))
    isl.Set(value["context"])


def test_several_regions_are_a_list(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT + PRODUCT.replace("product", "second"))
    for command in ("extract", "deps"):
        values = json.loads(polysched(command, "in.c", "--json", folder=tmp_path).stdout)
        assert [v["name"] for v in values] == ["product", "second"]


def test_people_get_text(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    assert "statement S0, line 8:" in polysched("extract", "in.c", folder=tmp_path).stdout
    assert "flow S0_w0 -> S0_r0 on C:" in polysched("deps", "in.c", folder=tmp_path).stdout


def test_refusals(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text("int x;\n")
    assert is_refusal(polysched("extract", "in.c", "--json", folder=tmp_path))
    assert is_refusal(polysched("deps", "in.c", "--json", folder=tmp_path))
