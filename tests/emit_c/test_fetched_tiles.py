"""Rows of the next tile over time, fetched while this one is computed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polysched
from polysched.scop import from_c_text
from tests.emit_c.compiled import load
from tests.tiling.test_skewed_tiles import STENCIL
from tests.tiling.test_stencil_edges import arrays_of, run

FETCH = re.compile(r"__builtin_prefetch\(\(const char \*\)&(.*) \+ 0\);")
STAR = ("0.5 * {x}[i][j][k] + 0.0625 * ({x}[i - 1][j][k] + {x}[i + 1][j][k]) + 0.125 * ({x}[i][j - 1][k] + "
        "{x}[i][j + 1][k]) + 0.0625 * ({x}[i][j][k - 1] + {x}[i][j][k + 1])")
SPACE = "for (int i = 1; i < {n} - 1; i++) for (int j = 1; j < {m} - 1; j++) for (int k = 1; k < {length} - 1; k++)"


def program(n: int, m: int, length: int, *, steps: int = 5) -> str:
    space = SPACE.format(n=n, m=m, length=length)
    return (f"void f(double A[{n}][{m}][{length}], double B[{n}][{m}][{length}])\n{{\n#pragma scop\n"
            f"  for (int t = 0; t < {steps}; t++) {{\n    {space} B[i][j][k] = {STAR.format(x='A')};\n"
            f"    {space} A[i][j][k] = {STAR.format(x='B')};\n  }}\n#pragma endscop\n}}\n")


def emitted(text: str, *, bits: int = 512, **options: object) -> str:
    made = polysched.optimize(from_c_text(text), polysched.PipelineOptions(vector_bits=bits, **options))
    return text[:text.index("#pragma")] + made.text + "}\n"


@pytest.mark.parametrize("split", [False, True])
def test_every_vector_fetches_its_counterpart_in_the_next_tile(split: bool) -> None:
    text = emitted(program(60, 60, 60), tile=(2, 8, 12, 80), split_tiles=split)
    found = set(FETCH.findall(text))
    assert {"A[i][j + 12][k]", "A[i + 1][j + 12][k]"} <= found
    assert {"B[i - 1][j + 11][k]", "B[i][j + 11][k]"} <= found
    gaps = text.index("the gaps between") if split else len(text)
    assert not FETCH.search(text[gaps:]), "gaps have no tiles that follow each other"


@pytest.mark.parametrize(("text", "options"), [
    (program(60, 60, 60), {"bits": 256, "tile": (2, 8, 12, 80)}),      # vectors are half a line
    (program(20, 20, 20), {"tile": (2, 8, 12, 80)}),                   # the arrays lie in the second cache
    (program(60, 60, 60), {"tile": (2, 8, 12, 16)}),                   # tiles follow each other along the columns
    (program(60, 60, 60), {"tile": "off"}),
    (program(60, 60, 60, steps=1), {"tile": (1, 8, 12, 80)}),          # no tile goes over its data again
])
def test_what_gains_nothing_is_not_fetched(text: str, options: dict[str, object]) -> None:
    assert not FETCH.search(emitted(text, **options))


def test_rows_that_lie_one_behind_the_other_are_left_to_the_hardware() -> None:
    assert not FETCH.search(emitted(STENCIL.format(n=500, steps=20), tile=(4, 16, 1024)))


@pytest.mark.parametrize(("n", "m", "length"), [(57, 58, 51), (59, 50, 66)])
def test_the_source_is_computed(n: int, m: int, length: int, tmp_path: Path) -> None:
    text = program(n, m, length)
    ours = emitted(text, tile=(2, 8, 12, 80))
    assert FETCH.search(ours)
    arrays = arrays_of(text[text.index("(") + 1:text.index(")")], (n, m, length))
    results = [run(load(code, tmp_path, strict=False).f, arrays, ()) for code in (text, ours)]
    assert results[0] == results[1]
