"""Copies as C: the loops of a move, rows that are copied at once, transpositions block by block."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from polysched.graph.operators.moves import Move, Place
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.model.c_sizes import c_product, c_size
from polysched.model.limits import LIMITS

COMBINED = {"add": "{} + {}", "mul": "{} * {}", "max": "{1} > {0} || {1} != {1} ? {1} : {0}",
            "min": "{1} < {0} || {1} != {1} ? {1} : {0}"}
"""What is there and what comes in C; NaN stays, and wins where it comes."""


def copy_loops(move: Move, types: Sequence[TensorType], result: TensorType, inner: Subscripts, *,
               threads: bool = False) -> list[str]:
    """The loops of a move; those that run once are left out, and rows of known length are copied at once.

    Loops over elements that follow each other in both operands are one.

    Parameters
    ----------
    threads : a team shares the outer loops where that pays.
    """
    ends = ((move.target, result), (move.source, types[move.operand]))
    counts = _merged(move, ends, inner)
    row = _row(move, ends, counts, inner)
    size = result.dtype.bytes if threads and _writes_apart(move) else 0
    if row is None and (turned := _turned(move, ends, counts, inner)):
        return [*_team(counts, len(counts) - 1, size), *turned]
    if row is not None:
        return _rows(ends, counts, row, inner, size)
    lines = _team(counts, max(len(counts) - 1, min(len(counts), 1)), size)
    lines += _heads(counts, counts)
    target, source = (inner.offset(places, shape, counts.keys()) for places, shape in ends)
    value, pad = f"from[{source}]", "  " * len(counts)
    if move.combine:
        value = COMBINED[move.combine].format(f"to[{target}]", value)
    lines += [f"{pad}{line}" for line in inner.lines]
    return [*lines, f"{pad}to[{target}] = {value};", *_ends(len(counts))]


def _rows(ends: Ends, counts: Mapping[int, str], row: int, inner: Subscripts, size: int) -> list[str]:
    """Rows that are copied at once, or, where they are few and long, in parts.

    Parameters
    ----------
    size : bytes of an element; 0 where no team may share the copy.
    """
    outer = [number for number in counts if number != row]
    target, source = (inner.offset(places, shape, outer) for places, shape in ends)
    cut = _is_cut(counts, row, size)
    copied = _in_parts(target, source, counts[row], LIMITS.copied_part // size) if cut else [
        f"memcpy(to + {target}, from + {source}, {counts[row]} * sizeof *to);"]
    return [*_team(counts, len(outer) + cut, size), *_heads(counts, outer),
            *("  " * len(outer) + line for line in copied), *_ends(len(outer))]


def _heads(counts: Mapping[int, str], loops: Iterable[int]) -> list[str]:
    """The heads of loops in each other."""
    return [f"{'  ' * depth}for (long l{n} = 0; l{n} < {counts[n]}; l{n}++) {{" for depth, n in enumerate(loops)]


def _ends(depth: int) -> list[str]:
    """The ends of so many loops."""
    return ["  " * d + "}" for d in reversed(range(depth))]


def _team(counts: Mapping[int, str], outer: int, size: int) -> list[str]:
    """The pragma by which a team shares some outer loops of a copy; none where they copy too little.

    Parameters
    ----------
    outer : how many loops.
    size : bytes of an element; 0 where no team may share them.
    """
    if not outer or not size:
        return []
    known = size * math.prod(int(end) for end in counts.values() if end.isdigit())
    factors = [f"({end})" for end in counts.values() if not end.isdigit()]
    if not factors and known < LIMITS.least_shared_copy:
        return []
    clause = f" collapse({outer})" if outer > 1 else ""
    if factors:
        clause += f" if({' * '.join([str(known), *factors])} >= {LIMITS.least_shared_copy})"
    return [f"#pragma omp parallel for{clause}"]


def _is_cut(counts: Mapping[int, str], row: int, size: int) -> bool:
    """Whether a team has too few rows to share, and long ones."""
    others = [end for number, end in counts.items() if number != row]
    if not size or not all(end.isdigit() for end in others):
        return False
    rows, length = math.prod(map(int, others)), size * int(counts[row])
    return rows < LIMITS.fewest_shared_rows and length >= 2 * LIMITS.copied_part and (
        rows * length >= LIMITS.least_shared_copy)


def _in_parts(target: str, source: str, count: str, part: int) -> list[str]:
    """The copy of a row in parts, which may run in any order."""
    return [f"for (long at = 0; at < {count}; at += {part})",
            f"  memcpy(to + {target} + at, from + {source} + at, "
            f"({count} - at < {part} ? {count} - at : {part}) * sizeof *to);"]


def _writes_apart(move: Move) -> bool:
    """Whether iterations write different elements, whatever the extents: each loop moves one dimension of the target,
    and each dimension is moved by one loop at most."""
    if move.combine or _is_indexed(move):
        return False
    moving = [[loop for loop, factor in place.terms if factor != 0 and move.loops[loop] != 1] for place in move.target]
    running = [number for number, extent in enumerate(move.loops) if extent != 1]
    return all(len(loops) <= 1 for loops in moving) and sorted(loop for loops in moving for loop in loops) == running


Ends: TypeAlias = "tuple[tuple[tuple[Place, ...], TensorType], ...]"
"""Where a move writes, and where it reads."""


def _is_indexed(move: Move) -> bool:
    """Whether a place is read from an operand."""
    return any(place.index is not None for place in (*move.source, *move.target))


def _merged(move: Move, ends: Ends, inner: Subscripts) -> dict[int, str]:
    """How often each loop runs, as C, without those that run once; neighbours in both operands are the inner loop."""
    loops = [number for number, extent in enumerate(move.loops) if extent != 1]
    counts = {number: c_size(move.loops[number], inner.sizes) for number in loops}
    if _is_indexed(move):
        return counts
    factors = [inner.factors(places, shape) for places, shape in ends]
    kept: dict[int, str] = {}
    for number in reversed(loops):
        last = next(reversed(kept), None)
        if last is not None and _follow(counts[number], kept[last], [(f.get(number, "0"), f.get(last, "0"))
                                                                     for f in factors]):
            kept[last] = str(int(kept[last]) * int(counts[number]))
        else:
            kept[number] = counts[number]
    return dict(reversed(kept.items()))


def _follow(outer: str, inner: str, factors: Sequence[tuple[str, str]]) -> bool:
    """Whether an iteration of an outer loop goes on where the inner one ends, wherever they move.

    Parameters
    ----------
    outer, inner : how often they run.
    factors : per operand, by how many elements the outer and the inner loop move.
    """
    if not all(text.lstrip("-").isdigit() for text in (outer, inner, *(f for pair in factors for f in pair))):
        return False
    return all(int(far) == int(near) * int(inner) for far, near in factors)


def _row(move: Move, ends: Ends, counts: Mapping[int, str], inner: Subscripts) -> int | None:
    """The innermost loop, where it copies neighbours to neighbours a number of times that is known; else None."""
    last = max(counts, default=None)
    if last is None or move.combine or _is_indexed(move) or not counts[last].isdigit():
        return None
    return last if all(inner.factors(places, shape).get(last) == "1" for places, shape in ends) else None


def _sides(counts: Mapping[int, str], target: Mapping[int, str], source: Mapping[int, str]) -> tuple[int, int] | None:
    """The loops over neighbours in the target and in the source of a transposition of known, long rows."""
    last = max(counts, default=-1)
    across = next((n for n in counts if source.get(n) == "1"), last)
    if across == last or target.get(last) != "1" or last not in source:
        return None
    known = all(counts[n].isdigit() and int(counts[n]) >= LIMITS.copied_block for n in (last, across))
    return (last, across) if known else None


def _turned(move: Move, ends: Ends, counts: Mapping[int, str], inner: Subscripts) -> list[str]:
    """A transposition: whole blocks through an array of their size, what is left element by element.

    Empty where the move is none, or where a number of rows or columns is not known.
    """
    target, source = (inner.factors(places, shape) for places, shape in ends)
    found = None if move.combine or _is_indexed(move) else _sides(counts, target, source)
    if found is None:
        return []
    last, across = found
    side = LIMITS.copied_block
    lines = [f"for (long l{n} = 0; l{n} < {end}; l{n}++)" for n, end in counts.items() if n not in (last, across)]
    to, at = (inner.offset(places, shape, counts.keys() - {last, across}) for places, shape in ends)
    r, c = f"l{across}", f"l{last}"
    place = f"to[{to} + {_times(f'({r} + r)', target.get(across, '0'))} + {c} + c]"
    element = f"from[{at} + {_times(f'({c} + c)', source[last])} + {r} + r]"
    copied = f"memcpy(&{place.replace(' + c]', ']')}, block[r], sizeof block[r]);"
    return [*lines, f"for (long {r} = 0; {r} < {counts[across]}; {r} += {side})",
            f"for (long {c} = 0; {c} < {counts[last]}; {c} += {side})",
            f"if ({r} + {side} <= {counts[across]} && {c} + {side} <= {counts[last]}) {{",
            f"  __typeof__(*to) read[{side}][{side}] __attribute__((aligned(64)));",
            f"  __typeof__(*to) block[{side}][{side}] __attribute__((aligned(64)));",
            f"  for (long c = 0; c < {side}; c++)",
            f"    memcpy(read[c], &{element.replace(' + r]', ']')}, sizeof read[c]);",
            f"  for (long c = 0; c < {side}; c++)", f"    for (long r = 0; r < {side}; r++)",
            "      block[r][c] = read[c][r];",
            f"  for (long r = 0; r < {side}; r++)", f"    {copied}",
            "} else {",
            f"  for (long r = 0; r < {side} && {r} + r < {counts[across]}; r++)",
            f"    for (long c = 0; c < {side} && {c} + c < {counts[last]}; c++)",
            f"      {place} = {element};", "}"]


class Subscripts:
    """Places of elements in row-major memory; indices that are read are checked before they are used.

    Parameters
    ----------
    status : what the function returns where an index is outside its dimension.
    sizes : the variables of the sizes that are open.
    """

    def __init__(self, loops: Sequence[Size], types: Sequence[TensorType], status: int,
                 sizes: Mapping[str, str]) -> None:
        self.loops, self.types, self.status, self.sizes = loops, types, status, sizes
        self.lines: list[str] = []

    def offset(self, places: Sequence[Place], shape: TensorType, running: Iterable[int] | None = None) -> str:
        """The place of an element as C: the multiples of every loop, the indices that are read, what is added.

        Parameters
        ----------
        running : the loops that move it; all unless given, else the others are at their first iteration.
        """
        read: list[str] = []
        start = _Sum()
        for dimension, place in enumerate(places):
            stride = shape.shape[dimension + 1:]
            if place.index is not None:
                read.append(_times(self.checked(place.index, shape.shape[dimension]), c_product(stride, self.sizes)))
            else:
                start.add(c_product((place.start, *stride), self.sizes))
        moving = self.factors(places, shape)
        terms = [*(_times(f"l{loop}", factor) for loop, factor in sorted(moving.items())
                   if running is None or loop in running), *read]
        return " + ".join([*terms, *([str(start)] if str(start) != "0" or not terms else [])])

    def factors(self, places: Sequence[Place], shape: TensorType) -> dict[int, str]:
        """By how many elements each loop moves the place, as C; without those that do not."""
        sums: dict[int, _Sum] = {}
        for dimension, place in enumerate(places):
            for loop, factor in () if place.index is not None else place.terms:
                if self.loops[loop] != 1:
                    sums.setdefault(loop, _Sum()).add(c_product((factor, *shape.shape[dimension + 1:]), self.sizes))
        return {loop: str(factor) for loop, factor in sums.items() if str(factor) != "0"}

    def checked(self, index: tuple[int, tuple[Place, ...]], extent: Size) -> str:
        """The name of a subscript that is read and is inside the dimension."""
        operand, places = index
        end = c_size(extent, self.sizes)
        element = f"index{operand}[{self.offset(places, self.types[operand])}]"
        name = f"i{len(self.lines)}"
        self.lines += [f"long {name} = {element};", f"if ({name} < 0) {name} += {end};",
                       f"if ({name} < 0 || {name} >= {end}) return {self.status};"]
        return name


class _Sum:
    """A sum of numbers and of C expressions."""

    def __init__(self) -> None:
        self.number = 0
        self.texts: list[str] = []

    def add(self, text: str) -> None:
        """Add one term."""
        if text.lstrip("-").isdigit():
            self.number += int(text)
        else:
            self.texts.append(text)

    def __str__(self) -> str:
        return " + ".join([*self.texts, *([str(self.number)] if self.number or not self.texts else [])])


def _times(name: str, factor: str) -> str:
    if factor == "1":
        return name
    return f"{factor} * {name}" if " + " not in factor else f"({factor}) * {name}"
