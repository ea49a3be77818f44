"""`c2c --verify-order`: says what it checked, and refuses where it cannot."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import PRODUCT, is_refusal, polysched


def test_the_order_of_every_region_is_checked(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("c2c", "product.c", "-o", "out.c", "--verify-order", "--tile", "3", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "order of product verified: " in done.stderr
    assert " instances at n=7" in done.stderr


def test_constants_that_are_too_large_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "large.c").write_text("""double A[9000];
void f(void)
{
#pragma scop
    for (int i = 0; i < 9000; i++)
        A[i] = 0.0;
#pragma endscop
}
""")
    done = polysched("c2c", "large.c", "-o", "out.c", "--verify-order", folder=tmp_path)
    assert is_refusal(done)
    assert "the order of f cannot be checked" in done.stderr
    assert not (tmp_path / "out.c").exists()
