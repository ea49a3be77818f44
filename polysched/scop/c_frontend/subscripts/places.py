"""Lvalues: which array a C expression reaches into, and with which subscripts.

`A[i][j]`, `*(A + i)`, `p->x[i]`, `a[i].v[j]`, `((double (*)[m])A)[i][j]` and `*p` all become a base symbol,
a spelling with one hole per subscript, and the list of subscripts.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import identifiers_in
from polysched.scop.c_frontend.declarations.c_types import (
    ArrayOf,
    CType,
    FunctionType,
    Pointer,
    Scalar,
    StructType,
    Unsupported,
    element_type,
)
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.extraction import Extraction, NotAffine
from polysched.scop.c_frontend.parse import c_text, everything, is_step
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.affine import affine
from polysched.scop.scop import Array, Storage


@dataclass(frozen=True, eq=False)
class Place:
    """Something that an lvalue, or a pointer expression, leads to.

    Parameters
    ----------
    symbol : the variable it starts from.
    spelling : C with a hole `{}` per subscript.
    subscripts : expressions, outermost first.
    extents : per subscript what the declaration says about the number of elements.
    ctype : the type of the object reached.
    offset : what is still to be added to the next subscript (a pointer into the middle of an array).
    inside_row : the last subscript must stay inside its extent: a pointer walks along a row.
    through_memory : the path follows a pointer that is stored in memory, with a subscript before it.
    behind_pointer : the path follows a pointer that is an element or a member, not a variable's own value.
    members : the struct members on the way.
    """

    symbol: Symbol
    spelling: str
    subscripts: tuple[c_ast.Node, ...]
    extents: tuple[c_ast.Node | None, ...]
    ctype: CType
    through_memory: bool = False
    offset: c_ast.Node | None = None
    inside_row: bool = False
    members: tuple[str, ...] = ()
    behind_pointer: bool = False


def is_place(node: c_ast.Node) -> bool:
    """Whether an expression is an lvalue by its form."""
    return (isinstance(node, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef)
            or (isinstance(node, c_ast.UnaryOp) and node.op == "*"))


def resolve_place(x: Extraction, node: c_ast.Node) -> Place:
    """The place that an lvalue denotes.

    Raises
    ------
    UnsupportedScopError : it goes through something that has no fixed place.
    """
    if isinstance(node, c_ast.ID):
        symbol = x.bindings.symbol(node)
        if symbol in x.pointers:
            return pointed(x, x.pointers[symbol])
        return Place(symbol, symbol.name.replace("{", "{{"), (), (), symbol.ctype)
    if isinstance(node, c_ast.ArrayRef):
        if _is_address_of_one(node.name) and isinstance(node.subscript, c_ast.Constant) and node.subscript.value == "0":
            return resolve_place(x, node.name.expr)
        return subscripted(x, node, pointer_place(x, node.name), node.subscript)
    if isinstance(node, c_ast.UnaryOp) and node.op == "*":
        return dereferenced(x, node, node.expr)
    if isinstance(node, c_ast.StructRef):
        base = dereferenced(x, node, node.name) if node.type == "->" else resolve_place(x, node.name)
        return _member(x, node, base)
    raise x.refuse("this is no variable, array element or struct member", node,
                   hint="assign to a variable or an array element")


def _is_address_of_one(node: c_ast.Node) -> bool:
    """Whether an expression is the address of something that is no element of an array: `&s`, `&s.x`."""
    return (isinstance(node, c_ast.UnaryOp) and node.op == "&" and is_place(node.expr)
            and not isinstance(node.expr, c_ast.ArrayRef))


def pointer_place(x: Extraction, node: c_ast.Node) -> Place:
    """The object that a subscripted expression starts from: an array, a pointer, or a cast of one."""
    if isinstance(node, c_ast.Cast):
        return _reinterpreted(x, node)
    if isinstance(node, c_ast.UnaryOp) and node.op == "&" and isinstance(node.expr, c_ast.ArrayRef):
        return pointed(x, node)
    if isinstance(node, c_ast.UnaryOp) and node.op == "&" and is_place(node.expr):
        raise x.refuse("the address of a variable is taken", node, hint="use the variable itself")
    if is_place(node):
        return resolve_place(x, node)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-") and _is_pointer(x, node):
        return pointed(x, node)
    raise x.refuse("a subscripted expression is no array", node, hint="subscript an array or a pointer variable")


def _reinterpreted(x: Extraction, node: c_ast.Cast) -> Place:
    """What a cast to a pointer starts from, seen as elements or rows of the other type."""
    ctype = x.bindings.types.get(node.to_type)
    base = pointer_place(x, node.expr)
    if not isinstance(ctype, Pointer) or base.subscripts:
        raise _no_layout(x, node)
    if not _same_element(base.ctype, ctype):
        raise x.refuse("an array is reinterpreted as elements of another type", node,
                       hint="declare the array with the type that the region uses")
    if _same_rows(x, base.ctype, ctype):
        return base
    if base.offset is not None or _changes(x, node.to_type):   # an offset is in elements of the other shape
        raise _no_layout(x, node)
    return replace(base, ctype=ctype, spelling=f"(({c_text(node.to_type)}){base.spelling})")


def _changes(x: Extraction, node: c_ast.Typename) -> bool:
    """Whether the region declares or changes a name in the lengths of a type, which then differ inside of it."""
    symbols = [x.bindings.symbol(n) for n in everything(node) if isinstance(n, c_ast.ID)]
    return any(symbol in x.bindings.written or symbol.origin is Origin.REGION for symbol in symbols)


def _no_layout(x: Extraction, node: c_ast.Cast) -> UnsupportedScopError:
    return x.refuse("an array is reinterpreted by a cast that has no fixed layout", node,
                    hint="cast a whole array to a pointer to rows: `(double (*)[m])A`")


def subscripted(x: Extraction, node: c_ast.Node, base: Place, subscript: c_ast.Node) -> Place:
    """`base[subscript]`."""
    inner = element_type(base.ctype)
    if inner is None:
        raise x.refuse("a subscript on something that is no array or pointer", node)
    extent = base.ctype.extent if isinstance(base.ctype, ArrayOf) else None
    from_memory = isinstance(base.ctype, Pointer) and bool(base.subscripts)
    if base.offset is not None:
        subscript = c_ast.BinaryOp("+", base.offset, subscript, node.coord)
    return replace(base, offset=None, spelling=base.spelling + "[{}]", subscripts=(*base.subscripts, subscript),
                   extents=(*base.extents, extent), ctype=inner,
                   through_memory=base.through_memory or from_memory,
                   behind_pointer=base.behind_pointer or (
                       isinstance(base.ctype, Pointer) and bool(base.subscripts or base.members)))


def dereferenced(x: Extraction, node: c_ast.Node, pointer: c_ast.Node) -> Place:
    """`*pointer`, with pointer arithmetic folded into the subscript."""
    zero = c_ast.Constant("int", "0", node.coord)
    if isinstance(pointer, c_ast.BinaryOp) and pointer.op in ("+", "-"):
        base, offset = pointer.left, pointer.right
        if pointer.op == "+" and not _is_pointer(x, base):
            base, offset = offset, base
        if pointer.op == "-":
            offset = c_ast.UnaryOp("-", offset, node.coord)
        if isinstance(base, c_ast.BinaryOp):
            return _shifted(dereferenced(x, node, base), offset)
        return subscripted(x, node, pointer_place(x, base), offset)
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&":
        return resolve_place(x, pointer.expr)
    if is_step(pointer):
        raise x.refuse("a pointer walks through memory", pointer, hint="use an array with a subscript instead")
    return subscripted(x, node, pointer_place(x, pointer), zero)


def pointed(x: Extraction, node: c_ast.Node) -> Place:
    """What the value of a pointer expression points into: `A`, `A[i]`, `A + k`, `&A[i][j]`, and casts of these."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "&" and isinstance(node.expr, c_ast.ArrayRef):
        base = pointed(x, node.expr.name)
        return _moved(base, node.expr.subscript, inside_row=_flattens(base))
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
        left, right = node.left, node.right
        if node.op == "+" and not _is_pointer(x, left):
            left, right = right, left
        base = pointed(x, left)
        offset = c_ast.UnaryOp("-", right, node.coord) if node.op == "-" else right
        return _moved(base, offset, inside_row=_flattens(base))
    place = pointer_place(x, node)
    if _flattens(place):
        return replace(place, inside_row=True)
    if not isinstance(place.ctype, Pointer | ArrayOf):
        raise x.refuse("a pointer is set to something that is no array", node, hint="subscript the array itself")
    return place


