"""Names of a C file: scopes, symbols, and which symbol each identifier of a region means."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import field, replace
from enum import Enum
from itertools import islice
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.c_types import (
    CType,
    StructType,
    TypeNames,
    completed,
    completed_members,
    resolve,
)
from polysched.scop.c_frontend.declarations.enumerations import value_of
from polysched.scop.c_frontend.parse import everything, replace_child


class Origin(Enum):
    """Where a name was declared."""

    GLOBAL = "global"
    PARAMETER = "parameter"
    LOCAL = "local"      # in the function, outside the region
    REGION = "region"    # inside the region
    BUILT_IN = "built-in"


@dataclass(frozen=True, eq=False, kw_only=True)
class Symbol:
    """One declared object, function or enumeration constant; compared by identity.

    Parameters
    ----------
    name : in the source.
    ctype : its type.
    origin : where it was declared.
    node : its declaration.
    enumerator : the value of an enumeration constant, as an expression that names no other; with `offset` added.
    static : declared `static`.
    """

    name: str
    ctype: CType
    origin: Origin
    node: c_ast.Node
    enumerator: c_ast.Node | None = None
    offset: int = 0
    is_enumerator: bool = False
    static: bool = False


@dataclass
class Scope:
    """A stack of blocks, the file scope first.

    Parameters
    ----------
    in_extents : what the names in the extents of all declarations so far mean, by their nodes.
    """

    levels: list[_Level] = field(default_factory=lambda: [_Level()])
    in_extents: dict[c_ast.Node, Symbol] = field(default_factory=dict)

    def copied(self) -> Scope:
        """A stack of its own with the same declarations."""
        return Scope([level.copied() for level in self.levels], dict(self.in_extents))

    def push(self) -> None:
        self.levels.append(_Level())

    def pop(self) -> None:
        self.levels.pop()

    def lookup(self, name: str) -> Symbol | None:
        """The symbol that a name means here."""
        for level in reversed(self.levels):
            if name in level.typedefs:
                return None
            if name in level.symbols:
                return level.symbols[name]
        return None

    @property
    def type_names(self) -> TypeNames:
        return TypeNames(self._typedef, self._struct, self._enumeration, self._constant)

    def _typedef(self, name: str) -> CType | None:
        for level in reversed(self.levels):
            if name in level.symbols:
                return None
            if name in level.typedefs:
                return level.typedefs[name]
        return None

    def _struct(self, tag: str) -> StructType | None:
        for level in reversed(self.levels):
            if tag in level.structs:
                return level.structs[tag]
        self.levels[-1].enter("incomplete", tag, True)
        return None

    def _enumeration(self, tag: str) -> CType | None:
        for level in reversed(self.levels):
            if tag in level.enumerations:
                return level.enumerations[tag]
        return None

    def _constant(self, name: str) -> int | None:
        symbol = self.lookup(name)
        if symbol is None or not symbol.is_enumerator:
            return None
        base = 0 if symbol.enumerator is None else value_of(symbol.enumerator, self._constant)
        return None if base is None else base + symbol.offset

    def _closed(self, node: c_ast.Node) -> c_ast.Node:
        """A copy of a constant's value in which the constants that it names are their own values.

        Where the value is asked for, these names may mean something else.
        """
        if isinstance(node, c_ast.ID):
            return self._own_value(node)
        made = copy.copy(node)
        for name, child in node.children():
            replace_child(made, name, self._closed(child))
        return made

    def _own_value(self, node: c_ast.ID) -> c_ast.Node:
        symbol = self.lookup(node.name)
        if symbol is None or not symbol.is_enumerator:
            return node
        value = self._constant(node.name)
        if value is not None:
            number = c_ast.Constant("int", str(abs(value)), node.coord)
            return number if value >= 0 else c_ast.UnaryOp("-", number, node.coord)
        offset = c_ast.Constant("int", str(symbol.offset), node.coord)
        return c_ast.BinaryOp("+", symbol.enumerator, offset, node.coord)

    def declare(self, node: c_ast.Node, origin: Origin) -> Symbol | None:
        """Enter a declaration; the symbol it makes, if it makes one."""
        level = self.levels[-1]
        if isinstance(node, c_ast.FuncDef):
            return self.declare(node.decl, origin)
        if not isinstance(node, c_ast.Decl | c_ast.Typedef):
            return None
        self._declare_tags(node.type, origin)
        if node.name is None:
            return None
        ctype = resolve(node.type, self.type_names)
        if isinstance(node, c_ast.Typedef):
            level.enter("typedefs", node.name, ctype)
            return None
        symbol = Symbol(name=node.name, ctype=ctype, origin=origin, node=node, static="static" in (node.storage or ()))
        level.enter("symbols", node.name, symbol)
        return symbol

    def _declare_tags(self, node: c_ast.Node | None, origin: Origin) -> None:
        """Enter the tags and enumeration constants that a declaration defines on the way, and what its extents name."""
        while isinstance(node, c_ast.TypeDecl | c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.FuncDecl):
            if isinstance(node, c_ast.ArrayDecl):
                self._note_extent(node.dim)
            node = node.type
        if isinstance(node, c_ast.Struct) and node.decls is not None:
            for member in node.decls:
                if isinstance(member, c_ast.Decl):
                    self._declare_tags(member.type, origin)
            ctype = resolve(node, self.type_names)
            if node.name and isinstance(ctype, StructType):
                self.levels[-1].complete(node.name, ctype)
        if isinstance(node, c_ast.Enum) and node.values is not None:
            if node.name:
                self.levels[-1].enter("enumerations", node.name, resolve(node, self.type_names))
            self._declare_constants(node.values, origin)

    def _note_extent(self, extent: c_ast.Node | None) -> None:
        for node in everything(extent):
            if isinstance(node, c_ast.ID) and (symbol := self.lookup(node.name)) is not None:
                self.in_extents[node] = symbol

    def _declare_constants(self, values: c_ast.EnumeratorList, origin: Origin) -> None:
        base: c_ast.Node | None = None
        offset = 0
        ctype = resolve(c_ast.IdentifierType(["int"]), self.type_names)
        for item in values.enumerators:
            if not isinstance(item, c_ast.Enumerator):
                continue
            if item.value is not None:
                base, offset = self._closed(item.value), 0
            self.levels[-1].enter("symbols", item.name, Symbol(
                name=item.name, ctype=ctype, origin=origin, node=item, enumerator=base, offset=offset,
                is_enumerator=True))
            offset += 1


@dataclass
class _FileNames:
    """What a file declares, in its order: the scope in front of each of its functions is made from a part of it.

    A copy per function would be as large as the file for each of them.

    Parameters
    ----------
    entered : every entry of the file's names.
    known : how many entries stand in front of a function and with it.
    level, made : the names after that many entries, which were asked for last.
    """

    entered: list[_Entry]
    known: dict[c_ast.FuncDef, int]
    in_extents: dict[c_ast.Node, Symbol]
    level: _Level = field(default_factory=lambda: _Level())
    made: int = 0

    def scope(self, function: c_ast.FuncDef) -> Scope:
        count = self.known[function]
        if count < self.made:
            self.level, self.made = _Level(), 0
        for entry in islice(self.entered, self.made, count):
            self.level.enter(*entry)
        self.made = count
        return Scope([self.level.copied()], dict(self.in_extents))


_FILE_NAMES: WeakKeyDictionary[c_ast.FileAST, _FileNames] = WeakKeyDictionary()


def file_scope(tree: c_ast.FileAST, function: c_ast.FuncDef) -> Scope:
    """What is declared in front of a function of a file, and the function itself; read once for all of its regions."""
    names = _FILE_NAMES.get(tree)
    if names is None:
        entered: list[_Entry] = []
        scope, known = Scope([_Level(entered=entered)]), {}
        for item in tree.ext:
            for declaration in ([item] if isinstance(item, c_ast.FuncDef) else declarations(item)):
                scope.declare(declaration, Origin.GLOBAL)
            if isinstance(item, c_ast.FuncDef):
                known[item] = len(entered)
        names = _FILE_NAMES[tree] = _FileNames(entered, known, scope.in_extents)
    return names.scope(function)


_Entry: TypeAlias = tuple[str, str, Any]
"""One of a level's tables, a name in it, and what that means; of an incomplete tag whether it is one."""


