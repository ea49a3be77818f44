"""`polysched passes`: the list, what a pass makes of a file, and its refusals."""

from __future__ import annotations

from pathlib import Path

from polysched.emit_c.loop_ir.parser import parse_loops
from polysched.emit_c.passes import all_passes
from tests.cli.command import PRODUCT, is_refusal, polysched


def test_every_pass_is_listed_in_order(tmp_path: Path) -> None:
    lines = polysched("passes", folder=tmp_path).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [each.name for each in all_passes()]
    assert "(needs vectors)" in next(line for line in lines if line.startswith("vectorise"))


def test_the_loops_behind_a_pass_are_text_that_reads_back(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    printed = polysched("passes", "in.c", "--print-after", "name_loops", "--tile", "off", folder=tmp_path).stdout
    head, text = printed.split("\n", 1)
    assert head == "function product:"
    assert parse_loops(text)
    assert "S0(i, j, k)" in text


def test_what_a_pass_changes_is_a_diff(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    options = ("--tile", "off", "--vector-bits", "256")
    shown = polysched("passes", "in.c", "--diff", "parameter_guard", *options, folder=tmp_path).stdout
    assert shown == "function product:\n  parameter_guard changed nothing\n"
    changed = polysched("passes", "in.c", "--diff", "name_loops", *options, folder=tmp_path).stdout
    assert "--- before name_loops\n+++ after name_loops\n" in changed
    table = polysched("passes", "in.c", *options, folder=tmp_path).stdout
    assert "name_loops          +" in table


def test_unknown_passes_and_passes_without_a_file_are_refused(tmp_path: Path) -> None:
    unknown = polysched("passes", "--print-after", "vectorize", folder=tmp_path)
    assert is_refusal(unknown)
    assert "no pass vectorize; did you mean vectorise?" in unknown.stderr
    nothing = polysched("passes", "--print-after", "vectorise", folder=tmp_path)
    assert is_refusal(nothing)
    assert "a pass needs a file to run on" in nothing.stderr


def test_a_device_whose_kernels_go_through_no_pass_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("passes", "in.c", "--target", "opencl", folder=tmp_path)
    assert is_refusal(done)
    assert "--target opencl is for commands that make or run code" in done.stderr


def test_passes_are_verified_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    plain = polysched("c2c", "in.c", folder=tmp_path)
    assert polysched("c2c", "in.c", "--verify-passes", folder=tmp_path).stdout == plain.stdout


GRAPH = """graph f(x: float32[N, 2]) {
  let a = Transpose(x)
  let y = Transpose(a)
  return y
}
"""


def test_passes_over_graphs_are_listed(tmp_path: Path) -> None:
    lines = polysched("passes", "--graph", folder=tmp_path).stdout.splitlines()
    assert len(lines) >= 21
    assert "(standard)" in next(line for line in lines if line.startswith("simplify_expression"))
    assert "(rounds otherwise)" in next(line for line in lines if line.startswith("fast_math"))


def test_a_pass_over_a_graph_is_shown(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text(GRAPH)
    table = polysched("passes", "--graph", "g.txt", folder=tmp_path).stdout
    assert "simplify_expression" in table
    assert "-2 Transpose" in table
    diff = polysched("passes", "--graph", "g.txt", "--size", "N=3", "--diff", "simplify_expression", folder=tmp_path)
    assert "-  let a = Transpose(x)" in diff.stdout.splitlines()
    assert "graph f(x: float32[3, 2]) {" in diff.stdout
    refused = polysched("passes", "--graph", "missing.txt", folder=tmp_path)
    assert is_refusal(refused)
    assert "cannot be read" in refused.stderr