def _flattens(base: Place) -> bool:
    """Whether a pointer into the first row of an array is likely to run through all rows, which C forbids."""
    return (isinstance(base.ctype, ArrayOf) and bool(base.subscripts)
            and all(isinstance(s, c_ast.Constant) for s in base.subscripts))


def _moved(base: Place, offset: c_ast.Node, *, inside_row: bool) -> Place:
    if base.offset is not None:
        offset = c_ast.BinaryOp("+", base.offset, offset, offset.coord)
    return replace(base, offset=offset, inside_row=base.inside_row or inside_row)


def _shifted(place: Place, offset: c_ast.Node) -> Place:
    *front, last = place.subscripts
    return replace(place, subscripts=(*front, c_ast.BinaryOp("+", last, offset, offset.coord)))


def _is_pointer(x: Extraction, node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.BinaryOp):
        return _is_pointer(x, node.left) or _is_pointer(x, node.right)
    if isinstance(node, c_ast.Cast):
        return isinstance(x.bindings.types.get(node.to_type), Pointer)
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        return True
    if not is_place(node):
        return False
    return isinstance(resolve_place(x, node).ctype, Pointer | ArrayOf)


def _member(x: Extraction, node: c_ast.StructRef, base: Place) -> Place:
    if not isinstance(base.ctype, StructType):
        raise x.refuse("a member of something that is no known struct", node,
                       witness=base.ctype.reason if isinstance(base.ctype, Unsupported) else None)
    ctype = base.ctype.member(node.field.name)
    if ctype is None:
        raise x.refuse(f"the struct has no member `{node.field.name}`", node)
    if base.ctype.constant and isinstance(ctype, Scalar):
        ctype = replace(ctype, constant=True)
    return replace(base, spelling=f"{base.spelling}.{node.field.name}", ctype=ctype,
                   members=(*base.members, node.field.name))


