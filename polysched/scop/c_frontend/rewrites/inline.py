"""Calls of small functions of the same file, replaced by what they compute.

A function whose body only sets its own variables and chooses between returned expressions becomes an expression; one
whose result is not used, or is all of what is assigned, becomes a block.  Parameters that a block changes become local
variables; the others are replaced by their arguments.  Every name of the callee is made new, so nothing of the caller
is captured.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import field

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import (
    addressed_names,
    assigned_names,
    function_parameters,
    identifiers_in,
    stepped_name,
)
from polysched.scop.c_frontend.parse import copied, everything, is_step, replace_child
from polysched.scop.c_frontend.rewrites.bodies import BODIES
from polysched.scop.c_frontend.rewrites.late_arguments import (
    Changes,
    FunctionFacts,
    calls_a_variable,
    keeps_a_state,
    own_names,
)
from polysched.scop.c_frontend.rewrites.returns import (
    body_of,
    has_effect,
    jumps,
    returns_nothing,
    with_result,
    without_returns,
)
from polysched.scop.limits import LIMITS

UNSET = "polysched_unset"
"""Stands for the value of a variable that has none yet."""
MOST_NODES = LIMITS.inlined_nodes
MOST_NODES_INLINED = LIMITS.inlined_nodes_together
MOST_CALLS_DEEP = LIMITS.inlined_depth
MOST_NODES_IN_ALL = LIMITS.inlined_nodes_in_all


@dataclass
class Inliner:
    """Rewrites the calls of a region.

    Parameters
    ----------
    functions : the definitions of the file, by name.
    keep : functions that stay calls: those that are declared pure.
    taken : names that a new name must avoid.
    shadowed : names that mean something else at the region than at file scope.
    array_types : the types of the file that stand for arrays (`typedef double real3[3];`), by name.
    too_large : functions of the file that grew too large, alone or with what they call: they stay calls.
    usable : whether a function is small and means the same at the region, of those that were looked at.
    of_functions : what their texts say, collected once.
    pointers : variables at the region that are arrays or pointers.
    walking : those that the region declares as pointers, perhaps into arrays of other names.
    grown : nodes of what has taken the places of calls since the outermost one that is open.
    """

    functions: dict[str, c_ast.FuncDef]
    keep: frozenset[str]
    taken: set[str]
    shadowed: frozenset[str]
    array_types: Mapping[str, c_ast.ArrayDecl] = field(default_factory=dict)
    pointers: set[str] = field(default_factory=set)
    walking: set[str] = field(default_factory=set)
    open_calls: list[str] = field(default_factory=list)
    grown: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    too_large: set[str] = field(default_factory=set)
    usable: dict[str, bool] = field(default_factory=dict)
    of_functions: FunctionFacts = field(default_factory=FunctionFacts)

    def statements(self, nodes: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items with every call inlined that can be."""
        return tuple(made for n in nodes for made in self.made_of(self.rewrite(n)))

    def rewrite(self, node: c_ast.Node) -> c_ast.Node:
        """A subtree with its calls inlined, in place; calls that cannot be inlined stay."""
        for name, child in node.children():
            new = self.rewrite(child)
            if name in BODIES and not isinstance(new, c_ast.Compound) and not isinstance(node, c_ast.TernaryOp):
                made = self.made_of(new)
                new = made[0] if len(made) == 1 else c_ast.Compound(list(made), new.coord)
            if new is not child:
                replace_child(node, name, new)
        if isinstance(node, c_ast.Compound) and node.block_items:
            node.block_items = [made for item in node.block_items for made in self.made_of(item)]
        if isinstance(node, c_ast.FuncCall):
            return self.call(node) or node
        return node

    def made_of(self, node: c_ast.Node) -> tuple[c_ast.Node, ...]:
        """A statement that is a call, or assigns the result of one, as the block that computes it.

        Rewrite:  x += f(a);   ->  { T result; { BODY of f, with `result = e` for `return e` } x += result; }
        Rewrite:  T x = f(a);  ->  T x;  { ... x = result; }
        """
        call = node.init if isinstance(node, c_ast.Decl) else node.rvalue if isinstance(
            node, c_ast.Assignment) else node
        if not isinstance(call, c_ast.FuncCall) or (isinstance(node, c_ast.Assignment) and has_effect(node.lvalue)):
            return (node,)
        if isinstance(node, c_ast.Decl) and not (_is_scalar(node) and not node.quals and not node.storage):
            return (node,)
        result = self.fresh("result") if call is not node else None
        block = self.call(call, result=result, as_statement=True)
        if block is None:
            return (node,)
        if result is None:
            return (block,)
        value = c_ast.ID(result, call.coord)
        heads: tuple[c_ast.Node, ...] = ()
        if isinstance(node, c_ast.Decl):
            node.init = None
            heads, end = (node,), c_ast.Assignment("=", c_ast.ID(node.name, node.coord), value, node.coord)
        else:
            end = c_ast.Assignment(node.op, node.lvalue, value, node.coord)
        return (*heads, c_ast.Compound([*(block.block_items or ()), end], node.coord))

    def call(self, node: c_ast.FuncCall, *, result: str | None = None, as_statement: bool = False) -> c_ast.Node | None:
        """What a call computes; None when the function cannot be inlined.

        Parameters
        ----------
        result : the variable that a block declares and sets to what the function returns.
        as_statement : a block is wanted, whatever the function returns.
        """
        function = self.small_function(node)
        if function is None:
            return None
        arguments = list(node.args.exprs) if node.args else []
        parameters = tuple(map(self.spelled_out, function_parameters(function)))
        if len(arguments) != len(parameters) or any(has_effect(a) for a in arguments):
            return None
        name, callee = node.name.name, _Callee(self, function, parameters, arguments, node)
        try:
            made = callee.statement(result) if as_statement else callee.inlined()
        except _TooLargeError:
            self.too_large.add(name)
            return None
        if made is None or not self.grows_by(made):
            return None
        self.open_calls.append(name)
        made = self.rewrite(made)
        self.open_calls.pop()
        if self.grown > MOST_NODES_IN_ALL and not self.open_calls:
            self.too_large.add(name)
        return None if _calls_function(made, name) or not self.fits(name, (made,)) else made

    def grows_by(self, made: c_ast.Node) -> bool:
        """Whether what stands for a call is small, and all that stands for calls in the outermost one, too."""
        size = sum(1 for _ in everything(made))
        if size > MOST_NODES_INLINED:
            return False
        self.grown = self.grown + size if self.open_calls else size
        return self.grown <= MOST_NODES_IN_ALL   # else the outermost call is given up, too

    def small_function(self, node: c_ast.FuncCall) -> c_ast.FuncDef | None:
        """The function that a call names, where it is one of the file's that may become a part of the region."""
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        function = self.functions.get(name)
        if (function is None or name in {*self.keep, *self.open_calls, *self.too_large}
                or len(self.open_calls) == MOST_CALLS_DEEP):
            return None
        if name not in self.usable:
            self.usable[name] = not is_large(function) and not self.captures(function)
        return function if self.usable[name] else None

    def fits(self, name: str, made: Sequence[c_ast.Node]) -> bool:
        """Whether what a function became is small enough; one that did not fit once stays a call from then on."""
        if sum(1 for part in made for _ in everything(part)) > MOST_NODES_IN_ALL:
            self.too_large.add(name)
        return name not in self.too_large

    def spelled_out(self, parameter: c_ast.Decl) -> c_ast.Decl:
        """A parameter whose type is a name for an array, as the array."""
        names = parameter.type.type.names if isinstance(parameter.type, c_ast.TypeDecl) and isinstance(
            parameter.type.type, c_ast.IdentifierType) else []
        array = self.array_types.get(names[0]) if len(names) == 1 else None
        if array is None:
            return parameter
        made = copy.copy(parameter)
        made.type = copy.deepcopy(array)
        _rename_declaration(made, parameter.name)
        return made

    def captures(self, function: c_ast.FuncDef) -> bool:
        """Whether the function's name, or a global name in it, means something else at the region or inside it."""
        named = identifiers_in(function.body) - own_names(function) | {function.decl.name}
        return bool(named & self.shadowed) or calls_a_variable(function) or keeps_a_state(function)

    @property
    def changes(self) -> Changes:
        """What the functions of the file change, as the region names it."""
        return Changes(self.functions, self.pointers, self.walking, self.of_functions)

    def fresh(self, wanted: str) -> str:
        """A name that nothing has."""
        while True:
            self.counts[wanted] = self.counts.get(wanted, 0) + 1
            name = f"{wanted}_in{self.counts[wanted]}"
            if name not in self.taken:
                self.taken.add(name)
                return name


