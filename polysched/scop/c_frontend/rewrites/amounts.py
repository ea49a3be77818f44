"""What loops step variables by: sums and products of integers, computed as wide as the steps one by one are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.c_types import CType, Pointer, Scalar
from polysched.scop.c_frontend.declarations.literals import literal
from polysched.scop.c_frontend.declarations.scopes import Origin
from polysched.scop.c_frontend.parse import c_text, copied, everything
from polysched.scop.c_frontend.rewrites.lvalue_types import LvalueTypes
from polysched.scop.dtypes import INT32, INT64, DType, promote
from polysched.scop.limits import LIMITS

ZERO = c_ast.Constant("int", "0")
ONE = c_ast.Constant("int", "1")
_SMALL = LIMITS.small_step


@dataclass(frozen=True)
class Amount:
    """What something is stepped by, all in all.

    Parameters
    ----------
    plain : in a loop that runs, and wherever `forward` holds.
    exact : in any case: 0 where a loop does not run.
    forward : conditions under which the two agree.
    """

    plain: c_ast.Node
    exact: c_ast.Node
    forward: tuple[c_ast.Node, ...] = ()


@dataclass(eq=False)
class StepTypes:
    """The types of variables that may be stepped, and of what they are stepped by.

    Parameters
    ----------
    lvalues : the types at the region, which `declare` fills.
    plain : the variables of the function whose address nobody takes.
    static : the names of static variables that the region declares.
    """

    lvalues: LvalueTypes
    plain: frozenset[str]
    static: set[str] = field(default_factory=set)

    def declare(self, nodes: Sequence[c_ast.Node]) -> None:
        """Enter what statements declare."""
        self.lvalues.declare(nodes)
        self.static |= {n.name for item in nodes for n in everything(item)
                        if isinstance(n, c_ast.Decl) and n.name is not None and n.storage}

    def _type(self, name: str) -> CType | None:
        """The type of a variable that may be stepped; None for a name with several meanings."""
        if name not in self.plain or name in self.static:
            return None
        symbol = self.lvalues.scope.lookup(name)
        own = symbol is None or (not symbol.static and symbol.origin in (Origin.LOCAL, Origin.PARAMETER))
        return self.lvalues.of(c_ast.ID(name)) if own else None

    def is_pointer(self, name: str) -> bool:
        return isinstance(self._type(name), Pointer)

    def _stepped(self, name: str) -> DType | None:
        """The type of a signed integer that may be stepped."""
        ctype = self._type(name)
        plain = isinstance(ctype, Scalar) and not ctype.volatile and ctype.dtype in (INT32, INT64)
        return ctype.dtype if plain and isinstance(ctype, Scalar) else None

    def may_step(self, name: str) -> bool:
        """Whether something is a signed integer or a pointer, and only its name leads to it."""
        return self.is_pointer(name) or self._stepped(name) is not None

    def _integer(self, node: c_ast.Node) -> DType | None:
        """The type that C computes with a constant, variable or member in; None where it is no integer."""
        if isinstance(node, c_ast.Constant):
            found = literal(node.value)
            return found.dtype if found is not None and isinstance(found.value, int) else None
        kinds = self.lvalues.meanings(node.name) if isinstance(node, c_ast.ID) else [self.lvalues.of(node)]
        dtypes = {k.dtype if isinstance(k, Scalar) and not k.volatile and k.dtype.is_integer else None for k in kinds}
        dtype = dtypes.pop() if len(dtypes) == 1 else None
        return None if dtype is None else promote(dtype)

    def widened(self, name: str, value: c_ast.Node) -> c_ast.Node | None:
        """A part of what a variable is stepped by, such that sums and products of it are computed exactly.

        A pointer's are, as subscripts; an integer's are where all parts have its type.  Other parts become `long`.
        None where something is no integer.
        """
        if isinstance(value, c_ast.BinaryOp) and value.left is ZERO:
            made = self.widened(name, value.right)
            return None if made is None else c_ast.BinaryOp("-", ZERO, made, value.coord)
        dtypes = {self._integer(leaf) for leaf in _leaves(value)}
        if None in dtypes or any(isinstance(n, c_ast.Cast) for n in everything(value)):
            return None
        own = self._stepped(name)
        exact = dtypes <= {INT32, INT64} if own is None else dtypes == {own}
        return value if exact or _is_small(value) else _cast("long", value)

    def moved(self, name: str, offset: c_ast.Node) -> c_ast.Node:
        """A variable's value with an offset, in its type."""
        made = binary("+", c_ast.ID(name, offset.coord), offset)
        narrowed = self._stepped(name) == INT32 and any(isinstance(n, c_ast.Cast) for n in everything(offset))
        return _cast("int", made) if narrowed else made

    def constant(self, name: str, value: c_ast.Node) -> c_ast.Constant | None:
        """A number in the type of a variable; None for what is no `int`."""
        dtype = self._integer(value) if isinstance(value, c_ast.Constant) else None
        own = self._stepped(name)
        if dtype != INT32 or own is None:
            return None
        return c_ast.Constant("long int", f"{value.value}L", value.coord) if own == INT64 else value

    def exposed(self, amount: c_ast.Node) -> list[c_ast.Node]:
        """The parts of an amount that a write through a pointer could change."""
        leaves = [n for n in _leaves(amount) if not isinstance(n, c_ast.Constant)]
        return [n for n in leaves if not isinstance(n, c_ast.ID) or not self._keeps(n.name)]

    def _keeps(self, name: str) -> bool:
        """Whether only assignments to a name can change what it stands for."""
        symbol = self.lvalues.scope.lookup(name)
        return name in self.plain or (symbol is not None and (symbol.is_enumerator or (
            isinstance(symbol.ctype, Scalar) and symbol.ctype.constant)))


