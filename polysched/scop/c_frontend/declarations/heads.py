"""A function definition's head as a `FunctionSignature`."""

from __future__ import annotations

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import function_parameters
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Pointer, Scalar, resolve
from polysched.scop.c_frontend.declarations.scopes import Scope
from polysched.scop.c_frontend.parse import c_text, everything
from polysched.scop.signature import FunctionParameter, FunctionSignature, ParameterKind

_OWN_NAME = frozenset({"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"})


def signature_of(function: c_ast.FuncDef, scope: Scope) -> FunctionSignature:
    """How a function is called."""
    declaration = function.decl
    return FunctionSignature(
        name=declaration.name,
        parameters=tuple(_parameter(p, resolve(p.type, scope.type_names)) for p in function_parameters(function)),
        return_type=c_text(declaration.type.type),
        static="static" in (declaration.storage or ()), takes_more=_takes_more(declaration.type.args),
        inline="inline" in (declaration.funcspec or ()))


def _takes_more(arguments: c_ast.ParamList | None) -> bool:
    return arguments is not None and any(
        isinstance(p, c_ast.EllipsisParam) or (isinstance(p, c_ast.Typename) and c_text(p) != "void")
        for p in arguments.params)


def _parameter(node: c_ast.Decl, ctype: CType) -> FunctionParameter:
    text = c_text(node)
    if isinstance(ctype, Scalar):
        kind = ParameterKind.INTEGER if ctype.dtype.is_integer else ParameterKind.FLOATING
        return FunctionParameter(name=node.name, kind=kind, dtype=ctype.dtype, c_declaration=text,
                                 constant=ctype.constant)
    extents: list[str | None] = []
    inner: CType = ctype
    while isinstance(inner, ArrayOf) or (isinstance(inner, Pointer) and not extents):
        extents.append(c_text(inner.extent) if isinstance(inner, ArrayOf) and inner.extent is not None else None)
        inner = inner.element if isinstance(inner, ArrayOf) else inner.target
    if extents and isinstance(inner, Scalar):
        quals = getattr(node.type, "dim_quals", None) or ()
        restrict = ctype.restrict if isinstance(ctype, Pointer) else "restrict" in quals
        return FunctionParameter(name=node.name, kind=ParameterKind.ARRAY, dtype=inner.dtype, c_declaration=text,
                                 c_extents=tuple(extents), constant=inner.constant, restrict=restrict)
    return FunctionParameter(name=node.name, kind=ParameterKind.OTHER, dtype=None, c_declaration=text)


def names_itself(function: c_ast.FuncDef) -> bool:
    """Whether a function's text needs the function's name for more than its definition and calls of itself."""
    nodes, name = list(everything(function)), function.decl.name
    called = {id(node.name) for node in nodes if isinstance(node, c_ast.FuncCall)}
    words = {n.name for n in nodes if isinstance(n, c_ast.ID) and id(n) not in called}
    tags = {n.name for n in nodes if isinstance(n, (c_ast.Struct, c_ast.Union, c_ast.Enum))}
    return name in words | tags or bool(words & _OWN_NAME)