def _same_rows(x: Extraction, left: CType, right: CType) -> bool:
    """Whether the elements of two pointers or arrays have the same shape."""
    first, second = element_type(left), element_type(right)
    while isinstance(first, ArrayOf) and isinstance(second, ArrayOf):
        if first.extent is None or second.extent is None:
            return False
        if (c_text(first.extent) != c_text(second.extent) or _is_hidden(x, first.extent)
                or _is_hidden(x, second.extent)):
            values = extent_value(x, first.extent), extent_value(x, second.extent)
            if values[0] is None or values[1] is None or not values[0].plain_is_equal(values[1]):
                return False
        first, second = first.element, second.element
    return isinstance(first, Scalar) and isinstance(second, Scalar)


def _same_element(left: CType, right: CType) -> bool:
    while (inner := element_type(left)) is not None:
        left = inner
    while (inner := element_type(right)) is not None:
        right = inner
    return isinstance(left, Scalar) and isinstance(right, Scalar) and left.dtype == right.dtype


def array_of(x: Extraction, node: c_ast.Node, place: Place) -> tuple[Array, Scalar]:
    """The Scop's array behind a place, entered on its first use.

    Raises
    ------
    UnsupportedScopError : the place is no element of an arithmetic type.
    """
    ctype = place.ctype
    if isinstance(ctype, Scalar) and not ctype.volatile:
        key = (place.symbol, place.spelling)
        if key not in x.arrays:
            x.arrays[key] = _declare(x, node, place, ctype)
            x.array_symbols[x.arrays[key].name] = place.symbol
            if place.through_memory:
                x.through_memory.add(x.arrays[key].name)
            if place.behind_pointer:
                x.behind_pointers.add(x.arrays[key].name)
        return x.arrays[key], ctype
    raise unusable(x, node, ctype)


