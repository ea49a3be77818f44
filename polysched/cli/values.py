"""The values of options: from the text of the command line to numbers, orders and names."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

_OF_BAND = re.compile(r"(\d+):(.*)", re.DOTALL)
_TYPE = re.compile(r"([A-Za-z_]\w*)=([A-Za-z_]\w*(?: [A-Za-z_]\w*)*)")


class PerBand(argparse.Action):
    """Keeps a value for all bands, or of `BAND:VALUE` for one band in `bands`.

    Parameters
    ----------
    field : of `tiling.BandOptions`.
    convert : makes the value of the text; a mapping has values of several fields.
    several : the option may be repeated, and a tuple is kept.
    """

    def __init__(self, *arguments: Any, field: str, convert: Callable[[str], object], several: bool = False,
                 **others: Any) -> None:
        super().__init__(*arguments, **others)
        self.field, self.convert, self.several = field, convert, several

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option_string: str | None = None) -> None:
        """Put the value where it belongs."""
        of_band = _OF_BAND.fullmatch(values)
        try:
            value = self.convert(of_band.group(2) if of_band else values)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None
        if of_band is None:
            if value is NO_LOOP:
                raise argparse.ArgumentError(self, "no loop of any band is --no-parallel")
            setattr(namespace, self.dest, (*getattr(namespace, self.dest), value) if self.several else value)
            return
        number = int(of_band.group(1))
        given = dict(namespace.bands.get(number, {}))
        if value is NO_LOOP:
            given["parallel"] = False
        elif isinstance(value, Mapping):
            given |= value
        elif self.field == "packed" and value is None:
            given["packed"] = "auto"
        else:
            given[self.field] = (*given.get(self.field, ()), value) if self.several else value
        namespace.bands = {**namespace.bands, number: given}


NO_LOOP = object()
"""What `--parallel-loop BAND:none` stands for."""


def band_member(text: str) -> object:
    """The value of `--parallel-loop`: a loop of a band by its number, or `NO_LOOP`."""
    if text == "none":
        return NO_LOOP
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of a loop of a band, or none")
    return int(text)


def element_type(text: str) -> tuple[str, str]:
    """One value of `--element-type`, ARRAY=TYPE."""
    found = _TYPE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not ARRAY=TYPE with a type of C")
    return found.group(1), found.group(2)


TILES_OVER_TIME: Mapping[str, Mapping[str, object]] = {
    "auto": {"split": "auto", "diamond": False}, "split": {"split": True, "diamond": False},
    "wavefronts": {"split": False, "diamond": False}, "diamonds": {"split": False, "diamond": True}}
"""What the forms of tiles over time are in `tiling.BandOptions`."""


def tiles_over_time(text: str) -> Mapping[str, object]:
    """The value of `--tiles-over-time`."""
    if text not in TILES_OVER_TIME:
        raise argparse.ArgumentTypeError(f"{text!r} is no form of tiles over time: {', '.join(TILES_OVER_TIME)}")
    return TILES_OVER_TIME[text]


def tile_sizes(text: str) -> int | tuple[int, ...] | Literal["auto", "off"]:
    """The value of `--tile`."""
    if text == "auto":
        return "auto"
    return "off" if text == "off" else tile_edges(text)


def outer_tile_edges(text: str) -> int | tuple[int, ...]:
    """The value of `--outer-tile`."""
    return tile_edges(text, least=0)


def tile_edges(text: str, *, least: int = 1) -> int | tuple[int, ...]:
    """Tile edges as numbers: one for all loops, or one per loop."""
    try:
        edges = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number or a list like 32,32,64") from None
    if any(edge < least for edge in edges):
        raise argparse.ArgumentTypeError(f"{text!r}: a tile size is at least {least}")
    if not any(edges):
        raise argparse.ArgumentTypeError(f"{text!r}: no loop has a tile size")
    return edges if len(edges) > 1 else edges[0]


def loop_order(text: str) -> tuple[int, ...]:
    """The loops of a band in an order, by their numbers."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of loops like 2,0,1") from None


def packed_arrays(text: str) -> tuple[str, ...] | None:
    """The option `--pack` as a value: None for auto."""
    if text in ("auto", "none"):
        return None if text == "auto" else ()
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto, nor none, nor names of arrays with commas between")
    return names


def register_block(text: str) -> tuple[int, int]:
    """The value of `--register-block`."""
    rows, times, columns = text.partition("x")
    if not times or not all(part.isdecimal() and int(part) for part in (rows, columns)):
        raise argparse.ArgumentTypeError(f"{text!r} is not rows and columns, like 8x32")
    return int(rows), int(columns)


def block_edges(text: str) -> tuple[int, ...]:
    """The value of `--block`."""
    edges = text.split(",")
    if len(edges) > 3 or not all(edge.isdecimal() and int(edge) for edge in edges):
        raise argparse.ArgumentTypeError(f"{text!r} is not one to three whole numbers above 0, like 32,8")
    return tuple(map(int, edges))


def words(text: str) -> tuple[str, ...]:
    """Words with commas between them."""
    return tuple(own.strip() for own in text.split(",") if own.strip())


def positive(text: str) -> int:
    """A whole number that is at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def natural(text: str) -> int:
    """A whole number that is at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def share(text: str) -> float:
    """A number from 0 on and below 1: a relative difference."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on and below 1")
    return value


def positive_seconds(text: str) -> float:
    """A number above 0, of seconds or minutes."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value
