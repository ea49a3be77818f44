"""`memset` and `memcpy` of a number of elements, as loops."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.c_types import Scalar, element_type
from polysched.scop.c_frontend.parse import everything, is_step
from polysched.scop.c_frontend.rewrites.bodies import rewrite_bodies
from polysched.scop.c_frontend.rewrites.lvalue_types import LvalueTypes
from polysched.scop.dtypes import DType

COPIES = ("memset", "memcpy")
_COUNTS = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp, c_ast.StructRef)


@dataclass(frozen=True)
class MemoryCalls:
    """Rewrites the statements of a region, in place below.

    Rewrite:  memset(p, 0, n * sizeof(T));        ->  for (long k = 0; k < n; k++) p[k] = 0;
    Rewrite:  memcpy(p, q + i, n * sizeof(T));    ->  for (long k = 0; k < n; k++) p[k] = (q + i)[k];

    Only where the pointers lead to numbers of type T, and where the file has no functions of these names.  A negative
    number of elements would be a size beyond all memory (C11 7.24.1p2).

    Parameters
    ----------
    types : of what is visible at the region, and of what it declares.
    defined : the functions of the file.
    fresh : makes a name that nothing has.
    """

    types: LvalueTypes
    defined: Collection[str]
    fresh: Callable[[str], str]

    def statements(self, nodes: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items."""
        return tuple(map(self._made_of, nodes))

    def _made_of(self, node: c_ast.Node) -> c_ast.Node:
        if isinstance(node, c_ast.Compound):
            node.block_items = list(self.statements(node.block_items or ()))
            return node
        rewrite_bodies(node, lambda below: (self._made_of(below),))
        name = node.name.name if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) else ""
        arguments = node.args.exprs if name in COPIES and node.args else ()
        if len(arguments) != 3 or name in self.defined:
            return node
        return self._loop(name, arguments, node.coord) or node

    def _loop(self, name: str, arguments: Sequence[c_ast.Node], coord: object) -> c_ast.Node | None:
        target, value, size = arguments
        dtype = self._dtype(target)
        count = None if dtype is None else self._count(size, dtype)
        if count is None:
            return None
        counter = c_ast.ID(self.fresh("at"), coord)
        if name == "memcpy":
            moved = _element(value, counter) if self._dtype(value) == dtype else None
        else:
            moved = value if isinstance(value, c_ast.Constant) and value.value == "0" else None
        element = _element(target, counter)
        if moved is None or element is None:
            return None
        kind = c_ast.TypeDecl(counter.name, [], None, c_ast.IdentifierType(["long"], coord), coord)
        zero = c_ast.Constant("int", "0", coord)
        start = c_ast.DeclList([c_ast.Decl(counter.name, [], [], [], [], kind, zero, None, coord)], coord)
        return c_ast.For(start, c_ast.BinaryOp("<", copy.deepcopy(counter), copy.deepcopy(count), coord),
                         c_ast.UnaryOp("p++", copy.deepcopy(counter), coord),
                         c_ast.Assignment("=", element, copy.deepcopy(moved), coord), coord)

    def _dtype(self, node: c_ast.Node) -> DType | None:
        """The type of the numbers that a pointer leads to."""
        place = node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "&" else None
        pointer = self.types.of(node) if place is None else None
        found = self.types.of(place) if place is not None else None if pointer is None else element_type(pointer)
        return found.dtype if isinstance(found, Scalar) and not found.volatile else None

    def _count(self, size: c_ast.Node, dtype: DType) -> c_ast.Node | None:
        """The number of elements that a number of bytes holds: n of `n * sizeof(T)`."""
        if not isinstance(size, c_ast.BinaryOp) or size.op != "*":
            return c_ast.Constant("int", "1", size.coord) if self._is_size(size, dtype) else None
        for one, other in ((size.left, size.right), (size.right, size.left)):
            if self._is_size(one, dtype) and all(isinstance(n, _COUNTS) for n in everything(other)):
                return other
        return None

    def _is_size(self, node: c_ast.Node, dtype: DType) -> bool:
        """Whether a node is `sizeof(T)` or `sizeof *p`."""
        if not isinstance(node, c_ast.UnaryOp) or node.op != "sizeof":
            return False
        found = self.types.resolved(node.expr) if isinstance(node.expr, c_ast.Typename) else self.types.of(node.expr)
        return isinstance(found, Scalar) and found.dtype == dtype


def _element(pointer: c_ast.Node, counter: c_ast.ID) -> c_ast.Node | None:
    """An element behind a pointer; None where evaluating the pointer does something."""
    if any(isinstance(n, c_ast.Assignment | c_ast.FuncCall) or is_step(n) for n in everything(pointer)):
        return None
    made = copy.deepcopy(pointer)
    if isinstance(made, c_ast.UnaryOp) and made.op == "&":
        if not isinstance(made.expr, c_ast.ArrayRef):
            return None
        moved = c_ast.BinaryOp("+", made.expr.subscript, copy.deepcopy(counter), pointer.coord)
        return c_ast.ArrayRef(made.expr.name, moved, pointer.coord)
    return c_ast.ArrayRef(made, copy.deepcopy(counter), pointer.coord)
