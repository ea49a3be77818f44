"""`polysched tile`: the explanation for people and for scripts."""

import json
from pathlib import Path

from tests.cli.command import PRODUCT, is_refusal, polysched


def test_the_explanation_shows_traffic_bound_and_formula(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("tile", "in.c", "--explain", "--size", "n=2000", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "with n = 2000" in done.stdout
    assert "lower bound" in done.stdout
    assert "limits that bind:" in done.stdout
    assert "B: 8*N_i*N_j*N_k/T_i" in done.stdout


def test_the_explanation_as_json(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("tile", "in.c", "--json", "--tile", "32,64,16", folder=tmp_path)
    (band,) = json.loads(done.stdout)["bands"]
    assert band["edges"] == [32, 64, 16]
    for level in band["levels"]:
        assert level["tiled_bytes"] >= level["lower_bound_bytes"] > 0


def test_an_unknown_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("tile", "in.c", "--size", "q=3", folder=tmp_path)
    assert is_refusal(done)
    assert "no parameter q" in done.stderr
    assert "parameters are n" in done.stderr
