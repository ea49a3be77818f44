"""C types as far as a region needs them, and their resolution from declarations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import TypeAlias

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop import dtypes
from polysched.scop.c_frontend.declarations.enumerations import object_type
from polysched.scop.c_frontend.parse import BUILT_IN_TYPES
from polysched.scop.c_frontend.text.attributes import CHANGED
from polysched.scop.c_frontend.text.typeofs import UNKNOWN
from polysched.scop.dtypes import DType


@dataclass(frozen=True)
class Scalar:
    """An arithmetic type.

    Parameters
    ----------
    own_type : it is the type `dtype.c_name`, not another of the same values: `long long`, `_Float32`, an enumeration.
    """

    dtype: DType
    constant: bool = False
    volatile: bool = False
    own_type: bool = True


@dataclass(frozen=True, eq=False)
class Pointer:
    """A pointer; `restrict` and `constant` are its own qualifiers."""

    target: CType
    constant: bool = False
    restrict: bool = False


@dataclass(frozen=True, eq=False)
class ArrayOf:
    """An array; the extent is an expression of the source, None for `[]`."""

    element: CType
    extent: c_ast.Node | None


@dataclass(frozen=True, eq=False)
class StructType:
    """A struct with its members in order."""

    tag: str
    members: tuple[tuple[str, CType], ...]
    constant: bool = False

    def member(self, name: str) -> CType | None:
        """The type of a member; None when there is none."""
        return dict(self.members).get(name)


@dataclass(frozen=True, eq=False)
class FunctionType:
    """A function: result, and parameter types (None without a prototype)."""

    result: CType
    parameters: tuple[CType, ...] | None
    variadic: bool = False


@dataclass(frozen=True)
class Unsupported:
    """A type that no element of a region may have, with the reason.

    Parameters
    ----------
    tag : of a struct that is not complete yet (`completed`), empty for all else.
    constant : it was declared `const`.
    """

    reason: str
    tag: str = ""
    constant: bool = False


CType: TypeAlias = Scalar | Pointer | ArrayOf | StructType | FunctionType | Unsupported
VOID = Unsupported("void has no value")
VOLATILE_POINTER = "a volatile pointer can change behind the program's back"
VOLATILE_OBJECT = "a volatile object can change behind the program's back"

_SPECIFIERS: dict[tuple[str, ...], DType] = {
    ("_Bool",): dtypes.BOOL,
    ("char",): dtypes.INT8, ("char", "signed"): dtypes.INT8, ("char", "unsigned"): dtypes.UINT8,
    ("short",): dtypes.INT16, ("int", "short"): dtypes.INT16, ("short", "signed"): dtypes.INT16,
    ("int", "short", "signed"): dtypes.INT16,
    ("short", "unsigned"): dtypes.UINT16, ("int", "short", "unsigned"): dtypes.UINT16,
    ("int",): dtypes.INT32, ("signed",): dtypes.INT32, ("int", "signed"): dtypes.INT32,
    ("unsigned",): dtypes.UINT32, ("int", "unsigned"): dtypes.UINT32,
    ("long",): dtypes.INT64, ("int", "long"): dtypes.INT64, ("long", "signed"): dtypes.INT64,
    ("int", "long", "signed"): dtypes.INT64,
    ("long", "unsigned"): dtypes.UINT64, ("int", "long", "unsigned"): dtypes.UINT64,
    ("long", "long"): dtypes.INT64, ("int", "long", "long"): dtypes.INT64,
    ("long", "long", "signed"): dtypes.INT64, ("int", "long", "long", "signed"): dtypes.INT64,
    ("long", "long", "unsigned"): dtypes.UINT64, ("int", "long", "long", "unsigned"): dtypes.UINT64,
    ("float",): dtypes.FLOAT32, ("double",): dtypes.FLOAT64, ("double", "long"): dtypes.LONGDOUBLE,
    ("_Complex", "float"): dtypes.COMPLEX64, ("_Complex", "double"): dtypes.COMPLEX128,
    ("_Complex", "double", "long"): dtypes.CLONGDOUBLE, ("_Complex",): dtypes.COMPLEX128,
}
_BUILT_IN = dict(zip(BUILT_IN_TYPES, (dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.FLOAT32, dtypes.FLOAT64), strict=True))


@dataclass(frozen=True)
class TypeNames:
    """How names that stand in types are looked up.

    Parameters
    ----------
    typedef : the type that a typedef name stands for, or None.
    struct : the members of a struct tag, or None while it is incomplete.
    enumeration : the type of an enumeration's tag, or None while it is incomplete.
    constant : the value of an enumeration constant, or None.
    """

    typedef: Callable[[str], CType | None]
    struct: Callable[[str], StructType | None]
    enumeration: Callable[[str], CType | None]
    constant: Callable[[str], int | None]


def resolve(node: c_ast.Node, names: TypeNames) -> CType:
    """The type that a declaration's type node stands for (C11 6.7)."""
    if isinstance(node, c_ast.TypeDecl):
        return qualified(resolve(node.type, names), tuple(node.quals or ()))
    if isinstance(node, c_ast.Typename | c_ast.Decl):
        return resolve(node.type, names)
    if isinstance(node, c_ast.PtrDecl):
        quals = tuple(node.quals or ())
        if "volatile" in quals:
            return Unsupported(VOLATILE_POINTER)
        return Pointer(resolve(node.type, names), "const" in quals, "restrict" in quals)
    if isinstance(node, c_ast.ArrayDecl):
        return ArrayOf(resolve(node.type, names), node.dim)
    if isinstance(node, c_ast.FuncDecl):
        return _function(node, names)
    if isinstance(node, c_ast.IdentifierType):
        return _arithmetic(tuple(node.names), names)
    if isinstance(node, c_ast.Enum):
        return _enumeration(node, names)
    if isinstance(node, c_ast.Struct):
        return _struct(node, names)
    if isinstance(node, c_ast.Union):
        return Unsupported("the members of a union overlap")
    return Unsupported(f"the type construct {type(node).__name__} is not supported")


