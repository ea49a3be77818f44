"""What is assumed about arrays that could overlap."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import combinations

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import addressed_names, identifiers_in
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, Pointer, Scalar
from polysched.scop.c_frontend.declarations.scopes import Origin, Symbol
from polysched.scop.c_frontend.extraction import Extraction
from polysched.scop.c_frontend.parse import SyntaxRegion, c_text, everything
from polysched.scop.c_frontend.subscripts.members import memory_path
from polysched.scop.dtypes import part_of
from polysched.scop.scop import AccessKind, Array, Assumption

_FIELD = re.compile(r"(?:->|\.)\s*([A-Za-z_]\w*)")
_WORD = re.compile(r"[A-Za-z_]\w*")


def no_alias(x: Extraction) -> tuple[Assumption, ...]:
    """One assumption for all pairs of arrays that C would allow to overlap, of which one is written.

    Objects of different types do not overlap in a valid program (C11 6.5p7), except through character
    types; two named objects, and what `restrict` pointers lead to, do not overlap either.
    """
    arrays = [a for a in x.arrays.values() if a.name in _used(x)]
    written = _written(x)
    pairs = [(a, b) for a, b in combinations(arrays, 2)
             if (a.name in written or b.name in written) and _may_overlap(x, a, b)]
    found = _exposed_parameters(x, [a for a in arrays if a.name in written])
    found += [Assumption(kind="no-alias", text=f"the pointers stored in {a.name} lead to rows that do not overlap",
                         apart=((a.name, a.name),))
              for a in arrays if a.name in written & x.through_memory]
    return tuple([*found, _all_apart(pairs)] if pairs else found)


def _used(x: Extraction) -> set[str]:
    """The arrays that the region accesses."""
    return {a.array for s in x.open_statements for a in s.accesses}


def _written(x: Extraction) -> set[str]:
    """The arrays that the region may write."""
    return {a.array for s in x.open_statements for a in s.accesses if a.kind is not AccessKind.READ}


def _all_apart(pairs: Sequence[tuple[Array, Array]]) -> Assumption:
    """That no pair of arrays overlaps, with the condition that tests it where all extents are known."""
    names = sorted({array.name for pair in pairs for array in pair})
    conditions = [disjoint(a, b) for a, b in pairs]
    condition = None if None in conditions else " && ".join(f"({c})" for c in conditions)
    return Assumption(kind="no-alias", text=f"the memory of {', '.join(names)} does not overlap",
                      condition=condition, apart=tuple((a.name, b.name) for a, b in pairs))


def _exposed_parameters(x: Extraction, written: list[Array]) -> list[Assumption]:
    """Parameters that a write through a pointer could change."""
    found = []
    for key, parameter in x.parameters.items():
        symbol = _variable(key)
        exposed = symbol.origin is Origin.GLOBAL or symbol.name in x.bindings.addressed
        writers = [a.name for a in written if (part_of(a.dtype) == parameter.dtype or a.dtype.bits == 8)
                   and _may_change(x, a, symbol, exposed=exposed)]
        if writers:
            found.append(Assumption(kind="no-alias",
                                    text=f"writing {', '.join(writers)} does not change {parameter.spelling}",
                                    apart=tuple((name, parameter.name) for name in writers)))
    return found


def _variable(key: object) -> Symbol:
    """The variable that a parameter's value is found by."""
    symbol = key[0] if isinstance(key, tuple) else key
    assert isinstance(symbol, Symbol)
    return symbol


def _may_change(x: Extraction, written: Array, symbol: Symbol, *, exposed: bool) -> bool:
    """Whether writing an array could change a parameter of its type that is found by a variable."""
    own = x.array_symbols[written.name]
    if written.name in x.behind_pointers or _is_pointer(own):
        return exposed or _is_pointer(symbol)
    return _is_pointer(symbol) and _leads_to(x, symbol, own)


