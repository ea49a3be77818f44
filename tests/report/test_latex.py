"""LaTeX tables: the golden, the number of columns, and special characters."""

from collections.abc import Callable
from pathlib import Path

import pytest

from polysched.experiment import record as records
from polysched.measure import results
from polysched.report import Results, read_results
from polysched.report.latex import escaped, latex_tables, plain_tables
from tests.report.made_results import contest, measured

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def read(tmp_path: Path) -> Results:
    path = tmp_path / "r.jsonl"
    results.append(path, measured("matrix_product", ratio=3.0, seconds=0.0125))
    results.append(path, measured("stencil", ratio=0.5, seconds=12.0))
    records.append(path, contest("case_1", {"polysched": 1.0, "numpy": 2.0, "a&b": 0.0}))
    return read_results([path])


@pytest.mark.parametrize("name", ["measurements", "peers-us", "provenance"])
def test_golden(read: Results, name: str, golden: Callable[[Path, str], None]) -> None:
    tables = latex_tables(read)
    assert set(tables) == {"measurements", "peers-us", "provenance"}
    golden(GOLDEN / f"{name}.tex", tables[name])


def test_every_row_has_all_columns(read: Results) -> None:
    rows = [line for line in latex_tables(read)["peers-us"].splitlines() if line.endswith(r"\\")]
    assert len(rows) == 4
    for row in rows:
        cells = row.replace(r"\&", "").split("&")
        assert len(cells) + sum("multicolumn" in cell for cell in cells) == 7


def test_special_characters_are_escaped() -> None:
    assert escaped(r"a_b & 50% #1 $x {y} ~ ^ \z") == (
        r"a\_b \& 50\% \#1 \$x \{y\} \textasciitilde{} \textasciicircum{} \textbackslash{}z")


def test_an_experiments_own_table_becomes_latex() -> None:
    text = plain_tables("words\n\n| name | a_b |\n|---|---:|\n| x | 1 |\n\nmore words\n")
    assert r"\begin{tabular}{lr}" in text
    assert r"name & a\_b \\" in text
    assert r"x & 1 \\" in text
    assert plain_tables("words only") == ""


def test_what_varies_is_kept_and_kernels_have_their_means(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    for edge, ratio in (([32, 32, 32], 2.0), ([64, 64, 64], 8.0)):
        results.append(path, measured("product", ratio=ratio, options={"tile": edge}))
    results.append(path, measured("stencil", ratio=0.5))
    table = latex_tables(read_results([path]))["measurements"]
    assert r"kernel & size & differs in & reference (s)" in table
    assert "product & n=1000 & tile 32x32x32 &" in table
    assert "product & n=1000 & tile 64x64x64 &" in table
    means = {row.split(" & ")[0]: row.split(" & ")[-1].split()[0] for row in table.splitlines() if "mean" in row}
    assert set(means) == {"geometric mean, product", "geometric mean"}
    assert float(means["geometric mean, product"]) == pytest.approx(4, rel=0.03)


def test_a_mean_has_as_many_digits_as_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    results.append(path, measured("product", ratio=0.0018))
    table = latex_tables(read_results([path]))["measurements"]
    assert "& 0.0018 (1)" in next(row for row in table.splitlines() if row.startswith("geometric mean"))
