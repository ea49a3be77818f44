"""`--intrinsic` in c2c and run: the file compiles, the report says which instruction and why, bad names are refused."""

from pathlib import Path

from polysched.target import find_compiler
from tests.cli.command import is_refusal, polysched

PRODUCT = """#include <stdint.h>
void product(int n, int8_t B[n][n], uint8_t A[n][n], int32_t C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
"""


def test_the_file_compiles_and_the_choice_is_reported(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("c2c", "product.c", "--intrinsic", "arm_usdot", "--size", "n=40", "-o", "out.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "polysched: S1: arm_usdot about " in done.stderr
    text = (tmp_path / "out.c").read_text()
    assert "if (n == 40) {" in text
    assert "/* S1 by arm_usdot */" in text
    compiler = find_compiler()
    checked = compiler.run(["-fsyntax-only", "-Wall", "-Werror", *compiler.openmp_compile, str(tmp_path / "out.c")])
    assert checked.returncode == 0, checked.stderr


def test_where_sizes_are_needed_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT.replace("C[i][j]", "C[i + i / 2][j]"))
    done = polysched("c2c", "product.c", "--intrinsic", "vpdpbusd", "-o", "out.c", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "vpdpbusd needs sizes, since subscripts of C are no sums of multiples of the loops" in done.stderr
    assert "by vpdpbusd" not in (tmp_path / "out.c").read_text()


def test_run_verifies_what_an_instruction_computes(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("run", "product.c", "--intrinsic", "arm_usdot", "--size", "n=40", "--pairs", "1", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "verified" in done.stdout


def test_an_unknown_instruction_is_refused(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("c2c", "product.c", "--intrinsic", "vpdpbus", "--size", "n=40", folder=tmp_path)
    assert is_refusal(done)
    assert "did you mean" in done.stderr


def test_tile_shows_the_loops_around_an_instruction(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("tile", "product.c", "--intrinsic", "vpdpbusd", "--size", "n=64", "--explain", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "instruction: S1: vpdpbusd about " in done.stdout
    assert "executed 4096 times, 100% of its work used" in done.stdout
    assert "loops, outermost first: " in done.stdout
    assert "operand B: B, packed, packed into 4096 elements" in done.stdout
    assert "function product" not in done.stdout   # nothing is left for ordinary code
