"""What functions of the same file reach through their pointers, found by reading their bodies as regions.

A call that cannot become a part of the region (`rewrites.inline`) is one statement if it is known what the function
reads and writes.  Where no declaration says so (`declarations.effects`) and the file defines the function, its body is
read like any region: the elements of each parameter that its accesses reach, between the first and the last, are a
section.  A section that is not known is everything behind the pointer.

A function whose body cannot be read, that keeps a state, or names memory which no parameter of its own leads to, has
no effects here: its calls stay what they were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial

import islpy as isl
from pycparser import c_ast

from polysched.errors import BudgetExceededError, UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.budget import with_budget
from polysched.scop.c_frontend.declarations.bindings import function_parameters, scope_at
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Pointer, Scalar
from polysched.scop.c_frontend.declarations.effects import DeclaredEffects, Section, bound_of
from polysched.scop.c_frontend.parse import SyntaxRegion, everything
from polysched.scop.c_frontend.rewrites.reaching import reaching_block
from polysched.scop.c_frontend.text.regions import TextRegion
from polysched.scop.limits import LIMITS
from polysched.scop.plain_c import c_expression
from polysched.scop.scop import SOME_ELEMENTS, Access, Array, Scop, Storage

_SET = isl.dim_type.set
_NO_TEXT = TextRegion(0, 0, -1, -1, "")
_ELEMENT = re.compile(r"\(?\*?(?P<name>[A-Za-z_]\w*)\)?(?P<subscripts>(\[\{\}\])*)")
_HARMLESS = frozenset({"no-alias", "stated", SOME_ELEMENTS})
"""Assumptions that what a body reaches does not hang on: each access is counted at the pointer that it goes through,
and only inner extents are assumed to be positive, which C does not let be 0."""


@dataclass
class InferredEffects:
    """The effects of a file's functions, each inferred when it is first asked for.

    Parameters
    ----------
    tree : of the file.
    read : makes the Scop of statements.
    found : what was asked for; None for a function whose effects are not known.
    open : the functions that are being read.
    """

    tree: c_ast.FileAST
    read: Callable[[SyntaxRegion], Scop]
    found: dict[str, DeclaredEffects | None] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def of(self, name: str) -> DeclaredEffects | None:
        """What a function reads and writes; None where that is not known, as of one that calls itself."""
        if name in self.open:
            return None
        if name not in self.found:
            functions = [f for f in self.tree.ext if isinstance(f, c_ast.FuncDef) and f.decl.name == name]
            self.open.append(name)
            try:
                self.found[name] = self._inferred(functions[0]) if len(functions) == 1 else None
            except (UnsupportedScopError, BudgetExceededError):
                self.found[name] = None
            finally:
                self.open.pop()
        return self.found[name]

    def _inferred(self, function: c_ast.FuncDef) -> DeclaredEffects | None:
        with _of_any_length(function):
            return self._of_body(function)

    def _of_body(self, function: c_ast.FuncDef) -> DeclaredEffects | None:
        items = None if function.param_decls or _keeps_a_state(function) else reaching_block(function)
        if items is None:
            return None
        region = SyntaxRegion(text_region=_NO_TEXT, function=function, path=(function.body,), before=(),
                              items=tuple(items), after=())
        scope = scope_at(self.tree, replace(region, items=()))
        types = {p.name: symbol.ctype for p in function_parameters(function)
                 if (symbol := scope.lookup(p.name)) is not None}
        head = function.decl.type
        listed = head.args.params if head.args is not None else ()
        if len(types) < sum(1 for p in listed if isinstance(p, c_ast.Decl | c_ast.EllipsisParam)) or not all(
                isinstance(ctype, Scalar) or _leads_to_numbers(ctype) for ctype in types.values()):
            return None
        scop = self.read(region)
        return with_budget(LIMITS.isl_operations, partial(_effects_of, scop, function.decl.name, types))


@contextmanager
def _of_any_length(function: c_ast.FuncDef) -> Iterator[None]:
    """The function with `x[]` for a parameter `x[n]`, which C lets have no element: n may be 0."""
    head = function.decl.type
    arrays = [p.type for p in (head.args.params if head.args is not None else ())
              if isinstance(p, c_ast.Decl) and isinstance(p.type, c_ast.ArrayDecl)]
    extents = [array.dim for array in arrays]
    for array in arrays:
        array.dim = None
    try:
        yield
    finally:
        for array, extent in zip(arrays, extents, strict=True):
            array.dim = extent


def _keeps_a_state(function: c_ast.FuncDef) -> bool:
    return any(isinstance(n, c_ast.Decl) and {"static", "extern"} & set(n.storage or ())
               for n in everything(function.body))


def _leads_to_numbers(ctype: CType) -> bool:
    """Whether a pointer leads to numbers, or rows of them."""
    inner: CType | None = ctype.target if isinstance(ctype, Pointer) else ctype.element if isinstance(
        ctype, ArrayOf) else None
    while isinstance(inner, ArrayOf):
        inner = inner.element
    return isinstance(inner, Scalar) and not inner.volatile


def _effects_of(scop: Scop, name: str, types: Mapping[str, CType]) -> DeclaredEffects | None:
    """The sections that a body reaches; None where it names what is not its own and no parameter leads to."""
    numbers = {p.name: p.spelling for p in scop.parameters}
    outer = [array for array in scop.arrays if array.storage is not Storage.LOCAL and not _is_own(array, types)]
    pointers = [_pointer(array, types) for array in outer]
    if (not {a.kind for a in scop.assumptions} <= _HARMLESS
            or not all(isinstance(types.get(spelling), Scalar) for spelling in numbers.values())
            or {pointer for pointer in types if not isinstance(types[pointer], Scalar)} != set(pointers)):
        return None
    reached = [(pointer, array) for pointer, array in zip(pointers, outer, strict=True) if pointer is not None]
    return DeclaredEffects(name, tuple(types), tuple(_sections(scop, reached, numbers, written=False)),
                           tuple(_sections(scop, reached, numbers, written=True)))


def _sections(scop: Scop, reached: Sequence[tuple[str, Array]], names: Mapping[str, str], *,
              written: bool) -> Iterator[Section]:
    """What is read behind pointers, or written."""
    for pointer, array in reached:
        accesses = [(s.domain, a) for s in scop.statements for a in s.accesses
                    if a.array == array.name and a.is_write == written]
        if accesses:
            yield _section(pointer, array, accesses, names)


def _pointer(array: Array, types: Mapping[str, CType]) -> str | None:
    """The parameter behind which the array's elements are."""
    match = _ELEMENT.fullmatch(array.c_element)
    if array.storage is not Storage.ARGUMENT or match is None or isinstance(types.get(match["name"], None), Scalar):
        return None
    return match["name"] if match["name"] in types else None


