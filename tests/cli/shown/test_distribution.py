"""`--target mpi`."""

import json
from pathlib import Path

import pytest

from tests.cli.command import PRODUCT, polysched
from tests.measure.mpi import needs_mpi


def test_c2c_writes_c_with_mpi(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("c2c", "product.c", "--target", "mpi", "--distribute", "i", "-o", "out.c", "--json", "out.json",
                     folder=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.c").read_text()
    assert text.startswith("#include <mpi.h>")
    assert text.endswith("/* after */\n")
    assert "along i (block)" in json.loads((tmp_path / "out.json").read_text())["regions"][0]


@needs_mpi
def test_run_verifies_on_ranks(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("run", "product.c", "--target", "mpi", "--distribute", "i", "--partition", "cyclic",
                     "--ranks", "1,2", "--size", "n=20", "--json", "-", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [run["ranks"] for run in runs] == [1, 2]
    assert all(not run["wrong"] for run in runs)
    assert runs[0]["gathered_bytes"] == 0 < runs[1]["gathered_bytes"]


@pytest.mark.parametrize(("arguments", "said"), [
    (("--target", "mpi"), "needs the loop to distribute"),
    (("--distribute", "i"), "--distribute belongs to --target mpi"),
    (("--partition", "cyclic"), "--partition belongs to --target mpi"),
    (("--target", "mpi", "--distribute", "i", "--intrinsic", "none"), "--intrinsic does nothing with --target mpi"),
    (("--target", "mpi", "--distribute", "i", "--json", "-", "-o", "-"), "cannot both go to the standard output"),
    (("--target", "mpi", "--distribute", "q"), "no loop q to distribute"),
    (("--target", "mpi", "--distribute", "i", "--partition", "rows"), "is not one of block, cyclic"),
    (("--target", "mpi", "--distribute", "i", "--partition", "cyclic"), "made for a number of ranks"),
    (("--target", "mpi", "--distribute", "i", "--owner", "S0"), "is not STATEMENT=LOOP"),
    (("--target", "mpi", "--distribute", "i", "--owner", "S7=i"), "no statement S7")])
def test_what_does_not_fit_is_refused(arguments, said, tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("c2c", "product.c", *arguments, folder=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert said in done.stderr


def test_commands_that_make_no_code_refuse_it(tmp_path: Path) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    done = polysched("tile", "product.c", "--target", "mpi", folder=tmp_path)
    assert done.returncode == 2
    assert "--target mpi is for commands that make or run code" in done.stderr