class _TooLargeError(Exception):
    """What a function becomes grows beyond all measure."""


@dataclass
class _Callee:
    """One call, and what stands for the names of the function.

    Parameters
    ----------
    copies : nodes that were made for it.
    """

    inliner: Inliner
    function: c_ast.FuncDef
    parameters: tuple[c_ast.Decl, ...]
    arguments: list[c_ast.Node]
    call: c_ast.FuncCall
    values: dict[str, c_ast.Node] = field(default_factory=dict)
    types: dict[str, c_ast.Node] = field(default_factory=dict)
    copies: int = 0

    def inlined(self) -> c_ast.Node | None:
        """The body as an expression where the function returns a value, else as a block."""
        body = body_of(self.function)
        if returns_nothing(self.function):
            return self.block(body)
        own = [*self.parameters, *(n for n in everything(self.function.body) if isinstance(n, c_ast.Decl))]
        self.types = {d.name: d.type for d in own if d.name is not None and _is_scalar(d)}
        changed = set(assigned_names(self.function.body))
        if (len({d.name for d in own}) < len(own) or not changed <= self.types.keys()
                or self.types.keys() & set(addressed_names(self.function.body))):
            return None
        for parameter, argument in zip(self.parameters, self.arguments, strict=True):
            self.values[parameter.name] = self.converted(parameter.type, argument)
        value = self.expression(body)
        if value is None or UNSET in identifiers_in(value):
            return None
        return self.converted(self.function.decl.type.type, value)

    def statement(self, result: str | None) -> c_ast.Node | None:
        """The body as a block that declares a variable for the result, if one is wanted, and sets it."""
        body = body_of(self.function)
        if returns_nothing(self.function):
            return None if result is not None else self.block(body)
        returned = self.function.decl.type.type
        if not isinstance(returned, c_ast.TypeDecl):
            return None
        made = self.block([with_result(item, result) for item in body])
        if made is None or result is None:
            return made
        kind = copy.deepcopy(returned)
        kind.declname, kind.quals = result, []
        declaration = c_ast.Decl(result, [], [], [], [], kind, None, None, self.call.coord)
        return c_ast.Compound([declaration, made], self.call.coord)

    def expression(self, items: list[c_ast.Node]) -> c_ast.Node | None:
        """The value that a list of statements returns: they set scalars of the function, choose, and return."""
        for at, item in enumerate(items):
            if isinstance(item, c_ast.Decl) and _is_plain_variable(item):
                self.values[item.name] = c_ast.ID(UNSET, self.call.coord) if item.init is None else self.converted(
                    item.type, self.substituted(item.init))
            elif (new := _new_value(item)) is not None and stepped_name(item) in self.types:
                name = str(stepped_name(item))
                self.values[name] = self.converted(self.types[name], self.substituted(new))
            elif isinstance(item, c_ast.Compound):
                return self.expression([*(item.block_items or ()), *items[at + 1:]])
            elif isinstance(item, c_ast.Return) and item.expr is not None:
                return None if has_effect(item.expr) else self.substituted(item.expr)
            elif isinstance(item, c_ast.If) and not has_effect(item.cond):
                rest = items[at + 1:]
                saved = dict(self.values)
                condition = self.substituted(item.cond)
                then = self.expression([*_block(item.iftrue), *rest])
                self.values = dict(saved)
                otherwise = self.expression([*_block(item.iffalse), *rest])
                self.values = saved
                if then is None or otherwise is None:
                    return None
                return c_ast.TernaryOp(condition, then, otherwise, self.call.coord)
            elif not isinstance(item, c_ast.Pragma | c_ast.EmptyStatement):
                return None
        return None

    def declared(self, parameter: c_ast.Decl, argument: c_ast.Node) -> c_ast.Decl:
        """A variable of a new name that starts from the argument and stands for the parameter."""
        name = self.inliner.fresh(parameter.name)
        declaration = copy.deepcopy(parameter)
        _rename_declaration(declaration, name)
        declaration.init = argument
        self.values[parameter.name] = c_ast.ID(name, self.call.coord)
        return declaration

    def block(self, items: list[c_ast.Node]) -> c_ast.Node | None:
        """The body as a block, with its own names made new."""
        changed = self.inliner.of_functions.changed(self.function)
        items = without_returns(items)
        if jumps(items):
            return None
        heads: list[c_ast.Node] = []
        outside = self.inliner.changes.variables(self.function) | {
            name for a in self.arguments for name in addressed_names(a)}
        moved = {name for i in items for name in (*assigned_names(i), *_addressed_itself(i))}
        for parameter, argument in zip(self.parameters, self.arguments, strict=True):
            if _is_scalar(parameter) and parameter.name not in changed and _is_fixed(argument, outside):
                self.values[parameter.name] = self.converted(parameter.type, argument)
            elif _is_scalar(parameter):
                heads.append(self.declared(parameter, argument))
            elif parameter.name in moved or self.moves(argument):
                return None
            else:
                self.values[parameter.name] = self.pointer(parameter.type, argument)
        self.rename(items)
        return c_ast.Compound([*heads, *(self.substituted(i) for i in items)], self.call.coord)

    def moves(self, argument: c_ast.Node) -> bool:
        """Whether the body may change where a pointer argument leads to."""
        changes = self.inliner.changes
        itself = {name for a in self.arguments for name in _addressed_itself(a)}
        return changes.reach(argument, changes.variables(self.function) | itself,
                             changes.memory(self.function, self.arguments))

    def rename(self, items: list[c_ast.Node]) -> None:
        """Give what statements declare names that nothing has."""
        for item in items:
            for node in everything(item):
                if isinstance(node, c_ast.Decl) and node.name is not None:
                    new = self.inliner.fresh(node.name)
                    self.values[node.name] = c_ast.ID(new, self.call.coord)
                    if not _is_scalar(node):
                        self.inliner.pointers.add(new)
                    if isinstance(node.type, c_ast.PtrDecl):
                        self.inliner.walking.add(new)

    def substituted(self, node: c_ast.Node) -> c_ast.Node:
        """A copy with the callee's names replaced.

        Raises
        ------
        _TooLargeError : values that stand in others double with each of them.
        """
        value = self.values.get(node.name, node) if isinstance(node, c_ast.ID) else None
        self.copies += 1 if value is None else sum(1 for _ in everything(value))
        if self.copies > MOST_NODES_IN_ALL:
            raise _TooLargeError
        if value is not None:
            return copied(value)
        made = copy.copy(node)
        if isinstance(node, c_ast.Decl) and node.name in self.values:
            new = self.values[node.name]
            made.type = copy.deepcopy(node.type)
            if isinstance(new, c_ast.ID):
                _rename_declaration(made, new.name)
        for name, child in node.children():
            if not _names_no_object(node, name, child):
                replace_child(made, name, self.substituted(child))
        return made

    def converted(self, declarator: c_ast.Node, value: c_ast.Node) -> c_ast.Node:
        """The value converted to the type of a declarator."""
        if not isinstance(declarator, c_ast.TypeDecl):
            return self.pointer(declarator, value)
        made = copy.deepcopy(declarator)
        made.declname, made.quals = None, []
        return c_ast.Cast(c_ast.Typename(None, [], None, made, value.coord), value, value.coord)

    def pointer(self, declarator: c_ast.Node, value: c_ast.Node) -> c_ast.Node:
        """An array argument as the parameter sees it: rows of the declared length, by a cast that changes nothing
        where the caller's array has rows of the same length."""
        inner = declarator.type
        if not isinstance(inner, c_ast.ArrayDecl):
            return value
        rows = self.substituted(inner)
        _clear_name(rows)
        return c_ast.Cast(c_ast.Typename(None, [], None, c_ast.PtrDecl([], rows, value.coord), value.coord), value,
                          value.coord)


