"""A block program -> the text of a Python function with loops over program ids and lanes, which has the same results.

Rewrite:  total = load(x) + load(y)         ->   for p in range(cdiv(n, 64)):
          store(out, total)                        for lane in range(64):
                                                     if p * 64 + lane < n:
                                                       out[p * 64 + lane] = x[p * 64 + lane] + y[p * 64 + lane]

Tiles that only load and add are inlined where they are used; sums, products, what loops carry, and functions that are
used twice become arrays with one tile per program.  Loops over the same lanes are joined where each lane has only to do
with itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace

from polysched.records import dataclass
from polysched.scop.block_frontend.block_source import BlockSource
from polysched.scop.block_frontend.element_types import ElementType, joined, resolved, text_of
from polysched.scop.block_frontend.expressions import Expressions
from polysched.scop.block_frontend.lane_nests import LaneNest, joined_bodies
from polysched.scop.block_frontend.operators import comparison
from polysched.scop.block_frontend.tiles import Block, Fill, Index, Kind, Site, Tile, broadcast, number

INDENT = "    "
INDENT_WIDTH = len(INDENT)


@dataclass(frozen=True, eq=False, kw_only=True)
class Loops:
    """A block program as loops.

    Parameters
    ----------
    text : of a Python function.
    programs : how many program ids there are along each axis, as texts.
    """

    text: str
    programs: tuple[str, ...]


def loops_of(source: BlockSource) -> Loops:
    """The loops of a block program.

    Raises
    ------
    UnsupportedScopError : something that block programs do not have, at its place.
    """
    return _Translation(source).made()


@dataclass(eq=False)
class _Translation:
    source: BlockSource
    head: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    programs: dict[int, str] = field(default_factory=dict)
    environment: dict[str, Tile | Block] = field(default_factory=dict)
    carried: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    depth: int = 0
    nest: LaneNest | None = None

    def __post_init__(self) -> None:
        self.taken = {*self.source.arguments, *self.source.used, *self.source.assigned, "np"}
        self.expressions = Expressions(self.source, self.environment, self.programs, self)
        calls = [node for top in self.source.body for node in ast.walk(top)
                 if isinstance(node, ast.Call) and self.source.called(node) == "program_id"]
        axes = {c.args[0].value for c in calls if c.args and isinstance(c.args[0], ast.Constant)}
        self.ids = {axis: self.fresh(f"program{axis}") for axis in sorted(a for a in axes if isinstance(a, int))}
        self.temporaries: dict[str, tuple[int, ...]] = {}
        self.types: dict[str, ElementType] = {}

    def made(self) -> Loops:
        """The whole function."""
        for statement in self.source.body:
            self.statement(statement)
        axes = tuple(self.programs[axis] for axis in sorted(self.programs))
        if not axes or sorted(self.programs) != list(range(len(axes))):
            self.source.refuse(self.source.source.tree, "a block program asks for its program ids, from axis 0 on",
                               "write program_id(0, cdiv(n, BLOCK))")
        arrays = [a for a in self.source.arguments if a in self.expressions.arrays]
        types = {name: text_of(resolved(own, self.types), arrays) for name, own in self.types.items()}
        made = [f"{name} = np.empty(({', '.join([*axes, *map(str, shape)])},), {types[name]})"
                for name, shape in self.temporaries.items()]
        loops = [INDENT * k + f"for {self.ids[k]} in range({count}):" for k, count in enumerate(axes)]
        body = [*self.head, *made, *loops, *(INDENT * len(axes) + line for line in self.lines)]
        text = [f"def {self.source.name}({', '.join(self.source.arguments)}):", *(INDENT + line for line in body)]
        return Loops(text="\n".join(text) + "\n", programs=axes)

    def fresh(self, wish: str) -> str:
        """A name that nothing else has."""
        name, count = wish, 0
        while name in self.taken:
            count += 1
            name = f"{wish}{count}"
        self.taken.add(name)
        return name

    def program(self, axis: int) -> str:
        """The name of a program id."""
        if axis not in self.ids:
            self.source.refuse(self.source.source.tree, "the axis of a program id is a number")
        return self.ids[axis]

    def emit(self, line: str) -> None:
        self.lines.append(INDENT * self.depth + line)

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        """The lines that follow stand below a head."""
        self.emit(head)
        self.depth += 1
        yield
        self.depth -= 1

    def size(self, statement: ast.Assign) -> None:
        """A statement about sizes stands in front of the loops."""
        self.head.append(ast.unparse(statement))

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                return
            case ast.Expr(value=ast.Call() as call) if self.source.called(call) == "store":
                self.store(call)
            case ast.Assign(targets=[target]) if self.expressions.sizes(node, target):
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.assign(node, name, value)
            case ast.AugAssign(target=ast.Name(id=name), op=operator, value=value):
                self.update(node, name, operator, value)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=bounds), orelse=[]):
                self.loop(node, name, bounds)
            case _:
                self.source.refuse(node, "a block program has no such statement",
                                   "assignments, for loops over ranges, and store")

    def loop(self, node: ast.For, name: str, bounds: list[ast.expr]) -> None:
        """A loop of the program; what is defined in it ends with it."""
        texts = [self.expressions.index(bound) for bound in bounds]
        upwards = len(texts) == 1 or all(t.least for t in (texts[0], *texts[2:]))
        variable, before = self.fresh(name if name not in self.taken else f"{name}_"), dict(self.environment)
        self.environment[name] = Tile(shape=(), element=lambda index, site: variable, kind=Kind.INDEX,
                                      least=upwards)
        ends = ", ".join(t.element((), self.site(())) for t in texts)
        with self.inside(f"for {variable} in range({ends}):"):
            self.expressions.loops += 1
            for statement in node.body:
                self.statement(statement)
            self.expressions.loops -= 1
            self.emit("pass")
        for gone in set(self.environment) - set(before):
            del self.environment[gone]
            self.carried.pop(gone, None)
        if name in before:
            self.environment[name] = before[name]

    def assign(self, node: ast.Assign, name: str, value: ast.expr) -> None:
        """A name for a tile or a block."""
        found = self.expressions.any_value(value)
        if isinstance(found, Block):
            if self.source.assigned[name] > 1:
                self.source.refuse(node, f"{name} names several blocks", "give each block a name of its own")
            self.environment[name] = found
        elif self.source.assigned[name] > 1:
            self.carry(node, name, found)
        else:
            self.environment[name] = self.kept(found, self.source.used[name])

    def kept(self, tile: Tile, uses: int) -> Tile:
        """The tile under a name: computed once where that is dear or what it reads changes."""
        if tile.changes or (tile.heavy and uses > 1):
            return self.written(tile)
        if tile.kind is not Kind.VALUE or uses < 2:
            return tile
        return Tile(shape=tile.shape, element=lambda index, site: site.scalar(tile, index), dtype=tile.dtype,
                    fill=tile.fill, heavy=tile.heavy, transposed=tile.transposed)

    def carry(self, node: ast.stmt, name: str, tile: Tile) -> None:
        """A name that is assigned several times has an array."""
        if tile.kind is Kind.CONDITION:
            self.source.refuse(node, f"{name} is a condition, and is assigned several times",
                               "give each condition a name of its own")
        array = self.carried.get(name)
        if array is None:
            shape = tile.shape
            array = self.carried[name] = self.temporary(shape, tile.dtype, name)
            self.environment[name] = Tile(shape=shape, changes=True, dtype=ElementType((array,)),
                                          element=lambda index, site: self.element(array, index))
        own = self.environment[name]
        assert isinstance(own, Tile)
        if self.expressions.common(node, own.shape, tile.shape) != own.shape:
            self.source.refuse(node, f"{name} has the shape {own.shape}, the value {tile.shape}")
        if tile.transposed:
            tile = self.written(tile)
        self.types[array] = joined((self.types[array], tile.dtype))
        self.fill_array(array, own.shape, tile, None)

    def update(self, node: ast.AugAssign, name: str, operator: ast.operator, value: ast.expr) -> None:
        """`name op= value`; products are summed up in place."""
        if name not in self.carried:
            self.source.refuse(node, f"{name} has no value yet")
        own = self.environment[name]
        assert isinstance(own, Tile)
        if self.source.called(value) == "dot" and isinstance(operator, ast.Add) and isinstance(value, ast.Call):
            a, b = self.expressions.factors(value)
            if (a.shape[0], b.shape[1]) != own.shape:
                self.source.refuse(node, f"{name} has the shape {own.shape}, the product {(a.shape[0], b.shape[1])}")
            array = self.carried[name]
            self.types[array] = joined((self.types[array], a.dtype, b.dtype))
            self.products(array, *(self.written(factor) if factor.changes else factor for factor in (a, b)))
            return
        total = ast.copy_location(ast.BinOp(ast.copy_location(ast.Name(name, ast.Load()), node), operator, value), node)
        self.carry(node, name, self.expressions.value(total))

    def store(self, call: ast.Call) -> None:
        """A tile goes into the lanes of a block that are not masked."""
        block, tile, mask = self.expressions.stored(call)
        if tile.transposed and tile.changes:
            tile = self.written(tile)

        def lane(index: Index) -> None:
            affine = mask.fill.conditions(broadcast(index, mask.shape)) if mask is not None and mask.fill else ()
            conditions = tuple(dict.fromkeys((*block.guards(index), *affine)))
            site = self.site(conditions)
            value = tile.element(broadcast(index, tile.shape), site)
            asked = () if mask is None or mask.fill or mask.parts is None else mask.parts(
                broadcast(index, mask.shape), site)
            self.under(conditions, [*site.lines], f"{block.element(index)} = {value}", asked)
        self.each(block.shape, lane)

    def under(self, conditions: tuple[str, ...], lines: list[str], last: str, asked: tuple[str, ...] = ()) -> None:
        """Lines where conditions hold."""
        if conditions:
            with self.inside(f"if {' and '.join(conditions)}:"):
                self.under((), lines, last, asked)
            return
        for line in lines:
            self.emit(line)
        if asked:
            with self.inside(f"if {' and '.join(asked)}:"):
                self.emit(last)
        else:
            self.emit(last)

    def each(self, shape: tuple[int, ...], lane: Callable[[Index], None]) -> None:
        """Loops over the lanes of a shape."""
        names = tuple("0" if edge == 1 else self.fresh("lane") for edge in shape)
        first, looped = len(self.lines), sum(edge != 1 for edge in shape)
        self._nested([(n, e) for n, e in zip(names, shape, strict=True) if e != 1], lambda: lane(names))
        nest = LaneNest(first=first, depth=self.depth, shape=shape, names=names,
                        body=tuple(line[INDENT_WIDTH * (self.depth + looped):] for line in self.lines[first + looped:]))
        if looped and self.nest is not None and self.nest.end == first and self.nest.depth == self.depth:
            nest = self._joined(self.nest, nest)
        self.nest = replace(nest, end=len(self.lines)) if looped else None

    def _joined(self, before: LaneNest, nest: LaneNest) -> LaneNest:
        """The lines of a nest inside the one right before it, where each lane has only to do with itself."""
        own = [*(self.ids[k] for k in sorted(self.ids)), *before.names]
        body = joined_bodies(before, nest, frozenset(self.temporaries), own)
        if body is None:
            return nest
        heads = sum(name != "0" for name in before.names)
        del self.lines[before.first + heads:]
        self.lines += [INDENT * (before.depth + heads) + line for line in body]
        return replace(before, body=body)

    def _nested(self, loops: list[tuple[str, int]], body: Callable[[], None]) -> None:
        if not loops:
            body()
            return
        (name, edge), *rest = loops
        with self.inside(f"for {name} in range({edge}):"):
            self._nested(rest, body)

    def site(self, known: tuple[str, ...]) -> Site:
        return Site(frozenset(known), self.fresh)

    def temporary(self, shape: tuple[int, ...], dtype: ElementType, wish: str = "tile") -> str:
        """The name of a new array with one tile per program."""
        name = self.fresh(wish if wish not in self.taken else f"{wish}_tile")
        self.temporaries[name], self.types[name] = shape, dtype
        return name

    def element(self, array: str, index: Index) -> str:
        return f"{array}[{', '.join([*(self.ids[k] for k in sorted(self.ids)), *index])}]"

    def fill_array(self, array: str, shape: tuple[int, ...], tile: Tile, fill: Fill | None) -> None:
        """Write a tile into an array; masked lanes are left out where the fill says what they are."""
        def lane(index: Index) -> None:
            own = broadcast(index, tile.shape)
            conditions = fill.conditions(own) if fill else ()
            site = self.site(conditions)
            value = tile.element(own, site)
            self.under(conditions, site.lines, f"{self.element(array, index)} = {value}")
        self.each(shape, lane)

    def written(self, tile: Tile) -> Tile:
        """The tile, computed here; a condition as 1 or 0."""
        array = self.temporary(tile.shape, tile.dtype)
        self.fill_array(array, tile.shape, tile, tile.fill)
        found = self.read(array, tile.shape, tile.dtype, tile.fill)
        return comparison("!=", found, number("0", Kind.INDEX), tile.shape) if tile.kind is Kind.CONDITION else found

    def read(self, array: str, shape: tuple[int, ...], dtype: ElementType, fill: Fill | None = None) -> Tile:
        """A tile that was written."""
        def element(index: Index, site: Site) -> str:
            missing = [c for c in fill.conditions(index) if c not in site.known] if fill else []
            text = self.element(array, index)
            return f"({text} if {' and '.join(missing)} else {spelled(fill.value)})" if fill and missing else text
        return Tile(shape=shape, element=element, dtype=dtype, fill=fill)

    def product(self, a: Tile, b: Tile) -> Tile:
        """The product of two tiles."""
        shape = (a.shape[0], b.shape[1])
        dtype = joined((a.dtype, b.dtype))
        array = self.temporary(shape, dtype)
        self.each(shape, lambda index: self.emit(f"{self.element(array, index)} = 0.0"))
        self.products(array, a, b)
        return self.read(array, shape, dtype)

    def products(self, array: str, a: Tile, b: Tile) -> None:
        """Add the products of two tiles to an array; lanes where a factor is masked to 0 add nothing."""
        a, b = (self.written(t) if t.heavy else t for t in (a, b))
        edges = (a.shape[0], a.shape[1], b.shape[1])
        names = ["0" if edge == 1 else self.fresh("lane") for edge in edges]

        def body() -> None:
            i, k, j = names
            found = [t.fill.conditions(at) for t, at in ((a, (i, k)), (b, (k, j))) if t.fill and t.fill.value == 0]
            conditions = tuple(dict.fromkeys(c for own in found for c in own))
            site = self.site(conditions)
            value = f"{a.element((i, k), site)} * {b.element((k, j), site)}"
            self.under(conditions, site.lines, f"{self.element(array, (i, j))} += {value}")
        self._nested([(n, e) for n, e in zip(names, edges, strict=True) if e != 1], body)

    def reduced(self, word: str, tile: Tile, axis: int) -> Tile:
        """The tile without one dimension; lanes that change nothing are left out.

        The largest and the least element begin with that of lane 0: no integer is as small as -inf.
        """
        tile = self.written(tile) if tile.heavy and word != "sum" else tile
        neutral = {"sum": 0.0, "max": float("-inf"), "min": float("inf")}[word]
        shape = tile.shape[:axis] + tile.shape[axis + 1:]
        array = self.temporary(shape, tile.dtype)
        fill = tile.fill if tile.fill is not None and tile.fill.value == neutral else None

        def first(index: Index) -> None:
            site, whole = self.site(()), (*index[:axis], "0", *index[axis:])
            value = spelled(neutral) if fill or word == "sum" else tile.element(whole, site)
            self.under((), site.lines, f"{self.element(array, index)} = {value}")

        def lane(index: Index) -> None:
            conditions = fill.conditions(index) if fill else ()
            site, target = self.site(conditions), self.element(array, index[:axis] + index[axis + 1:])
            value = tile.element(index, site)
            last = f"{target} += {value}" if word == "sum" else f"{target} = np.{word}imum({target}, {value})"
            self.under(conditions, site.lines, last)
        self.each(shape, first)
        self.each(tile.shape, lane)
        return self.read(array, shape, tile.dtype)


def spelled(value: float) -> str:
    """A number as Python."""
    return {float("inf"): "np.inf", float("-inf"): "(-np.inf)"}.get(value, repr(value))
