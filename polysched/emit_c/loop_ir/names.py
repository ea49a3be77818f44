"""Names for loop variables: the source's own iterators where a loop still runs over one of them.

A loop whose variable equals an iterator up to a constant takes the iterator's name (`i`); a tile loop takes
its point loop's name with `_tile`; a loop that runs over a sum of iterators takes the name with `_skew`, over a
negated one with `_rev`, one that counts the steps of an iterator with `_step`.  A name never hides an identifier that
the emitted statements use, and a made-up name never equals one of the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from polysched.emit_c.loop_ir.index import Linear, Variable, variable, variables
from polysched.emit_c.loop_ir.loops import (
    Block,
    For,
    If,
    Let,
    Local,
    Node,
    OnCopy,
    Packed,
    RegisterTile,
    StatementInstance,
    ThreadReduction,
)
from polysched.emit_c.loop_ir.substitution import substitute_node
from polysched.emit_c.loop_ir.traversal import instances, walk_nodes
from polysched.records import dataclass
from polysched.scheduling.marks import Role
from polysched.scop.body import Call, statement_expressions, walk
from polysched.scop.scop import Scop, Storage

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_KEYWORD_TEXT = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof
    bool true false"""
_KEYWORDS = frozenset(_KEYWORD_TEXT.split())


def identifiers(text: str) -> frozenset[str]:
    """Every word of a C text that can be an identifier."""
    return frozenset(_IDENTIFIER.findall(text))


def identifier_of(array: str) -> str:
    """The name of an array as part of a made-up identifier."""
    return re.sub(r"\W", "_", array)


@dataclass(frozen=True, kw_only=True)
class TakenNames:
    """Identifiers that the emitted region must not hide (`used`) and those it must not make up (`visible`)."""

    used: frozenset[str]
    visible: frozenset[str]

    def fresh(self, wish: str, also: frozenset[str] = frozenset()) -> str:
        """The wish, with a number behind it when a visible identifier has that name."""
        name, count = wish, 1
        while name in self.used or name in self.visible or name in also or name in _KEYWORDS:
            count += 1
            name = f"{wish}_{count}"
        return name


def taken_names(scop: Scop, *, reserved: Sequence[str] = ()) -> TakenNames:
    """The identifiers around and inside the region of a Scop, and further reserved ones."""
    used: set[str] = set(reserved)
    for parameter in scop.parameters:
        used |= identifiers(parameter.name) | identifiers(parameter.spelling)
    for array in scop.arrays:
        used |= identifiers(array.name) | identifiers(array.c_element)
        for extent in array.c_extents:
            used |= identifiers(extent or "")
    for statement in scop.statements:
        for top in statement_expressions(statement.body):
            used |= {e.function for e in walk(top) if isinstance(e, Call)}
        for access in statement.accesses:
            for subscript in access.subscripts:
                used |= {e.function for e in walk(subscript) if isinstance(e, Call)}
    visible = identifiers(scop.source.text) if scop.source else frozenset()
    return TakenNames(used=frozenset(used), visible=visible | used)


def local_array_names(scop: Scop, taken: TakenNames, *, also: Collection[str] = ()) -> dict[str, str]:
    """The C name under which each region-local array is declared in the emitted region.

    Parameters
    ----------
    also : further arrays that are to be declared there.
    """
    names: dict[str, str] = {}
    for array in scop.arrays:
        if array.storage is Storage.LOCAL or array.name in also:
            wish = identifier_of(array.name)
            others = replace(scop, arrays=tuple(a for a in scop.arrays if a is not array), source=None)
            clashes = taken_names(others).used | set(names.values())
            names[array.name] = wish if wish not in clashes and wish not in _KEYWORDS else taken.fresh(
                wish, frozenset(clashes))
    return names


def name_loops(root: Node, *, iterators: Mapping[str, tuple[str, ...]], taken: TakenNames) -> Node:
    """Rename the loop variables of a whole region.

    Parameters
    ----------
    iterators : the source's iterator names per statement.
    """
    return _rename(root, iterators, taken, frozenset())


def _rename(node: Node, iterators: Mapping[str, tuple[str, ...]], taken: TakenNames, scope: frozenset[str]) -> Node:
    match node:
        case Block():
            return Block(tuple(_rename(child, iterators, taken, scope) for child in node.children))
        case If():
            otherwise = None if node.otherwise is None else _rename(node.otherwise, iterators, taken, scope)
            return If(node.condition, _rename(node.then, iterators, taken, scope), otherwise)
        case StatementInstance() | RegisterTile() | Packed() | OnCopy() | Local() | ThreadReduction():
            return node
    name = _pick(node, iterators, taken, scope)
    renaming = {node.variable: variable(name)}
    body = _rename(substitute_node(node.body, renaming), iterators, taken, scope | {name})
    if isinstance(node, Let):
        return replace(node, variable=name, body=body)
    inner = substitute_node(For(name, node.lower, node.upper, node.step, Block(()), node.mark, node.depth, node.guard),
                            renaming)
    assert isinstance(inner, For)
    return For(name, inner.lower, inner.upper, node.step, body, node.mark, node.depth, inner.guard)


def _pick(node: For | Let, iterators: Mapping[str, tuple[str, ...]], taken: TakenNames, scope: frozenset[str]) -> str:
    if isinstance(node, Let) and node.name:
        return taken.fresh(node.name, scope)
    exact = next(_iterators_equal_to(node, iterators), None)
    if exact is not None and exact not in taken.used and exact not in scope and exact not in _KEYWORDS:
        return exact
    return taken.fresh(exact or _made_up(node, iterators), scope)


def _made_up(node: For | Let, iterators: Mapping[str, tuple[str, ...]]) -> str:
    if isinstance(node, For):
        if node.mark.role is Role.WAVEFRONT:
            return "wave"
        if node.mark.role is Role.TILE:
            partner = _point_loop(node)
            return f"{_stem(partner, iterators)}_tile" if partner is not None else f"c{node.depth}_tile"
    return _stem(node, iterators)


def _point_loop(tile: For) -> For | Let | None:
    """The loop inside a tile that runs over the points of this member of the band."""
    key = (tile.mark.band, tile.mark.member)
    return next((n for n in walk_nodes(tile.body) if isinstance(n, For) and n.mark.role is Role.POINT
                 and (n.mark.band, n.mark.member) == key), None)


def _stem(node: For | Let, iterators: Mapping[str, tuple[str, ...]]) -> str:
    exact = next(_iterators_equal_to(node, iterators), None)
    if exact is not None:
        return exact
    negated = next(_iterators_with(node, iterators, lambda f: f.terms == ((Variable(node.variable), -1),)), None)
    if negated is not None:
        return f"{negated}_rev"
    counted = [Variable(node.variable)]
    stepped = next(_iterators_with(node, iterators, lambda form: [atom for atom, _ in form.terms] == counted), None)
    if stepped is not None:
        return f"{stepped}_step"
    skewed = next(_iterators_with(node, iterators, lambda form: node.variable in variables(form)), None)
    return f"{skewed}_skew" if skewed is not None else f"c{node.depth}"


def _iterators_equal_to(node: For | Let, iterators: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Iterators that equal the loop variable up to a constant."""
    return _iterators_with(node, iterators, lambda form: form.terms == ((Variable(node.variable), 1),))


def _iterators_with(node: For | Let, iterators: Mapping[str, tuple[str, ...]],
                    accepts: Callable[[Linear], bool]) -> Iterator[str]:
    for instance in instances(node.body):
        for name, form in zip(iterators.get(instance.statement, ()), instance.iterators, strict=False):
            if accepts(form):
                yield name
