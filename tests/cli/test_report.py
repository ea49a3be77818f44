"""`polysched report`: what it writes, and what it refuses."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.measure import results
from tests.cli.command import is_refusal, polysched
from tests.report.made_results import MACHINE, measured

pytest.importorskip("jinja2", reason="jinja2 is not installed: polysched[report]")
pytest.importorskip("matplotlib", reason="matplotlib is not installed: polysched[report]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    results.append(tmp_path / "r.jsonl", measured("gemm"))
    return tmp_path


def test_page_tables_and_plots(folder: Path) -> None:
    done = polysched("report", "r.jsonl", "-o", "r.html", "--latex", "a/tex", "--pdf", "pdf", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["r.html", "a/tex", "pdf"]
    assert (folder / "r.html").read_text().startswith("<!doctype html>")
    assert sorted(p.name for p in (folder / "a/tex").iterdir()) == ["measurements.tex", "provenance.tex"]
    assert sorted(p.name for p in (folder / "pdf").iterdir()) == ["roofline.pdf", "speed-up.pdf"]


def test_the_page_has_a_name_unless_only_paper_is_wanted(folder: Path) -> None:
    assert polysched("report", "r.jsonl", folder=folder).stdout == "report.html\n"
    (folder / "report.html").unlink()
    assert polysched("report", "r.jsonl", "--latex", "tex", folder=folder).stdout == "tex\n"
    assert not (folder / "report.html").exists()


def test_csv_replaces_the_page_and_goes_to_standard_output(folder: Path) -> None:
    shown = polysched("-q", "report", "r.jsonl", "--csv", "-", folder=folder)
    assert shown.stdout.startswith("experiment,kernel,label,size.n,threads,variant,")
    assert polysched("report", "r.jsonl", "--csv", "r.csv", folder=folder).stdout == "r.csv\n"
    assert (folder / "r.csv").read_text() == shown.stdout
    assert not (folder / "report.html").exists()
    for output in ("--csv", "r.jsonl"), ("--csv", "a", "-o", "a"), ("--csv", "./a", "-o", "a"):
        assert is_refusal(polysched("report", "r.jsonl", *output, folder=folder))


def test_json_is_what_csv_is(folder: Path) -> None:
    (row, *_) = json.loads(polysched("report", "r.jsonl", "--json", folder=folder).stdout)
    assert row["kernel"] == "gemm"
    assert polysched("report", "r.jsonl", "--json", "r.json", folder=folder).stdout == "r.json\n"
    assert json.loads((folder / "r.json").read_text())[0] == row
    assert not (folder / "report.html").exists()
    assert is_refusal(polysched("report", "r.jsonl", "--json", "--csv", "-", folder=folder))


def test_standard_input_is_not_standard_output(folder: Path) -> None:
    with open(folder / "r.jsonl") as lines:
        shown = subprocess.run([sys.executable, "-m", "polysched", "-q", "report", "-", "--csv", "-"], stdin=lines,
                               capture_output=True, text=True, check=False)
    assert shown.stdout == polysched("-q", "report", "r.jsonl", "--csv", "-", folder=folder).stdout


def test_the_schema_is_printed(folder: Path) -> None:
    shown = polysched("report", "--schema", folder=folder)
    assert json.loads(shown.stdout)["$defs"]["Measurement"]["properties"]["sizes"]["type"] == "object"
    for arguments in ((), ("--schema", "r.jsonl")):
        assert is_refusal(polysched("report", *arguments, folder=folder))


def test_refusals(folder: Path) -> None:
    assert is_refusal(polysched("report", "nowhere.jsonl", folder=folder))
    same = polysched("report", "r.jsonl", "-o", "r.jsonl", folder=folder)
    assert is_refusal(same)
    assert "the output is one of the results files" in same.stderr
    results.append(folder / "r.jsonl", measured("f", machine=dataclasses.replace(MACHINE, cpu="another")))
    mixed = polysched("report", "r.jsonl", folder=folder)
    assert is_refusal(mixed)
    assert "several machines" in mixed.stderr
    assert not (folder / "report.html").exists()
    assert polysched("report", "r.jsonl", "--any-machine", folder=folder).returncode == 0


def test_a_folder_that_is_a_file_is_refused(folder: Path) -> None:
    (folder / "tex").write_text("a file")
    assert is_refusal(polysched("report", "r.jsonl", "--latex", "tex", folder=folder))