def qualified(ctype: CType, quals: tuple[str, ...]) -> CType:
    """The type with `const` and `volatile` applied; for an array they belong to the element (C11 6.7.3)."""
    if not quals:
        return ctype
    if "_Atomic" in quals:
        return Unsupported("an atomic object is shared with other threads")
    if "volatile" in quals and (reason := _against_volatile(ctype)):
        return Unsupported(reason)
    match ctype:
        case Scalar() if CHANGED in quals:
            return Unsupported("an attribute makes a vector or a number of another size of it")
        case Scalar():
            return replace(ctype, constant=ctype.constant or "const" in quals,
                           volatile=ctype.volatile or "volatile" in quals)
        case Pointer():
            return Pointer(ctype.target, ctype.constant or "const" in quals, ctype.restrict or "restrict" in quals)
        case ArrayOf():
            return ArrayOf(qualified(ctype.element, quals), ctype.extent)
        case StructType():
            return StructType(ctype.tag, ctype.members, True)
        case Unsupported() if ctype.tag:
            return replace(ctype, constant=True)
        case _:
            return ctype


def _against_volatile(ctype: CType) -> str:
    """Why no object of a type may be volatile; empty for numbers, rows, and what is refused anyway."""
    match ctype:
        case Pointer():
            return VOLATILE_POINTER
        case StructType():
            return VOLATILE_OBJECT
        case Unsupported() if ctype.tag:
            return VOLATILE_OBJECT
        case _:
            return ""


def completed(ctype: CType, struct: StructType) -> CType:
    """The type with a struct in the places of its tag, which had no members when the type was written (C11 6.2.5).

    The same object where the type does not name it.
    """
    match ctype:
        case Unsupported() if ctype.tag and ctype.tag == struct.tag:
            return StructType(struct.tag, struct.members, constant=True) if ctype.constant else struct
        case Pointer():
            target = completed(ctype.target, struct)
            return ctype if target is ctype.target else replace(ctype, target=target)
        case ArrayOf():
            element = completed(ctype.element, struct)
            return ctype if element is ctype.element else replace(ctype, element=element)
        case StructType():
            return completed_members(ctype, struct)
        case FunctionType():
            result, before = completed(ctype.result, struct), ctype.parameters or ()
            parameters = tuple(completed(parameter, struct) for parameter in before)
            if result is ctype.result and all(map(is_, parameters, before)):
                return ctype
            return replace(ctype, result=result, parameters=None if ctype.parameters is None else parameters)
        case _:
            return ctype


