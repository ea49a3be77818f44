"""Operators and functions per lane: two tiles -> a tile."""

from __future__ import annotations

import ast
from math import inf

from polysched.scop.block_frontend.element_types import ElementType, joined
from polysched.scop.block_frontend.tiles import (
    Fill,
    Index,
    Kind,
    Site,
    Tile,
    both,
    broadcast,
    filled_by,
    merged,
    spread,
)

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.RShift: ">>",
    ast.LShift: "<<", ast.BitXor: "^", ast.BitAnd: "&",
    ast.BitOr: "|"}
COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
FUNCTIONS = {"exp": "np.exp", "log": "np.log", "sqrt": "np.sqrt", "abs": "abs", "maximum": "np.maximum",
             "minimum": "np.minimum", "uint64": "np.uint64"}
HEAVY = ("exp", "log", "sqrt")
KEEP_ZERO = ("sqrt", "abs", "uint64")
AFFINE = ("+", "-", "*", "//", "%")
CONSTANTS = {"0": 0.0, "0.0": 0.0, "np.inf": inf, "(-np.inf)": -inf}


def arithmetic(operator: str, left: Tile, right: Tile, shape: tuple[int, ...]) -> Tile:
    """`left operator right` per lane."""
    made = merged((left, right), shape, lambda a, b: f"({a} {operator} {b})", fill=filled_by(operator, left, right),
                  is_float=operator == "/")
    if not (left.is_affine and right.is_affine and operator in AFFINE):
        return made
    numbers = left.kind is right.kind is Kind.NUMBER
    return _with(made, kind=Kind.NUMBER if numbers else Kind.INDEX,
                 least=left.least and right.least and operator != "-")


def _with(tile: Tile, *, kind: Kind, least: bool) -> Tile:
    return Tile(shape=tile.shape, element=tile.element, kind=kind, dtype=tile.dtype, fill=None, changes=tile.changes,
                heavy=tile.heavy, least=least, transposed=tile.transposed)


def negative(tile: Tile) -> Tile:
    """`-tile` per lane."""
    fill = None if tile.fill is None else spread(tile.fill, tile.shape, -tile.fill.value)
    return merged((tile,), tile.shape, lambda a: f"(-{a})", kind=tile.kind, fill=fill)


def comparison(operator: str, left: Tile, right: Tile, shape: tuple[int, ...]) -> Tile:
    """`left operator right` per lane."""
    made = merged((left, right), shape, lambda a, b: f"{a} {operator} {b}")
    return condition((made,), made, lambda index, site: (made.element(index, site),),
                     is_affine=left.is_affine and right.is_affine)


def condition(tiles: tuple[Tile, ...], like: Tile, parts: object, *, is_affine: bool) -> Tile:
    """A condition; its fill says whether it is one on lanes and sizes alone: then its parts may stand around loops."""
    def texts(index: Index, site: Site) -> tuple[str, ...]:
        return tuple(parts(index, site))   # type: ignore[operator]
    nothing = Site(frozenset(), lambda wish: wish)
    own = Fill(0.0, lambda index: texts(index, nothing)) if is_affine else None
    return Tile(shape=like.shape, element=lambda index, site: f"({' and '.join(texts(index, site))})",
                kind=Kind.CONDITION, parts=texts, fill=own, changes=any(t.changes for t in tiles),
                heavy=any(t.heavy for t in tiles))


def conjunction(left: Tile, right: Tile, shape: tuple[int, ...]) -> Tile:
    """`left & right` per lane."""
    def parts(index: Index, site: Site) -> tuple[str, ...]:
        assert left.parts is not None
        assert right.parts is not None
        return (*left.parts(broadcast(index, left.shape), site), *right.parts(broadcast(index, right.shape), site))
    made = merged((left, right), shape, lambda a, b: f"({a} and {b})")
    return condition((left, right), made, parts, is_affine=left.fill is not None and right.fill is not None)


def disjunction(left: Tile, right: Tile, shape: tuple[int, ...]) -> Tile:
    """`left | right` per lane."""
    made = merged((left, right), shape, lambda a, b: f"({a} or {b})")
    return condition((left, right), made, lambda index, site: (made.element(index, site),),
                     is_affine=left.fill is not None and right.fill is not None)


def complement(tile: Tile) -> Tile:
    """`~tile` per lane."""
    made = merged((tile,), tile.shape, lambda a: f"(not {a})")
    return condition((tile,), made, lambda index, site: (made.element(index, site),), is_affine=tile.fill is not None)


def function(word: str, tiles: tuple[Tile, ...], shape: tuple[int, ...]) -> Tile:
    """A function per lane."""
    name, fill = FUNCTIONS[word], None
    own = tiles[0].fill
    if own is not None and word == "exp" and own.value == -inf:
        fill = spread(own, tiles[0].shape, 0.0)
    elif own is not None and word in KEEP_ZERO and own.value == 0:
        fill = spread(own, tiles[0].shape)
    made = merged(tiles, shape, lambda *texts: f"{name}({', '.join(texts)})", fill=fill, heavy=word in HEAVY,
                  is_float=word in HEAVY)
    if word != "uint64":
        return made
    return Tile(shape=made.shape, element=made.element, dtype=ElementType(("np.uint64",)), fill=fill,
                changes=made.changes, heavy=made.heavy)


def choice(asked: Tile, then: Tile, otherwise: Tile, shape: tuple[int, ...]) -> Tile:
    """`then` where the condition holds, `otherwise` elsewhere."""
    def text(index: Index, site: Site) -> str:
        assert asked.parts is not None
        parts = [p for p in asked.parts(broadcast(index, asked.shape), site) if p not in site.known]
        value = then.element(broadcast(index, then.shape), site)
        other = otherwise.element(broadcast(index, otherwise.shape), site)
        return f"({value} if {' and '.join(parts)} else {other})" if parts else value
    made = merged((then, otherwise, asked), shape, lambda *_: "")
    return Tile(shape=shape, element=text, dtype=joined((then.dtype, otherwise.dtype)),
                fill=_chosen(asked, then, otherwise), changes=made.changes, heavy=made.heavy,
                transposed=made.transposed)


def _chosen(asked: Tile, then: Tile, otherwise: Tile) -> Fill | None:
    if asked.fill is None or otherwise.shape:
        return None
    value = CONSTANTS.get(otherwise.element((), Site(frozenset(), lambda wish: wish)))
    if value is None:
        return None
    own = spread(asked.fill, asked.shape, value)
    inner = then.fill if then.fill is not None and then.fill.value == value else None
    return both(own, spread(inner, then.shape) if inner else None)
