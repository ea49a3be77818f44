"""Expressions of a block program as tiles."""

from __future__ import annotations

import ast
from typing import Protocol

from polysched.scop.block_frontend import operators
from polysched.scop.block_frontend.block_source import BlockSource
from polysched.scop.block_frontend.element_types import REAL, ElementType, joined
from polysched.scop.block_frontend.tiles import (
    Block,
    Fill,
    Index,
    Kind,
    Site,
    Tile,
    broadcast,
    common_shape,
    number,
)

MOST_AXES = 3


class Emitter(Protocol):
    """Where statements go that an expression needs in front of it."""

    def size(self, statement: ast.Assign) -> None: ...
    def program(self, axis: int) -> str: ...
    def written(self, tile: Tile) -> Tile: ...
    def product(self, a: Tile, b: Tile) -> Tile: ...
    def reduced(self, word: str, tile: Tile, axis: int) -> Tile: ...


class Expressions:
    """Reads expressions.

    Parameters
    ----------
    environment : what names stand for.
    programs : the number of program ids per axis, as texts; added to.

    Attributes
    ----------
    arrays : the arguments that are used as arrays.
    loops : how many loops of the program are around the place.
    """

    def __init__(self, source: BlockSource, environment: dict[str, Tile | Block], programs: dict[int, str],
                 emitter: Emitter) -> None:
        self.source, self.environment, self.programs, self.emitter = source, environment, programs, emitter
        self.arrays: dict[str, None] = {}
        self.loops = 0

    def sizes(self, statement: ast.Assign, target: ast.expr) -> bool:
        """Whether a statement takes sizes from a shape; they are names from here on."""
        base = statement.value.value if isinstance(statement.value, ast.Subscript) else statement.value
        if not (isinstance(base, ast.Attribute) and base.attr == "shape" and isinstance(base.value, ast.Name)
                and base.value.id in self.source.arguments):
            return False
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        if self.loops or self.programs or not all(isinstance(n, ast.Name) for n in names):
            self.source.refuse(statement, "sizes stand at the start of a block program")
        self.arrays[base.value.id] = None
        for name in names:
            assert isinstance(name, ast.Name)
            self.environment[name.id] = number(name.id, Kind.INDEX, least=True)
        self.emitter.size(statement)
        return True

    def any_value(self, node: ast.expr) -> Tile | Block:
        """A tile or a block."""
        if self.source.called(node) == "block" and isinstance(node, ast.Call):
            return self._block(node)
        if isinstance(node, ast.Name) and isinstance(self.environment.get(node.id), Block):
            return self.environment[node.id]
        return self.value(node)

    def value(self, node: ast.expr) -> Tile:
        """A tile or a number."""
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                kind = Kind.INDEX if isinstance(value, int) else Kind.VALUE
                return number(repr(value), kind, least=value >= 0, dtype=ElementType(is_float=isinstance(value, float)))
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._binary(node, left, operator, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._negative(node, operand)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return operators.complement(self._condition(operand))
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in operators.COMPARED:
                a, b = self.value(left), self.value(right)
                shape = self.common(node, a.shape, b.shape)
                return operators.comparison(operators.COMPARED[type(operator)], a, b, shape)
            case ast.Subscript(value=value, slice=ast.Tuple(elts=elements)):
                return self._expanded(node, self.value(value), elements)
            case ast.Call():
                return self._call(node)
        if self.source.word(node) == "inf":
            return number("np.inf", Kind.VALUE, dtype=REAL)
        return self.source.refuse(node, "a block program has no such expression",
                                  "operators, comparisons, [:, None], and the words of the language")

    def index(self, node: ast.expr) -> Tile:
        """A number that is a function of sizes, program ids and loops."""
        found = self.value(node)
        if found.shape or not found.is_affine:
            self.source.refuse(node, "this is no function of sizes, program ids and loops",
                               "what a loop changes cannot be an offset: write it as a function of the loop's variable")
        return found

    def common(self, node: ast.AST, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of two tiles together."""
        found = common_shape(left, right)
        if found is None:
            self.source.refuse(node, f"tiles of the shapes {left} and {right} do not fit")
        return found

    def stored(self, call: ast.Call) -> tuple[Block, Tile, Tile | None]:
        """The arguments of `store`."""
        block, tile, mask = self._arguments(call, "store", ("block", "tile"), mask=None)
        own = self._as_block(block)
        value = self.value(tile)
        asked = None if mask is None else self._condition(mask)
        for other in (value, *([asked] if asked else [])):
            if self.common(call, own.shape, other.shape) != own.shape:
                self.source.refuse(call, f"a tile of the shape {other.shape} does not fit into a block of {own.shape}")
        return own, value, asked

    def factors(self, call: ast.Call) -> tuple[Tile, Tile]:
        """The arguments of `dot`."""
        a, b = (self.value(argument) for argument in self._arguments(call, "dot", ("a", "b")))
        if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[0]:
            self.source.refuse(call, f"dot of tiles of the shapes {a.shape} and {b.shape}")
        return a, b

    def _name(self, node: ast.expr, name: str) -> Tile:
        found = self.environment.get(name)
        if isinstance(found, Tile):
            return found
        if isinstance(found, Block):
            self.source.refuse(node, f"{name} is a block", "load it")
        if name in self.arrays:
            self.source.refuse(node, f"{name} is an array", "make a block of it and load that")
        if name in self.source.arguments:
            return number(name, Kind.NUMBER, dtype=ElementType((name,)))
        return self.source.refuse(node, f"nothing is known of {name} here",
                                  "names of a loop end with it; constants are arguments with a default")

    def _binary(self, node: ast.expr, left: ast.expr, operator: ast.operator, right: ast.expr) -> Tile:
        if type(operator) not in operators.BINARY:
            self.source.refuse(node, "a block program has no such operator")
        a, b = self.value(left), self.value(right)
        if a.kind is b.kind is Kind.CONDITION and isinstance(operator, ast.BitAnd | ast.BitOr):
            join = operators.conjunction if isinstance(operator, ast.BitAnd) else operators.disjunction
            return join(a, b, self.common(node, a.shape, b.shape))
        if Kind.CONDITION in (a.kind, b.kind):
            self.source.refuse(node, "a condition is no number", "use where")
        return operators.arithmetic(operators.BINARY[type(operator)], a, b, self.common(node, a.shape, b.shape))

    def _negative(self, node: ast.expr, operand: ast.expr) -> Tile:
        found = self.value(operand)
        if found.kind is Kind.CONDITION:
            self.source.refuse(node, "a condition is no number", "use ~ for its opposite, or where")
        return operators.negative(found)

    def _condition(self, node: ast.expr) -> Tile:
        found = self.value(node)
        if found.kind is not Kind.CONDITION:
            self.source.refuse(node, "this is no condition", "compare with something")
        return found

    def _expanded(self, node: ast.expr, tile: Tile, elements: list[ast.expr]) -> Tile:
        """`tile[:, None]`: new dimensions of one lane."""
        new = [isinstance(e, ast.Constant) and e.value is None for e in elements]
        whole = [isinstance(e, ast.Slice) and e.lower is e.upper is e.step is None for e in elements]
        if not all(a or b for a, b in zip(new, whole, strict=True)) or sum(whole) != len(tile.shape):
            self.source.refuse(node, "a tile has no such subscript", "only : and None, a : for every dimension")
        edges = iter(tile.shape)
        shape = tuple(1 if is_new else next(edges) for is_new in new)
        return moved(tile, shape, lambda index: tuple(i for i, is_new in zip(index, new, strict=True) if not is_new))

    def _call(self, node: ast.Call) -> Tile:
        word = self.source.called(node)
        if word in operators.FUNCTIONS:
            return self._function(node, word)
        match word:
            case "program_id":
                return self._program(node)
            case "cdiv":
                return self._blocks(node)
            case "arange":
                return self._range(node)
            case "zeros" | "full":
                return self._full(node, word)
            case "load":
                return self._load(node)
            case "where":
                return self._where(node)
            case "dot":
                return self.emitter.product(*self.factors(node))
            case "trans":
                return self._transposed(node)
            case "sum" | "max" | "min":
                return self._reduced(node, word)
        return self.source.refuse(node, "a block program calls only the words of its language")

    def _function(self, node: ast.Call, word: str) -> Tile:
        names = ("a", "b") if word in ("maximum", "minimum") else ("tile",)
        tiles = tuple(self.value(a) for a in self._arguments(node, word, names))
        shape = tiles[0].shape if len(tiles) == 1 else self.common(node, tiles[0].shape, tiles[1].shape)
        return operators.function(word, tiles, shape)

    def _program(self, node: ast.Call) -> Tile:
        axis, programs = self._arguments(node, "program_id", ("axis", "programs"))
        where = self._integer(axis)
        count = self.index(programs).element((), _NOWHERE)
        if self.loops or where >= MOST_AXES or self.programs.setdefault(where, count) != count:
            self.source.refuse(node, "program ids have up to three axes, outside of loops, each with one number of "
                                     "programs")
        return number(self.emitter.program(where), Kind.INDEX, least=True)

    def _blocks(self, node: ast.Call) -> Tile:
        size, edge = self._arguments(node, "cdiv", ("size", "edge"))
        own, by = self.index(size), self._integer(edge)
        return number(f"(({own.element((), _NOWHERE)} + {by - 1}) // {by})", Kind.INDEX, least=own.least)

    def _range(self, node: ast.Call) -> Tile:
        first, end = (self._integer(a) for a in self._arguments(node, "arange", ("first", "end")))
        if end <= first:
            self.source.refuse(node, "a range without elements")
        return Tile(shape=(end - first,), element=lambda index, site: f"({index[0]} + {first})" if first else index[0],
                    kind=Kind.INDEX, least=first >= 0)

    def _full(self, node: ast.Call, word: str) -> Tile:
        shape, *rest = self._arguments(node, word, ("shape", "value") if word == "full" else ("shape",))
        value = self.value(rest[0]) if rest else number("0", Kind.VALUE)
        if value.shape:
            self.source.refuse(node, "full takes a number")
        return Tile(shape=self._shape(shape), element=lambda index, site: value.element((), site),
                    dtype=value.dtype)

    def _load(self, node: ast.Call) -> Tile:
        block, mask, other = self._arguments(node, "load", ("block",), mask=None, other=ast.Constant(0))
        own, fallback = self._as_block(block), self.value(other)
        asked = None if mask is None else self._condition(mask)
        if fallback.shape or (asked and self.common(node, own.shape, asked.shape) != own.shape):
            self.source.refuse(node, "mask fits the block, other is a number")
        if asked is not None and asked.fill is None:
            self.source.refuse(mask, "a mask of a load depends on lanes, sizes and loops alone",
                               "use where for conditions on data")

        def guards(index: Index) -> tuple[str, ...]:
            extra = asked.fill.conditions(broadcast(index, asked.shape)) if asked and asked.fill else ()
            return tuple(dict.fromkeys((*own.guards(index), *extra)))
        text = fallback.element((), _NOWHERE)

        def element(index: Index, site: Site) -> str:
            missing = [g for g in guards(index) if g not in site.known]
            return f"({own.element(index)} if {' and '.join(missing)} else {text})" if missing else own.element(index)
        value = operators.CONSTANTS.get(text)
        tile = Tile(shape=own.shape, element=element, dtype=joined((ElementType((own.array,)), fallback.dtype)),
                    fill=None if value is None else Fill(value, guards))
        return self.emitter.written(tile) if own.array in self.source.stored else tile

    def _where(self, node: ast.Call) -> Tile:
        condition, then, otherwise = self._arguments(node, "where", ("condition", "then", "otherwise"))
        asked, a, b = self._condition(condition), self.value(then), self.value(otherwise)
        return operators.choice(asked, a, b, self.common(node, self.common(node, a.shape, b.shape), asked.shape))

    def _transposed(self, node: ast.Call) -> Tile:
        tile = self.value(self._arguments(node, "trans", ("tile",))[0])
        if len(tile.shape) != 2:
            self.source.refuse(node, "trans takes a tile of two dimensions")
        return moved(tile, tile.shape[::-1], lambda index: index[::-1], transposed=True)

    def _reduced(self, node: ast.Call, word: str) -> Tile:
        given, axis = self._arguments(node, word, ("tile", "axis"))
        tile, along = self.value(given), self._integer(axis)
        if along >= len(tile.shape):
            self.source.refuse(node, f"a tile of the shape {tile.shape} has no axis {along}")
        if tile.kind is not Kind.VALUE:
            self.source.refuse(node, f"{word} is taken of numbers from arrays")
        return self.emitter.reduced(word, tile, along)

    def _as_block(self, node: ast.expr) -> Block:
        found = self.any_value(node)
        if isinstance(found, Tile):
            self.source.refuse(node, "this is no block", "block(array, extents, offsets, shape)")
        return found

    def _block(self, node: ast.Call) -> Block:
        array, extents, offsets, shape = self._arguments(node, "block", ("array", "extents", "offsets", "shape"))
        if not (isinstance(array, ast.Name) and array.id in self.source.arguments):
            self.source.refuse(array, "a block is one of an array that is an argument")
        self.arrays[array.id] = None
        items, sizes, starts = self._items(shape), self._items(extents), self._items(offsets)
        if not len(items) == len(sizes) == len(starts):
            self.source.refuse(node, "extents, offsets and shape have one entry per dimension")
        lanes = [k for k, item in enumerate(items) if not (isinstance(item, ast.Constant) and item.value is None)]
        edges = self._edges([items[k] for k in lanes])
        ends = [self.index(s).element((), _NOWHERE) for s in sizes]
        begins = [self.index(s) for s in starts]
        texts = [b.element((), _NOWHERE) for b in begins]

        def positions(index: Index) -> tuple[str, ...]:
            own = dict(zip(lanes, index, strict=True))
            return tuple(_sum(b, own.get(k, "0")) for k, b in enumerate(texts))

        def guards(index: Index) -> tuple[str, ...]:
            places = positions(index)
            low = [f"{p} >= 0" for p, b in zip(places, begins, strict=True) if not b.least]
            return tuple(dict.fromkeys((*low, *(f"{p} < {e}" for p, e in zip(places, ends, strict=True)))))
        return Block(array=array.id, shape=edges, positions=positions, guards=guards)

    def _items(self, node: ast.expr) -> list[ast.expr]:
        return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else [node]

    def _shape(self, node: ast.expr) -> tuple[int, ...]:
        return self._edges(self._items(node))

    def _edges(self, items: list[ast.expr]) -> tuple[int, ...]:
        edges = tuple(map(self._integer, items))
        for item, edge in zip(items, edges, strict=True):
            if edge < 1:
                self.source.refuse(item, "edges of a tile are at least 1")
        return edges

    def _integer(self, node: ast.expr) -> int:
        """A number that is known here."""
        try:
            value = eval(compile(ast.Expression(node), "<edge>", "eval"), {"__builtins__": {}}, {})
        except (NameError, TypeError, ValueError, ZeroDivisionError, SyntaxError):
            value = None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.source.refuse(node, "this has to be a number that is known before the program runs",
                               "a constant: an argument with a default")
        return value

    def _arguments(self, node: ast.Call, word: str, names: tuple[str, ...],
                   **optional: ast.expr | None) -> list[ast.expr]:
        """The arguments of a call in order; None in place of an optional one that is left out."""
        every = [*names, *optional]
        given: dict[str, ast.expr | None] = dict(zip(every, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in every or keyword.arg in given:
                self.source.refuse(node, f"{word} has no argument {keyword.arg}")
            given[keyword.arg] = keyword.value
        missing = [name for name in names if name not in given]
        if missing or len(node.args) > len(every):
            self.source.refuse(node, f"{word} takes {', '.join(every)}")
        return [given.get(name, optional.get(name)) for name in every]   # type: ignore[misc]


_NOWHERE = Site(frozenset(), lambda wish: wish)


def _sum(first: str, second: str) -> str:
    return second if first == "0" else first if second == "0" else f"{first} + {second}"


def moved(tile: Tile, shape: tuple[int, ...], at: object, *, transposed: bool = False) -> Tile:
    """The tile whose lanes read others of a tile."""
    def place(index: Index) -> Index:
        return broadcast(at(index), tile.shape)   # type: ignore[operator]
    fill, parts = tile.fill, tile.parts
    return Tile(shape=shape, element=lambda index, site: tile.element(place(index), site), kind=tile.kind,
                parts=None if parts is None else lambda index, site: parts(place(index), site), dtype=tile.dtype,
                fill=None if fill is None else Fill(fill.value, lambda index: fill.conditions(place(index))),
                changes=tile.changes, heavy=tile.heavy, least=tile.least, transposed=tile.transposed or transposed)