def _leaves(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """The constants, variables and members of an expression."""
    if isinstance(node, c_ast.ID | c_ast.Constant | c_ast.StructRef):
        yield node
    else:
        for name, child in node.children():
            if name != "to_type":
                yield from _leaves(child)


def _is_small(value: c_ast.Node) -> bool:
    """Whether a node is a number that int holds many times."""
    if isinstance(value, c_ast.UnaryOp) and value.op == "-":
        value = value.expr
    found = literal(value.value) if isinstance(value, c_ast.Constant) else None
    return found is not None and found.dtype == INT32 and isinstance(found.value, int) and found.value < _SMALL


def _cast(kind: str, value: c_ast.Node) -> c_ast.Node:
    made = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType([kind], value.coord), value.coord)
    return c_ast.Cast(c_ast.Typename(None, [], None, made, value.coord), copied(value), value.coord)


def sum_of(amounts: Sequence[Amount]) -> Amount:
    """What steps one behind the other make together."""
    first, *rest = amounts
    for amount in rest:
        first = Amount(binary("+", first.plain, amount.plain), binary("+", first.exact, amount.exact),
                       (*first.forward, *amount.forward))
    return first


def binary(op: str, left: c_ast.Node, right: c_ast.Node) -> c_ast.Node:
    """A sum, difference, product or quotient of copies."""
    return c_ast.BinaryOp(op, copied(left), copied(right), left.coord)


def difference(left: c_ast.Node, right: c_ast.Node) -> c_ast.Node:
    """`left - right`, or `left` where that is 0."""
    return left if isinstance(right, c_ast.Constant) and right.value == "0" else binary("-", left, right)


def product(left: c_ast.Node, right: c_ast.Node) -> c_ast.Node:
    """`left * right`, or `left` where that is 1."""
    return left if isinstance(right, c_ast.Constant) and right.value == "1" else binary("*", left, right)


def wide_text(node: c_ast.Node) -> str:
    """An amount as C that computes it as `long`."""
    if isinstance(node, c_ast.TernaryOp):
        return f"({c_text(node.cond)} ? {wide_text(node.iftrue)} : {wide_text(node.iffalse)})"
    if isinstance(node, c_ast.BinaryOp):
        return f"({wide_text(node.left)} {node.op} {wide_text(node.right)})"
    if isinstance(node, c_ast.UnaryOp):
        return f"({node.op}{wide_text(node.expr)})"
    if isinstance(node, c_ast.Cast):
        return f"(long)({c_text(node.expr)})"
    return str(node.value) if isinstance(node, c_ast.Constant) else f"(long){c_text(node)}"
