"""The source of a Python function, and refusals that show its line with a caret under it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, NoReturn

from polysched.errors import SourceLocation, SourceSyntaxError, UnsupportedScopError
from polysched.records import dataclass


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """A function with its syntax tree.

    Parameters
    ----------
    function : the Python function.
    path : the file that it stands in.
    lines : its source, without common indentation.
    first_line : number of the first of these lines in the file.
    indent : columns that were taken off every line.
    tree : the function's definition; line numbers count from 1 in `lines`.
    """

    function: Callable[..., Any]
    path: str
    lines: tuple[str, ...]
    first_line: int
    indent: int
    tree: ast.FunctionDef

    @property
    def text(self) -> str:
        """The source, without common indentation."""
        return "\n".join(self.lines)

    def line_of(self, node: ast.AST) -> int:
        """The line of a node in the file."""
        return self.first_line + int(getattr(node, "lineno", 1)) - 1

    def refuse(self, node: ast.AST, problem: str, *, hint: str | None = None) -> NoReturn:
        """Raise an `UnsupportedScopError` that points at a node."""
        column = int(getattr(node, "col_offset", 0))
        location = SourceLocation(self.path, self.line_of(node), column + self.indent + 1)
        raise UnsupportedScopError(problem, where=location, witness=self.marked(node), hint=hint)

    def marked(self, node: ast.AST) -> str:
        """The node's line with carets under the node."""
        number = int(getattr(node, "lineno", 1))
        line = self.lines[number - 1]
        column = _characters(line, int(getattr(node, "col_offset", 0)))
        last = int(getattr(node, "end_lineno", number) or number)
        end = _characters(line, int(getattr(node, "end_col_offset", 0) or 0)) if last == number else len(line.rstrip())
        carets = " " * column + "^" * max(1, end - column)
        return f"\n    {line.rstrip()}\n    {carets}"


def _characters(line: str, offset: int) -> int:
    """How many characters a byte offset of `ast` is."""
    return len(line.encode()[:offset].decode(errors="ignore"))


def read_source(function: Callable[..., Any]) -> FunctionSource:
    """The source of a function.

    Raises
    ------
    SourceSyntaxError : there is no source to read (an interactive definition, a lambda, a builtin).
    """
    name = getattr(function, "__name__", str(function))
    try:
        raw, first_line = inspect.getsourcelines(function)
        path = inspect.getsourcefile(function) or "<unknown>"
    except (OSError, TypeError) as error:
        raise SourceSyntaxError(f"the source of {name} cannot be read", witness=str(error),
                                hint="define the function in a file or a notebook cell") from None
    text = textwrap.dedent("".join(raw))
    try:
        parsed = ast.parse(text)
    except SyntaxError as error:
        raise SourceSyntaxError(f"the source of {name} does not parse alone", where=SourceLocation(path, first_line),
                                witness=str(error), hint="write a plain def on lines of its own") from None
    definition = parsed.body[0] if parsed.body else None
    if not isinstance(definition, ast.FunctionDef):
        raise SourceSyntaxError(f"{name} is not defined by a plain def", where=SourceLocation(path, first_line),
                                hint="write a def, not a lambda or an async def")
    lines = tuple(text.splitlines())
    indent = len(raw[0]) - len(raw[0].lstrip())
    return FunctionSource(function, path, lines, first_line, indent, definition)
