"""Structs that are used whole, member by member."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Scalar, StructType
from polysched.scop.c_frontend.declarations.literals import integer_constant
from polysched.scop.c_frontend.parse import everything, replace_child
from polysched.scop.c_frontend.rewrites.bodies import rewrite_bodies
from polysched.scop.c_frontend.rewrites.lvalue_types import LvalueTypes
from polysched.scop.limits import LIMITS

MOST_MEMBERS = LIMITS.structure_members
_FIXED = (c_ast.ID, c_ast.Constant, c_ast.BinaryOp)


@dataclass(frozen=True)
class Structures:
    """Rewrites the statements of a region, in place below.

    Rewrite:  q[i] = p[i];                    ->  q[i].x = p[i].x; q[i].y = p[i].y;
    Rewrite:  struct v t = {a, b};            ->  struct v t; t.x = a; t.y = b;
    Rewrite:  struct v t = {.y = b};          ->  struct v t; t.x = 0; t.y = b;
    Rewrite:  q[i] = (struct v){q[i].y, a};   ->  { struct v t; t.x = q[i].y; t.y = a; q[i].x = t.x; q[i].y = t.y; }

    Members may be numbers, structs, and arrays of a constant number of these.  Padding is not copied (C11 6.2.6.1p6).
    Where a subscript reads memory, which a member could change, the statement stays, and is refused.

    Parameters
    ----------
    types : of what is visible at the region, and of what it declares.
    fresh : makes a name that nothing has.
    """

    types: LvalueTypes
    fresh: Callable[[str], str]

    def statements(self, nodes: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items, each as those that it becomes."""
        return tuple(made for node in nodes for made in self._made_of(node))

    def _made_of(self, node: c_ast.Node) -> tuple[c_ast.Node, ...]:
        self._without_casts(node)
        if isinstance(node, c_ast.Compound):
            node.block_items = [made for item in node.block_items or () for made in self._made_of(item)]
            return (node,)
        rewrite_bodies(node, self._made_of)
        if isinstance(node, c_ast.Decl) and node.init is not None:
            return self._declared(node)
        if isinstance(node, c_ast.Assignment) and node.op == "=":
            return self._assigned(node)
        return (node,)

    def _without_casts(self, node: c_ast.Node) -> None:
        """Drop conversions to a struct's own type, which inlined calls leave."""
        for name, child in node.children():
            if isinstance(child, c_ast.Cast) and isinstance(
                    self.types.resolved(child.to_type), StructType):
                replace_child(node, name, child.expr)
                self._without_casts(node)
                return
            if not isinstance(node, c_ast.Compound):
                self._without_casts(child)

    def _declared(self, node: c_ast.Decl) -> tuple[c_ast.Node, ...]:
        """A struct that is declared with a value."""
        struct = self.types.resolved(node.type)
        if not isinstance(struct, StructType) or node.storage or _named_twice(node):
            return (node,)
        target, value = c_ast.ID(node.name, node.coord), node.init
        if isinstance(value, c_ast.CompoundLiteral):   # a struct of the same type, or C would refuse it
            value = value.init
        if isinstance(value, c_ast.InitList):
            made = _listed(target, struct, value)
        else:
            made = self._copied(target, value, struct)
        if made is None:
            return (node,)
        node.init = None
        node.quals = [q for q in node.quals or () if q != "const"]
        if isinstance(node.type, c_ast.TypeDecl):
            node.type.quals = [q for q in node.type.quals or () if q != "const"]
        return (node, *made)

    def _assigned(self, node: c_ast.Assignment) -> tuple[c_ast.Node, ...]:
        """A struct that is assigned."""
        struct = self.types.of(node.lvalue)
        if not isinstance(struct, StructType) or not _is_fixed(node.lvalue):
            return (node,)
        if isinstance(node.rvalue, c_ast.CompoundLiteral):
            return self._from_literal(node, struct)
        made = self._copied(node.lvalue, node.rvalue, struct)
        return (node,) if made is None else tuple(made)

    def _from_literal(self, node: c_ast.Assignment, struct: StructType) -> tuple[c_ast.Node, ...]:
        name = self.fresh("literal")
        kind = copy.deepcopy(node.rvalue.type.type)
        if not isinstance(kind, c_ast.TypeDecl):
            return (node,)
        kind.declname = name
        local = c_ast.ID(name, node.coord)
        values, copies = _listed(local, struct, node.rvalue.init), list(_members(node.lvalue, local, struct))
        if values is None or None in copies:
            return (node,)
        declaration = c_ast.Decl(name, [], [], [], [], kind, None, None, node.coord)
        return (c_ast.Compound([declaration, *values, *copies], node.coord),)

    def _copied(self, target: c_ast.Node, value: c_ast.Node, struct: StructType) -> list[c_ast.Node] | None:
        """A struct's members set to those of another; None where that is no copy of the whole."""
        other = self.types.of(value)
        if not isinstance(other, StructType) or other.tag != struct.tag or not _is_fixed(value) or [
                name for name, _ in other.members] != [name for name, _ in struct.members]:
            return None
        made = list(_members(target, value, struct))
        return None if None in made or len(made) > MOST_MEMBERS else [m for m in made if m is not None]


