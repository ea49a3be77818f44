"""Marks: what a schedule tree says about single loops beyond their order.

A band member that a later room treats specially stands alone in a one-member band directly below a
mark node.  The mark's name is the text of a `LoopMark`, so it survives isl's printing and parsing, and
`emit_c` finds it again in the AST above the loops that the band became.  isl may turn one such band
into several loops in a row (separated tiles) or into none (one iteration); a loop belongs to the nearest
mark above it, and a mark whose band vanished has no loop between itself and the next mark.
"""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from math import prod
from urllib.parse import quote, unquote

from polysched.records import dataclass


class Role(Enum):
    """What a loop is for; emitted as a comment and used by the models."""

    LOOP = "loop"        # a loop of the schedule as the scheduler made it
    TILE = "tile"        # between tiles
    POINT = "point"      # inside a tile
    WAVEFRONT = "wavefront"  # sequential, enumerates wavefronts of tiles


class Gaps(Enum):
    """Which part of the gaps between the pieces of split tiles a loop fills, and how."""

    NONE = "none"
    STEPS = "steps"            # everything, one time step after the other
    TILES = "tiles"            # what is in pieces along another member, in tiles over time
    CROSSINGS = "crossings"    # what is in gaps along that member, too


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A contiguous copy of what a register block reads, filled around a loop that reads it in every iteration.

    Parameters
    ----------
    array : whose elements, or a value made of one of them, it holds.
    in_lanes : vectors read neighbours along the last dimension; else the lanes share one element.
    extents : elements per dimension. In lanes: blocks, the loops of the sum, the columns of a block; else rows of all
        blocks, and the loops of the sum.
    references : the accesses that it is read by in place of the array (`scop.scop.Access.reference`).
    """

    array: str
    in_lanes: bool
    extents: tuple[int, ...]
    references: tuple[str, ...]

    @property
    def elements(self) -> int:
        return prod(self.extents)

    def to_text(self) -> str:
        """For instance `B:lanes:3x256x32:S0_r2`."""
        return ":".join((quote(self.array), "lanes" if self.in_lanes else "rows", "x".join(map(str, self.extents)),
                         "+".join(map(quote, self.references))))

    @classmethod
    def from_text(cls, text: str) -> Copy:
        """The copy that `to_text` wrote."""
        array, how, extents, references = text.split(":")
        return cls(array=unquote(array), in_lanes=how == "lanes", extents=tuple(map(int, extents.split("x"))),
                   references=tuple(map(unquote, references.split("+"))))


@dataclass(frozen=True, kw_only=True)
class LoopMark:
    """Properties of the loop below a mark node.

    Parameters
    ----------
    role : what the loop is for.
    band : pre-order number of the band of the untiled schedule that the loop came from.
    member : position in that band.
    parallel : iterations are independent given the loops outside; gets `omp parallel for`.
    simd : iterations are independent and the loop is innermost; gets `omp simd`.
    unroll : factor by which the loop is unrolled; 1 means not.
    least_iterations : a parallel loop with fewer iterations is not worth a team of threads; gets an `if` clause
        when it is more than 1.
    least_work : a parallel loop whose nest has fewer iterations in all, its own times those of the loops inside, is not
        worth a team of threads; part of the `if` clause when it is more than 1.
    register : one edge of a register tile: the loop has at most `unroll` iterations, is innermost but for other
        loops of the same tile, and is unrolled into registers; the one that is also `simd` becomes vectors.
        Only for loops that may be blocked with any length: of a permutable band, or with independent iterations.
    pieces : the loop goes over the pieces of split tiles, so many, or over the halves of the gaps between them; its
        iterations stay with their threads. 0 for other loops.
    gaps : the loop is the first of those that fill the gaps between such pieces, step by step over time, in tiles, or
        where gaps of two dimensions cross.
    in_place : with `register`, the columns of a block whose operands in lanes are read where they lie, not from a copy.
    packs_few : with `register`, operands in lanes are copied however few blocks read the copy.
    strip : the loop goes over strips, of so many iterations, that all bands below it share; 0 for other loops.
    growing : later iterations of a parallel loop do more than earlier ones, so threads that take one after the other
        begin with the last.
    copies : what is copied into buffers around the loop, for the register blocks inside.
    """

    role: Role = Role.LOOP
    band: int = 0
    member: int = 0
    parallel: bool = False
    simd: bool = False
    unroll: int = 1
    least_iterations: int = 1
    least_work: int = 1
    register: bool = False
    pieces: int = 0
    gaps: Gaps = Gaps.NONE
    strip: int = 0
    in_place: bool = False
    packs_few: bool = False
    growing: bool = False
    copies: tuple[Copy, ...] = ()

    PREFIX = "polysched"

    def to_text(self) -> str:
        """The mark's name in a schedule tree, for instance `polysched role=tile band=0 member=1 parallel=1`."""
        words = [self.PREFIX]
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default and field.name != "role":
                continue
            words.append(f"{field.name}={_word(value)}")
        return " ".join(words)

    @classmethod
    def from_text(cls, text: str) -> LoopMark | None:
        """The mark that `to_text` wrote; None for the name of somebody else's mark."""
        words = text.split()
        if not words or words[0] != cls.PREFIX:
            return None
        values = dict(word.split("=", 1) for word in words[1:])
        return cls(
            role=Role(values.get("role", Role.LOOP.value)),
            band=int(values.get("band", 0)),
            member=int(values.get("member", 0)),
            parallel=bool(int(values.get("parallel", 0))),
            simd=bool(int(values.get("simd", 0))),
            unroll=int(values.get("unroll", 1)),
            least_iterations=int(values.get("least_iterations", 1)),
            least_work=int(values.get("least_work", 1)),
            register=bool(int(values.get("register", 0))),
            pieces=int(values.get("pieces", 0)),
            gaps=Gaps(values.get("gaps", Gaps.NONE.value)),
            in_place=bool(int(values.get("in_place", 0))),
            packs_few=bool(int(values.get("packs_few", 0))),
            strip=int(values.get("strip", 0)),
            growing=bool(int(values.get("growing", 0))),
            copies=tuple(map(Copy.from_text, values["copies"].split(","))) if "copies" in values else (),
        )


def _word(value: Enum | tuple[Copy, ...] | int) -> str:
    if isinstance(value, tuple):
        return ",".join(copy.to_text() for copy in value)
    return str(value.value if isinstance(value, Enum) else int(value))
