"""`polysched tile`: the explanation for people and for scripts."""

import json
import re
from pathlib import Path

from tests.cli.command import PRODUCT, is_refusal, polysched


def test_the_explanation_shows_traffic_bound_and_formula(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("tile", "in.c", "--explain", "--size", "n=2000", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "with n = 2000" in done.stdout
    assert "lower bound" in done.stdout
    assert "limits that bind:" in done.stdout
    assert re.search(r" B: 8\*N_j\*N_k$| B: 8\*N_i\*N_j\*N_k/T_i$", done.stdout, re.MULTILINE), done.stdout


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


def test_levels_and_the_register_block_by_hand(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    levels = ("--outer-tile", "256", "--outer-tile", "16", "--register-block", "4x8")
    done = polysched("tile", "in.c", *levels, "--explain", "--size", "n=600", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "band 0: tiles 16 x 16 x 16, register block 4 x 8" in done.stdout
    assert "tiles of tiles, outermost first: i: 256, j: 256, k: 256" in done.stdout
    refused = polysched("tile", "in.c", "--register-block", "4", folder=tmp_path)
    assert refused.returncode == 2
    assert "'4' is not rows and columns" in refused.stderr


def test_the_order_by_hand_and_sizes_by_the_model(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    order = ("--tile-order", "2,0,1", "--no-parallel", "--explain", "--size", "n=2000")
    done = polysched("tile", "in.c", *order, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if "  tiles, outermost first" in line)
    assert [part.split(":")[0].strip() for part in line.split("first:")[1].split(",")] == ["k", "i", "j"]
    refused = polysched("tile", "in.c", "--tile-order", "k,i", folder=tmp_path)
    assert refused.returncode == 2
    assert "'k,i' is not a list of loops like 2,0,1" in refused.stderr


def test_the_width_of_vectors_decides_about_register_blocks(tmp_path: Path) -> None:
    """As with `c2c --vector-bits`: whole vectors of that width, or no block where the compiler has the vectors."""
    (tmp_path / "in.c").write_text(PRODUCT)
    narrow = polysched("tile", "in.c", "--vector-bits", "128", "--register-block", "3x2", folder=tmp_path)
    assert "register block 3 x 2" in narrow.stdout
    assert "register block" not in polysched("tile", "in.c", "--vector-bits", "0", folder=tmp_path).stdout


def test_copies_of_operands_are_explained_and_chosen_by_hand(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    by_hand = ("--tile", "32,64,16", "--vector-bits", "256")
    done = polysched("tile", "in.c", "--explain", *by_hand, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"  packed: B\[k\]\[j\] in B_panels\[.*vectors along the last dimension\), filled by all threads "
                     "once", done.stdout)
    none = polysched("tile", "in.c", "--explain", "--pack", "none", *by_hand, folder=tmp_path)
    assert "packed" not in none.stdout
    only = polysched("tile", "in.c", "--json", "--pack", "A", *by_hand, folder=tmp_path)
    told = json.loads(only.stdout)
    assert [buffer["arrays"] for buffer in told["packed"]] == [["A"]]
    assert [(copy["array"], copy["in_lanes"], copy["role"]) for copy in told["copies"]] == [("A", False, "tile")]
    result = polysched("tile", "in.c", "--explain", "--pack", "C", *by_hand, folder=tmp_path)
    assert "not packed: C, of which no loop reads the same often enough in whole register blocks" in result.stdout
    refused = polysched("tile", "in.c", "--pack", "A,D", folder=tmp_path)
    assert is_refusal(refused)
    assert "no array D to pack" in refused.stderr
    assert "arrays are A, B, C" in refused.stderr


def test_the_tree_has_copies_as_statements(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    by_hand = ("--tile", "32,64,16", "--vector-bits", "256")
    tree = polysched("tile", "in.c", "--tree", *by_hand, folder=tmp_path).stdout
    assert tree.index("copy_B\n") < tree.index("copies=B:lanes:")
    assert tree.index("extension\n") < tree.index("copy_A\n") < tree.index("copies=A:rows:")
    plain = polysched("tile", "in.c", "--tree", "--pack", "none", *by_hand, folder=tmp_path).stdout
    assert "mark polysched role=tile" in plain
    assert "extension" not in plain


def test_copies_that_the_loops_have_no_place_for_are_told(tmp_path: Path) -> None:
    """What tiles of a triangle read is no box."""
    triangle = PRODUCT.replace("j < n", "j <= i").replace("B[k][j]", "A[j][k]")
    assert triangle != PRODUCT
    (tmp_path / "in.c").write_text(triangle)
    told = polysched("tile", "in.c", "--explain", "--tile", "32,64,16", "--vector-bits", "256", folder=tmp_path).stdout
    wanted = "  not packed: A around the loop of [ij]: the bounds do not show that it is a box inside its array"
    assert re.search(wanted, told)


def test_the_explanation_has_the_loops_on_threads_as_they_are_emitted(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(PRODUCT)
    done = polysched("tile", "in.c", "--explain", "--tile", "64", folder=tmp_path)
    pragma = ("parallel for schedule(dynamic) if((n - 1) / 64 + 1 >= 2 && "
              "(double)((n - 1) / 64 + 1) * n * n * 64 >= 16384)")
    assert f"  threads: loop i_tile: {pragma}\n" in done.stdout
    assert f"#pragma omp {pragma}" in polysched("c2c", "in.c", "--tile", "64", folder=tmp_path).stdout
    alone = polysched("tile", "in.c", "--explain", "--no-parallel", folder=tmp_path).stdout
    assert "  threads: none: --no-parallel\n" in alone
    (value,) = json.loads(polysched("tile", "in.c", "--json", "--tile", "64", folder=tmp_path).stdout)["threads"]
    assert value == {"loop": "i_tile", "band": 0, "member": 0, "pragma": pragma}


def test_what_no_region_of_a_file_can_use_is_refused(tmp_path: Path) -> None:
    """An order that one region has is no mistake in the other one."""
    copy = PRODUCT.replace("void ", "void other_").replace("C[i][j] += A[i][k] * B[k][j]", "C[i][j] = A[i][j]")
    (tmp_path / "in.c").write_text(PRODUCT + copy)
    for command in ("tile", "c2c"):
        done = polysched(command, "in.c", "--tile", "8", "--tile-order", "2,0", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        refused = polysched(command, "in.c", "--tile", "8", "--tile-order", "5,0", folder=tmp_path)
        assert is_refusal(refused)
        assert "no band has a loop of this order of tiles" in refused.stderr
        assert "witness: 5,0: the deepest band has loops 0 to 2" in refused.stderr
        large = polysched(command, "in.c", "--tile", "64", "--outer-tile", "32", folder=tmp_path)
        assert is_refusal(large)
        assert "witness: band 0, loop i: tiles of 64 inside tiles of 32" in large.stderr
