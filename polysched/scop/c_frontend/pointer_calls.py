"""Calls through pointers to functions: `act(x)`, `(*act)(x)`, `layer->act(x)`, `table[2](x)`.

A pointer that is declared pure leads to functions that only compute with their arguments, and keeps its value in the
region.  Its own type says what it takes and gives.
"""

from __future__ import annotations

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.c_types import FunctionType, Pointer
from polysched.scop.c_frontend.extraction import Extraction
from polysched.scop.c_frontend.subscripts.members import keeps_value, memory_path


@dataclass(frozen=True)
class CalledPointer:
    """A pointer that is called.

    Parameters
    ----------
    spelling : C for its value.
    ctype : the type of the function.
    kept : nothing in the region visibly changes it.
    """

    spelling: str
    ctype: FunctionType
    kept: bool

    @property
    def called(self) -> str:
        """C for what is called, which is the name of no function."""
        return f"(*{self.spelling})" if self.spelling.isidentifier() else self.spelling


def called_pointer(x: Extraction, node: c_ast.Node) -> CalledPointer | None:
    """The pointer that a call goes through; None where it names a function."""
    while isinstance(node, c_ast.UnaryOp) and node.op == "*":   # `*f` is the function, which is called through f again
        node = node.expr
    if isinstance(node, c_ast.ID) and node.name not in x.bindings.visible and node not in x.bindings.meaning:
        return None   # a function that nothing declares
    path = memory_path(x, node)
    if path is None or not isinstance(path.ctype, Pointer) or not isinstance(path.ctype.target, FunctionType):
        return None
    return CalledPointer(path.spelling, path.ctype.target, keeps_value(x, path))
