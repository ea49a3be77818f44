"""Lanes that rows of declared length cannot have are not emitted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polysched.pipeline import PipelineOptions, optimize
from polysched.scop import from_c_text
from polysched.target import find_compiler
from tests.emit_c.nodes import tiles

TEXT = """void f(int m, int n, int a[400][{row}], int x[400]) {{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 1; j < m; j++)
      x[i] += a[i][j];
#pragma endscop
}}
"""


@pytest.mark.parametrize(("row", "parts"), [(6, 0), (12, 1), (20, 2), (400, 4)])
def test_partial_results_fit_into_rows(tmp_path: Path, row: int, parts: int) -> None:
    text = TEXT.format(row=row)
    made = optimize(from_c_text(text), PipelineOptions(vector_bits=256, parallel=False, tile="off"))
    lanes = {tile.edges[-1].count for tile in tiles(made.source.loops) if tile.partials}
    assert lanes == ({8 * parts, 8} if parts else set()), "one vector behind several"
    assert len(set(re.findall(r"x_part_\d", made.text))) == parts
    file = tmp_path / "f.c"
    file.write_text(re.sub(r"#pragma scop.*#pragma endscop\n", lambda _: made.text, text, flags=re.DOTALL))
    done = find_compiler(None).run(["-O2", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-c", str(file), "-o",
                                    str(tmp_path / "f.o")])
    assert done.returncode == 0, done.stderr