def _is_own(array: Array, types: Mapping[str, CType]) -> bool:
    """Whether an array is the value of a parameter itself."""
    return array.storage is Storage.ARGUMENT and array.is_scalar and isinstance(types.get(array.c_element), Scalar)


def _section(pointer: str, array: Array, reached: Sequence[tuple[isl.Set, Access]],
             names: Mapping[str, str]) -> Section:
    """What accesses reach, from the first element to the last in each dimension."""
    written = max(array.c_element.count("{}"), 1)
    if array.is_scalar:
        return Section(pointer, (_number("0", names),), (_number("1", names),))
    unknown: tuple[None, ...] = (None,) * written
    if written != len(array.extents):   # several dimensions are addressed by one sum
        return Section(pointer, unknown, unknown)
    elements = [a.relation.intersect_domain(domain).range() for domain, a in reached]
    bounds = [_bounds(elements, at, names) for at in range(written)]
    if any(b is None for b in bounds):
        return Section(pointer, unknown, unknown)
    return Section(pointer, tuple(b[0] for b in bounds if b), tuple(b[1] for b in bounds if b))


def _bounds(elements: Sequence[isl.Set], at: int, names: Mapping[str, str]) -> tuple[c_ast.Node, c_ast.Node] | None:
    """The first subscript of a dimension and how many there are, as C; None where they are not bounded."""
    whole = elements[0]
    for more in elements[1:]:
        whole = whole.union(more)
    whole = whole.coalesce()
    if not all(part.dim_has_lower_bound(_SET, at) and part.dim_has_upper_bound(_SET, at)
               for part in (basic.to_set() for basic in whole.get_basic_sets())):
        return None
    first, last = whole.dim_min(at), whole.dim_max(at)
    if whole.is_empty():
        return _number("0", names), _number("0", names)
    count = last.sub(first).add(_one(last))
    return _number(c_expression(first, first.domain()), names), _number(c_expression(count, count.domain()), names)


def _one(like: isl.PwAff) -> isl.PwAff:
    zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(like.get_domain_space()))
    return isl.PwAff.from_aff(zero.add_constant_val(isl.Val(1)))


def _number(text: str, names: Mapping[str, str]) -> c_ast.Node:
    """C over the names of isl as C over those of the program."""
    made = bound_of(text)
    assert made is not None, "an affine function is a number"
    for node in everything(made):
        if isinstance(node, c_ast.ID):
            node.name = names[node.name]
    return made
