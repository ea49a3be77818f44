"""Calls of functions whose effects are declared, as statements that name the memory behind their pointers.

Rewrite:  axpy(n, a, x + i * n, y);   ->   the call, which may read n elements from (x + i * n)[0] on, and may read and
                                           write n elements from y[0] on
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence

from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.effects import DeclaredEffects, Section
from polysched.scop.c_frontend.parse import c_text, everything, is_step, place, replace_child
from polysched.scop.c_frontend.rewrites.bodies import rewrite_bodies


class Reached(c_ast.Node):  # type: ignore[misc]
    """Elements behind a pointer that is passed to a function.

    Parameters
    ----------
    pointed : the element that the pointer leads to, as an lvalue.
    first : the first element, as an lvalue; of one that is written, an update of it, which other rewrites see as one.
    counts : how many elements there are, one number for each of the last dimensions; None where that is not known.
    argument : the position of the pointer among the arguments.
    rows : how long the function takes rows further in to be, where it takes a pointer to rows; None where no length is
        known.
    """

    __slots__ = ("argument", "coord", "counts", "first", "pointed", "rows")
    attr_names = ()

    def __init__(self, pointed: c_ast.Node, first: c_ast.Node, counts: Sequence[c_ast.Node | None],
                 argument: int, rows: Sequence[c_ast.Node | None] = ()) -> None:
        self.pointed, self.first, self.counts, self.rows = pointed, first, list(counts), list(rows)
        self.argument, self.coord = argument, pointed.coord

    @property
    def is_written(self) -> bool:
        return isinstance(self.first, c_ast.Assignment)

    @property
    def element(self) -> c_ast.Node:
        return self.first.lvalue if isinstance(self.first, c_ast.Assignment) else self.first

    def children(self) -> tuple[tuple[str, c_ast.Node], ...]:
        return (("pointed", self.pointed), ("first", self.first),
                *((f"counts[{at}]", count) for at, count in enumerate(self.counts) if count is not None),
                *((f"rows[{at}]", row) for at, row in enumerate(self.rows) if row is not None))

    def __iter__(self) -> Iterator[c_ast.Node]:
        return (child for _, child in self.children())


class EffectCall(c_ast.Node):  # type: ignore[misc]
    """A call with what it reaches; `statement` is the call, or the assignment that takes its value."""

    __slots__ = ("coord", "reached", "statement")
    attr_names = ()

    def __init__(self, statement: c_ast.Node, reached: Sequence[Reached]) -> None:
        self.statement, self.reached, self.coord = statement, list(reached), statement.coord

    @property
    def call(self) -> c_ast.FuncCall:
        return self.statement.rvalue if isinstance(self.statement, c_ast.Assignment) else self.statement

    def children(self) -> tuple[tuple[str, c_ast.Node], ...]:
        return (("statement", self.statement), *((f"reached[{at}]", item) for at, item in enumerate(self.reached)))

    def __iter__(self) -> Iterator[c_ast.Node]:
        return (child for _, child in self.children())


@dataclass(frozen=True)
class EffectCalls:
    """Rewrites the statements of a region, in place below.

    Parameters
    ----------
    path : of the file.
    effects : the declared effects by function.
    heads : how the file declares these functions.
    infer : finds the effects of other functions; None for one whose effects are not known.
    hidden : names that mean something else at the region, or inside it, than a function of the file.
    """

    path: str
    effects: Mapping[str, DeclaredEffects]
    heads: Mapping[str, c_ast.FuncDecl]
    infer: Callable[[str], DeclaredEffects | None] = lambda _: None
    hidden: frozenset[str] = frozenset()

    def statements(self, nodes: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items."""
        return tuple(made for node in nodes for made in self._made_of(node)) if self.heads else tuple(nodes)

    def _made_of(self, node: c_ast.Node) -> tuple[c_ast.Node, ...]:
        if isinstance(node, c_ast.Compound):
            node.block_items = list(self.statements(node.block_items or ()))
            return (node,)
        rewrite_bodies(node, self._made_of)
        if isinstance(node, c_ast.Decl) and self._declared(node.init) is not None:
            target = c_ast.ID(node.name, node.coord)
            value, node.init = node.init, None
            return (node, *self._made_of(c_ast.Assignment("=", target, value, node.coord)))
        call = node.rvalue if isinstance(node, c_ast.Assignment) else node
        declared = self._declared(call)
        if declared is None:
            return (node,)
        return (EffectCall(node, self._reached(call, declared)),)

    def _declared(self, node: c_ast.Node | None) -> DeclaredEffects | None:
        if (isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
                and node.name.name not in self.hidden):
            return self.effects.get(node.name.name) or self.infer(node.name.name)
        return None

    def _reached(self, call: c_ast.FuncCall, declared: DeclaredEffects) -> list[Reached]:
        arguments = list(call.args.exprs) if call.args else []
        parameters = parameters_of(self.heads.get(declared.function))
        if len(arguments) != len(declared.parameters) or len(parameters) != len(arguments):
            raise self._refused(call, f"`{declared.function}` is declared with another number of parameters",
                                "give its prototype, and name its parameters in the declaration of its effects")
        for argument in arguments:
            if any(isinstance(n, c_ast.Assignment | c_ast.FuncCall) or is_step(n) for n in everything(argument)):
                raise self._refused(call, "a side effect or a call inside an argument",
                                    "compute it in a statement of its own, before this one")
        values = {name: _converted(parameter, argument) for name, parameter, argument in zip(
            declared.parameters, parameters, arguments, strict=True)}
        reached = [self._section(call, section, arguments, declared.parameters.index(section.pointer), values,
                                 written=sections is declared.writes)
                   for sections in (declared.reads, declared.writes) for section in sections]
        own = {p.name: values[name] for p, name in zip(parameters, declared.parameters, strict=True) if p.name}
        for each in reached:
            rows = [self._row(extent, own) for extent in _row_lengths(parameters[each.argument])]
            each.rows = rows + [None] * (len(each.counts) - 1 - len(rows))   # the name of a type may stand for rows
        return reached

    def _row(self, extent: c_ast.Node | None, own: Mapping[str, c_ast.Node]) -> c_ast.Node | None:
        """The length of rows as a function's parameter has it, where the function is called; `[*]` does not say it."""
        names = {n.name for n in everything(extent) if isinstance(n, c_ast.ID)}
        unknown = (names - own.keys()) & {"*", *self.hidden}
        return None if extent is None or unknown else _substituted(extent, own)

    def _section(self, call: c_ast.FuncCall, section: Section, arguments: Sequence[c_ast.Node], at: int,
                 values: Mapping[str, c_ast.Node], *, written: bool) -> Reached:
        pointer = _without_void(arguments[at])
        firsts = [None if first is None else _substituted(first, values) for first in section.firsts]
        counts = [None if count is None else _substituted(count, values) for count in section.counts]
        pointed, first = _element(pointer, [None] * len(firsts)), _element(pointer, firsts)
        if pointed is None or first is None:   # the address of a variable
            if len(firsts) > 1 or not _is(firsts[0], "0") or not _is(counts[0], "1"):
                raise self._refused(call, f"`{c_text(pointer)}` is the address of one variable, and "
                                    f"`{declared_text(section)}` may be more", "pass an array, or declare one element")
            pointed, first, counts = copy.deepcopy(pointer.expr), copy.deepcopy(pointer.expr), []
        if written:
            first = c_ast.Assignment("+=", first, c_ast.Constant("int", "0", call.coord), call.coord)
        return Reached(pointed, first, counts, at)

    def _refused(self, node: c_ast.Node, problem: str, hint: str) -> UnsupportedScopError:
        return UnsupportedScopError(problem, where=place(self.path, node), witness=c_text(node), hint=hint)


