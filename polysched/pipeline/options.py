"""What a user can choose about the way from source to source, as one value that is checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from polysched.emit_c import EmitOptions
from polysched.errors import UsageError
from polysched.scheduling import ALGORITHMS, SchedulerOptions, Strategy
from polysched.scop.scop import Scop
from polysched.target import Target, host
from polysched.tensorize.decision import BY_DEFAULT, DEFAULT, TensorizeOptions, may_gain
from polysched.tiling import TilingOptions
from polysched.tiling.best_schedule import NAME as BEST
from polysched.tiling.planning.register_shape import row_loss

VECTOR_BITS = (0, 128, 256, 512)
VERIFY = ("auto", "always", "never")


@dataclass(frozen=True, kw_only=True)
class PipelineOptions:
    """What a user can choose about the way from source to source.

    Parameters
    ----------
    scheduler : a name of `scheduling.ALGORITHMS`, or `best` for the one whose tiles the cost model finds cheapest.
    strategy : followed instead of a named scheduler.
    fusion : the scheduler's fusion policy.
    split_index_sets : cut periodic domains in the middle, where that makes time tileable.
    concurrent_start : in how many dimensions tiles of a pipeline shall start together (diamond tiling).
    tile : tile edges: `auto`, `off`, one number for every loop, or one per loop of a band (a list, as in JSON, too).
    outer_tiles : edges of tiles around those, outermost level first; none lets the model choose with `tile` as `auto`.
    tile_order, point_order, outer_orders : orders of the loops over tiles, inside one, and over those of
        `outer_tiles`, as `TilingOptions` has them.
    register_block : rows and columns, in elements, of the only block of accumulators that vector registers may hold;
        None lets the model choose.
    packed : arrays whose elements register blocks read from contiguous copies; none for no copies, None lets the model
        choose.
    parallel : give one loop per nest to OpenMP threads, skewing into wavefronts where that is needed.
    parallel_degrees : how many loops of a nest are made parallel.
    assumed : values that the models take for parameters, by their C spelling; the code is right for all others, too.
    split_tiles : tiles of stencils over time as trapezoids and the gaps between them, as `TilingOptions.split` has it.
    vector_bits : width of the vector registers that the emitted code uses; 0 leaves vectors to the C compiler,
        None takes this machine's.
    math : functions of math.h in vector loops: `vector` for own code within 4 units in the last place, `libm` for calls
        of the C library, whose loops then stay scalar.
    collapse : make one loop of two that walk whole rows which end within a vector, where neither the tiles nor a
        strategy nor an instruction is chosen by hand.
    expand : give temporaries that every iteration writes anew a copy per iteration, so that they order nothing; most
        copies become variables or small buffers again in the emitted loops.
    reassociate : sums and products of floats may be computed in another order, with equal constant factors taken out
        of sums, and so be rounded differently.
    guard : test at run time what the extraction assumes, with the original code as the other branch; None where loops
        were found by `autodetect`, for which nobody promised anything.
    safe : keep the original code of a region of a C file as an alternative, for where there is too little to do.
    autodetect : take the largest regions that can be represented, marked by pragmas or not.
    pure : functions that only compute with their arguments.
    include_dirs, defines : the preprocessor's `-I` and `-D`.
    cc : the compiler that preprocesses; None finds one.
    tensorize : which instructions may compute statements; None for none. By default those whose results are equal bit
        for bit, where the model finds them faster and no schedule or tiles are chosen by hand.
    simd : tell the compiler which innermost loops may run in lanes.
    verify_passes : check the invariants of the loop IR behind every pass; a broken one is an error.
    verify_instructions : run the code with an instruction beside the statement that it replaces before it is emitted:
        `auto` where no verdict on the same code was kept, `always`, or `never`.
    """

    scheduler: str = "pluto"
    strategy: Strategy | None = None
    fusion: str = "smart"
    split_index_sets: bool = False
    concurrent_start: int = 0
    tile: int | tuple[int, ...] | Literal["auto", "off"] = "auto"
    outer_tiles: tuple[int | tuple[int, ...], ...] = ()
    tile_order: tuple[int, ...] = ()
    point_order: tuple[int, ...] = ()
    outer_orders: tuple[tuple[int, ...], ...] = ()
    register_block: tuple[int, int] | None = None
    packed: tuple[str, ...] | None = None
    parallel: bool = True
    parallel_degrees: int = 1
    split_tiles: bool | None = None
    assumed: tuple[tuple[str, int], ...] = ()
    vector_bits: int | None = None
    math: Literal["vector", "libm"] = "vector"
    collapse: bool = True
    expand: bool = True
    reassociate: bool = False
    guard: bool | None = None
    safe: bool = False
    autodetect: bool = False
    pure: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    cc: str | None = None
    tensorize: TensorizeOptions | None = BY_DEFAULT
    simd: bool = True
    verify_passes: bool = False
    verify_instructions: Literal["auto", "always", "never"] = "auto"

    def __post_init__(self) -> None:
        if self.scheduler not in (*ALGORITHMS, BEST):
            raise UsageError(f"no scheduler {self.scheduler!r}", hint=f"one of {', '.join((*ALGORITHMS, BEST))}")
        if self.vector_bits is not None and self.vector_bits not in VECTOR_BITS:
            raise UsageError(f"vectors of {self.vector_bits} bits cannot be emitted",
                             hint=f"one of {', '.join(map(str, VECTOR_BITS))}")
        if self.math not in ("vector", "libm"):
            raise UsageError(f"no mathematical functions {self.math!r}", hint="vector or libm")
        if self.verify_instructions not in VERIFY:
            raise UsageError(f"instructions cannot be verified {self.verify_instructions!r}",
                             hint=f"one of {', '.join(VERIFY)}")
        object.__setattr__(self, "tile", _tile_edges(self.tile))
        self.tiling_options()
        self.scheduler_options()

    def tiling_options(self) -> TilingOptions:
        """The part that concerns tiling."""
        target = self.target()
        return TilingOptions(sizes=self.tile, outer_sizes=self.outer_tiles, order=self.tile_order,
                             point_order=self.point_order, outer_orders=self.outer_orders, parallel=self.parallel,
                             parallel_degrees=self.parallel_degrees, split=self.split_tiles,
                             register=bool(target.vector_bits) and (self.register_block or True),
                             packed=self.packed, target=target)

    @property
    def is_by_model(self) -> bool:
        """Whether loops, tiles and their code are the models' choice, none of it made by hand."""
        return (self.strategy is None and self.scheduler in ("pluto", BEST) and self.tile == "auto"
                and bool(self.target().vector_bits) and not self._by_hand())

    @property
    def is_guarded(self) -> bool:
        """Whether assumptions are tested at run time."""
        return self.autodetect if self.guard is None else self.guard

    def instructions_for(self, scop: Scop) -> TensorizeOptions | None:
        """Which instructions may compute statements of a program; None where it is not to be looked at."""
        if self.tensorize is None or self.tensorize.intrinsic != DEFAULT:
            return self.tensorize
        by_hand = self.strategy is not None or self.scheduler == "original" or self.tile != "auto" or self._by_hand()
        return None if by_hand or not self.target().vector_bits or not may_gain(scop) else self.tensorize

    def collapses_for(self) -> int:
        """Bytes of the vectors for which loops over short rows are collapsed; 0 where loops are chosen by hand."""
        by_hand = self.tile != "auto" or self._by_hand() or self.strategy or (
            self.tensorize is not None and self.tensorize.intrinsic != DEFAULT)
        return self.target().vector_bits // 8 if self.collapse and not by_hand else 0

    def row_loss(self, vectors: int) -> float:
        """How many times longer register blocks take along rows of so many vectors than along rows without an end."""
        return row_loss(vectors, self.target())

    def scheduler_options(self) -> SchedulerOptions:
        """The part that concerns scheduling."""
        return SchedulerOptions(fusion=self.fusion, split_index_sets=self.split_index_sets,
                                concurrent_start=self.concurrent_start)

    def emit_options(self) -> EmitOptions:
        """The part that concerns the emitted C."""
        target = self.target()
        return EmitOptions(openmp=self.parallel, simd=self.simd, vector_bits=target.vector_bits, math=self.math,
                           reassociate=self.reassociate, packing=True if self.packed is None else self.packed,
                           last_cache_bytes=target.caches[-1].size_bytes, verify_passes=self.verify_passes)

    def target(self) -> Target:
        """The machine that code is made for: this one, with the vectors that were asked for."""
        return host() if self.vector_bits is None else replace(host(), vector_bits=self.vector_bits)

    def chosen(self) -> dict[str, object]:
        """What shapes the result, for the record."""
        return {"scheduler": self.scheduler if self.strategy is None else "strategy", "fusion": self.fusion,
                "split_index_sets": self.split_index_sets, "concurrent_start": self.concurrent_start,
                "parallel_degrees": self.parallel_degrees,
                "tile": list(self.tile) if isinstance(self.tile, tuple) else self.tile,
                "parallel": self.parallel, **self._by_hand(),
                **({"assumed": dict(self.assumed)} if self.assumed else {}),
                "intrinsic": None if self.tensorize is None else self.tensorize.intrinsic,
                "collapse": self.collapse, "expand": self.expand, "reassociate": self.reassociate, "math": self.math,
                "vector_bits": self.target().vector_bits}

    def _by_hand(self) -> dict[str, object]:
        """What was given beside `tile`: nothing where the model chose."""
        given: dict[str, object] = {}
        if self.outer_tiles:
            given["outer_tiles"] = [list(level) if isinstance(level, tuple) else level for level in self.outer_tiles]
        for name in ("tile_order", "point_order"):
            if getattr(self, name):
                given[name] = list(getattr(self, name))
        if self.outer_orders:
            given["outer_orders"] = [list(order) for order in self.outer_orders]
        if self.register_block:
            given["register_block"] = list(self.register_block)
        if self.packed is not None:
            given["packed"] = list(self.packed)
        if self.split_tiles is not None:
            given["split_tiles"] = self.split_tiles
        return given


def _tile_edges(value: object) -> int | tuple[int, ...] | str:
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
