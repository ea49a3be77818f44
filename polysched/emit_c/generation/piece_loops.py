"""Loops over the pieces of split tiles whose width only the running program knows.

Rewrite:  mark of pieces { S from begin to end }
      ->  for (p = 0; p < count; p++) { begin = p * width; end = begin + width; S }

          mark of halves { S from begin to end at a border }
      ->  for (h = 1; h < 2 * count - 1; h++) {
            begin = h * width; end = begin + width; border = (h + 1) / 2 * width; S }

isl generates S with the ends as parameters, since no quasi-affine expression has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import islpy as isl

from polysched.emit_c.loop_ir.index import (
    Condition,
    Linear,
    constant,
    extreme,
    product,
    quotient,
    variable,
    variables,
)
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Node
from polysched.emit_c.loop_ir.traversal import map_children, walk_nodes
from polysched.scheduling.marks import LoopMark
from polysched.tiling.shapes.split_tiles import BEGIN, BORDER, END, HALF, PIECE, Pieces

_ENDS = frozenset({BEGIN, END, BORDER})
_WIDTH = "polysched_width"


def ends_of_pieces(context: isl.Set, pieces: Iterable[Pieces]) -> isl.Set:
    """The context with what is known of the ends of pieces."""
    least = min(found.least for found in pieces)
    known = f"[{BEGIN}, {END}] -> {{ : 0 <= {BEGIN} and {BEGIN} + {least} <= {END} }}"
    return context.intersect_params(isl.Set.read_from_str(context.get_ctx(), known))


def loop_over_pieces(kind: str, mark: LoopMark, body: Node) -> Node:
    """The loop in the place of a mark."""
    width = variable(f"{_WIDTH}{mark.band}")
    if kind == HALF:
        body = Let(BORDER, product(quotient(variable(HALF) + 1, 2, truncates=True), width), body, name="border")
    body = Let(BEGIN, product(variable(kind), width), Let(END, variable(BEGIN) + width, body, name="end"), name="begin")
    first, end = (0, mark.pieces) if kind == PIECE else (1, 2 * mark.pieces - 1)
    return For(kind, constant(first), constant(end), 1, body, mark)


def is_over_pieces(node: Node) -> bool:
    """Whether it is such a loop, until it has got another name."""
    return isinstance(node, For) and node.variable in (PIECE, HALF)


def where(condition: Condition, then: Node, otherwise: Node | None) -> Node:
    """`if (condition) then else otherwise`; what has to hold of the ends of a piece is asked where they are known.

    To isl they are parameters, whose conditions stand as far outside as can be.
    """
    inside = otherwise is None or not any(map(is_over_pieces, walk_nodes(otherwise)))
    inside = inside and not any(map(is_over_pieces, walk_nodes(then)))
    if inside or variables(condition).isdisjoint(_ENDS):
        return If(condition, then, otherwise)
    then = _in_each_piece(then, lambda body: If(condition, body))
    if otherwise is None:
        return then
    return Block((then, _in_each_piece(otherwise, lambda body: If(condition, Block(()), body))))


def _in_each_piece(node: Node, change: Callable[[Node], Node]) -> Node:
    if is_over_pieces(node):
        return map_children(node, lambda child: _behind_ends(child, change))
    return map_children(node, lambda child: _in_each_piece(child, change))


def _behind_ends(node: Node, change: Callable[[Node], Node]) -> Node:
    if isinstance(node, Let) and node.variable in _ENDS:
        return replace(node, body=_behind_ends(node.body, change))
    return change(node)


def with_width(node: Node, band: int, pieces: Pieces, extent: Linear) -> Node:
    """The loops with the width of a band's pieces declared around them.

    Parameters
    ----------
    extent : of space.
    """
    share = quotient(extent + (pieces.count - 1), pieces.count, truncates=True)
    return Let(f"{_WIDTH}{band}", extreme("max", (constant(pieces.least), share)), node, name="width")