def declared_text(section: Section) -> str:
    """A section as the pragma has it."""
    ranges = zip(section.firsts, section.counts, strict=True)
    return section.pointer + "".join(
        "[...]" if first is None or count is None else f"[{c_text(first)}:{c_text(count)}]" for first, count in ranges)


def heads_of(tree: c_ast.FileAST) -> dict[str, c_ast.FuncDecl]:
    """How the functions of a file are declared, by name."""
    declared = [item.decl if isinstance(item, c_ast.FuncDef) else item for item in tree.ext]
    return {d.name: d.type for d in declared if isinstance(d, c_ast.Decl) and isinstance(d.type, c_ast.FuncDecl)}


def parameters_of(head: c_ast.FuncDecl | None) -> list[c_ast.Node]:
    """The parameters that a function declares with types; `(void)` is none, and `...` is not one."""
    listed = head.args.params if head is not None and head.args is not None else []
    return [p for p in listed if isinstance(p, c_ast.Decl | c_ast.Typename) and not _is_void(p.type)]


def _row_lengths(parameter: c_ast.Node) -> Iterator[c_ast.Node | None]:
    """The lengths of the rows that a parameter leads to, outermost first."""
    kind = parameter.type.type if isinstance(parameter.type, c_ast.PtrDecl | c_ast.ArrayDecl) else None
    while isinstance(kind, c_ast.ArrayDecl):
        yield kind.dim
        kind = kind.type