def unusable(x: Extraction, node: c_ast.Node, ctype: CType) -> UnsupportedScopError:
    """The refusal of an object that is no element of an arithmetic type."""
    match ctype:
        case Scalar():
            return x.refuse("a volatile object can change behind the program's back", node,
                            hint="drop `volatile` if nothing else writes it")
        case Unsupported():
            return x.refuse(f"an object of this type cannot be used: {ctype.reason}", node)
        case StructType():
            return x.refuse("a whole struct is used as a value", node, hint="use its members one by one")
        case FunctionType():
            return x.refuse("a function is used as a value", node)
        case _:
            return x.refuse("a pointer or whole array is used as a value", node,
                            hint="subscript it down to one element; whether a pointer is NULL is for the code in front "
                                 "of the region to ask")


def _declare(x: Extraction, node: c_ast.Node, place: Place, ctype: Scalar) -> Array:
    symbol = place.symbol
    for (other, spelling), array in x.arrays.items():
        if other is symbol and spelling != place.spelling and _overlap(str(spelling), place.spelling):
            raise x.refuse(f"`{symbol.name}` is reached in two shapes", node,
                           witness=f"{array.c_element} and {place.spelling}",
                           hint="use one shape for an array in the whole region")
    storage = {Origin.PARAMETER: Storage.ARGUMENT, Origin.REGION: Storage.LOCAL}.get(symbol.origin, Storage.OUTER)
    local_name = x.fresh("_".join((symbol.name, *place.members)))
    spelling = place.spelling
    if storage is Storage.LOCAL:
        visible = symbol.name in x.bindings.visible
        local_name = x.fresh(f"{symbol.name}_local") if visible and local_name == symbol.name else local_name
        spelling = local_name + "[{}]" * len(place.subscripts)
    return Array(
        name=local_name, dtype=ctype.dtype, storage=storage, constant=ctype.constant,
        extents=tuple(extent_value(x, e) for e in place.extents),
        c_extents=tuple(None if e is None else c_text(e) for e in place.extents),
        c_element=spelling, restrict=_is_restrict(symbol, place), own_type=ctype.own_type)


def _overlap(left: str, right: str) -> bool:
    """Two spellings of one symbol can mean the same memory unless they end in different members."""
    left_names = left.replace("{}", "").split(".")[1:]
    right_names = right.replace("{}", "").split(".")[1:]
    return not (left_names and right_names and left_names != right_names)


def _is_restrict(symbol: Symbol, place: Place) -> bool:
    """Whether the declaration says that nothing else overlaps the array."""
    if place.through_memory or place.behind_pointer:
        return False
    if isinstance(symbol.ctype, Pointer):
        return symbol.ctype.restrict
    if isinstance(symbol.ctype, ArrayOf) and symbol.origin is Origin.PARAMETER:
        quals = getattr(getattr(symbol.node, "type", None), "dim_quals", None) or ()
        return "restrict" in quals
    return True


def _is_hidden(x: Extraction, extent: c_ast.Node) -> bool:
    """Whether an extent has a name that means something else at the region."""
    return any(x.bindings.is_hidden(n) for n in everything(extent))


def extent_value(x: Extraction, node: c_ast.Node | None) -> isl.PwAff | None:
    """An extent as a function of the parameters; None when it is not affine in them."""
    if node is None:
        return None
    names = identifiers_in(node)
    if names & x.bindings.changed_names or _is_hidden(x, node):
        return None
    x.bindings.affine.update(x.bindings.visible[n] for n in names if n in x.bindings.visible)
    loops, x.loops = x.loops, []
    try:
        with x.attempt(strict=True):
            return affine(x, node, polyhedra.universe()).value
    except NotAffine:
        return None
    finally:
        x.loops = loops
