"""Innermost loops with independent iterations -> a loop over whole vectors and a scalar tail.

Rewrite:  for (j = a; j < b; j++) S(j)
      ->  for (j = a; j + W <= b; j += W) S(j ... j + W - 1) in vectors;  the last (b - a) % W iterations: S(j)

Iterations that may run twice (nothing that the loop writes is read in it) need no scalar tail:

          S(a ... a + W - 1);  for (j = next boundary of whole vectors in memory; j + W < b; j += W) S(j ... j + W - 1)
          S(b - W ... b - 1)

so that the vectors between the first and the last one lie on cache lines of their own.

Where every access stays in place or moves by one element per iteration, and where a function of math.h is
computed: else what would be gathered is left to the compiler's own judgement.  So is an innermost loop that runs on
threads itself, but for those functions, which compilers call lane by lane: there threads share the whole vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import Facts, map_inside
from polysched.emit_c.loop_ir.index import (
    Comparison,
    Linear,
    Remainder,
    ToBoundary,
    constant,
    extreme,
    of_atom,
    remainder,
    substitute,
    variable,
)
from polysched.emit_c.loop_ir.loops import Block, Edge, For, If, Let, Node, RegisterTile
from polysched.emit_c.loop_ir.named_bounds import named_bounds
from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.loop_ir.traversal import block, straight, variables_of, walk_nodes
from polysched.records import dataclass

NARROWEST_TAIL = LIMITS.narrowest_tail


@dataclass(frozen=True, kw_only=True)
class Vectorisation:
    """What the rewriting asks of others.

    Parameters
    ----------
    taken : names that must not be made up.
    width : iterations per vector step for a loop with this body and variable; 0 to leave the loop alone.
    calls : whether a body calls functions that have a vector form; single iterations then use the same form.
    beyond : how many elements a loop over vectors reads for its next one that its own iterations do not read; None
        where the vectors that it reads do not overlap from one iteration to the next.
    anchor : how far the element that the loop writes at its variable is from the next vector's boundary; None where
        iterations must not run twice.
    twice : whether the points of a tile may be computed twice, wherever in memory they lie.
    """

    taken: TakenNames
    width: Callable[[For, Facts], int]
    calls: Callable[[Node], bool]
    beyond: Callable[[RegisterTile], int | None]
    anchor: Callable[[For, int], ToBoundary | None]
    twice: Callable[[RegisterTile], bool]


def vectorise_loops(node: Node, facts: Facts, how: Vectorisation) -> Node:
    """Rewrite every suitable simd loop below a node."""
    if isinstance(node, For):
        free = node.mark.simd and node.is_canonical and node.step == 1
        if free and straight(node.body) is not None and (not node.mark.parallel or how.calls(node.body)):
            width = how.width(node, facts)
            return _strips(node, width, how) if width > 1 else node
    return map_inside(node, facts, lambda child, inside: vectorise_loops(child, inside, how))


def one_vector(loop: For, width: int) -> RegisterTile:
    """The tile of `width` iterations from the loop variable on."""
    edge = Edge(variable=loop.variable, base=variable(loop.variable), count=width, simd=True)
    return _tile(loop, edge)


def _tile(loop: For, edge: Edge) -> RegisterTile:
    plain = straight(loop.body)
    assert plain is not None, "only loops with a straight body become vectors"
    body, private = plain
    return RegisterTile(loops=(), edges=(edge,), body=body, private=private)


def _strips(loop: For, width: int, how: Vectorisation) -> Node:
    bounds, anchor = named_bounds(loop, how.taken), how.anchor(loop, width)
    if anchor is None:
        return bounds.around(_cut(loop, bounds.lower, bounds.upper, width, how))
    return bounds.around(_repeated(loop, bounds.lower, bounds.upper, width, anchor, how))


def _repeated(loop: For, lower: Linear, upper: Linear, width: int, anchor: ToBoundary, how: Vectorisation) -> Node:
    """The first and the last vector wherever they lie, the others from the first boundary on.

    An iteration that two vectors have gives the same both times.
    """
    first = _tile(loop, Edge(variable=loop.variable, base=lower, count=width, simd=True))
    last = _tile(loop, Edge(variable=loop.variable, base=upper - width, count=width, simd=True))
    aligned = lower + substitute(of_atom(anchor), {loop.variable: lower})
    between = _vectors(loop, aligned, upper - width, upper, width, how)
    length = upper - lower
    if length.is_constant and length.constant < width:
        return _cut(loop, lower, upper, width, how)
    if length.is_constant and length.constant <= 2 * width:
        return block((first, last) if length.constant > width else (first,))
    node = block((first, between, last))
    if length.is_constant:
        return node
    return If(Comparison(">=", length, constant(width)), node, _cut(loop, lower, upper, width, how, short=True))


def _vectors(loop: For, lower: Linear, upper: Linear, end: Linear, width: int, how: Vectorisation) -> Node:
    """One vector after the other; as one tile where what one reads of memory serves the next.

    Where vectors read ahead, the last one that would do so beyond `end`, where all iterations end, stands alone.
    """
    plain = replace(loop, lower=lower, upper=upper, step=width, mark=replace(loop.mark, simd=False))
    single = one_vector(loop, width)
    beyond = how.beyond(replace(single, loops=(replace(plain, body=Block(())),)))
    if beyond is None:
        return replace(plain, body=single)
    named = any(isinstance(atom, ToBoundary) for atom, _ in lower.terms)
    name = how.taken.fresh(f"{loop.variable}_vectors", frozenset().union(*map(variables_of, walk_nodes(loop))))
    start = variable(name) if named else lower
    stop = end - (width + beyond - 1) if beyond else upper
    node: Node = replace(single, loops=(replace(plain, lower=start, upper=stop, body=Block(())),))
    if beyond:   # C's remainder of a negative length is negative too, and leaves less than the start
        behind = stop + (width - 1) - remainder(stop + (width - 1) - start, width)
        node = block((node, replace(plain, lower=extreme("max", (start, behind)), body=single)))
    return Let(name, lower, node) if named else node


def _cut(loop: For, lower: Linear, upper: Linear, width: int, how: Vectorisation, *, short: bool = False) -> Node:
    """Whole vectors from the first iteration on, then halves, quarters, and single iterations.

    Parameters
    ----------
    short : there are fewer iterations than a whole vector has.
    """
    length = upper - lower
    if length.is_constant:
        return _cut_known(loop, lower, length.constant, width, how)
    parts: list[Node] = [] if short else [_vectors(loop, lower, upper - (width - 1), upper, width, how)]
    half = width // 2
    while half >= NARROWEST_TAIL:
        rest = of_atom(Remainder(length, 2 * half))
        edge = Edge(variable=loop.variable, base=upper - rest, count=half, simd=True)
        parts.append(If(Comparison(">=", rest, constant(half)), _tile(loop, edge)))
        half //= 2
    # A negative length leaves nothing: C's remainder is negative too.
    parts.append(_singles(loop, upper - of_atom(Remainder(length, 2 * half)), upper, how))
    return block(tuple(parts))


def _cut_known(loop: For, lower: Linear, length: int, width: int, how: Vectorisation) -> Node:
    """As `_cut`, of so many iterations: only the parts that there are.

    Where iterations may run twice and several parts are left, they are one vector that ends with the loop, or two of
    fewer lanes where all are less than a vector.
    """
    parts: list[Node] = []
    whole, rest = divmod(max(0, length), width)
    done = whole * width
    left = (rest // NARROWEST_TAIL).bit_count() + rest % NARROWEST_TAIL
    if left > (1 if whole else 2) and (whole or rest >= NARROWEST_TAIL) and how.twice(one_vector(loop, width)):
        start = lower + (length - width if whole else 0)
        last = _tile(loop, Edge(variable=loop.variable, base=start, count=width if whole else length, simd=True))
        ahead = _cut_known(loop, lower, done, width, how)
        return block((ahead, last)) if whole else last
    if whole == 1:
        parts.append(_tile(loop, Edge(variable=loop.variable, base=lower, count=width, simd=True)))
    elif whole:
        parts.append(_vectors(loop, lower, lower + done, lower + length, width, how))
    half = width // 2
    while half >= NARROWEST_TAIL:
        if length - done >= half:
            parts.append(_tile(loop, Edge(variable=loop.variable, base=lower + done, count=half, simd=True)))
            done += half
        half //= 2
    if done < length:
        parts.append(_singles(loop, lower + done, lower + length, how))
    return block(tuple(parts))


def _singles(loop: For, lower: Linear, upper: Linear, how: Vectorisation) -> For:
    """Iterations one by one."""
    single = Edge(variable=loop.variable, base=variable(loop.variable), count=1, simd=False)
    return replace(loop, lower=lower, upper=upper, mark=replace(loop.mark, simd=False, parallel=False),
                   body=_tile(loop, single) if how.calls(loop.body) else loop.body)