def _members(target: c_ast.Node, value: c_ast.Node, ctype: CType) -> Iterator[c_ast.Node | None]:
    """The assignments of every number in an object; None among them where it holds something else."""
    if isinstance(ctype, Scalar):
        yield c_ast.Assignment("=", copy.deepcopy(target), copy.deepcopy(value), target.coord)
    elif isinstance(ctype, StructType) and ctype.members:
        for name, member in ctype.members:
            yield from _members(_member(target, name), _member(value, name), member)
    elif isinstance(ctype, ArrayOf) and 0 < (count := integer_constant(ctype.extent) or 0) <= MOST_MEMBERS:
        for at in range(count):
            index = c_ast.Constant("int", str(at), target.coord)
            yield from _members(c_ast.ArrayRef(target, index, target.coord),
                                c_ast.ArrayRef(value, index, value.coord), ctype.element)
    else:
        yield None


def _listed(target: c_ast.Node, struct: CType, values: c_ast.InitList) -> list[c_ast.Node] | None:
    """The numbers of an object set to listed values, those without one to 0; None for lists of another form.

    A name, or the number of an element, says where the values go on (C11 6.7.9p17).  Lists inside have brackets.
    """
    parts = _parts(target, struct)
    given: dict[int, c_ast.Node] = {}
    at = 0
    for value in values.exprs:
        if isinstance(value, c_ast.NamedInitializer):
            found = _designated(value, struct)
            if found is None:
                return None
            at, value = found, value.expr
        if parts is None or at >= len(parts) or at in given:
            return None
        given[at] = value
        at += 1
    made: list[c_ast.Node] = []
    for at, (place, ctype) in enumerate(parts or ()):
        some = _set(place, ctype, given.get(at))
        if some is None:
            return None
        made += some
    return made if parts and len(made) <= MOST_MEMBERS else None


def _set(place: c_ast.Node, ctype: CType, value: c_ast.Node | None) -> list[c_ast.Node] | None:
    """A member set to what a list has for it; to zeros where it has nothing."""
    if isinstance(ctype, Scalar):
        if isinstance(value, c_ast.InitList):
            return None
        zero = c_ast.Constant("int", "0", place.coord)
        return [c_ast.Assignment("=", copy.deepcopy(place), zero if value is None else value, place.coord)]
    if value is not None and not isinstance(value, c_ast.InitList):
        return None
    return _listed(place, ctype, value or c_ast.InitList([], place.coord))


def _parts(target: c_ast.Node, ctype: CType) -> list[tuple[c_ast.Node, CType]] | None:
    """The members of a struct or the elements of an array, with their types; None where they are not known."""
    if isinstance(ctype, StructType):
        return [(_member(target, name), member) for name, member in ctype.members]
    if isinstance(ctype, ArrayOf) and 0 < (count := integer_constant(ctype.extent) or 0) <= MOST_MEMBERS:
        return [(c_ast.ArrayRef(target, c_ast.Constant("int", str(at), target.coord), target.coord), ctype.element)
                for at in range(count)]
    return None


def _designated(value: c_ast.NamedInitializer, ctype: CType) -> int | None:
    """The position of the part that a value names; None for another form."""
    if len(value.name) != 1:
        return None
    (name,) = value.name
    if isinstance(ctype, StructType):
        names = [member for member, _ in ctype.members]
        return names.index(name.name) if isinstance(name, c_ast.ID) and name.name in names else None
    return integer_constant(getattr(name, "expr", name)) if isinstance(ctype, ArrayOf) else None


def _member(node: c_ast.Node, name: str) -> c_ast.Node:
    return c_ast.StructRef(node, ".", c_ast.ID(name, node.coord), node.coord)


def _is_fixed(node: c_ast.Node) -> bool:
    """Whether the way to an object is the same whatever its members are set to."""
    if isinstance(node, c_ast.ArrayRef):
        return _is_fixed(node.name) and all(isinstance(n, _FIXED) for n in everything(node.subscript))
    if isinstance(node, c_ast.StructRef):
        return _is_fixed(node.name)
    if isinstance(node, c_ast.UnaryOp) and node.op == "*":
        return all(isinstance(n, _FIXED) for n in everything(node.expr))
    return isinstance(node, c_ast.ID)


def _named_twice(node: c_ast.Decl) -> bool:
    return any(isinstance(n, c_ast.ID) and n.name == node.name for n in everything(node.init))
