"""A block program as a syntax tree with its constants filled in, and which words of the language it uses."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, NoReturn

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.block_frontend import language
from polysched.scop.python_frontend.source import FunctionSource, read_source

WORDS = frozenset(name for name, value in vars(language).items()
                  if callable(value) and getattr(value, "__module__", "") == language.__name__ and name[0] != "_")


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockSource:
    """A block program.

    Parameters
    ----------
    source : as written, for refusals.
    arguments : arrays and numbers of a call, in order.
    constants : the arguments with defaults: integers that are part of the program.
    body : the statements, names of constants replaced by their values.
    same : arguments that are the array of another one in a call.
    """

    source: FunctionSource
    arguments: tuple[str, ...]
    constants: Mapping[str, int]
    body: tuple[ast.stmt, ...]
    same: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.source.function.__name__)

    def word(self, node: ast.expr) -> str | None:
        """The word of the language that an expression is; None for anything else."""
        scope = self.source.function.__globals__
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=word) if scope.get(name) is language:
                return word
            case ast.Name(id=name) if name in scope and any(scope[name] is getattr(language, w) for w in WORDS):
                return next(w for w in WORDS if scope[name] is getattr(language, w))
        return None

    def called(self, node: ast.AST) -> str | None:
        """The word that a call calls; None for anything else."""
        return self.word(node.func) if isinstance(node, ast.Call) else None

    @cached_property
    def assigned(self) -> Counter[str]:
        """How many statements assign each name."""
        return Counter(node.id for top in self.body for node in ast.walk(top)
                       if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))

    @cached_property
    def used(self) -> Counter[str]:
        """How often each name is read."""
        return Counter(node.id for top in self.body for node in ast.walk(top)
                       if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))

    @cached_property
    def stored(self) -> frozenset[str]:
        """The arrays that the program writes, under all their names."""
        blocks = {target.id: node.value for node in self._nodes if isinstance(node, ast.Assign)
                  for target in node.targets if isinstance(target, ast.Name)}
        stores = [node.args[0] for node in self._nodes
                  if isinstance(node, ast.Call) and self.called(node) == "store" and node.args]
        found = [blocks.get(block.id, block) if isinstance(block, ast.Name) else block for block in stores]
        written = {self.same.get(array, array) for block in found if (array := _first_name(block))}
        return frozenset(a for a in self.arguments if self.same.get(a, a) in written)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The arrays of which there are blocks, with their dimensions."""
        calls = [node for node in self._nodes if isinstance(node, ast.Call) and self.called(node) == "block"]
        return {name: len(node.args[3].elts) if isinstance(node.args[3], ast.Tuple | ast.List) else 1
                for node in calls if len(node.args) > 3 and (name := _first_name(node)) in self.arguments}

    @property
    def _nodes(self) -> Iterator[ast.AST]:
        return (node for top in self.body for node in ast.walk(top))

    def refuse(self, node: ast.AST, problem: str, hint: str | None = None) -> NoReturn:
        """Raise an `UnsupportedScopError` that points at a node."""
        self.source.refuse(node, problem, hint=hint)


def read_block_program(function: Callable[..., Any], given: Mapping[str, int]) -> BlockSource:
    """Read a function as a block program.

    Parameters
    ----------
    given : constants with other values than their defaults.

    Raises
    ------
    UsageError : a constant that the function does not have, or one that is no integer above 0.
    UnsupportedScopError : arguments that are neither arrays, numbers nor constants.
    """
    source = read_source(function)
    form = source.tree.args
    if form.vararg or form.kwarg or form.kwonlyargs or form.posonlyargs:
        source.refuse(source.tree, "a block program takes plain arguments", hint="no *, ** or /")
    names = [a.arg for a in form.args]
    first = len(names) - len(form.defaults)
    constants = dict(zip(names[first:], function.__defaults__ or (), strict=True))
    for name, value in given.items():
        if name not in constants:
            raise UsageError(f"{function.__name__} has no constant {name}",
                             hint=f"it has {', '.join(constants) or 'none'}")
        constants[name] = value
    for name, value in constants.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{function.__name__}: {name}={value!r} is no edge of a block", hint="an integer above 0")
    body = [_Filled(constants).visit(copy.deepcopy(s)) for s in source.tree.body]
    return BlockSource(source=source, arguments=tuple(names[:first]), constants=constants, body=tuple(body))


def _first_name(block: ast.expr) -> str:
    """The array of a block; empty for what is none."""
    match block:
        case ast.Call(args=[ast.Name(id=array), *_]):
            return array
    return ""


class _Filled(ast.NodeTransformer):
    """Names of constants become numbers."""

    def __init__(self, constants: Mapping[str, int]) -> None:
        self.constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.constants:
            return ast.copy_location(ast.Constant(self.constants[node.id]), node)
        return node