def completed_members(outer: StructType, struct: StructType) -> StructType:
    """`completed` for a struct that has members of the other, or pointers to it."""
    members = tuple((name, completed(member, struct)) for name, member in outer.members)
    same = all(new is old for (_, new), (_, old) in zip(members, outer.members, strict=True))
    return outer if same else replace(outer, members=members)


def _arithmetic(words: tuple[str, ...], names: TypeNames) -> CType:
    if len(words) == 1:
        if words[0] in _BUILT_IN:
            return Scalar(_BUILT_IN[words[0]], own_type=words[0] == _BUILT_IN[words[0]].c_name)
        if words[0] == "void":
            return VOID
        if words[0] == UNKNOWN:
            return Unsupported("the type of the expression in `typeof` is not looked for")
        named = names.typedef(words[0])
        if named is not None:
            return named
    dtype = _SPECIFIERS.get(tuple(sorted(words)))
    if dtype is None:
        return Unsupported(f"the type `{' '.join(words)}` is not supported")
    return Scalar(dtype, own_type=words.count("long") < 2)


def _enumeration(node: c_ast.Enum, names: TypeNames) -> CType:
    if node.values is None:
        return names.enumeration(node.name or "") or Unsupported(f"enum {node.name} has no definition here")
    dtype = object_type(node, names.constant)
    if dtype is None:
        return Unsupported(f"the values of enum {node.name or '{...}'} are not known")
    return Scalar(dtype, own_type=False)


def _function(node: c_ast.FuncDecl, names: TypeNames) -> FunctionType:
    result = resolve(node.type, names)
    if node.args is None:
        return FunctionType(result, None)
    parameters: list[CType] = []
    variadic = False
    for parameter in node.args.params:
        if isinstance(parameter, c_ast.EllipsisParam):
            variadic = True
        elif isinstance(parameter, c_ast.ID):
            return FunctionType(result, None)
        else:
            parameters.append(decayed(resolve(parameter, names)))
    if len(parameters) == 1 and parameters[0] is VOID:
        parameters = []
    return FunctionType(result, tuple(parameters), variadic)


def decayed(ctype: CType) -> CType:
    """The type of a parameter declared so: an array becomes a pointer to its element (C11 6.7.6.3)."""
    if isinstance(ctype, ArrayOf):
        return Pointer(ctype.element)
    if isinstance(ctype, FunctionType):
        return Unsupported("a pointer to a function is not supported")
    return ctype


def _struct(node: c_ast.Struct, names: TypeNames) -> CType:
    if node.decls is None:
        known = names.struct(node.name or "")
        return known or Unsupported(f"struct {node.name} has no definition here", tag=node.name or "")
    members: list[tuple[str, CType]] = []
    for declaration in node.decls:
        if not isinstance(declaration, c_ast.Decl):
            continue
        ctype = resolve(declaration.type, names)
        if declaration.name is None and isinstance(ctype, StructType):
            members += ctype.members  # C11 6.7.2.1: the members of an anonymous structure are members of the outer one
            continue
        if declaration.name is None:
            return Unsupported("an unnamed member is not supported")
        if declaration.bitsize is not None:
            ctype = Unsupported("a bit-field has no address of its own")
        members.append((declaration.name, ctype))
    return StructType(node.name or "", tuple(members))


def element_type(ctype: CType) -> CType | None:
    """What one subscript reaches; None when the type takes none."""
    match ctype:
        case Pointer():
            return ctype.target
        case ArrayOf():
            return ctype.element
        case _:
            return None
