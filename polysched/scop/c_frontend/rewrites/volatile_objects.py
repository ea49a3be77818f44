"""Volatile objects in a region and in the functions of the file that it calls: each access happens, in its order.

Asked before anything is rewritten, since a rewrite may repeat an access, drop it, or lose the type that says it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import describe
from polysched.scop.c_frontend.declarations.c_types import (
    ArrayOf,
    CType,
    Pointer,
    Scalar,
    StructType,
    Unsupported,
    element_type,
)
from polysched.scop.c_frontend.declarations.scopes import Scope
from polysched.scop.c_frontend.parse import everything, place
from polysched.scop.c_frontend.rewrites.late_arguments import own_names
from polysched.scop.c_frontend.rewrites.lvalue_types import LvalueTypes

_WITH_QUALIFIERS = (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl)


@dataclass(eq=False)
class VolatileObjects:
    """What of a file is volatile, by name; nothing is looked up in a file without such an object.

    Parameters
    ----------
    functions : the definitions of the file, by name.
    types : names of types that are volatile or lead to what is.
    objects : names at file scope of what is volatile or leads to it.
    members : names of such members of any struct.
    is_there : whether the word stands anywhere in the file.
    touching : whether a function's own text names a volatile object, of those that were looked at.
    """

    functions: Mapping[str, c_ast.FuncDef]
    types: frozenset[str]
    objects: frozenset[str]
    members: frozenset[str]
    is_there: bool
    touching: dict[str, bool] = field(default_factory=dict)

    def check(self, path: str, items: Sequence[c_ast.Node], scope: Scope, calls: Container[str]) -> None:
        """Refuse statements that name a volatile object, or call what does.

        Parameters
        ----------
        calls : functions that stay calls whatever stands in them.

        Raises
        ------
        UnsupportedScopError : they do, outside of `sizeof`.
        """
        if not self.is_there:
            return
        types = LvalueTypes(scope)
        types.declare(items)
        for node in (n for item in items for n in _evaluated(item)):
            if self._is_volatile(node, types) or self._touches(node, calls):
                raise UnsupportedScopError("a volatile object can change behind the program's back",
                                           where=place(path, node), witness=describe(node),
                                           hint="drop `volatile` if nothing else writes it")

    def _is_volatile(self, node: c_ast.Node, types: LvalueTypes) -> bool:
        if isinstance(node, c_ast.ID):
            return any(map(leads_to_volatile, types.meanings(node.name)))
        if isinstance(node, c_ast.StructRef):
            kind = types.of(node)
            return kind is not None and leads_to_volatile(kind)
        if isinstance(node, c_ast.Decl):
            return not isinstance(node.type, c_ast.FuncDecl) and leads_to_volatile(types.resolved(node.type))
        if isinstance(node, c_ast.FuncCall):   # a struct that is passed is read as a whole
            return any(_holds_volatile(types.of(value)) for value in (node.args.exprs if node.args else ()))
        return isinstance(node, c_ast.Cast) and leads_to_volatile(types.resolved(node.to_type))

    def _touches(self, node: c_ast.Node, calls: Container[str]) -> bool:
        """Whether a call leads to a function of the file that names a volatile object, perhaps by further calls."""
        open_names, met = set(_called(node)), set()
        while open_names:
            name = open_names.pop()
            if name in met or name in calls or name not in self.functions:
                continue
            met.add(name)
            function = self.functions[name]
            if name not in self.touching:
                self.touching[name] = self._names_one(function)
            if self.touching[name]:
                return True
            open_names.update(n for call in everything(function.body, c_ast.FuncCall) for n in _called(call))
        return False

    def _names_one(self, function: c_ast.FuncDef) -> bool:
        outer = self.objects - own_names(function)
        return any((isinstance(node, _WITH_QUALIFIERS) and "volatile" in _qualifiers(node))
                   or (isinstance(node, c_ast.ID) and node.name in outer)
                   or (isinstance(node, c_ast.StructRef) and node.field.name in self.members)
                   or (isinstance(node, c_ast.IdentifierType) and not self.types.isdisjoint(node.names))
                   for node in _evaluated(function))


def volatile_objects(tree: c_ast.FileAST, functions: Mapping[str, c_ast.FuncDef]) -> VolatileObjects:
    """What of a file is volatile."""
    is_there = any("volatile" in _qualifiers(n) for n in everything(tree, *_WITH_QUALIFIERS))
    types: frozenset[str] = frozenset()
    if is_there:
        for node in (n for n in tree.ext if isinstance(n, c_ast.Typedef)):   # each names earlier ones only
            types |= _named([node], types)
    objects = _named((n for n in tree.ext if isinstance(n, c_ast.Decl)), types) if is_there else frozenset()
    members = _named((m for s in everything(tree, c_ast.Struct, c_ast.Union) for m in s.decls or ()),
                     types) if is_there else frozenset()
    return VolatileObjects(functions, types, objects, members, is_there)


def _named(declared: Iterable[c_ast.Node], types: frozenset[str]) -> frozenset[str]:
    """The names of declarations whose type is volatile, or leads to one that is; functions and structs lead nowhere."""
    return frozenset(node.name for node in declared
                     if isinstance(node, c_ast.Decl | c_ast.Typedef) and node.name and _is_declared(node.type, types))


def _is_declared(node: c_ast.Node | None, types: frozenset[str]) -> bool:
    while node is not None and not isinstance(node, c_ast.FuncDecl):
        if "volatile" in _qualifiers(node):
            return True
        if isinstance(node, c_ast.IdentifierType):
            return not types.isdisjoint(node.names)
        node = getattr(node, "type", None)
    return False


def _called(node: c_ast.Node) -> tuple[str, ...]:
    """The name of the function that a call names."""
    return (node.name.name,) if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) else ()


def _qualifiers(node: c_ast.Node) -> Sequence[str]:
    return getattr(node, "dim_quals" if isinstance(node, c_ast.ArrayDecl) else "quals", None) or ()


def leads_to_volatile(ctype: CType) -> bool:
    """Whether a type is volatile, or what its pointers and rows lead to."""
    while (inner := element_type(ctype)) is not None:
        ctype = inner
    return (isinstance(ctype, Scalar) and ctype.volatile) or (
        isinstance(ctype, Unsupported) and ctype.reason.startswith("a volatile "))


def _holds_volatile(ctype: CType | None) -> bool:
    """Whether a copy of an object reads something volatile."""
    match ctype:
        case StructType():
            return any(_holds_volatile(member) for _, member in ctype.members)
        case ArrayOf():
            return _holds_volatile(ctype.element)
        case Pointer() | None:
            return False
        case _:
            return leads_to_volatile(ctype)


def _evaluated(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """A node and what stands below it, but for names of members and operands of `sizeof` (C11 6.5.3.4)."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof":
        return
    yield node
    for name, child in node.children():
        if name != "field":
            yield from _evaluated(child)
