"""Values of options from their text: numbers, orders and names, and refusals that show what would be one."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from polysched.cli.values import (
    NO_LOOP,
    PerBand,
    band_member,
    block_edges,
    loop_order,
    natural,
    outer_tile_edges,
    packed_arrays,
    positive,
    positive_seconds,
    register_block,
    share,
    tile_edges,
    tile_sizes,
    tiles_over_time,
)


@pytest.mark.parametrize(("convert", "text", "value"), [
    (tile_sizes, "auto", "auto"), (tile_sizes, "off", "off"), (tile_sizes, "32", 32), (tile_sizes, "32,64", (32, 64)),
    (outer_tile_edges, "0,256", (0, 256)), (loop_order, "2,0,1", (2, 0, 1)), (packed_arrays, "auto", None),
    (packed_arrays, "none", ()), (packed_arrays, "A, B", ("A", "B")), (register_block, "8x32", (8, 32)),
    (block_edges, "256", (256,)), (block_edges, "32,4,2", (32, 4, 2)),
    (positive, "7", 7), (natural, "0", 0),
    (positive_seconds, "0.5", 0.5), (band_member, "3", 3), (band_member, "none", NO_LOOP),
    (share, "0", 0.0), (share, "1e-2", 0.01)])
def test_values(convert: Callable[[str], object], text: str, value: object) -> None:
    assert convert(text) == value


@pytest.mark.parametrize(("convert", "text"), [
    (tile_edges, "0"), (tile_edges, "-4"), (tile_edges, "32,x"), (tile_edges, ""), (outer_tile_edges, "0,0"),
    (loop_order, "a"), (loop_order, ""), (block_edges, "0"), (block_edges, "1,2,3,4"), (block_edges, "8x8"),
    (packed_arrays, "A,,B"), (packed_arrays, ""), (register_block, "8"),
    (register_block, "8x"), (register_block, "0x8"), (register_block, "8x-1"), (positive, "0"), (positive, "-1"),
    (positive, "1.5"), (positive, "\u00b2"), (positive_seconds, "0"), (positive_seconds, "inf"),
    (positive_seconds, "nan"), (positive_seconds, "x"), (band_member, "-1"), (band_member, "i"),
    (share, "1"), (share, "-1e-9"), (share, "nan"), (share, "x"), (natural, "-1"), (natural, "x")])
def test_what_is_no_value(convert: Callable[[str], object], text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        convert(text)
    assert repr(text) in str(refused.value)


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--tile", action=PerBand, field="sizes", convert=tile_sizes, default="auto")
    parser.add_argument("--outer", action=PerBand, field="outer_sizes", convert=tile_edges, several=True, default=())
    parser.add_argument("--parallel-loop", action=PerBand, field="parallel_loop", convert=band_member, default=None)
    parser.add_argument("--pack", action=PerBand, field="packed", convert=packed_arrays, default=None)
    parser.add_argument("--tiles-over-time", action=PerBand, field="split", convert=tiles_over_time, default=None)
    parser.set_defaults(bands={})
    return parser.parse_args(words)


def test_a_value_is_for_all_bands_or_for_one() -> None:
    made = parsed("--tile", "32", "--tile", "1:64,8", "--outer", "512", "--outer", "1:256", "--outer", "1:1024")
    assert made.tile == 32
    assert made.outer == (512,)
    assert made.bands == {1: {"sizes": (64, 8), "outer_sizes": (256, 1024)}}


def test_no_loop_on_threads_is_a_choice_of_one_band() -> None:
    assert parsed("--parallel-loop", "0:none").bands == {0: {"parallel": False}}
    with pytest.raises(argparse.ArgumentError, match="--no-parallel"):
        parsed("--parallel-loop", "none")


def test_automatic_copies_of_one_band() -> None:
    assert parsed("--pack", "2:auto").bands == {2: {"packed": "auto"}}


def test_a_wrong_value_of_one_band_is_refused_as_well() -> None:
    with pytest.raises(argparse.ArgumentError, match="'x' is not a number"):
        parsed("--tile", "1:x")


def test_a_form_of_tiles_over_time_is_two_choices() -> None:
    made = parsed("--tiles-over-time", "split", "--tiles-over-time", "1:diamonds", "--tile", "1:8")
    assert made.tiles_over_time == {"split": True, "diamond": False}
    assert made.bands == {1: {"split": False, "diamond": True, "sizes": 8}}
    with pytest.raises(argparse.ArgumentError, match="'boxes' is no form of tiles over time: auto, split"):
        parsed("--tiles-over-time", "2:boxes")
