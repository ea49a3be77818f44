"""The CSource value: the text that replaces one region, and how it came about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Literal

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.loops import Node
from polysched.emit_c.packed_buffers import PackedBuffer, packed_buffers
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.provided import provided
from polysched.scop.scop import Scop
from polysched.scop.shown import Shown
from polysched.target.target import Target, host
from polysched.tiling.tiled_schedule import TiledSchedule
from polysched.tiling.tree.light_iterations import team_iterations


@dataclass(frozen=True, kw_only=True)
class EmitOptions:
    """What the emitted C may use.

    Parameters
    ----------
    openmp : print `omp parallel for` on loops that the schedule marks parallel.
    simd : print `omp simd` on innermost loops that the schedule marks so.
    vector_bits : width of a vector register; register tiles and simd loops become explicit vectors of GCC's. 0 for
        scalar code, in which the compiler may find vectors by itself. This machine's width unless given.
    math : `vector` computes functions of math.h on vectors by own code, to within 4 units in the last place; `libm`
        calls the C library, which keeps loops with calls out of vectors.
    reassociate : sums and products of floats may be rounded in another order, so that lanes can have partial results,
        and equal constant factors be taken out of sums where fewer operations are left.
    wide_sums : sums whose addends are of a shorter floating-point type than they themselves may be rounded in another
        order, as `reassociate` lets all: see `dependence.reductions.wide_sums` for what that changes.
    packing : copy operands of register tiles into contiguous panels where a loop reuses them; arrays for operands out
        of these only.
    comments : one comment per band.
    trace : print calls of macros of this name instead of pragmas, see `tracing`; for checks of the order.
    last_cache_bytes : of the last cache; arrays may be stored past it (`nontemporal_stores`). 0 where nothing is known.
    vector_registers : how many there are; None for as many as this machine has, or vectors of that width mean.
    target : what the machine's caches hold, what a core does per cycle, and what things cost.
    max_operations : isl operations that one attempt at generating the loops may take: some ten seconds.
    verify_passes : check the invariants of the loop IR (`loop_ir.verifier`) behind every pass.
    preemptible : the region can be stopped behind every tile and gone on with (`scalar_code.preemption`); on one
        thread and through the caches, so that `openmp` and `last_cache_bytes` count for nothing.

    Raises
    ------
    UsageError : `preemptible` with `trace`, whose loops run in an order of their own.
    """

    openmp: bool = True
    simd: bool = True
    vector_bits: int = field(default_factory=lambda: host().vector_bits)
    math: Literal["vector", "libm"] = "vector"
    reassociate: bool = False
    wide_sums: bool = False
    packing: bool | tuple[str, ...] = True
    comments: bool = True
    trace: str | None = None
    last_cache_bytes: int = 0
    vector_registers: int | None = None
    target: Target = field(default_factory=Target)
    max_operations: int = LIMITS.loop_operations
    verify_passes: bool = False
    preemptible: bool = False

    def __post_init__(self) -> None:
        if self.preemptible and self.trace is not None:
            raise UsageError("code that is traced cannot be stopped", witness=self.trace)

    @property
    def line_bytes(self) -> int:
        """Of the first cache."""
        return self.target.line_bytes

    @property
    def buffer_bytes(self) -> int:
        """Of the largest buffer on the stack of a thread: what a tile may fill of the first cache."""
        return self.target.usable_bytes(1)

    @property
    def rows_in_flight(self) -> int:
        """Rows side by side, one sum each: as many as keep all pipes busy, in half of the registers; two at least."""
        return max(2, min(self.target.ports.sums_in_flight, self.registers // 2))

    @property
    def team_iterations(self) -> int:
        """Of a usual loop, from which on a team of threads shares it."""
        return team_iterations(self.target)

    @property
    def registers(self) -> int:
        """The number of vector registers."""
        if self.vector_registers is not None:
            return self.vector_registers
        return host().with_vectors(self.vector_bits).vector_registers


def options_for(tiled: TiledSchedule) -> EmitOptions:
    """What is emitted unless somebody says otherwise: code for the machine that the tiles were made for."""
    if tiled.options is None:
        return EmitOptions()
    target = tiled.options.target
    return EmitOptions(vector_bits=target.vector_bits, last_cache_bytes=target.caches[-1].size_bytes,
                       vector_registers=target.vector_registers, target=target)


@dataclass(frozen=True, eq=False, kw_only=True)
class CSource(Shown):
    """Emitted C for one region.

    Parameters
    ----------
    tiled : the schedule that the loops follow; holds everything before it.
    text : the lines of the region without the source's indentation, each ended by a newline.
    loops : the loop nest that was printed.
    fallbacks : what had to be left out, one sentence each; empty in the normal case.
    allocated : temporary arrays that get memory from the heap, because their values have no place in the loops.
    teams : parallel constructs that the code has, those of functions in `preamble` included.
    tested_teams : band and member of loops on threads that stand in a branch of their own, for sizes where that pays.
    kept : the text is the region as it stood in the file.
    preamble : what the region needs at the top of its file, outside of functions; empty in the normal case.
    pays : the sizes for which it is not the original code that runs, in C; empty for all.
    threads_pay : the sizes, in C, for which threads pay, where nothing else is gained and the text starts them always;
        empty for other code.
    approximated : functions of math.h that the text computes by code of its own, to within 4 units in the last place.
    prologue : for code inside kept loops (`tensorize.software.surroundings`), lines to run ahead of one of them, and
        its number.
    """

    tiled: TiledSchedule
    text: str
    loops: Node
    fallbacks: tuple[str, ...] = ()
    allocated: tuple[str, ...] = ()
    teams: int = 0
    tested_teams: tuple[tuple[int, int], ...] = ()
    preamble: str = ""
    kept: bool = False
    pays: str = ""
    threads_pay: str = ""
    approximated: tuple[str, ...] = ()
    prologue: tuple[tuple[int, str], ...] = ()

    @property
    def scop(self) -> Scop:
        return self.tiled.schedule.scop

    @property
    def packed(self) -> tuple[PackedBuffer, ...]:
        """The buffers that operands of register tiles are copied into."""
        return packed_buffers(self.scop, self.loops)

    def headline(self) -> str:
        """For instance `of gemm: 42 lines of C`."""
        return f"of {self.scop.name}: {self.text.count(chr(10))} lines of C"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        html: str = provided("emit_c", "CSource._repr_html_")(self)
        return html


def approximated_of(parts: Iterable[CSource], otherwise: CSource | None = None, *, stays: bool = True
                    ) -> tuple[str, ...]:
    """What is `approximated` in a region of several parts, whose other version may stay beside them."""
    both = [*parts, otherwise] if stays else parts
    return tuple(dict.fromkeys(name for part in both if part is not None for name in part.approximated))


def teams_of(parts: Iterable[CSource], otherwise: CSource, *, stays: bool) -> int:
    """Parallel constructs of a region of several parts, whose other version may stay beside them."""
    return sum(part.teams for part in parts) + (otherwise.teams if stays else 0)
