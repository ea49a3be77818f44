"""Integers in memory that the region only reads, as parameters: `grid.n`, `grid->n`, `size[0]` and `*n`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Pointer, Scalar, StructType
from polysched.scop.c_frontend.declarations.literals import integer_constant
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.extraction import Affine, Extraction, NotAffine
from polysched.scop.c_frontend.parse import place
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.scop import READABLE, Assumption, Parameter


@dataclass(frozen=True, kw_only=True)
class MemoryPath:
    """The way from a variable to an integer in memory.

    Parameters
    ----------
    base : the variable.
    ctype : the type of what the way has led to so far.
    spelling : C for it.
    names : members and subscripts on the way.
    members : the members alone.
    through : C for the object behind the last pointer on the way; empty where every read is known to find memory.
    """

    base: Symbol
    ctype: CType
    spelling: str
    names: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    through: str = ""

    def member(self, node: c_ast.StructRef) -> MemoryPath | None:
        """The way on to a member."""
        through, ctype = self.through, self.ctype
        if isinstance(ctype, Pointer):
            through, ctype = f"{self.spelling}[0]", ctype.target
        found = ctype.member(node.field.name) if isinstance(ctype, StructType) else None
        return None if found is None else replace(
            self, ctype=found, spelling=f"{self.spelling}{node.type}{node.field.name}", through=through,
            names=(*self.names, node.field.name), members=(*self.members, node.field.name))

    def element(self, subscript: str, index: int | None) -> MemoryPath | None:
        """The way on to an element; `index` is the subscript's value where it is known."""
        spelling = f"{self.spelling}[{subscript}]"
        names = (*self.names, subscript)
        if isinstance(self.ctype, Pointer):
            return replace(self, ctype=self.ctype.target, spelling=spelling, names=names, through=spelling)
        if not isinstance(self.ctype, ArrayOf):
            return None
        extent = integer_constant(self.ctype.extent)
        inside = (index is not None and extent is not None and index < extent
                  and not (self.base.origin is Origin.PARAMETER and not self.names))
        return replace(self, ctype=self.ctype.element, spelling=spelling, names=names,
                       through=self.through if inside else spelling)


def memory_path(x: Extraction, node: c_ast.Node) -> MemoryPath | None:
    """The way to `s.a.b`, `p->a`, `size[0]`, `size[k]`, and `*n` as `n[0]`; None for other subscripts."""
    if isinstance(node, c_ast.ID):
        symbol = x.bindings.symbol(node)
        return MemoryPath(base=symbol, ctype=symbol.ctype, spelling=node.name)
    if isinstance(node, c_ast.StructRef):
        inner = memory_path(x, node.name)
        return inner and inner.member(node)
    if isinstance(node, c_ast.UnaryOp) and node.op == "*":
        inner = memory_path(x, node.expr)
        return inner and inner.element("0", 0)
    if not isinstance(node, c_ast.ArrayRef):
        return None
    inner, index = memory_path(x, node.name), integer_constant(node.subscript)
    if inner is None or (index is None and not _is_parameter(x, node.subscript)):
        return None
    return inner.element(str(index) if index is not None else node.subscript.name, index)


def _is_parameter(x: Extraction, node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.ID) and x.parameter(x.bindings.symbol(node)) is not None


def is_fixed(x: Extraction, node: c_ast.Node) -> bool:
    """Whether an expression reads an integer in memory that keeps its value in the region."""
    return _fixed_path(x, node) is not None


def constant_element(x: Extraction, node: c_ast.Node) -> Affine | None:
    """The value of `size[1]` of a constant array with initial values: it cannot change in a valid program."""
    path = memory_path(x, node)
    if path is None or len(path.names) != 1 or not isinstance(path.ctype, Scalar) or not path.ctype.constant:
        return None
    initial = getattr(path.base.node, "init", None)
    if not isinstance(path.base.ctype, ArrayOf) or not isinstance(initial, c_ast.InitList):
        return None
    values = [integer_constant(value) for value in initial.exprs]
    index = int(path.names[0]) if path.names[0].isdigit() else len(values)
    value = values[index] if index < len(values) and None not in values else None
    low, high = path.ctype.dtype.value_range() if path.ctype.dtype.is_integer else (0, -1)
    if value is None or not low <= value <= high:   # C converts it
        return None
    return Affine(polyhedra.constant(value), path.ctype.dtype)