def check_pointers(x: Extraction, region: SyntaxRegion) -> None:
    """Refuse pointers that the function visibly sets to memory that the region reaches by another name too.

    Where the region writes by neither of two names, it does not matter whether they meet.

    Raises
    ------
    UnsupportedScopError : assuming that they do not overlap would be wrong.
    """
    symbols = {x.array_symbols[name] for name in _used(x)}
    leading = {n for n, s in x.bindings.visible.items() if isinstance(s.ctype, Pointer | ArrayOf)}
    sources = {s: frozenset(n for n in _sources(x, region, s) if n in leading or not n.isidentifier())
               for s in symbols if isinstance(s.ctype, Pointer) and _may_meet(s)}
    deciding = set(map(_variable, x.parameters))
    for symbol in sources:
        _check_addresses(x, region, symbol, symbols | deciding)
    written = {x.array_symbols[name] for name in _written(x)}
    for symbol, named in sources.items():
        for other in (symbols | deciding if symbol in written else symbols & written) - {symbol}:
            shared = named & sources.get(other, frozenset()) or _leading_to(x, other, named)
            if shared and (_is_pointer(other) or isinstance(other.ctype, ArrayOf)):
                raise x.refuse(f"`{symbol.name}` and `{other.name}` may point into the same memory", region.items[0],
                               witness=f"both lead to `{min(shared)}`",
                               hint="use one name for one array, or declare the pointers `restrict` if they never meet")


def _leading_to(x: Extraction, other: Symbol, named: Set[str]) -> Set[str]:
    """The sources of a pointer that may be what the region reaches by another variable.

    Those are the variable itself, and a member that holds a pointer (`p->d`) where the region follows this member of
    the variable as well.  Other members hold pointers of their own, like parameters.
    """
    followed = {_fields(array.c_element) for array in x.arrays.values()
                if x.array_symbols[array.name] is other and array.name in x.behind_pointers}
    return {name for name in named if next(iter(_WORD.findall(name)), name) == other.name and (
        name == other.name or any(_is_prefix(_fields(name), fields) for fields in followed))}


def _fields(text: str) -> tuple[str, ...]:
    """The members on the way that C spells."""
    return tuple(_FIELD.findall(text))


