"""What every identifier of a region means, and how the region uses it.

One pass over the region's syntax tree, before anything is built: which symbols are written, which are
loop iterators, which stand in bounds, conditions and subscripts and so become parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.c_types import ArrayOf, CType, Pointer, resolve
from polysched.scop.c_frontend.declarations.scopes import Origin, Scope, Symbol, declarations, file_scope
from polysched.scop.c_frontend.parse import SyntaxRegion, c_text, everything, is_step, place


@dataclass(eq=False, kw_only=True)
class Bindings:
    """The region's identifiers.

    Parameters
    ----------
    meaning : the symbol of every identifier node.
    declared : the symbol of every declaration inside the region.
    types : the type of every type name (casts, sizeof).
    written : symbols whose own value the region changes, loop iterators included.
    iterators : symbols that some `for` of the region counts with.
    body_written : symbols that something else than a loop head changes.
    affine : symbols in loop heads, conditions, subscripts and extents.
    written_members : base symbol and members of every lvalue that is assigned through an element or member.
    written_once : symbols that only their declaration gives a value.
    read_outside : iterators that are read where no loop counts with them.
    visible : every name that the file declares at the region, in the order of the declarations.
    changed_names : names that the function assigns anywhere, loop counters included.
    addressed : names whose address the function takes anywhere.
    assigned : the symbols that each statement assigns.
    in_extents : what the names in extents of declarations in front of the region meant there.
    """

    path: str
    meaning: dict[c_ast.Node, Symbol] = field(default_factory=dict)
    declared: dict[c_ast.Node, Symbol] = field(default_factory=dict)
    types: dict[c_ast.Node, CType] = field(default_factory=dict)
    written: set[Symbol] = field(default_factory=set)
    iterators: set[Symbol] = field(default_factory=set)
    body_written: set[Symbol] = field(default_factory=set)
    affine: set[Symbol] = field(default_factory=set)
    read_outside: set[Symbol] = field(default_factory=set)
    written_members: set[tuple[Symbol, tuple[str, ...]]] = field(default_factory=set)
    written_once: set[Symbol] = field(default_factory=set)
    visible: dict[str, Symbol] = field(default_factory=dict)
    changed_names: frozenset[str] = frozenset()
    addressed: frozenset[str] = frozenset()
    assigned: dict[c_ast.Node, frozenset[Symbol]] = field(default_factory=dict)
    in_extents: dict[c_ast.Node, Symbol] = field(default_factory=dict)

    def is_hidden(self, node: c_ast.Node) -> bool:
        """Whether a name of an extent means something else at the region than where its array is declared."""
        meant = self.in_extents.get(node)
        return meant is not None and self.visible.get(node.name) is not meant

    def symbol(self, node: c_ast.ID) -> Symbol:
        """What an identifier means.

        Raises
        ------
        UnsupportedScopError : it is not declared.
        """
        symbol = self.meaning.get(node) or self.visible.get(node.name)
        if symbol is None:
            raise UnsupportedScopError(f"`{node.name}` is not declared", where=place(self.path, node),
                                       hint="declare it before the region, or include the header that does")
        return symbol


def scope_at(tree: c_ast.FileAST, region: SyntaxRegion) -> Scope:
    """The scope just before a region."""
    scope = file_scope(tree, region.function)
    scope.push()
    for parameter in function_parameters(region.function):
        scope.declare(parameter, Origin.PARAMETER)
    for block, following in zip(region.path, (*region.path[1:], None), strict=True):
        scope.push()
        if isinstance(block, c_ast.For) and isinstance(block.init, c_ast.DeclList):
            for declaration in block.init.decls:
                scope.declare(declaration, Origin.LOCAL)
        for item in region.before if following is None else _items(block):
            if item is following:
                break
            for declaration in declarations(item):
                scope.declare(declaration, Origin.LOCAL)
    return scope


def _items(node: c_ast.Node) -> Sequence[c_ast.Node]:
    """The statements that stand in a block or behind a case."""
    if isinstance(node, c_ast.Compound):
        return node.block_items or ()
    return (node.stmts or ()) if isinstance(node, c_ast.Case | c_ast.Default) else ()


def function_parameters(function: c_ast.FuncDef) -> tuple[c_ast.Decl, ...]:
    """The named parameters of a function definition, in order."""
    head = function.decl.type
    if head.args is None:
        return ()
    if function.param_decls:
        by_name = {d.name: d for d in function.param_decls}
        return tuple(by_name[p.name] for p in head.args.params if p.name in by_name)
    return tuple(p for p in head.args.params if isinstance(p, c_ast.Decl) and p.name is not None)


def bind(path: str, scope: Scope, region: SyntaxRegion, *, outliving: tuple[c_ast.Decl, ...] = ()) -> Bindings:
    """Bind every identifier of a region; `outliving` are its declarations that the code behind it uses."""
    parts = (region.function.body, *region.items)
    bindings = Bindings(path=path, changed_names=frozenset(name for part in parts for name in assigned_names(part)),
                        addressed=frozenset(addressed_names(region.function.body)), in_extents=dict(scope.in_extents))
    for name, symbol in (item for level in scope.levels for item in level.symbols.items()):
        bindings.visible.pop(name, None)   # one that is hidden stood further in front
        bindings.visible[name] = symbol
    binder = _Binder(bindings, scope, frozenset(outliving))
    scope.push()
    for item in region.items:
        binder.visit(item)
    scope.pop()
    _follow_values(bindings)
    return bindings


def _follow_values(bindings: Bindings) -> None:
    """What an integer that decides a place is computed from, without reading memory, decides that place, too."""
    for node, symbol in reversed(bindings.declared.items()):
        if symbol not in bindings.affine or symbol not in bindings.written_once:
            continue
        parts = list(everything(node.init))
        if not any(isinstance(p, c_ast.ArrayRef | c_ast.FuncCall | c_ast.InitList)
                   or (isinstance(p, c_ast.UnaryOp) and p.op == "*") for p in parts):
            bindings.affine.update(bindings.meaning[p] for p in parts
                                   if isinstance(p, c_ast.ID) and p in bindings.meaning)


@dataclass
class _Binder:
    bindings: Bindings
    scope: Scope
    outliving: frozenset[c_ast.Node]
    active: list[Symbol] = field(default_factory=list)
    in_affine: bool = False

    def visit(self, node: c_ast.Node | None) -> frozenset[Symbol]:
        """Bind a subtree; the symbols that it assigns."""
        if node is None:
            return frozenset()
        method = getattr(self, f"visit_{type(node).__name__}", self.generic)
        assigned: frozenset[Symbol] = method(node)
        if assigned:
            self.bindings.assigned[node] = assigned
        return assigned

    def generic(self, node: c_ast.Node) -> frozenset[Symbol]:
        assigned: frozenset[Symbol] = frozenset()
        for _, child in node.children():
            assigned |= self.visit(child)
        return assigned

    def affine(self, node: c_ast.Node | None) -> frozenset[Symbol]:
        """Bind an expression whose variables decide control or place."""
        before, self.in_affine = self.in_affine, True
        assigned = self.visit(node)
        self.in_affine = before
        return assigned

    def visit_ID(self, node: c_ast.ID) -> frozenset[Symbol]:
        symbol = self.scope.lookup(node.name)
        if symbol is not None:
            self.bindings.meaning[node] = symbol
            if self.in_affine:
                self.bindings.affine.add(symbol)
            if symbol not in self.active:
                self.bindings.read_outside.add(symbol)
        return frozenset()

    def visit_Decl(self, node: c_ast.Decl) -> frozenset[Symbol]:
        if isinstance(node.type, c_ast.ArrayDecl) and node.type.dim is None and isinstance(node.init, c_ast.InitList):
            node.type.dim = c_ast.Constant("int", str(len(node.init.exprs)), node.coord)
        before, self.in_affine = self.in_affine, True
        self.extents(node.type)
        self.in_affine = before
        symbol = self.scope.declare(node, Origin.LOCAL if node in self.outliving else Origin.REGION)
        places = symbol is not None and isinstance(symbol.ctype, Pointer)
        assigned = self.affine(node.init) if places else self.visit(node.init)
        if symbol is None:
            return assigned
        self.bindings.declared[node] = symbol
        self.bindings.written.add(symbol)
        if node.init is not None:
            self.bindings.body_written.add(symbol)
            self.bindings.written_once.add(symbol)
        return assigned | {symbol}

    def extents(self, node: c_ast.Node | None) -> None:
        """Bind the expressions inside a declarator."""
        while isinstance(node, c_ast.TypeDecl | c_ast.PtrDecl | c_ast.ArrayDecl):
            if isinstance(node, c_ast.ArrayDecl):
                self.visit(node.dim)
            node = node.type

    def visit_Typedef(self, node: c_ast.Typedef) -> frozenset[Symbol]:
        self.scope.declare(node, Origin.REGION)
        return frozenset()

    def visit_Typename(self, node: c_ast.Typename) -> frozenset[Symbol]:
        self.extents(node.type)
        self.bindings.types[node] = resolve(node, self.scope.type_names)
        return frozenset()

    def visit_Compound(self, node: c_ast.Compound) -> frozenset[Symbol]:
        self.scope.push()
        assigned = self.generic(node)
        self.scope.pop()
        return assigned

    def visit_StructRef(self, node: c_ast.StructRef) -> frozenset[Symbol]:
        return self.visit(node.name)

    def visit_NamedInitializer(self, node: c_ast.NamedInitializer) -> frozenset[Symbol]:
        return self.visit(node.expr)

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> frozenset[Symbol]:
        moved = isinstance(node.name, c_ast.BinaryOp)   # (p + k)[i]
        return (self.affine(node.name) if moved else self.visit(node.name)) | self.affine(node.subscript)

    def visit_Reached(self, node: c_ast.Node) -> frozenset[Symbol]:
        assigned: frozenset[Symbol] = frozenset()
        for name, child in node.children():
            assigned |= self.affine(child) if name.startswith(("counts", "rows")) else self.visit(child)
        return assigned

    def visit_If(self, node: c_ast.If) -> frozenset[Symbol]:
        return self.affine(node.cond) | self.visit(node.iftrue) | self.visit(node.iffalse)

    def visit_While(self, node: c_ast.While) -> frozenset[Symbol]:
        return self.affine(node.cond) | self.visit(node.stmt)

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> frozenset[Symbol]:
        if is_step(node):
            return self.assign(node.expr) | self.visit(node.expr)
        if node.op == "*":
            return self.affine(node.expr)
        return self.visit(node.expr)

    def visit_Assignment(self, node: c_ast.Assignment) -> frozenset[Symbol]:
        own = self.assign(node.lvalue)
        if isinstance(node.lvalue, c_ast.ID) and node.op == "=":
            self.target(node.lvalue)
        else:
            own |= self.visit(node.lvalue)
        return own | self.visit(node.rvalue)

    def target(self, node: c_ast.ID) -> None:
        """Bind an identifier that is written and not read."""
        symbol = self.scope.lookup(node.name)
        if symbol is not None:
            self.bindings.meaning[node] = symbol

    def assign(self, node: c_ast.Node) -> frozenset[Symbol]:
        """Note that an lvalue's own symbol changes (not an element that it leads to)."""
        if not isinstance(node, c_ast.ID):
            self.note_members(node)
        while isinstance(node, c_ast.StructRef) and node.type == ".":
            node = node.name
        if not isinstance(node, c_ast.ID):
            return frozenset()
        symbol = self.scope.lookup(node.name)
        if symbol is None or isinstance(symbol.ctype, ArrayOf):
            return frozenset()
        self.bindings.written.add(symbol)
        self.bindings.body_written.add(symbol)
        self.bindings.written_once.discard(symbol)
        return frozenset({symbol})

    def note_members(self, node: c_ast.Node) -> None:
        members: tuple[str, ...] = ()
        while not isinstance(node, c_ast.ID):
            if isinstance(node, c_ast.StructRef):
                members = (node.field.name, *members)
            if isinstance(node, c_ast.BinaryOp):
                for side in (node.left, node.right):
                    self.note_members(side)
                return
            below = next((child for name, child in node.children() if name in ("name", "expr")), None)
            if below is None:
                return
            node = below
        symbol = self.scope.lookup(node.name)
        if symbol is not None:
            self.bindings.written_members.add((symbol, members))

    def visit_For(self, node: c_ast.For) -> frozenset[Symbol]:
        self.scope.push()
        counter, assigned = self.head(node)
        if counter is not None:
            self.active.append(counter)
        assigned |= self.affine(node.cond)
        assigned |= self.loop_step(node.next, counter)
        assigned |= self.visit(node.stmt)
        if counter is not None:
            self.active.pop()
        self.scope.pop()
        return assigned

    def head(self, node: c_ast.For) -> tuple[Symbol | None, frozenset[Symbol]]:
        """Bind a loop's initialisation: the symbol that it sets, when it is one."""
        init = node.init
        if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and isinstance(init.decls[0], c_ast.Decl):
            declaration = init.decls[0]
            self.affine(declaration.init)
            symbol = self.scope.declare(declaration, Origin.REGION)
            if symbol is not None:
                self.bindings.declared[declaration] = symbol
                self.note_iterator(symbol)
                return symbol, frozenset({symbol})
        if isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
            assigned = self.affine(init.rvalue)
            self.target(init.lvalue)
            symbol = self.scope.lookup(init.lvalue.name)
            if symbol is not None:
                self.note_iterator(symbol)
                return symbol, assigned | {symbol}
        assigned = self.affine(init)
        stepped = stepped_name(node.next)
        symbol = self.scope.lookup(stepped) if init is None and stepped else None
        if symbol is not None:
            self.note_iterator(symbol)
            self.bindings.read_outside.add(symbol)
            return symbol, assigned | {symbol}
        return None, assigned

    def note_iterator(self, symbol: Symbol) -> None:
        self.bindings.iterators.add(symbol)
        self.bindings.written.add(symbol)

    def loop_step(self, node: c_ast.Node | None, counter: Symbol | None) -> frozenset[Symbol]:
        """Bind a loop's step; stepping the counter itself is not a write of the body."""
        already = counter in self.bindings.body_written
        assigned = self.affine(node)
        if counter is not None and stepped_name(node) == counter.name and not already:
            self.bindings.body_written.discard(counter)
        return assigned


