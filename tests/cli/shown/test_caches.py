"""`polysched tile --simulate`: predicted beside simulated, the warning, and what is refused."""

import json
from pathlib import Path

from tests.cli.command import PRODUCT, is_refusal, polysched

UNPACKED = ("--tile", "32", "--pack", "none", "--vector-bits", "0", "--target", "generic")


def test_conflicts_of_unpacked_tiles_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("tile", "in.c", *UNPACKED, "--simulate", "--size", "n=128", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "simulated with n = 128: 8388608 accesses, one thread, operands in place" in done.stdout
    assert "of the misses of L1 are conflicts" in done.stdout


def test_the_counts_as_json(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("tile", "in.c", *UNPACKED, "--simulate", "--size", "n=40", "--json", folder=tmp_path)
    counts = json.loads(done.stdout)["simulated"]
    assert (counts["sizes"], counts["accesses"]) == ({"n": 40}, 4 * 40 ** 3)
    for level in counts["levels"]:
        assert sum(level["misses_by_array"].values()) == level["misses"] >= 3 * 40 * 40 * 8 // 64


def test_packed_operands_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("tile", "in.c", "--simulate", "--size", "n=2000", folder=tmp_path)
    assert is_refusal(done)
    assert "--pack none" in done.stderr