@dataclass
class _Level:
    """The names of one block.

    Parameters
    ----------
    incomplete : tags of structs that were named ahead of their members.
    entered : takes a note of every entry; None where nobody wants them.
    """

    symbols: dict[str, Symbol] = field(default_factory=dict)
    typedefs: dict[str, CType] = field(default_factory=dict)
    structs: dict[str, StructType] = field(default_factory=dict)
    enumerations: dict[str, CType] = field(default_factory=dict)
    incomplete: dict[str, bool] = field(default_factory=dict)
    entered: list[_Entry] | None = None

    def enter(self, table: str, name: str, value: object) -> None:
        """Make a name mean something from here on."""
        getattr(self, table)[name] = value
        if self.entered is not None:
            self.entered.append((table, name, value))

    def copied(self) -> _Level:
        """The same declarations, to which others can be added."""
        return _Level(dict(self.symbols), dict(self.typedefs), dict(self.structs), dict(self.enumerations),
                      dict(self.incomplete))

    def complete(self, tag: str, struct: StructType) -> None:
        """Enter a struct, for types that named it before, too: `typedef struct s *p; struct s { ... };`."""
        if self.incomplete.get(tag):
            for name, alias in self.typedefs.items():
                if (ctype := completed(alias, struct)) is not alias:
                    self.enter("typedefs", name, ctype)
            for name, other in self.structs.items():
                if (members := completed_members(other, struct)) is not other:
                    self.enter("structs", name, members)
            for name, symbol in self.symbols.items():
                if (ctype := completed(symbol.ctype, struct)) is not symbol.ctype:
                    self.enter("symbols", name, replace(symbol, ctype=ctype))
            self.enter("incomplete", tag, False)
        self.enter("structs", tag, struct)


def declarations(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The declarations that a block item makes; those in the cases of a `switch` are of its block."""
    if isinstance(node, c_ast.Decl | c_ast.Typedef):
        yield node
    elif isinstance(node, c_ast.DeclList):
        yield from node.decls
    elif isinstance(node, c_ast.Case | c_ast.Default):
        for item in node.stmts or ():
            yield from declarations(item)
