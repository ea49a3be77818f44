"""Loops whose step is a parameter, as loops over their iterations."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import assigned_names, identifiers_in, stepped_name
from polysched.scop.c_frontend.declarations.c_types import Scalar, resolve
from polysched.scop.c_frontend.declarations.scopes import Scope
from polysched.scop.c_frontend.parse import everything
from polysched.scop.c_frontend.remarks import POSITIVE_STEP
from polysched.scop.c_frontend.rewrites.bodies import rewrite_bodies
from polysched.scop.c_frontend.rewrites.countdown import replaced, touches
from polysched.scop.c_frontend.rewrites.counted_while import set_by
from polysched.scop.dtypes import INT32

PLAIN = (c_ast.Constant, c_ast.ID, c_ast.BinaryOp)


@dataclass(frozen=True)
class ParameterSteps:
    """Rewrites the loops of a region.

    Rewrite:  for (j = a; j <= b; j += s) S(j)
        ->    positive(s > 0 || a > b);  n = s > 0 && a <= b ? (b - a) / s + 1 : 0;
              for (q = 0; q < n; q++) { int k = a + q * s; S(k) }  j = a + n * s;

    Only where a, b and s are made of `int` variables from outside the region that it does not change.  Then n is a
    parameter of its own (`size_values`).  A step that is not positive would let the loop run on for ever, or until j
    overflows; that it is positive where the loop runs is assumed.

    Parameters
    ----------
    scope : what is visible at the region.
    changed : what the region assigns or declares.
    fresh : makes a name that nothing has.
    declared : the declarations of the region by name.
    """

    scope: Scope
    changed: frozenset[str]
    fresh: Callable[[str], str]
    declared: Mapping[str, Sequence[c_ast.Decl]] = field(default_factory=dict)

    def statements(self, nodes: Sequence[c_ast.Node], before: Sequence[c_ast.Node] = ()) -> tuple[c_ast.Node, ...]:
        """Block items with their loops rewritten, in place below.

        Parameters
        ----------
        before : the statements of the block in front of the items; the last may say where a counter starts.
        """
        ahead = (before[-1] if before else None, *nodes)
        return tuple(self._rewritten(node, before) for node, before in zip(nodes, ahead, strict=False))

    def _rewritten(self, node: c_ast.Node, before: c_ast.Node | None = None) -> c_ast.Node:
        if isinstance(node, c_ast.Compound):
            node.block_items = list(self.statements(node.block_items or ()))
            return node
        rewrite_bodies(node, lambda below: (self._rewritten(below),))
        return (self._counted(node, before) or node) if isinstance(node, c_ast.For) else node

    def _counted(self, node: c_ast.For, before: c_ast.Node | None) -> c_ast.Node | None:
        declaration, name, first = self._start(node.init or before)
        step = node.next
        if (name is None or first is None or not isinstance(step, c_ast.Assignment) or stepped_name(step) != name
                or step.op not in ("+=", "-=") or isinstance(step.rvalue, c_ast.Constant) or touches(node.stmt, name)):
            return None
        up = step.op == "+="
        last = _last(node.cond, name, up=up)
        if last is None or not all(map(self._is_fixed, (first, last, step.rvalue))):
            return None
        return self._made(node, declaration, name, first, last)

    def _start(self, init: c_ast.Node | None) -> tuple[c_ast.Decl | None, str | None, c_ast.Node | None]:
        """The counter's declaration if the loop has it, its name, and its first value; it is an `int`.

        Parameters
        ----------
        init : of the loop, or the statement in front of a loop that has none.
        """
        if isinstance(init, c_ast.DeclList) and len(init.decls) == 1:
            declaration = init.decls[0]
            ctype = resolve(declaration.type, self.scope.type_names)
            return declaration, declaration.name if ctype == Scalar(INT32) else None, declaration.init
        name, first = set_by(init)
        return None, name if name and self._is_int(name) else None, first

    def _is_int(self, name: str) -> bool:
        """Whether every variable of a name is an `int`, wherever it is declared."""
        symbol, declared = self.scope.lookup(name), self.declared.get(name, ())
        types = [resolve(node.type, self.scope.type_names) for node in declared]
        return all(ctype == Scalar(INT32) for ctype in (*types, *([symbol.ctype] if symbol is not None else ()))) and (
            symbol is not None or bool(types))

    def _is_fixed(self, node: c_ast.Node) -> bool:
        """Whether an expression is made of `int` variables that the region does not change, and constants."""
        if not all(isinstance(n, PLAIN) for n in everything(node)):
            return False
        symbols = [self.scope.lookup(name) for name in identifiers_in(node)]
        return not identifiers_in(node) & self.changed and all(
            s is not None and isinstance(s.ctype, Scalar) and s.ctype.dtype == INT32 and not s.ctype.volatile
            for s in symbols)

    def _made(self, node: c_ast.For, declaration: c_ast.Decl | None, name: str, first: c_ast.Node,
              last: c_ast.Node) -> c_ast.Node:
        at, step = node.coord, node.next.rvalue
        up = node.next.op == "+="

        def binary(op: str, left: c_ast.Node, right: c_ast.Node) -> c_ast.Node:
            return c_ast.BinaryOp(op, copy.deepcopy(left), copy.deepcopy(right), at)

        zero, one = c_ast.Constant("int", "0", at), c_ast.Constant("int", "1", at)
        runs, positive = binary("<=" if up else ">=", first, last), binary(">", step, zero)
        length = binary("-", last, first) if up else binary("-", first, last)
        count = c_ast.TernaryOp(binary("&&", positive, runs), binary("+", binary("/", length, step), one), zero, at)
        number, value = self.fresh(f"{name}_number"), self.fresh(name)
        inner = _integer(value, binary("+" if up else "-", first, binary("*", c_ast.ID(number, at), step)), at)
        body = c_ast.Compound([inner, replaced(node.stmt, name, c_ast.ID(value, at))], at)
        head = c_ast.DeclList([_integer(number, zero, at)], at)
        loop = c_ast.For(head, binary("<", c_ast.ID(number, at), count),
                         c_ast.UnaryOp("p++", c_ast.ID(number, at), at), body, at)
        assumed = binary("||", positive, c_ast.UnaryOp("!", copy.deepcopy(runs), at))
        remark = c_ast.FuncCall(c_ast.ID(POSITIVE_STEP, at), c_ast.ExprList([assumed], at), at)
        if declaration is not None:
            return c_ast.Compound([remark, loop], at)
        end = binary("+" if up else "-", first, binary("*", count, step))
        return c_ast.Compound([remark, loop, c_ast.Assignment("=", c_ast.ID(name, at), end, at)], at)


def _integer(name: str, value: c_ast.Node, at: object) -> c_ast.Decl:
    kind = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["int"], at), at)
    return c_ast.Decl(name, [], [], [], [], kind, value, None, at)


def _last(condition: c_ast.Node | None, name: str, *, up: bool) -> c_ast.Node | None:
    """The last value that a condition allows: b of `j <= b`, `j < b + 1`, `j + c <= b + c`."""
    wanted = ("<", "<=") if up else (">", ">=")
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in wanted:
        return None
    if name in identifiers_in(condition.right):
        return None
    at, left, last = condition.coord, condition.left, condition.right
    if condition.op in ("<", ">"):
        last = c_ast.BinaryOp("-" if up else "+", last, c_ast.Constant("int", "1", at), at)
    while isinstance(left, c_ast.BinaryOp) and left.op in ("+", "-") and name not in identifiers_in(left.right):
        last = c_ast.BinaryOp("-" if left.op == "+" else "+", last, left.right, at)
        left = left.left
    return last if isinstance(left, c_ast.ID) and left.name == name else None


def declarations(items: Sequence[c_ast.Node]) -> dict[str, list[c_ast.Decl]]:
    """What statements declare, by name."""
    found: dict[str, list[c_ast.Decl]] = {}
    for item in items:
        for node in everything(item):
            if isinstance(node, c_ast.Decl) and node.name:
                found.setdefault(node.name, []).append(node)
    return found


def changed_names(items: Sequence[c_ast.Node]) -> frozenset[str]:
    """What statements assign or declare."""
    return frozenset(name for item in items for name in assigned_names(item)) | declarations(items).keys()
