"""What a glance tells of statements that can be no region, before anything is rewritten: most runs that are tried.

    for (i = 0; i < n; i++) { printf("%d\\n", i); for (j = 0; j < m; j++) x[i * m + j] = 0; }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.scop.c_frontend.opaque import jump, unused_call
from polysched.scop.c_frontend.parse import everything
from polysched.scop.c_frontend.rewrites.bodies import BODIES


def certain_refusal(path: str, items: Sequence[c_ast.Node],
                    is_unknown: Callable[[str], bool]) -> UnsupportedScopError | None:
    """Why statements cannot be read whatever is made of them; None where that is not certain.

    Parameters
    ----------
    path : of the file.
    is_unknown : whether a call of a function by this name, as a statement, stays one that nothing is known of.
    """
    for item in items:
        if (left := next(everything(item, c_ast.Return, c_ast.Goto), None)) is not None:
            return jump(path, left)
        for call in _calls_alone(item):
            if isinstance(call.name, c_ast.ID) and is_unknown(call.name.name):
                return unused_call(path, call)
    return None


def _calls_alone(node: c_ast.Node) -> Iterator[c_ast.FuncCall]:
    """The calls below a statement that are statements."""
    if isinstance(node, c_ast.FuncCall):
        yield node
    elif isinstance(node, c_ast.Compound):
        for item in node.block_items or ():
            yield from _calls_alone(item)
    elif not isinstance(node, c_ast.TernaryOp):
        for name in BODIES:
            if (below := getattr(node, name, None)) is not None:
                yield from _calls_alone(below)