def assigned_names(node: c_ast.Node) -> Iterator[str]:
    """Names of the variables that a subtree assigns."""
    for below in everything(node, c_ast.Assignment, c_ast.UnaryOp):
        target = None
        if isinstance(below, c_ast.Assignment):
            target = below.lvalue
        elif is_step(below):
            target = below.expr
        while isinstance(target, c_ast.StructRef) and target.type == ".":
            target = target.name
        if isinstance(target, c_ast.ID):
            yield target.name


def addressed_names(node: c_ast.Node) -> Iterator[str]:
    """Names of the variables whose address a subtree takes, members and elements included."""
    for below in everything(node, c_ast.UnaryOp):
        if below.op == "&":
            target = below.expr
            while isinstance(target, c_ast.StructRef | c_ast.ArrayRef):
                target = target.name
            if isinstance(target, c_ast.ID):
                yield target.name


def identifiers_in(node: c_ast.Node) -> frozenset[str]:
    """Every identifier of an expression; names of members are none."""
    found: set[str] = set()
    left = [node]
    while left:
        node = left.pop()
        if isinstance(node, c_ast.ID):
            found.add(node.name)
        elif isinstance(node, c_ast.StructRef):
            left.append(node.name)
        else:
            left.extend(node)
    return frozenset(found)


def stepped_name(node: c_ast.Node | None) -> str | None:
    """The variable that a loop's step changes, when it is a single one."""
    if is_step(node):
        node = node.expr
    elif isinstance(node, c_ast.Assignment):
        node = node.lvalue
    else:
        return None
    return node.name if isinstance(node, c_ast.ID) else None


def describe(node: c_ast.Node) -> str:
    """A construct's text for a message, shortened."""
    text = c_text(node)
    return text if len(text) <= 100 else text[:97] + "..."
