"""Emitted C that people read: a matrix product, a stencil and a triangular kernel; `--update-golden` rewrites them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit
from polysched.scheduling import original, pluto
from polysched.scop import from_c_file
from polysched.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.register_tiles.test_register_tiles import emitted

HERE = Path(__file__).parent
KERNELS = HERE.parent / "kernels"
MACHINE = Target(vector_bits=512, vector_registers=32, cores=2)
Golden = Callable[[Path, str], None]


def test_matrix_product_with_register_tiles(golden: Golden) -> None:
    golden(HERE / "golden" / "matrix_product_512.c", emitted("matrix product").text)


@pytest.mark.parametrize(("kernel", "edges"), [("jacobi_2d", (8, 32, 32)), ("trmm", (32,)), ("nussinov", (16,))])
def test_tiled_kernel(kernel: str, edges: tuple[int, ...], golden: Golden) -> None:
    schedule = pluto(analyse(from_c_file(str(KERNELS / f"{kernel}.c"))))
    tiled = tile(schedule, TilingOptions(sizes=edges, target=MACHINE))
    golden(HERE / "golden" / f"{kernel}_tiled.c", emit(tiled, options=EmitOptions(vector_bits=512)).text)


def test_as_written(golden: Golden) -> None:
    schedule = original(analyse(from_c_file(str(KERNELS / "cholesky.c"))))
    tiled = tile(schedule, TilingOptions(sizes="off", target=MACHINE))
    golden(HERE / "golden" / "cholesky_as_written.c", emit(tiled, options=EmitOptions(vector_bits=0)).text)


