"""`polysched match`: counts, explanations, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.cli import match
from polysched.cli.conventions import separate_sizes
from polysched.cli.entry import make_parser
from polysched.errors import UsageError
from tests.cli.command import polysched

UNIT = ("--intrinsic", "mma_16x16x16")
PRODUCT = """#include <stdint.h>
void product(int n, int32_t C[n][n], uint8_t A[n][n], %s B[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def run(*words: str) -> int:
    return match.run(make_parser().parse_args(separate_sizes(["match", *words])))


def test_counts_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("polysched.tensorize.operators:c1d", *UNIT, "--rule", "amos", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert value["count"] == len(value["matches"]) == 6
    assert value["rule"] == "amos"


def test_every_match_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("polysched.tensorize.operators:c1d", *UNIT, "--all") == 0
    out = capsys.readouterr().out
    assert out.startswith("c1d on mma_16x16x16, rule exact: 9 matches (18 with mirror images")
    assert out.count("S1: ") == 9
    assert "takes for granted: float additions may be reordered" in out


def test_a_sum_in_a_scalar_of_the_loop_body(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "product.c"
    text = PRODUCT % "int8_t"
    path.write_text(text.replace("for (int j = 0; j < n; j++)", "for (int j = 0; j < n; j++) { int32_t s = 0;")
                    .replace("C[i][j] += A[i][k] * B[k][j];", "s += A[i][k] * B[k][j];\n C[i][j] = s; }"))
    assert run(str(path), "--intrinsic", "vpdpbusd", "--size", "n=21") == 0
    assert "S1: i <- j, k <- k; A = A[i][k], B = B[k][j]" in capsys.readouterr().out


def test_sizes_of_operators_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("polysched.tensorize.operators:c2d", *UNIT, "--rule", "amos", "--extents", "reach", "--size", "batch=1",
               "--json") == 0
    assert json.loads(capsys.readouterr().out)["count"] == 20
    assert run("polysched.tensorize.operators:c2d", *UNIT, "--size", "batch=1", "c=1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["count"] == 3 * 3


def test_a_c_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "product.c"
    file.write_text(PRODUCT % "int8_t")
    assert run(str(file), "--intrinsic", "vpdpbusd", "--size", "n=64") == 0
    assert "A broadcast" in capsys.readouterr().out


def test_no_match_explains_and_ends_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "product.c"
    file.write_text(PRODUCT % "int16_t")
    assert run(str(file), "--intrinsic", "vpdpbusd") == 2
    assert "operand B: the program has int16, vpdpbusd wants int8" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "problem"), [
    (("nowhere:gmm", *UNIT), "cannot be imported"),
    (("polysched.tensorize.operators:gmx", *UNIT), "has no 'gmx'"),
    (("polysched.tensorize.operators:gmm", "--intrinsic", "x"), "no intrinsic is called 'x'"),
    (("polysched.tensorize.operators:gmm", *UNIT, "--allow", "everything"), "--allow knows no 'everything'"),
    (("polysched.tensorize.operators:gmm", *UNIT, "--size", "q=3"), "no parameter q"),
])
def test_refusals(words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        run(*words)


def test_operators_of_the_current_folder_are_found(tmp_path: Path) -> None:
    (tmp_path / "mylayers.py").write_text(
        "from polysched.scop.expression import build, placeholder\n"
        "from polysched.scop.expression.operators import matmul\n\n\n"
        "def mm(n=16):\n    return build(matmul(placeholder('A', (n, n)), placeholder('B', (n, n))))\n")
    done = polysched("match", "mylayers:mm", "--intrinsic", "cblas_sgemm", folder=tmp_path)
    assert "the module mylayers cannot be imported" not in done.stderr
    assert done.returncode == 0, done.stderr


def test_sizes_may_belong_to_one_of_several_regions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "products.c"
    file.write_text("""\
void f(int n, float A[n][n], float B[n][n], float C[n][n]) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
void g(int m, float x[m]) {
#pragma scop
  for (int i = 0; i < m; i++) x[i] = 0;
#pragma endscop
}
""")
    assert run(str(file), "--intrinsic", "cblas_sgemm", "--size", "n=64", "--size", "m=3") == 0
    assert "f on cblas_sgemm, rule exact: 1 match" in capsys.readouterr().out


def test_auto_shows_every_instruction_that_matches_the_cheapest_first(tmp_path: Path,
                                                                      capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "product.c"
    file.write_text(PRODUCT % "int8_t")
    assert run(str(file), "--intrinsic", "auto", "--size", "n=20", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    names = [f["intrinsic"] for f in found]
    assert {"vpdpbusd", "vpdpwssd", "tdpbusd"} <= set(names)
    assert "vpsadbw" not in names
    costs = [f["matches"][0]["cost_cycles"] for f in found]
    assert costs == sorted(costs)
    assert run(str(file), "--intrinsic", "auto", "--size", "n=20") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"product: {len(found)} of ")
    assert lines[1].startswith(f"product on {names[0]}, rule exact: ")


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    text = PRODUCT % "int8_t"
    done = subprocess.run([sys.executable, "-m", "polysched", "match", "-", "--intrinsic", "vpmaddubsw"], input=text,
                          capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout.startswith("product on vpmaddubsw, rule exact: 0 matches"), done.stderr
