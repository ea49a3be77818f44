"""How many iterations a loop nest has, as a C expression: the product of the lengths along its deepest path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import arms_of
from polysched.emit_c.loop_ir.index import (
    Extreme,
    Linear,
    Remainder,
    ToBoundary,
    Variable,
    shifted,
    substitute,
    variables,
)
from polysched.emit_c.loop_ir.loops import For, Let, Node, RegisterTile, ThreadReduction
from polysched.emit_c.loop_ir.traversal import as_loops, child_nodes, instances, is_innermost, walk_nodes
from polysched.emit_c.scalar_code.c_text import CText, Level, binary, cast
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.scheduling.marks import Role

UNKNOWN = LIMITS.unknown_iterations


def lengths(loop: For) -> tuple[Linear, ...]:
    """The length of each loop along the deepest path, over variables from outside; loops in a triangle count in full.

    A length that has no such form is left out, and so is that of a rest behind whole vectors: the product is at most a
    little too small or too large.  It is for deciding whether an effort pays, and nothing else.
    """
    return max((_lengths(path) for path in _paths(loop, {})), key=_size)


def _lengths(path: Sequence[For]) -> tuple[Linear, ...]:
    whole = {number: length for number, part in enumerate(path)
             if (length := _of_all_tiles(part, path[:number])) is not None}
    tiled = {(path[number].mark.band, path[number].mark.member) for number in whole}
    lengths = (whole[number] if number in whole else _length(part, path[:number]) for number, part in enumerate(path)
               if part.mark.role is not Role.TILE or (part.mark.band, part.mark.member) not in tiled)
    return tuple(length for length in lengths if length is not None)


def _of_all_tiles(loop: For, outer: Sequence[For]) -> Linear | None:
    """The length that a loop over the points of a tile has in all tiles together; None where no bound says it.

    The number of tiles times their size is more where an extent is a part of a tile.
    """
    own = {part.variable for part in outer if part.mark.role is Role.TILE
           and (part.mark.band, part.mark.member) == (loop.mark.band, loop.mark.member)}
    if loop.mark.role is not Role.POINT or not own:
        return None
    moved = {part.variable for part in outer}
    still = [(low, high) for low, high in _bounds(loop) if not (variables(low) | variables(high)) & moved]
    if still:
        return still[0][1] - still[0][0]
    ends = [high for high in arms_of(loop.upper, "min") if not variables(high) & own]
    return _length(replace(loop, upper=ends[0]), outer) if ends else None


def _size(lengths: Sequence[Linear]) -> tuple[int, int]:
    """For comparing paths: how many loops, of which those of unknown length count most."""
    return len(lengths), prod(length.constant if length.is_constant else UNKNOWN for length in lengths)


def constant_work(loop: For) -> int | None:
    """The number of iterations of the nest where it is known; else None."""
    found = lengths(loop)
    return prod(max(length.constant, 0) for length in found) if all(length.is_constant for length in found) else None


def loops_in_lanes(node: Node) -> int:
    """How many innermost loops and tiles below have independent iterations for lanes or threads."""
    return sum(any(edge.simd for edge in n.edges) if isinstance(n, RegisterTile) else isinstance(n, For)
               and is_innermost(n) and (n.mark.simd or n.mark.parallel) for n in walk_nodes(node))


def runs_as_much(node: Node, other: Node) -> bool:
    """Whether every statement in the deepest loops is in lanes, blocks, tiles and on threads where it is in others."""
    return all(gained <= _gains_around(node).get(name, frozenset()) for name, gained in _gains_around(other).items())


def _gains_around(node: Node) -> dict[str, frozenset[str]]:
    """By statement of the greatest depth, what its loops have: threads, lanes, blocks of registers, tiles."""
    found: dict[str, frozenset[str]] = {}
    deepest = max((len(i.iterators) for i in instances(node)), default=0)
    for inner in walk_nodes(node):
        gains = _gains_of(inner)
        for instance in instances(inner) if gains else ():
            if len(instance.iterators) == deepest:
                found[instance.statement] = found.get(instance.statement, frozenset()) | gains
    return found


def _gains_of(node: Node) -> frozenset[str]:
    kinds: dict[str, bool] = {}
    if isinstance(node, RegisterTile):
        kinds = {"lanes": any(edge.simd for edge in node.edges) or bool(node.partials), "block": len(node.edges) > 1}
    elif isinstance(node, ThreadReduction):
        kinds = {"threads": True}
    elif isinstance(node, For):
        kinds = {"threads": node.mark.parallel, "lanes": node.mark.simd, "tiles": node.mark.role is Role.TILE}
    return frozenset(kind for kind, holds in kinds.items() if holds)


def is_worth(loop: For, least: int, index: IndexPrinter) -> bool | CText:
    """Whether a nest has that many iterations, in C where it is not known; no quotient is divided for it.

        (n / s + 1) * m >= 16384   ->   ((double)(n + s)) * m >= 16384 * s
    """
    known, texts, divisors = 1, [], []
    for length in lengths(loop):
        quotient = index.quotient_in(length)
        if length.is_constant:
            known *= max(length.constant, 0)
        elif quotient is None:
            texts.append(index.form(length).text)
        else:
            dividend, divisor = quotient
            texts.append(CText(f"{dividend} + {length.constant} * {divisor}" if length.constant else dividend,
                               Level.ADDITIVE))
            divisors.append(CText(divisor, Level.UNARY))
    if not texts:
        return known >= least
    return binary(">=", _product(texts, known), _product(divisors, least) if divisors else CText(str(least)))


def work(loop: For, index: IndexPrinter) -> int | CText:
    """The number of iterations of the nest, as a number where it is one; else as C of type `double`."""
    known, texts = 1, []
    for length in lengths(loop):
        if length.is_constant:
            known *= max(length.constant, 0)
        else:
            texts.append(index.form(length).text)
    return _product(texts, known) if texts else known


def _product(texts: Sequence[CText], known: int) -> CText:
    """A product, computed as `double`."""
    total = cast("double", texts[0])
    for text in texts[1:]:
        total = binary("*", total, text)
    return total if known == 1 else binary("*", total, CText(str(known)))


def _paths(node: Node, known: Mapping[str, Linear]) -> Iterator[tuple[For, ...]]:
    """The loops from a node to each leaf; their bounds without the variables that have one value only."""
    if isinstance(node, Let):
        known = {**known, node.variable: substitute(node.value, known)}
    if isinstance(node, RegisterTile):
        node = as_loops(node)
    loops = (node,) if isinstance(node, For) else ()
    here = tuple(replace(loop, lower=whatever_the_alignment(substitute(loop.lower, known)),
                         upper=whatever_the_alignment(substitute(loop.upper, known))) for loop in loops)
    below = [path for child in child_nodes(node) for path in _paths(child, known)]
    if not below:
        yield here
    for path in below:
        yield (*here, *path)


def whatever_the_alignment(bound: Linear) -> Linear:
    """A bound without the few elements that a vector loop begins later to be aligned."""
    return shifted(replace(bound, terms=tuple(t for t in bound.terms if not isinstance(t[0], ToBoundary))), 0)


def _length(loop: For, outer: Sequence[For]) -> Linear | None:
    """`upper - lower` over what is known around the nest."""
    moved = {part.variable: part for part in outer}
    for low, high in _bounds(loop):
        length: Linear | None = high - low
        for part in reversed(outer):
            if length is not None and part.variable in variables(length):
                length = _at_widest(length, part)
        if length is not None and not variables(length) & set(moved):
            return length
    return None


def _bounds(loop: For) -> Iterator[tuple[Linear, Linear]]:
    """The lower and upper bounds of a loop, but for those of a rest: its length may be 0 where there is much to do."""
    return (pair for pair in product(arms_of(loop.lower, "max"), arms_of(loop.upper, "min")) if not _is_rest(*pair))


def _is_rest(low: Linear, high: Linear) -> bool:
    """Whether iterations are those that whole vectors leave, or that fill up the last one.

        for (j = n - n % 4; j < n; j++)        for (j = min(n, 8 * t + 8); j < 8 * t + 8; j++)
    """
    match high - low:
        case Linear(terms=((Remainder(), factor),), constant=more) if factor > 0 and more <= 0:
            return True
    return any(isinstance(atom, Extreme) and atom.kind == "min" and factor == 1 and high in atom.arms
               for atom, factor in low.terms)


def _at_widest(length: Linear, loop: For) -> Linear | None:
    """The length where the loop's variable makes it longest."""
    factor = length.coefficient(Variable(loop.variable))
    ends = arms_of(loop.upper, "min") if factor > 0 else arms_of(loop.lower, "max")
    if factor == 0:
        return None
    return substitute(length, {loop.variable: ends[0] - 1 if factor > 0 else ends[0]})