def memory_parameter(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Parameter | None:
    """The parameter that an integer in memory is; None when the region could write it, or it is none.

    Its value is taken where the region begins.  Where the program reads it on a condition only, behind a pointer of
    which nothing tells that it leads to memory otherwise, that it can be read at the beginning is an assumption.

    Raises
    ------
    NotAffine : such a condition is one on data, inside of a statement; or assumptions are forbidden.
    """
    path = _fixed_path(x, node)
    if path is None:
        return None
    assert isinstance(path.ctype, Scalar)
    _make_readable(x, path, domain, node)
    key = (path.base, path.spelling)
    if key not in x.parameters:
        name = x.fresh("_".join((path.base.name, *path.names)))
        x.add_parameter(key, Parameter(name, path.ctype.dtype, path.spelling))
    return x.parameters[key]


def check_amounts(x: Extraction, nodes: Iterable[c_ast.Node]) -> None:
    """Refuse members and variables that say how far the region steps a variable, and may change inside it.

    Raises
    ------
    UnsupportedScopError : one of them is no integer that the region only reads.
    """
    for node in nodes:
        found = None
        with contextlib.suppress(NotAffine):
            found = (x.parameter(x.bindings.symbol(node)) if isinstance(node, c_ast.ID) else
                     memory_parameter(x, node, polyhedra.universe()))
        if found is None:
            kind = "variable" if isinstance(node, c_ast.ID) else "member"
            raise x.refuse(f"how far a variable is stepped depends on a {kind} that may change", node,
                           hint=f"put the {kind} into a variable in front of the region")


def _fixed_path(x: Extraction, node: c_ast.Node) -> MemoryPath | None:
    path = memory_path(x, node)
    if path is None or not path.names:
        return None
    ctype = path.ctype
    is_integer = isinstance(ctype, Scalar) and ctype.dtype.is_integer and not ctype.volatile
    return path if is_integer and keeps_value(x, path) else None


def keeps_value(x: Extraction, path: MemoryPath) -> bool:
    """Whether the region visibly neither writes what a way leads to, nor moves a pointer on it."""
    return not (path.base in x.bindings.written or path.base.origin is Origin.REGION
                or any(base is path.base and (not written or not path.members or written[-1] in path.members)
                       for base, written in x.bindings.written_members))


def _whatever_it_is(x: Extraction, read: isl.Set) -> isl.Set:
    """Where memory is read for every value that it has: `if (*p == 4) break` ends the loop behind a look at `*p`."""
    known = {p.name for p in x.parameters.values()}
    names = [str(read.get_dim_name(polyhedra.PARAM, at)) for at in range(int(read.dim(polyhedra.PARAM)))]
    values = [name for name in names if name not in known]
    return polyhedra.project_out(read.complement(), values).complement() if values else read


def _make_readable(x: Extraction, path: MemoryPath, domain: isl.Set, node: c_ast.Node) -> None:
    """Take for granted that memory can be read where the region begins, unless the region reads it in any case.

    Raises
    ------
    NotAffine : what reads it is a part of a statement that data may skip; or assumptions are forbidden.
    """
    text = f"`{path.through}` can be read where the region begins"
    if not path.through or path.through in x.readable or any(a.text.endswith(text) for a in x.assumptions):
        return
    read = _whatever_it_is(x, polyhedra.project_out(domain, [loop.isl_name for loop in x.loops]))
    if not x.maybe and not x.guards and x.context.is_subset(read):
        x.readable.add(path.through)
        return
    if x.maybe or x.strict:
        raise NotAffine(node, f"`{path.through}` is read on a condition")
    spelling = {p.name: polyhedra.widened(p) for p in x.parameters.values()}
    condition = None if x.guards else polyhedra.c_condition(read.gist(x.context).coalesce(), spelling)
    x.assumptions.append(Assumption(kind=READABLE, text=f"{place(x.path, node)}: {text}", condition=condition))
