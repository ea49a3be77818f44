"""The short form of `PipelineOptions`: `tile=32` instead of `tiling=TilingOptions(sizes=32)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypedDict, TypeVar, overload

from polysched.errors import UsageError
from polysched.tiling import BandOptions

T = TypeVar("T")


class ShortOptions(TypedDict, total=False):
    """What may be given to `PipelineOptions` in place of a field of one of its parts; `SHORT` says of which."""

    fusion: str
    split_index_sets: bool
    concurrent_start: int
    tile: int | tuple[int, ...] | list[int] | Literal["auto", "off"]
    outer_tiles: tuple[int | tuple[int, ...], ...]
    tile_order: tuple[int, ...]
    point_order: tuple[int, ...]
    outer_orders: tuple[tuple[int, ...], ...]
    register_block: tuple[int, int] | None
    packed: tuple[str, ...] | None
    parallel: bool
    parallel_degrees: int
    parallel_loop: int | None
    split_tiles: bool | None
    bands: Mapping[int, BandOptions]
    vector_bits: int | None
    math: Literal["vector", "libm"]
    reassociate: bool
    wide_sums: bool
    simd: bool
    verify_passes: bool
    autodetect: bool
    pure: tuple[str, ...]
    include_dirs: tuple[str, ...]
    defines: tuple[str, ...]
    cc: str | None


SHORT: Mapping[str, tuple[str, str]] = {
    "fusion": ("scheduling", "fusion"), "split_index_sets": ("scheduling", "split_index_sets"),
    "concurrent_start": ("scheduling", "concurrent_start"),
    "tile": ("tiling", "sizes"), "outer_tiles": ("tiling", "outer_sizes"), "tile_order": ("tiling", "order"),
    "point_order": ("tiling", "point_order"), "outer_orders": ("tiling", "outer_orders"),
    "register_block": ("tiling", "register"), "packed": ("tiling", "packed"), "parallel": ("tiling", "parallel"),
    "parallel_degrees": ("tiling", "parallel_degrees"), "parallel_loop": ("tiling", "parallel_loop"),
    "split_tiles": ("tiling", "split"), "bands": ("tiling", "bands"),
    "vector_bits": ("emission", "vector_bits"), "math": ("emission", "math"),
    "reassociate": ("emission", "reassociate"),
    "wide_sums": ("emission", "wide_sums"), "simd": ("emission", "simd"),
    "verify_passes": ("emission", "verify_passes"),
    "autodetect": ("source", "autodetect"), "pure": ("source", "pure"), "include_dirs": ("source", "include_dirs"),
    "defines": ("source", "defines"), "cc": ("source", "cc")}
"""The part of `PipelineOptions`, and its field, by the short name."""


class Short(Generic[T]):
    """Reads a field of a part: `options.tile` is `options.tiling.sizes`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.part, self.field = SHORT[name]
        self.__doc__ = f"The same as `{self.part}.{self.field}`."

    @overload
    def __get__(self, options: None, owner: type) -> Short[T]: ...

    @overload
    def __get__(self, options: object, owner: type) -> T: ...

    def __get__(self, options: object | None, owner: type) -> Short[T] | T:
        """The value in the part, or the descriptor itself when the class is asked."""
        if options is None:
            return self
        value: T = getattr(getattr(options, self.part), self.field)
        return value


def by_part(short: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The fields to change, by part and name.

    Raises
    ------
    UsageError : `tile` is neither a word, nor a number, nor numbers.
    TypeError : there is no option of such a name.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, value in short.items():
        if name not in SHORT:
            raise TypeError(f"PipelineOptions has no option {name!r}")
        part, field = SHORT[name]
        if name == "tile":
            value = tile_edges(value)
        elif name == "register_block":
            value = value or True
        found.setdefault(part, {})[field] = value
    return found


def tile_edges(value: object) -> int | tuple[int, ...] | str:
    """The value of `tile` with a tuple for a list.

    Raises
    ------
    UsageError : it is neither a word, nor a number, nor numbers.
    """
    if isinstance(value, str):
        return value
    edges = tuple(value) if isinstance(value, list | tuple) else (value,)
    if all(isinstance(edge, int) and not isinstance(edge, bool) for edge in edges):
        return edges if isinstance(value, list | tuple) else edges[0]
    raise UsageError(f"tile sizes cannot be {value!r}", hint="a number, one per loop of a band, auto, or off")
