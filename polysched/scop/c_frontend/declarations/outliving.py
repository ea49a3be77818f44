"""Variables that a region declares and the code behind it uses.

The emitted region has no declarations of its own where the text had them, so those that outlive it are
declared at its start instead, without their initial values, which stay assignments.
"""

from __future__ import annotations

import copy
from textwrap import dedent

from pycparser import c_ast, c_generator

from polysched.errors import UnsupportedScopError
from polysched.scop.c_frontend.declarations.bindings import describe, identifiers_in
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Scalar, resolve
from polysched.scop.c_frontend.declarations.scopes import Scope, declarations
from polysched.scop.c_frontend.parse import SyntaxRegion, c_text, everything, place

HINT = "declare it before the region"


def outliving(path: str, scope: Scope, region: SyntaxRegion) -> tuple[c_ast.Decl, ...]:
    """The declarations among a region's own statements whose names the rest of the block uses.

    Raises
    ------
    UnsupportedScopError : one of them cannot stand at the region's start.
    """
    later = frozenset(n for item in region.after for n in (*identifiers_in(item), *_type_names(item)))
    own = [d for item in region.items for d in declarations(item)]
    found = []
    for declaration in own:
        if isinstance(declaration, c_ast.Typedef) and declaration.name in later:
            raise _refused(path, declaration, "the type", declaration.name)
        if isinstance(declaration, c_ast.Decl) and declaration.name in later:
            _check(path, scope, region, declaration)
            found.append(declaration)
    return tuple(found)


def at_start(declaration: c_ast.Decl) -> str:
    """The declaration as C, without its initial value and open to assignment."""
    made = copy.deepcopy(declaration)
    made.init, made.quals = None, []
    inner = made.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.quals = []
    return f"{c_text(made)};"


def without_declarations(region: SyntaxRegion, kept: tuple[c_ast.Decl, ...]) -> str:
    """The region as C in which these declarations are assignments of their initial values."""
    items = [item if item not in kept else c_ast.Assignment("=", c_ast.ID(item.name), item.init)
             for item in region.items if item not in kept or item.init is not None]
    _, *lines, _ = c_generator.CGenerator().visit(c_ast.Compound(items)).splitlines()
    return dedent("".join(f"{line}\n" for line in lines))


def made_assignable(declaration: c_ast.Decl) -> None:
    """Drop `const`: the initial value becomes an assignment."""
    inner = declaration.type
    declaration.quals = [q for q in declaration.quals or [] if q != "const"]
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.quals = [q for q in inner.quals or [] if q != "const"]


def _type_names(node: c_ast.Node) -> frozenset[str]:
    return frozenset(name for n in everything(node) if isinstance(n, c_ast.IdentifierType) for name in n.names)


def _refused(path: str, node: c_ast.Node, what: str, name: str) -> UnsupportedScopError:
    return UnsupportedScopError(f"{what} `{name}` is declared inside the region and used after it",
                                where=place(path, node), witness=describe(node), hint=HINT)


def _changed(node: c_ast.Node) -> str | None:
    """The variable that a declaration makes, an assignment sets, or an operator with one side may step."""
    if isinstance(node, c_ast.Decl):
        return None if node.name is None else str(node.name)
    named = node.lvalue if isinstance(node, c_ast.Assignment) else node.expr if isinstance(
        node, c_ast.UnaryOp) else None
    return str(named.name) if isinstance(named, c_ast.ID) else None


def _check(path: str, scope: Scope, region: SyntaxRegion, node: c_ast.Decl) -> None:
    """What stands at the region's start must mean there what it means where it stood."""
    ctype: CType = resolve(node.type, scope.type_names)
    names = frozenset[str]()
    while isinstance(ctype, ArrayOf):
        names |= identifiers_in(ctype.extent) if ctype.extent is not None else frozenset()
        ctype = ctype.element
    changing = {name for item in region.items for n in everything(item) if (name := _changed(n)) is not None}
    values = isinstance(node.init, c_ast.InitList)
    known = scope.lookup(node.name) is not None
    if not isinstance(ctype, Scalar) or values or node.storage or names & changing or known:
        raise _refused(path, node, "the variable", node.name)