def _is_prefix(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether one of two ways leads on from where the other ends."""
    length = min(len(left), len(right))
    return left[:length] == right[:length]


def _check_addresses(x: Extraction, region: SyntaxRegion, symbol: Symbol, used: Set[Symbol | None]) -> None:
    """Refuse a pointer that may lead to a variable of the region."""
    known = {x.bindings.visible.get(name) for value in _values(region, symbol) for name in addressed_names(value)}
    for other in known & used:
        if other is not None and isinstance(other.ctype, Scalar):
            raise x.refuse(f"`{symbol.name}` may point to `{other.name}`", region.items[0],
                           witness=f"the function takes the address of `{other.name}` for it",
                           hint=f"use `{other.name}` itself")


def _may_meet(symbol: Symbol) -> bool:
    """Whether a function may set a pointer to what it reaches by another name, too.

    That of a block or a parameter with `restrict` may not (C11 6.7.3.1).  That of a file might: its block is the whole
    program, other pointers are set from it, and many a program sets it anew and reaches the same memory directly.
    """
    return not (isinstance(symbol.ctype, Pointer) and symbol.ctype.restrict) or symbol.origin is Origin.GLOBAL


def _sources(x: Extraction, region: SyntaxRegion, symbol: Symbol) -> frozenset[str]:
    """Names in the values that a function gives a pointer."""
    return frozenset(name for value in _values(region, symbol) for name in _pointer_names(x, value))


def _values(region: SyntaxRegion, symbol: Symbol) -> list[c_ast.Node]:
    """The values that a function gives a variable."""
    values = [n.init for n in everything(region.function.body, c_ast.Decl) if n is symbol.node]
    values += [n.rvalue for n in everything(region.function.body, c_ast.Assignment)
               if isinstance(n.lvalue, c_ast.ID) and n.lvalue.name == symbol.name]
    return [value for value in values if value is not None]


def _pointer_names(x: Extraction, node: c_ast.Node) -> frozenset[str]:
    """Names and members that a pointer's value is computed from; the arguments of a call (an allocation) do not count.

    Different members hold pointers of their own, like parameters: that they do not meet is assumed, or tested.
    """
    if isinstance(node, c_ast.FuncCall):
        return frozenset()
    if isinstance(node, c_ast.BinaryOp) and node.op not in ("+", "-") and not any(
            isinstance(n, c_ast.Cast) for n in everything(node)):   # `((size_t)p + 63) & ~63` leads to p
        return frozenset()
    if isinstance(node, c_ast.StructRef):
        return frozenset() if _is_number(x, node) else frozenset({c_text(node)})
    if isinstance(node, c_ast.ID):
        return frozenset({node.name})
    below = [c for name, c in node.children() if name not in ("subscript", "to_type", "field")]
    return frozenset().union(*(_pointer_names(x, c) for c in below))


def _is_number(x: Extraction, node: c_ast.StructRef) -> bool:
    """Whether a member holds a number, as far as the types at the region tell."""
    if not identifiers_in(node) <= x.bindings.visible.keys():
        return False
    path = memory_path(x, node)
    return path is not None and isinstance(path.ctype, Scalar)


def _may_overlap(x: Extraction, left: Array, right: Array) -> bool:
    first, second = x.array_symbols[left.name], x.array_symbols[right.name]
    if part_of(left.dtype) != part_of(right.dtype) and 8 not in (left.dtype.bits, right.dtype.bits):
        return False
    if (left.restrict and right.restrict) or _kept_apart(x, left, right) or _kept_apart(x, right, left):
        return False
    behind = [array.name in x.behind_pointers for array in (left, right)]
    if first is second and not any(behind):
        return False
    pointers = [apart or _is_pointer(symbol) for apart, symbol in zip(behind, (first, second), strict=True)]
    if not any(pointers):
        return False
    if all(pointers):
        return True
    pointer, target = (first, second) if pointers[0] else (second, first)
    return _leads_to(x, pointer, target)


def _kept_apart(x: Extraction, left: Array, right: Array) -> bool:
    """Whether `restrict` on one parameter says it: what it leads to and the program writes has no other name there.

    That holds for what is not based on it (C11 6.7.3.1): another parameter that keeps its value, or a named array.
    """
    first, second = x.array_symbols[left.name], x.array_symbols[right.name]
    if (not left.restrict or not isinstance(first.ctype, Pointer) or first.origin is not Origin.PARAMETER
            or {left.name, right.name} & x.behind_pointers or first.name in x.bindings.changed_names):
        return False
    return (second.name not in x.bindings.changed_names and second.origin is Origin.PARAMETER) or (
        isinstance(second.ctype, ArrayOf) and second.origin is not Origin.PARAMETER)


def _leads_to(x: Extraction, pointer: Symbol, target: Symbol) -> bool:
    """Whether a pointer, a variable or something in one, could lead to a named object."""
    if target.origin is Origin.REGION:
        return False
    if pointer.origin is Origin.PARAMETER and target.origin is not Origin.GLOBAL:
        return False  # the caller cannot know an object of this call
    return isinstance(target.ctype, ArrayOf) or target.origin is Origin.GLOBAL or target.name in x.bindings.addressed


def _is_pointer(symbol: Symbol) -> bool:
    """Whether a symbol holds an address: a pointer, or an array parameter."""
    return isinstance(symbol.ctype, Pointer) or (
        isinstance(symbol.ctype, ArrayOf) and symbol.origin is Origin.PARAMETER)


def disjoint(left: Array, right: Array) -> str | None:
    """The C condition that two arrays do not overlap; None when an extent is not known."""
    sizes = [_bytes(left), _bytes(right)]
    if sizes[0] is None or sizes[1] is None:
        return None
    starts = [_address(left), _address(right)]
    return f"{starts[0]} + {sizes[0]} <= {starts[1]} || {starts[1]} + {sizes[1]} <= {starts[0]}"


def _bytes(array: Array) -> str | None:
    if any(e is None for e in array.c_extents):
        return None
    return " * ".join([f"sizeof({array.dtype.c_name})", *(f"({e})" for e in array.c_extents)])


def _address(array: Array) -> str:
    return "(const char *)&" + array.c_element.format(*("0" for _ in array.extents))
