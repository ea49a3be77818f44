"""The report of `--json`: JSON through and through, counted from the values that it is made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polysched.cli.shown.json_report import FORMAT_VERSION, file_report, region_report, work_report
from polysched.dependence.dependences import DependenceKind
from polysched.errors import UsageError
from polysched.pipeline import TransformedFile, transform_file
from polysched.pipeline.options import PipelineOptions

TEXT = """
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        A[i] = A[i - 1] + B[i];
#pragma endscop
}

void g(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] *= 2.0;
#pragma endscop
}
"""
PLAIN = PipelineOptions(tile="off", tensorize=None)


@pytest.fixture(scope="module")
def transformed(tmp_path_factory: pytest.TempPathFactory) -> TransformedFile:
    path = tmp_path_factory.mktemp("report") / "two.c"
    path.write_text(TEXT)
    return transform_file(path, PLAIN)


def test_a_file_has_one_report_per_region(transformed: TransformedFile) -> None:
    report = json.loads(json.dumps(file_report(transformed, output="out.c")))
    assert (report["format_version"], report["output"]) == (FORMAT_VERSION, "out.c")
    assert report["source"] == str(transformed.path)
    assert [(r["function"], r["line"], r["arrays"], r["statements"]) for r in report["regions"]] == [
        ("f", 6, ["A", "B"], 1), ("g", 14, ["A"], 1)]
    assert "work" not in report
    assert "sizes" not in report


def test_dependences_are_counted_by_kind(transformed: TransformedFile) -> None:
    for region in transformed.regions:
        found = region_report(region)["dependences"]
        assert sum(found.values()) == len([d for d in region.dependences.pairs if d.kind is not DependenceKind.INPUT])
        assert found["flow"] == (region.scop.name == "f")


def test_work_is_counted_at_the_size_that_was_given(transformed: TransformedFile) -> None:
    found = work_report(transformed, {"n": 11})
    assert found["sizes"] == {"n": 11}
    assert found["work"]["flop_count"] == 10 + 11
    assert file_report(transformed, output=None, sizes={"n": 11})["work"] == found["work"]


def test_a_size_at_which_an_access_leaves_its_array_is_refused(tmp_path: Path) -> None:
    (tmp_path / "short.c").write_text(TEXT[TEXT.index("void g"):].replace("double A[n]", "double A[10]"))
    short = transform_file(tmp_path / "short.c", PLAIN)
    assert work_report(short, {"n": 10})["work"]["flop_count"] == 10
    with pytest.raises(UsageError, match="A"):
        work_report(short, {"n": 11})


def test_a_path_and_a_name_are_texts(transformed: TransformedFile) -> None:
    assert isinstance(file_report(transformed, output=None)["source"], str)
    assert Path(file_report(transformed, output=None)["source"]).name == "two.c"