def is_large(function: c_ast.FuncDef) -> bool:
    """Whether a function is too large to be inlined."""
    return sum(1 for _ in everything(function.body)) > MOST_NODES


def _names_no_object(node: c_ast.Node, name: str, child: c_ast.Node) -> bool:
    """Whether a child's name is that of a member, a function or a type."""
    match node:
        case c_ast.StructRef():
            return name == "field"
        case c_ast.FuncCall():
            return name == "name"
        case c_ast.Decl():
            return name == "type"
        case c_ast.NamedInitializer():
            return name != "expr" and isinstance(child, c_ast.ID)
        case _:
            return False


def _clear_name(declarator: c_ast.Node) -> None:
    while not isinstance(declarator, c_ast.TypeDecl):
        declarator = declarator.type
    declarator.declname = None


def _addressed_itself(node: c_ast.Node) -> set[str]:
    """The variables whose own address is taken; the address of an element of an array leaves the array where it is."""
    return {n.expr.name for n in everything(node)
            if isinstance(n, c_ast.UnaryOp) and n.op == "&" and isinstance(n.expr, c_ast.ID)}


def _new_value(item: c_ast.Node) -> c_ast.Node | None:
    """What an assignment to a variable as a statement sets it to."""
    if is_step(item):
        one = c_ast.Constant("int", "1", item.coord)
        return c_ast.BinaryOp("+" if "++" in item.op else "-", item.expr, one, item.coord)
    if not isinstance(item, c_ast.Assignment) or has_effect(item.rvalue):
        return None
    return item.rvalue if item.op == "=" else c_ast.BinaryOp(item.op[:-1], item.lvalue, item.rvalue, item.coord)


