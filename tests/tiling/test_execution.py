"""Tiled programs compute bit for bit what the source computes, at sizes around the edges of random tiles."""

import ctypes
import random
from dataclasses import replace
from pathlib import Path

import islpy as isl
import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions
from polysched.emit_c.function import emit_function
from polysched.errors import IllegalScheduleError
from polysched.scheduling import ALGORITHMS
from polysched.scop import from_c_file
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Array, Scop, Storage
from polysched.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.tiling.kernels import gauss_seidel
from tests.tiling.test_tile_bands import assert_legal, by_hand

KERNELS = Path(__file__).parents[1] / "kernels"
EDGES = (1, 2, 3, 4, 5, 8)
MACHINES = (Target(vector_bits=0), Target(vector_bits=128), Target(vector_bits=256, vector_registers=16),
            Target(vector_bits=512, vector_registers=32))


def random_options(chance: random.Random) -> TilingOptions:
    """Any mixture of sizes, levels and forms."""
    def edges():
        return chance.choice([chance.choice(EDGES), tuple(chance.choice(EDGES) for _ in range(chance.randint(1, 4)))])

    def outer():
        given = edges()
        return given if isinstance(given, int) or chance.random() < 0.5 else (*(0 for _ in given[1:]), given[-1])

    def around(inner):
        """Edges that are no smaller than those inside, for bands of any length."""
        given, count = outer(), 4
        inner, given = (tuple(e if isinstance(e, tuple) else (e,)) for e in (inner, given))
        stretched = [(*e, *(e[-1:] * (count - len(e)))) for e in (inner, given)]
        return tuple(large and max(small, large) for small, large in zip(*stretched, strict=True))

    sizes = chance.choice(["auto", "off", edges(), edges(), edges(), edges()])
    return TilingOptions(
        sizes=sizes, outer_sizes=(around(sizes),) if not isinstance(sizes, str) and chance.random() < 0.3 else (),
        parallel=chance.random() < 0.7, simd=chance.random() < 0.8, diamond=chance.random() < 0.5,
        nested=chance.random() < 0.3, register=chance.random() < 0.8, target=chance.choice(MACHINES))


def visible(scop: Scop) -> list[Array]:
    return [array for array in scop.arrays if array.storage is not Storage.LOCAL]


def arrays_of(scop: Scop, sizes: dict[str, int]) -> list[np.ndarray]:
    """Small values that stay small: diagonals dominate, so that factorisations do not overflow."""
    generator = np.random.default_rng(7)
    made = []
    for array in visible(scop):
        shape = tuple(int(fix_parameters(isl.Set.from_pw_aff(extent), sizes).dim_max_val(0).to_python())
                      for extent in array.extents)
        values = generator.integers(1, 9, size=shape) / 64.0
        if len(shape) == 2 and shape[0] == shape[1]:
            values = values + np.eye(shape[0]) * shape[0]
        made.append(np.ascontiguousarray(values.astype(array.dtype.name)))
    return made


def run(function, scop: Scop, sizes: dict[str, int]) -> list[bytes]:
    arrays = arrays_of(scop, sizes)
    arguments = [ctypes.c_int(sizes[p.name]) for p in scop.parameters]
    for array, values in zip(visible(scop), arrays, strict=True):
        by_value = array.is_scalar and not array.c_element.startswith("(*")
        arguments.append(ctypes.c_double(float(values.flat[0])) if by_value else ctypes.c_void_p(values.ctypes.data))
    function(*arguments)
    return [a.tobytes() for a in arrays]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["mm2", "lu", "trmm", "syrk", "symm", "cholesky", "jacobi_2d", "seidel_2d",
                                    "fdtd_2d"])
def test_random_tiles_compute_what_the_source_computes(kernel, tmp_path):
    scop = from_c_file(KERNELS / f"{kernel}.c")
    dependences = analyse(scop)
    chance = random.Random(kernel)
    as_written = tile(ALGORITHMS["original"](dependences), TilingOptions(sizes="off", parallel=False, simd=False,
                                                                         register=False, target=MACHINES[0]))
    texts = [emit_function(as_written, name="source", options=EmitOptions(openmp=False, vector_bits=0)).text]
    chosen = []
    schedules = {name: ALGORITHMS[name](dependences) for name in ("pluto", "isl")}
    for number in range(4):
        options = random_options(chance)
        tiled = tile(schedules[chance.choice(("pluto", "pluto", "isl"))], options, alone=False)
        assert_legal(tiled)
        chosen.append(options)
        texts.append(emit_function(tiled, name=f"variant{number}", options=EmitOptions(
            openmp=options.parallel, vector_bits=options.target.vector_bits)).text)
    libraries = [load(text, tmp_path, strict=False) for text in texts]
    for size in (1, 3, 4, 5, 9, 17):
        sizes = {p.name: max(size + shift, 3 if "2d" in kernel else 1) for shift, p in enumerate(scop.parameters)}
        expected = run(libraries[0].source, scop, sizes)
        for number, options in enumerate(chosen):
            got = run(getattr(libraries[number + 1], f"variant{number}"), scop, sizes)
            assert got == expected, f"{kernel} {sizes} {options}\n{texts[number + 1]}"


def test_a_reversed_dependence_is_refused_whatever_the_tiles():
    tree = ('{ domain: "[T, N] -> { S[t, i, j] : 0 <= t < T and 1 <= i < N - 1 and 1 <= j < N - 1 }", child: { '
            'schedule: "[T, N] -> [{ S[t, i, j] -> [(t)] }, { S[t, i, j] -> [(-t - i)] }, '
            '{ S[t, i, j] -> [(t + j)] }]", permutable: 1 } }')
    schedule = by_hand(gauss_seidel(), tree)
    chance = random.Random(3)
    for _ in range(10):
        options = replace(random_options(chance), sizes=4, outer_sizes=())
        with pytest.raises(IllegalScheduleError):
            tile(schedule, options)
