"""What `polysched report --latex --pdf` writes is compiled as a paper would: every table read, every plot included."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from polysched.experiment import record as records
from polysched.experiment.plots import save
from polysched.measure import results
from polysched.report import read_results
from polysched.report.figures import plots
from polysched.report.latex import latex_tables, plain_tables
from tests.report.made_results import contest, measured

COMPLAINT = re.compile(r"^(!.*|.*Warning.*|(Over|Under)full .*)$", re.MULTILINE)
PEERS = ("gcc", "clang", "polly@2", "pluto & friends", "ppcg", "numba_outer", "polysched@2", "onednn", "halide")


def has_latex() -> bool:
    """Whether pdflatex and the packages that the tables name are here."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return False
    return all(subprocess.run(["kpsewhich", f"{name}.sty"], capture_output=True, check=False).returncode == 0
               for name in ("booktabs", "graphicx"))


def paper(tables: Iterable[str], plot_names: Iterable[str]) -> str:
    """A document with each table and each plot, the plots as wide as the text."""
    parts = [rf"\begin{{table}}[p]\centering\input{{{name}.tex}}\caption{{{name}.}}\end{{table}}" for name in tables]
    parts += [rf"\begin{{figure}}[p]\centering\includegraphics[width=\linewidth,height=0.8\textheight,keepaspectratio]"
              rf"{{{name}.pdf}}\caption{{{name}.}}\end{{figure}}" for name in plot_names]
    return "\n".join([r"\documentclass{article}", r"\usepackage{booktabs,graphicx}", r"\begin{document}", "Results.",
                      *parts, r"\clearpage", r"\end{document}", ""])


def compiled(folder: Path) -> str:
    """What LaTeX complains about."""
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "paper.tex"], cwd=folder, capture_output=True,
                          check=False, timeout=120)
    log = (folder / "paper.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    return "\n".join(found.group(0) for found in COMPLAINT.finditer(log))


@pytest.mark.skipif(not has_latex(), reason="pdflatex with booktabs and graphicx is not installed")
def test_tables_and_plots_compile_without_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    for edge in (8, 16, 32):
        results.append(file, measured("matrix_product", ratio=3.0 * edge, options={"tile": [edge, 64]}))
    for number in range(30):
        records.append(file, contest(f"a_kernel_with_a_long_name_{number}",
                                     {p: 0.01 * (k + 1) for k, p in enumerate(PEERS)}))
    read = read_results([file])
    tables = latex_tables(read) | {"plain": plain_tables("| 100% & more | <a> → b |\n|---|---:|\n| x_1 | 2×3… |\n")}
    for name, text in tables.items():
        (tmp_path / f"{name}.tex").write_text(text, encoding="utf-8")
    drawn = plots(read.entries, paper=True)
    for plot in drawn:
        save(plot.figure, tmp_path / f"{plot.name}.pdf")
    assert {"measurements", "peers-us", "peers-us-2", "provenance"} <= set(tables)
    assert len(drawn) >= 3
    (tmp_path / "paper.tex").write_text(paper(tables, [plot.name for plot in drawn]))
    assert compiled(tmp_path) == ""
