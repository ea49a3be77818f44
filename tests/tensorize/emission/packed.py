"""Buffers of operands, filled by the C that packs them and, for comparison, element by element of the match."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from polysched.scop.body import Expr, IteratorRef, Load, walk
from polysched.scop.interpreter import extents_of
from polysched.scop.points import points_of
from polysched.target import Target, find_compiler, host
from polysched.tensorize import MatchOptions, match
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.emission.function import zeros_c
from polysched.tensorize.emission.nest import content_of, uses
from polysched.tensorize.emission.packing import pack_c, unpack_c
from polysched.tensorize.emission.plan import Plan, make_plan
from polysched.tensorize.equality.evaluation import evaluate
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.proofs.contents import parts_of, places_of
from tests.tensorize.described import programs_of, unit

PRELUDE = "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n" + zeros_c(Target())
MMA = unit("mma", "int32_t Y[4][2], const int16_t X[4][2][2], const int16_t W[2][2][2]",
           "for (int m = 0; m < 4; m++) for (int n = 0; n < 2; n++) for (int k = 0; k < 2; k++) "
           "for (int l = 0; l < 2; l++) Y[m][n] += X[m][k][l] * W[k][l][n];")
ROWS = unit("rows", "int32_t Y[4], const int16_t X[4]", "for (int i = 0; i < 4; i++) Y[i] += X[i];")
WINDOW = unit("window", "int32_t Y[4], const int16_t X[6], const int16_t W[3]",
              "for (int i = 0; i < 4; i++) for (int r = 0; r < 3; r++) Y[i] += X[i + r] * W[r];")
PAIRS = unit("pairs", "int32_t Y[4], const int16_t X[8]",
             "for (int i = 0; i < 4; i++) Y[i] += X[2*i] * X[2*i + 1];")
GEMM = "for (int i = 0; i < 5; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < 6; k++) "
TEXTS: dict[str, tuple[str, str, Intrinsic]] = {
    "product": ("int C[5][3], short A[5][6], short B[6][3]", GEMM + "C[i][j] += A[i][k] * B[k][j];", MMA),
    "columns": ("int C[3][5], short A[6][5], short B[3][6]", GEMM + "C[j][i] += A[k][i] * B[j][k];", MMA),
    "widened": ("int C[5][3], signed char A[5][6], short B[6][3]",
                GEMM + "C[i][j] += (A[i][k] - 7) * B[5 - k][j];", MMA),
    "triangle": ("int C[5][3], short A[5][6], short B[6][3]",
                 GEMM.replace("k < 6", "k <= i") + "C[i][j] += A[i][k] * B[k][j];", MMA),
    "windows": ("int C[3][4], short A[2][6], short B[3][2][3]", "for (int o = 0; o < 3; o++) "
                "for (int p = 0; p < 4; p++) for (int c = 0; c < 2; c++) for (int r = 0; r < 3; r++) "
                "C[o][p] += A[c][p + r] * B[o][c][r];", MMA),
    "numbers": ("int C[5][3], short A[5][6], short B[6][3]", GEMM + "C[i][j] += (short)(A[i][k] + k) * B[k][j];", MMA),
    "quotient": ("int C[9], short A[5]", "for (int i = 0; i < 9; i++) C[i] += A[i / 2];", ROWS),
    "reversed": ("int C[2][7], short A[3][8]",
                 "for (int i = 0; i < 2; i++) for (int j = 1; j < 7; j++) C[i][j] += A[i + 1][7 - j];", ROWS),
    "shared": ("int C[2][9], short A[2][11], short B[3]", "for (int i = 0; i < 2; i++) for (int p = 0; p < 9; p++) "
               "for (int r = 0; r < 3; r++) C[i][p] += A[i][p + r] * B[r];", WINDOW),
    "places": ("int C[6], short A[7], short B[6]", "for (int i = 0; i < 6; i++) C[i] += A[i + 1] * B[5 - i];", PAIRS)}


@dataclass(frozen=True, eq=False)
class Packed:
    """One match with its plan and the C of its copies.

    Parameters
    ----------
    name : of the program, and the match's number.
    """

    name: str
    plan: Plan
    library: list[ctypes.CDLL]

    @property
    def match(self) -> Match:
        return self.plan.match

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Random elements that every operand holds as they are."""
        chooser = np.random.default_rng(5)
        return {a.name: chooser.integers(-50, 50, extents_of(a, {})).astype(a.dtype.name)
                for a in self.match.fragment.scop.arrays}

    @property
    def operands(self) -> list[str]:
        """Those that are packed ahead of the nest."""
        return [v.name for v in self.match.intrinsic.inputs if self.plan.place(v.name).packed]

    def buffer(self, operand: str) -> np.ndarray:
        """The buffer, filled by the C."""
        held = content_of(self.match, operand)
        names = sorted({self.match.fragment.statement.access(x.reference).array for x in walk(held)
                        if isinstance(x, Load)})
        to = np.zeros(self.plan.place(operand).elements, self.match.intrinsic.parsed.operand(operand).dtype.name)
        getattr(self.library[0], f"pack_{self.name}_{operand}")(
            *(ctypes.c_void_p(x.ctypes.data) for x in (to, *(self.arrays[n] for n in names))))
        return to

    def stored(self, buffer: np.ndarray) -> np.ndarray:
        """The array of the result behind the C that writes a buffer back."""
        fragment = self.match.fragment
        after = self.arrays[fragment.statement.access(fragment.target).array].copy()
        getattr(self.library[0], f"unpack_{self.name}")(
            *(ctypes.c_void_p(x.ctypes.data) for x in (after, buffer)))
        return after

    def expected(self, operand: str) -> np.ndarray:
        """The buffer, element by element."""
        to = np.zeros(self.plan.place(operand).elements, self.match.intrinsic.parsed.operand(operand).dtype.name)
        for at, number in self.places(operand):
            to[at] = number
        return to

    def places(self, operand: str) -> Iterator[tuple[int, int]]:
        """Positions of the buffer, and what the program has there; padding is left out."""
        held = content_of(self.match, operand)
        for element, part in zip(places_of(self.match.intrinsic.contraction, operand), parts_of(held), strict=True):
            seen = self.seen(operand, part)
            for mine, coordinates, key in self.points(operand):
                if key in seen:
                    place = self.plan.place(operand)
                    at = sum(place.block_strides[n] * (t // u) + (place.unrolled_strides[n] * (t % u) if u > 1 else 0)
                             for n, t, u in mine)
                    flat = 0
                    shape = self.match.intrinsic.parsed.operand(operand).shape
                    for subscript, extent in zip(element.subscripts, shape, strict=True):
                        flat = flat * int(extent) + subscript.evaluate(coordinates)
                    yield at + flat, seen[key]

    def names(self, operand: str) -> list[str]:
        """The program's loops that choose an operand's place."""
        outer = [loop.source for loop in self.plan.loops if loop.group < 0 and uses(self.match, operand, loop)]
        return outer + [n for m, g in zip(self.match.loops, self.match.groups, strict=True)
                        if operand in g.indexes for n in m]

    def seen(self, operand: str, held: Expr) -> dict[tuple[int, ...], int]:
        """Per value of those loops what some iteration of the domain has there."""
        fragment, found = self.match.fragment, {}
        iterators, names = fragment.statement.iterators, self.names(operand)
        elements = {x.reference: {p[:len(iterators)]: p[len(iterators):] for p in points_of(
            fragment.relation(x.reference).wrap())} for x in walk(held) if isinstance(x, Load)}
        for values in points_of(fragment.domain):
            point = dict(zip(iterators, values, strict=True))
            given = {r: np.asarray(self.arrays[fragment.statement.access(r).array][places[values]])
                     for r, places in elements.items()}
            given |= {x.name: np.asarray(point[x.name], np.int32) for x in walk(held) if isinstance(x, IteratorRef)}
            found[tuple(point[n] for n in names)] = int(evaluate(held, given))
        return found

    def points(self, operand: str) -> Iterator[tuple[list[tuple[str, int, int]], dict[str, int], tuple[int, ...]]]:
        """Loops of the nest with iteration and unrolling, the instruction's iterators, and the program's."""
        match = self.match
        mine = [loop for loop in self.plan.loops if uses(match, operand, loop)]
        groups = [g for g, part in enumerate(match.groups) if operand in part.indexes]
        extents = {d.name: int(d.extent) for d in match.intrinsic.contraction.dimensions}
        for iterations in itertools.product(*(range(loop.blocks * loop.unroll) for loop in mine)):
            at = [(loop.name, t, loop.unroll) for loop, t in zip(mine, iterations, strict=True)]
            outer = {loop.source: t + match.fragment.loop(loop.source).lower if t < loop.count else None
                     for loop, t in zip(mine, iterations, strict=True) if loop.group < 0}
            tiles = {loop.group: t for loop, t in zip(mine, iterations, strict=True) if loop.group >= 0}
            for lanes in itertools.product(*(range(match.extent(g)) for g in groups)):
                coordinates: dict[str, int] = {}
                values: dict[str, int | None] = dict(outer)
                for g, lane in zip(groups, lanes, strict=True):
                    coordinates |= digits([(n, extents[n]) for n in match.groups[g].dimensions], lane)
                    fused = tiles.get(g, 0) * match.extent(g) + lane
                    own = digits([(n, match.fragment.loop(n).extent) for n in match.loops[g]], fused)
                    outside = fused >= match.fused_extent(g)
                    values |= {n: None if outside else x + match.fragment.loop(n).lower for n, x in own.items()}
                    if outside and not own:
                        values["padding"] = None
                if None not in values.values():
                    yield at, coordinates, tuple(int(values[n] or 0) for n in self.names(operand))


def digits(parts: list[tuple[str, int]], number: int) -> dict[str, int]:
    """A mixed-radix number taken apart, outermost digit first in the list."""
    found = {}
    for name, extent in reversed(parts):
        found[name], number = number % extent, number // extent
    return found


def planned(folder: Path, *, only: Collection[str] = TEXTS, most: int = 4) -> list[Packed]:
    """The first matches of every program with their plans; nothing is compiled."""
    made, library = [], list[ctypes.CDLL]()
    for name, scop in programs_of({n: (a, b) for n, (a, b, _) in TEXTS.items() if n in only}, folder).items():
        found = match(scop, TEXTS[name][2], MatchOptions())
        assert found.matches, [*map(str, found.explanations), *found.refused]
        made += [Packed(f"{name}_{number}", make_plan(one, emulated=False, target=host()), library)
                 for number, one in enumerate(found.matches[:most])]
    return made


def packed_matches(folder: Path) -> list[Packed]:
    """The same with all their copies, compiled at once."""
    made, lines = planned(folder), [PRELUDE]
    for packed in made:
        output = packed.match.intrinsic.output.name
        lines += [pack_c(packed.plan, o, f"pack_{packed.name}_{o}") for o in packed.operands]
        if packed.plan.place(output).packed:
            lines.append(unpack_c(packed.plan, output, f"unpack_{packed.name}", zero=False))
    made[0].library.append(compiled_c("\n".join(lines).replace("static void ", "void "), folder))
    return made


def compiled_c(text: str, folder: Path) -> ctypes.CDLL:
    """A library of some C."""
    (folder / "packed.c").write_text(text)
    done = find_compiler().run(["-O0", "-w", "-shared", "-fPIC", str(folder / "packed.c"), "-o", str(folder / "p.so")])
    assert not done.returncode, done.stderr
    return ctypes.CDLL(str(folder / "p.so"))