def _is_void(kind: c_ast.Node) -> bool:
    return (isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType)
            and kind.type.names == ["void"])


def _is(node: c_ast.Node | None, value: str) -> bool:
    return isinstance(node, c_ast.Constant) and node.value == value


def _without_void(node: c_ast.Node) -> c_ast.Node:
    """A pointer without conversions to `void *`."""
    while isinstance(node, c_ast.Cast):
        kind = node.to_type.type
        inner = kind.type.type if isinstance(kind, c_ast.PtrDecl) and isinstance(kind.type, c_ast.TypeDecl) else None
        if not isinstance(inner, c_ast.IdentifierType) or inner.names != ["void"]:
            break
        node = node.expr
    return node


def _element(pointer: c_ast.Node, subscripts: Sequence[c_ast.Node | None]) -> c_ast.Node | None:
    """An element behind a pointer, where 0 stands for no subscript; None for the address of a variable."""
    outer, *inner = subscripts
    node: c_ast.Node = copy.deepcopy(pointer)
    plain = outer is None or _is(outer, "0")
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        node = node.expr
        if not isinstance(node, c_ast.ArrayRef):
            return None
        if not plain:
            node.subscript = c_ast.BinaryOp("+", node.subscript, outer, pointer.coord)
    else:
        node = c_ast.ArrayRef(node, c_ast.Constant("int", "0", pointer.coord) if plain else outer, pointer.coord)
    for subscript in inner:
        node = c_ast.ArrayRef(node, subscript or c_ast.Constant("int", "0", pointer.coord), pointer.coord)
    return node


def _converted(parameter: c_ast.Node, argument: c_ast.Node) -> c_ast.Node:
    """An argument as the function sees it; pointers as they are."""
    if not isinstance(parameter.type, c_ast.TypeDecl):
        return argument
    kind = copy.deepcopy(parameter.type)
    kind.declname, kind.quals = None, []
    return c_ast.Cast(c_ast.Typename(None, [], None, kind, argument.coord), argument, argument.coord)


def _substituted(node: c_ast.Node, values: Mapping[str, c_ast.Node]) -> c_ast.Node:
    """A copy of a bound with arguments in the place of parameters."""
    if isinstance(node, c_ast.ID):
        return copy.deepcopy(values.get(node.name, node))
    made = copy.copy(node)
    for name, child in node.children():
        replace_child(made, name, _substituted(child, values))
    return made
