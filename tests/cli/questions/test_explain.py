"""`polysched explain`: a page, or JSON, about every loop of a file."""

import json
from pathlib import Path

from tests.cli.command import PRODUCT, is_refusal, polysched


def test_a_page_and_its_json(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("explain", "in.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("function product\n")
    assert "loop k around S0, line 8: tiles of " in done.stdout
    value = json.loads(polysched("explain", "in.c", "--json", folder=tmp_path).stdout)
    assert value["refused"] == []
    assert [loop["loop"] for loop in value["regions"][0]["loops"]] == ["i", "j", "k"]


def test_what_stays_as_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text("void f(int n, double x[n]) {\n#pragma scop\n"
                                   "  for (int i = 1; i < n; i++) x[i] = 0.5 * x[i-1];\n#pragma endscop\n}\n")
    done = polysched("explain", "in.c", folder=tmp_path)
    assert "the loops stay as they are: every iteration of line 3 needs `x` of earlier ones" in done.stdout
    refused = polysched("explain", "in.c", "--quiet", "--size", "m=3", folder=tmp_path)
    assert is_refusal(refused)
    assert "no parameter m" in refused.stderr


def test_steps_of_one_launch(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(
        "void f(int m, int n, double A[n], double B[n]) {\n#pragma scop\n  for (int t = 0; t < m; t++) {\n"
        "    for (int i = 1; i < n - 1; i++) B[i] = A[i-1] + A[i+1];\n"
        "    for (int i = 1; i < n - 1; i++) A[i] = B[i];\n  }\n#pragma endscop\n}\n")
    done = polysched("explain", "in.c", "--target", "opencl", "--time-tile", "4", folder=tmp_path)
    assert "diamonds of 4 iterations" in done.stdout
    refused = polysched("explain", "in.c", "--time-tile", "4", folder=tmp_path)
    assert is_refusal(refused)
    assert "--time-tile belongs to --target opencl or cuda" in refused.stderr
