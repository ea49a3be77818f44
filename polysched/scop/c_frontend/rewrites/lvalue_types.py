"""The types of lvalues in a region's syntax tree, before its names are bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.c_types import CType, Pointer, Scalar, StructType, element_type, resolve
from polysched.scop.c_frontend.declarations.scopes import Scope
from polysched.scop.c_frontend.parse import everything
from polysched.scop.dtypes import INT32


@dataclass(eq=False)
class LvalueTypes:
    """Types of variables, elements and members; None for a name with several meanings in the region.

    Parameters
    ----------
    scope : what is visible at the region.
    declared : the types of what the region declares, by name.
    """

    scope: Scope
    declared: dict[str, list[CType]] = field(default_factory=dict)

    def declare(self, nodes: Sequence[c_ast.Node]) -> None:
        """Enter what statements declare."""
        for node in (n for item in nodes for n in everything(item)):
            if isinstance(node, c_ast.Decl) and node.name is not None:
                self.declared.setdefault(node.name, []).append(self.resolved(node.type))

    def meanings(self, name: str) -> list[CType]:
        """The types of what a name stands for somewhere in the region."""
        symbol = self.scope.lookup(name)
        return [*self.declared.get(name, ()), *(() if symbol is None else (symbol.ctype,))]

    def steps_back(self, name: str) -> bool:
        """Whether `v - 1` behind `v++` is the value before it: of pointers, and of integers that no step narrows."""
        kind = self.of(c_ast.ID(name))
        return isinstance(kind, Pointer) or (isinstance(kind, Scalar) and kind.dtype.is_integer
                                             and not kind.volatile and kind.dtype.bits >= INT32.bits)

    def resolved(self, node: c_ast.Node) -> CType:
        """The type that a declaration or a type name stands for."""
        return resolve(node, self.scope.type_names)

    def of(self, node: c_ast.Node) -> CType | None:
        """The type of an lvalue, or of a pointer that is moved."""
        if isinstance(node, c_ast.ID):
            found = self.meanings(node.name)
            return found[0] if len(found) == 1 else None
        if isinstance(node, c_ast.ArrayRef):
            return self._element(node.name)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self._element(node.expr)
        if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
            return self.of(node.left)
        if isinstance(node, c_ast.StructRef):
            base = self._element(node.name) if node.type == "->" else self.of(node.name)
            return base.member(node.field.name) if isinstance(base, StructType) else None
        return None

    def _element(self, node: c_ast.Node) -> CType | None:
        base = self.of(node)
        return None if base is None else element_type(base)
