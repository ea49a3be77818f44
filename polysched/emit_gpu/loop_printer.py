"""Loops, branches and values as C, which are spelled alike on the host and on the device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Local, Node
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.loop_head import loop_head
from polysched.emit_c.scalar_code.statements import INDENT, braced
from polysched.records import dataclass


@dataclass(frozen=True, eq=False, kw_only=True)
class LoopPrinter(ABC):
    """Prints nodes.

    Parameters
    ----------
    index : prints bounds, conditions and values.
    """

    index: IndexPrinter

    @abstractmethod
    def leaf(self, node: Node) -> list[str]:
        """The lines of any other node."""

    def lines(self, node: Node) -> list[str]:
        """The lines of a node, not indented."""
        match node:
            case Block():
                return [line for child in node.children for line in self._scoped(child)]
            case For():
                return braced(loop_head(node, self.index), self.lines(node.body))
            case If():
                otherwise = [] if node.otherwise is None else ["} else {", *self._inside(node.otherwise)]
                return [f"if ({self.index.condition(node.condition)}) {{", *self._inside(node.then), *otherwise, "}"]
            case Let():
                return [f"const long {node.variable} = {self.index.bound(node.value)};", *self.lines(node.body)]
            case _:
                return self.leaf(node)

    def _scoped(self, node: Node) -> list[str]:
        """The lines of a node, in a block of their own where they declare something."""
        return ["{", *self._inside(node), "}"] if isinstance(node, Let | Local) else self.lines(node)

    def _inside(self, node: Node) -> list[str]:
        return indented(self.lines(node))


def indented(lines: Iterable[str]) -> list[str]:
    """Lines one level further in."""
    return [INDENT + line for line in lines]
