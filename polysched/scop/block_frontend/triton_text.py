"""A block program -> the text of a Triton kernel, with a function that launches it on tensors.

Blocks become pointers with masks; all other words are Triton's own.
Source: the Triton documentation, `triton.language`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from textwrap import indent
from typing import NoReturn

from polysched.scop.block_frontend.block_source import BlockSource
from polysched.scop.block_frontend.triton_helpers import FLOORDIV, HELPERS, MOD, helper_lines, helper_of

OWN_NAMES = frozenset({
    "exp", "log", "sqrt", "abs", "where", "maximum", "minimum", "sum", "max", "min", "trans", "arange"})
"""Words that Triton has with the same arguments."""
ROUNDED: dict[type[ast.operator], str] = {ast.FloorDiv: FLOORDIV, ast.Mod: MOD}
"""Operators that Triton rounds towards zero."""


def triton_text(source: BlockSource) -> str:
    """A module with the kernel and its launcher; constants are arguments of both.

    Raises
    ------
    UnsupportedScopError : an edge of a tile is no power of two, which Triton asks for.
    """
    return _Printer(source).text()


class _Printer(ast.NodeTransformer):
    def __init__(self, source: BlockSource) -> None:
        self.source = source
        self.tree = source.source.tree
        self.ranks: dict[str, int] = {}
        self.blocks: dict[str, ast.Call] = {}
        self.programs: dict[int, ast.expr] = {}
        self.sizes: list[ast.stmt] = []
        self.least = set(source.constants)
        self.helpers: set[str] = set()

    def text(self) -> str:
        """The module."""
        self._check()
        written = [made for statement in self.tree.body if (made := self._statement(statement)) is not None]
        names, arrays, numbers = self._size_names(), list(self.ranks), self._numbers()
        strides = [f"{a}_stride_{k}" for a, rank in self.ranks.items() for k in range(rank)]
        form = [*self.source.arguments, *names, *strides, *(f"{n}_is_stored: tl.constexpr" for n in numbers),
                *(f"{c}: tl.constexpr" for c in self.source.constants)]
        body = ast.unparse(ast.fix_missing_locations(ast.Module(body=written, type_ignores=[])))
        body = "".join(f"if {n}_is_stored:\n    {n} = tl.load({n})\n" for n in numbers) + body
        given = [*self.source.arguments, *names, *(f"{a}.stride({k})" for a in arrays for k in range(self.ranks[a])),
                 *(f"not isinstance({n}, int)" for n in numbers), *self.source.constants]
        defaults = [f"{c}={v}" for c, v in self.source.constants.items()]
        grid = [ast.unparse(self.programs[axis]) for axis in sorted(self.programs)]
        name, arguments = self.source.name, ", ".join([*self.source.arguments, *defaults])
        launch = [*map(ast.unparse, self.sizes), *self._stored(numbers, arrays),
                  f"{name}_kernel[({', '.join(grid)},)]({', '.join(given)})"]
        head = "import torch\n" * bool(numbers) + "import triton\nimport triton.language as tl\n\n\n"
        head += helper_lines(self.helpers)
        return (f"{head}@triton.jit\ndef {name}_kernel({', '.join(form)}):\n{indent(body, '    ')}\n\n\n"
                f"def {name}({arguments}):\n" + indent("\n".join(launch), "    ") + "\n")

    def _numbers(self) -> list[str]:
        return [a for a in self.source.arguments if a not in self.ranks]

    def _stored(self, numbers: list[str], arrays: list[str]) -> list[str]:
        """Lines of the launcher that put floats into memory: Triton rounds one that is an argument to 32 bits."""
        every = "".join(f"{a}.dtype, " for a in arrays)
        found = [f"real = next((t for t in ({every}) if t.is_floating_point), torch.float64)"] if numbers else []
        return found + [f"{n} = torch.tensor([{n}], dtype=real, device={arrays[0]}.device) if isinstance({n}, float) "
                        f"else {n}" for n in numbers]

    def _check(self) -> None:
        """Refuse edges that Triton does not have, and note the arrays."""
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Call):
                continue
            word = self.source.called(node)
            if word == "block":
                self._array(node)
            for edge in self._edges(node, word):
                value = self._constant(edge)
                if value & (value - 1):
                    self.source.refuse(edge, f"Triton's tiles have powers of two as edges, "
                                             f"{ast.unparse(edge)} is {value}")

    def _edges(self, node: ast.Call, word: str | None) -> list[ast.expr]:
        """The edges of a tile that a call makes."""
        given = {k.arg: k.value for k in node.keywords}
        position = {"block": 3, "zeros": 0, "full": 0}.get(word or "")
        if word == "arange":
            first, end = node.args
            return [end if self._constant(first) == 0 else ast.copy_location(ast.BinOp(end, ast.Sub(), first), node)]
        if position is None:
            return []
        shape = node.args[position] if len(node.args) > position else given["shape"]
        return [e for e in _items(shape) if not (isinstance(e, ast.Constant) and e.value is None)]

    def _constant(self, node: ast.expr) -> int:
        """The value of an edge, which the loops of the program have read before."""
        return int(eval(compile(ast.Expression(node), "<edge>", "eval"), {"__builtins__": {}},
                        dict(self.source.constants)))

    def _first(self) -> str:
        """The array whose type tiles of zeros have."""
        return next(a for a in self.source.arguments if a in self.ranks)

    def _size_names(self) -> list[str]:
        return [node.id for s in self.sizes for node in ast.walk(s)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]

    def _statement(self, statement: ast.stmt) -> ast.stmt | None:
        """A statement in Triton; None for sizes, blocks and texts."""
        match statement:
            case ast.Expr(value=ast.Constant()):
                return None
            case ast.Assign(value=value) if ".shape" in ast.unparse(value):
                self.sizes.append(statement)
                self.least |= set(self._size_names())
                return None
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                    self.source.called(call) == "block"):
                self.blocks[name] = call
                return None
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=bounds)):
                return self._loop(statement, name, bounds)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self.source.assigned[name] == 1:
                self.least |= {name} if self._is_least(value) else set()
        found: ast.stmt = self.visit(copy.deepcopy(statement))
        return found

    def _loop(self, statement: ast.For, name: str, bounds: list[ast.expr]) -> ast.stmt:
        if len(bounds) == 1 or all(map(self._is_least, (bounds[0], *bounds[2:]))):
            self.least.add(name)
        made = copy.copy(statement)
        made.iter = self.visit(copy.deepcopy(statement.iter))
        made.body = [s for own in statement.body if (s := self._statement(own)) is not None]
        return made

    def _is_least(self, node: ast.expr) -> bool:
        """Whether an offset is known not to be negative."""
        match node:
            case ast.Constant(value=int() as value):
                return value >= 0
            case ast.Name(id=name):
                return name in self.least
            case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right=right):
                return self._is_least(left) and self._is_least(right)
            case ast.Call(args=[ast.expr() as first, *_]) if self.source.called(node) == "arange":
                return self._is_least(first)
        return self.source.called(node) in ("program_id", "cdiv")

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return _parsed("float('inf')") if self.source.word(node) == "inf" else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        word = self.source.called(node)
        given: dict[str | None, ast.expr] = {k.arg: k.value for k in node.keywords}
        if word == "program_id":
            axis = node.args[0]
            self.programs[int(ast.literal_eval(axis))] = self._grid(node.args[1])
            return _parsed(f"tl.program_id({ast.unparse(axis)}).to(tl.int64)")
        if word in ("load", "store"):
            return self._access(node, word, given)
        node = copy.copy(node)
        node.args = [self.visit(a) for a in node.args]
        texts = [ast.unparse(a) for a in node.args]
        match word:
            case "dot":
                return _parsed(f"tl.dot({', '.join(texts)}, input_precision='ieee')")
            case "zeros":
                return _parsed(f"tl.zeros({texts[0]}, {self._first()}.dtype.element_ty)")
            case "full":
                return _parsed(f"tl.full({texts[0]}, {texts[1]}, {self._first()}.dtype.element_ty)")
            case "uint64":
                return _parsed(f"tl.cast({texts[0]}, tl.uint64)")
            case "cdiv":
                return _parsed(f"tl.cdiv({', '.join(texts)})")
            case str() if word in OWN_NAMES:
                named = [f"{k}={ast.unparse(self.visit(v))}" for k, v in given.items()]
                return _parsed(f"{self._helper(helper_of(word))}({', '.join([*texts, *named])})")
            case None if isinstance(node.func, ast.Name) and node.func.id == "range":
                return node
        return self._refuse(node, "Triton has no such call")

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        name = ROUNDED.get(type(node.op), "")
        if name and not (self._is_least(node.left) and self._is_least(node.right)):
            return _parsed(f"{self._helper(name)}({ast.unparse(left)}, {ast.unparse(right)})")
        return ast.copy_location(ast.BinOp(left, node.op, right), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if type(node.op) not in ROUNDED:
            return ast.copy_location(ast.AugAssign(node.target, node.op, self.visit(node.value)), node)
        assert isinstance(node.target, ast.Name), "tiles have no elements to assign to"
        value = ast.BinOp(ast.Name(id=node.target.id, ctx=ast.Load()), node.op, node.value)
        return ast.copy_location(ast.Assign(targets=[node.target], value=self.visit(value)), node)

    def _helper(self, name: str) -> str:
        """The same name; a helper is noted for the module."""
        self.helpers |= {name} & set(HELPERS)
        return name

    def _grid(self, programs: ast.expr) -> ast.expr:
        """How many programs there are, in the launcher."""
        made: ast.expr = _Launched(self.source).visit(copy.deepcopy(programs))
        return made

    def _array(self, block: ast.Call) -> None:
        array, shape = block.args[0], block.args[3]
        assert isinstance(array, ast.Name)
        self.ranks[array.id] = len(_items(shape))

    def _access(self, node: ast.Call, word: str, given: Mapping[str | None, ast.expr]) -> ast.expr:
        """A load or a store through pointers with a mask."""
        block = node.args[0]
        found = self.blocks.get(block.id) if isinstance(block, ast.Name) else block
        if not isinstance(found, ast.Call):
            self._refuse(node, "this is no block")
        pointer, masks = self._pointer(found)
        position = 1 if word == "load" else 2
        mask = node.args[position] if len(node.args) > position else given.get("mask")
        if mask is not None:
            masks.append(f"({ast.unparse(self.visit(mask))})")
        if word == "store":
            return _parsed(f"tl.store({pointer}, {ast.unparse(self.visit(node.args[1]))}, mask={' & '.join(masks)})")
        other = node.args[2] if len(node.args) > 2 else given.get("other")
        text = "0" if other is None else ast.unparse(self.visit(other))
        return _parsed(f"tl.load({pointer}, mask={' & '.join(masks)}, other={text})")

    def _pointer(self, block: ast.Call) -> tuple[str, list[str]]:
        """The addresses of a block's lanes, and which of them are elements."""
        array, extents, offsets, shape = (_items(a) for a in block.args)
        pointer = name = ast.unparse(array[0])
        masks: list[str] = []
        kept = [k for k, edge in enumerate(shape) if not (isinstance(edge, ast.Constant) and edge.value is None)]
        for k, start in enumerate(offsets):
            at = f"({ast.unparse(self.visit(start))}"
            lanes = ", ".join(":" if k == d else "None" for d in kept)
            at += f" + tl.arange(0, {ast.unparse(shape[k])}))[{lanes}]" if k in kept else ")"
            place = f"tl.cast({at}, tl.int64)" if k in kept else at   # no place has 32 bits, however large the array
            pointer += f" + {place} * {name}_stride_{k}"
            if k not in kept and kept:   # a tile of one lane: & of a number and a tile is no mask for the interpreter
                place = ", ".join(["None"] * (len(kept) - 1) + [":"])
                at_mask = f"({ast.unparse(self.visit(start))} + tl.arange(0, 1))[{place}]"
            else:
                at_mask = at
            masks += [] if self._is_least(start) else [f"({at_mask} >= 0)"]
            masks.append(f"({at_mask} < {ast.unparse(extents[k])})")
        return pointer, masks

    def _refuse(self, node: ast.AST, problem: str) -> NoReturn:
        self.source.refuse(node, problem)


class _Launched(ast.NodeTransformer):
    """An expression of sizes in the launcher, which is plain Python."""

    def __init__(self, source: BlockSource) -> None:
        self.source = source

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self.source.called(node) == "cdiv":
            return _parsed(f"triton.cdiv({', '.join(ast.unparse(self.visit(a)) for a in node.args)})")
        return node


def _items(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else [node]


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
