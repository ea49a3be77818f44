"""Elementwise statements behind a sum, on arrays of their own: the sum keeps its register tile, bit by bit."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.emit_c import EmitOptions, emit_function
from polysched.emit_c.loop_ir.loops import Local, Packed, RegisterTile
from polysched.emit_c.loop_ir.traversal import statements_in_blocks, walk_nodes
from polysched.pipeline import PipelineOptions, optimize
from polysched.scheduling import original
from polysched.scop.expression import Tensor, axis, build, compute, maximum, minimum, placeholder, sum
from polysched.scop.scop import Scop
from polysched.target import Target
from polysched.tiling import TiledSchedule, TilingOptions
from tests.emit_c.compiled import load

AVX2 = PipelineOptions(vector_bits=256, tensorize=None, tiling=TilingOptions(
    target=Target(vector_bits=256, vector_registers=16, cores=2)))
AS_WRITTEN = EmitOptions(openmp=False, simd=False, vector_bits=0, math="libm", packing=False)
NUMPY = {"float": np.float32, "unsigned char": np.uint8, "signed char": np.int8, "int": np.int32}


def convolved(channels: int, width: int, *, depth: int = 5) -> Tensor:
    """Sums over windows of 3 x 3, whose lanes are channels."""
    image, weights = placeholder("X", (depth, width + 2, width + 2)), placeholder("W", (channels, depth, 3, 3))
    d, r, s = axis("d"), axis("r"), axis("s")
    return compute((channels, width, width),
                   lambda c, y, x: sum(image[d, y + r, x + s] * weights[c, d, r, s], over=(d, r, s)), name="T")


def relu(channels: int, width: int) -> Scop:
    t, bias = convolved(channels, width), placeholder("b", (channels,))
    return build(compute(t.shape, lambda c, y, x: maximum(t[c, y, x] + bias[c], 0.0), name="O"))


def residual(channels: int, width: int) -> Scop:
    """Scale and shift, what skips the layer, activation: a chain of three."""
    t, skip = convolved(channels, width), placeholder("R", (channels, width, width))
    scale, shift = placeholder("g", (channels,)), placeholder("h", (channels,))
    normal = compute(t.shape, lambda c, y, x: t[c, y, x] * scale[c] + shift[c], name="N")
    added = compute(t.shape, lambda c, y, x: normal[c, y, x] + skip[c, y, x], name="A")
    return build(compute(t.shape, lambda c, y, x: maximum(added[c, y, x], 0.0), name="O"))


def channels_last(channels: int, width: int) -> Scop:
    t, bias = convolved(channels, width), placeholder("b", (channels,))
    return build(compute((width, width, channels), lambda y, x, c: maximum(t[c, y, x] + bias[c], 0.0), name="O"))


def clipped(channels: int, width: int) -> Scop:
    """Bytes, by choices that compilers make by branches."""
    t, bias = convolved(channels, width), placeholder("b", (channels,))
    return build(compute(t.shape, lambda c, y, x: minimum(maximum(t[c, y, x] * 9.0 + bias[c], 0.0), 255.0).astype(
        "uint8"), name="O"))


def two_readers(channels: int, width: int) -> Scop:
    t, bias = convolved(channels, width), placeholder("b", (channels,))
    first = compute(t.shape, lambda c, y, x: maximum(t[c, y, x] + bias[c], 0.0), name="O")
    return build([first, compute(t.shape, lambda c, y, x: t[c, y, x] * 2.0, name="D")])


def product(rows: int, columns: int) -> Scop:
    a, b, bias = placeholder("A", (rows, 33)), placeholder("B", (33, columns)), placeholder("b", (columns,))
    k = axis("k")
    t = compute((rows, columns), lambda i, j: sum(a[i, k] * b[k, j], over=k), name="T")
    return build(compute(t.shape, lambda i, j: maximum(t[i, j] + bias[j], 0.0), name="O"))


def requantised(rows: int, columns: int) -> Scop:
    a, b = placeholder("A", (rows, 33), "int32"), placeholder("B", (33, columns), "int32")
    k = axis("k")
    t = compute((rows, columns), lambda i, j: sum(a[i, k] * b[k, j], over=k), name="T")
    return build(compute(t.shape, lambda i, j: minimum(maximum(
        t[i, j].astype("float32") * 0.01, 0.0), 255.0).astype("uint8"), name="O"))


@pytest.mark.parametrize(("program", "first", "second"), [
    (relu, 16, 6), (relu, 17, 12), (relu, 32, 13), (relu, 16, 30), (residual, 16, 12), (residual, 23, 18),
    (channels_last, 18, 12), (clipped, 16, 6), (clipped, 32, 13), (clipped, 16, 30),
    (two_readers, 16, 13), (product, 7, 17), (product, 12, 32), (product, 13, 47),
    (requantised, 6, 16), (requantised, 11, 35)])
def test_a_chain_rides_in_the_register_tile_bit_by_bit(program: Callable[[int, int], Scop], first: int, second: int,
                                                       tmp_path: Path) -> None:
    scop = program(first, second)
    made = optimize(scop, AVX2)
    summed = next(s.name for s in scop.statements if s.depth == max(s.depth for s in scop.statements))
    assert summed in statements_in_blocks(made.source.loops), made.text
    schedule = original(analyse(scop))
    plain = emit_function(TiledSchedule(schedule=schedule, tree=schedule.tree), name="f", options=AS_WRITTEN)
    ours = emit_function(made.tiled, name="f", options=AVX2.emit_options())
    rng = np.random.default_rng(first * second)
    arguments = [_random(p.c_declaration, rng) for p in plain.signature.parameters]
    results = []
    for function in (load(plain.text, tmp_path, strict=False), load(ours.text, tmp_path, strict=False)):
        own = [a.copy() for a in arguments]
        function.f(*(ctypes.c_void_p(a.ctypes.data) for a in own))
        results.append([a.tobytes() for a in own])
    assert results[0] == results[1], ours.text


def _random(declaration: str, rng: np.random.Generator) -> np.ndarray:
    kind = next(k for k in NUMPY if k in declaration)
    extents = [int(n) for n in re.findall(r"\[(?:restrict )?(\d+)\]", declaration)]
    if kind == "float":
        return rng.standard_normal(extents).astype(np.float32)
    return rng.integers(-90, 90, extents).astype(NUMPY[kind])


@pytest.mark.parametrize("width", [6, 12, 13, 30])
def test_choices_that_become_bytes_are_made_in_lanes(width: int) -> None:
    made = optimize(clipped(32, width), AVX2)
    assert "polysched_at_most_f32(" in made.text, made.text
    assert "T_0" in made.text


def test_lanes_of_a_tile_are_neighbours_in_the_buffer_of_its_sums() -> None:
    made = optimize(relu(32, 12), AVX2)
    buffers = [t for n in walk_nodes(made.source.loops) if isinstance(n, Local) for t in n.temporaries
               if t.array == "T"]
    tiles = [n for n in walk_nodes(made.source.loops) if isinstance(n, RegisterTile)]
    assert [t.kept for t in buffers] == [(2, 0)], made.text
    assert not any(tile.within for tile in tiles), "nothing is transposed on its way"


def test_weights_are_packed_around_a_buffer_of_sums() -> None:
    made = optimize(relu(32, 30), AVX2)
    packed = [n for n in walk_nodes(made.source.loops) if isinstance(n, Packed)]
    assert [n.panel.name.startswith("W") for n in packed] == [True], made.text
    assert any(isinstance(n, Local) for n in walk_nodes(packed[0]))
