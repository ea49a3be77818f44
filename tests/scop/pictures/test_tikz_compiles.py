"""Pictures as TikZ are compiled as a paper would, without a complaint."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from polysched.dependence import analyse
from polysched.scheduling import original, pluto
from polysched.scheduling.picture import draw_schedule, draw_tiles
from polysched.scheduling.solids import draw_solid
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions, tile

COMPLAINT = re.compile(r"^(!.*|.*Warning.*|(Over|Under)full .*)$", re.MULTILINE)
HEAT = from_c_text("""void heat(int T, int n, double A[n], double B[n]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < n - 1; i++) B[i] = A[i-1] + A[i+1];
    for (int i = 1; i < n - 1; i++) A[i] = B[i];
  }
#pragma endscop
}""")
PRODUCT = from_c_text("""void product(int n, double C[n][n], double A[n][n], double B[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}""")


def has_tikz() -> bool:
    """Whether pdflatex and the package are here."""
    return shutil.which("pdflatex") is not None and shutil.which("kpsewhich") is not None and subprocess.run(
        ["kpsewhich", "tikz.sty"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_tikz(), reason="pdflatex with tikz is not installed")
def test_every_kind_of_picture_compiles(tmp_path: Path) -> None:
    heat, product = analyse(HEAT), analyse(PRODUCT)
    schedule = pluto(heat)
    tiled = tile(schedule, TilingOptions(sizes=3, register=False))
    tiles = draw_tiles(heat, tiled.tree, threads=2)
    pictures = {
        "tiles": tiles, "threads": tiles.coloured("thread"), "steps": tiles.coloured("step"),
        "order": draw_schedule(heat, schedule.tree, tiles=tiled.tree),
        "solid": draw_solid(product, tile(original(product), TilingOptions(sizes=4, register=False)).tree)}
    for name, picture in pictures.items():
        (tmp_path / f"{name}.tex").write_text(picture.tikz)
    (tmp_path / "paper.tex").write_text("\n".join([
        r"\documentclass{article}", r"\usepackage{tikz,graphicx}", r"\begin{document}",
        *(rf"\noindent\resizebox{{\linewidth}}{{!}}{{\input{{{name}.tex}}}}\clearpage" for name in pictures),
        r"\end{document}", ""]))
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "paper.tex"], cwd=tmp_path, capture_output=True,
                          check=False, timeout=120)
    log = (tmp_path / "paper.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert not COMPLAINT.findall(log)