def _calls_function(node: c_ast.Node, name: str) -> bool:
    return any(isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID) and n.name.name == name
               for n in everything(node))


def _block(node: c_ast.Node | None) -> list[c_ast.Node]:
    if node is None:
        return []
    return list(node.block_items or []) if isinstance(node, c_ast.Compound) else [node]


def _is_scalar(declaration: c_ast.Decl) -> bool:
    return isinstance(declaration.type, c_ast.TypeDecl)


def _is_plain_variable(declaration: c_ast.Decl) -> bool:
    """Whether a declaration makes one variable whose first value is an expression, if it has one, without effect."""
    first = declaration.init
    return _is_scalar(declaration) and not isinstance(first, c_ast.InitList) and (
        first is None or not has_effect(first))


def _is_fixed(argument: c_ast.Node, changed: frozenset[str]) -> bool:
    """Whether an argument reads no memory and nothing that the callee can change."""
    return all(not isinstance(n, c_ast.ArrayRef | c_ast.StructRef | c_ast.FuncCall)
               and not (isinstance(n, c_ast.UnaryOp) and n.op == "*")
               and not (isinstance(n, c_ast.ID) and n.name in changed)
               for n in everything(argument))


def _rename_declaration(declaration: c_ast.Decl, name: str) -> None:
    declaration.name = name
    inner = declaration.type
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = name
