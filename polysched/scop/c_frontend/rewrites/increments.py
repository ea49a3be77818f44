"""Statements that do several things, as several statements: `*p++ = e`, `for (i = 0, j = n; ...; i++, j--)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import identifiers_in, stepped_name
from polysched.scop.c_frontend.parse import everything, is_step, replace_child
from polysched.scop.c_frontend.rewrites.bodies import block, leaves, rewrite_bodies

_SPLIT = (c_ast.Assignment, c_ast.Decl, c_ast.UnaryOp)
_SEQUENCED = ("&&", "||")


@dataclass(frozen=True)
class Increments:
    """Rewrites the statements of a region, in place.

    Rewrite:  *p++ = a[++k];                              ->  { ++k; *p = a[k]; p++; }
    Rewrite:  for (i = 0, j = n; i < n; i++, j--) S       ->  { j = n; for (i = 0; i < n; i++) { S j--; } }
    Rewrite:  for (i = (k = 0); ...) S                    ->  { k = 0; for (i = 0; ...) S }
    Rewrite:  do S while (0);                             ->  S
    Rewrite:  if ((t = a[i]) && t < n) S                  ->  { t = a[i]; if (t && t < n) S }
    Rewrite:  x = (t = a[i]) + b[i];                      ->  { t = a[i]; x = t + b[i]; }
    Rewrite:  if (*p++ > 0) S                             ->  { p++; if (*(p - 1) > 0) S }

    A variable that the statement names a second time stays, as does one that may not be evaluated (C11 6.5p2), and a
    step in the head of a loop whose body has a `continue`.

    Parameters
    ----------
    plain : the variables of the function whose address nobody takes.
    steps_back : whether `v - 1` behind `v++` is the value before it, of a variable of a name.
    """

    plain: frozenset[str]
    steps_back: Callable[[str], bool] = lambda _: False

    def statements(self, items: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items, each as those that it becomes."""
        return tuple(made for item in items for made in self._made_of(item))

    def _made_of(self, node: c_ast.Node) -> tuple[c_ast.Node, ...]:
        if isinstance(node, c_ast.Compound):
            node.block_items = list(self.statements(node.block_items or ()))
            return (node,)
        rewrite_bodies(node, self._made_of)
        if isinstance(node, c_ast.For):
            return self._for(node)
        if isinstance(node, c_ast.DoWhile) and _runs_once(node):
            return (node.stmt,)
        if isinstance(node, c_ast.If):
            return (*self._set_ahead(node), *self._stepped_ahead(node), node)
        if isinstance(node, _SPLIT):
            return (*self._set_ahead(node), *self._split(node))
        return (node,)

    def _set_ahead(self, node: c_ast.Node) -> Iterator[c_ast.Node]:
        """Take what an expression sets on the way out of it, as statements in front of it.

        What else reads the variable reads it later, or its value is undefined (C11 6.5p2).  What names the variable
        that a declaration is of stays: in front of it, that name means another one (C11 6.2.1p7).
        """
        own = {node.name} if isinstance(node, c_ast.Decl) else set()
        for above, name, inside in list(_assignments(node)):
            if (isinstance(inside.lvalue, c_ast.ID) and inside.lvalue.name in self.plain
                    and not own & identifiers_in(inside)):
                replace_child(above, name, c_ast.ID(inside.lvalue.name, inside.coord))
                yield from self._made_of(inside)

    def _split(self, node: c_ast.Node) -> tuple[c_ast.Node, ...]:
        """An expression with the steps inside it in front of it and behind it."""
        own = node.expr if is_step(node) else None
        before: list[c_ast.Node] = []
        behind: list[c_ast.Node] = []
        for above, name, step in list(_steps(node)):
            if step.expr is own or not self._alone(node, step):
                continue
            replace_child(above, name, step.expr)
            moved = c_ast.UnaryOp(step.op, c_ast.ID(step.expr.name, step.coord), step.coord)
            (behind if step.op.startswith("p") else before).append(moved)
        return (*before, node, *behind)

    def _stepped_ahead(self, node: c_ast.If) -> Iterator[c_ast.Node]:
        """Take the steps of a condition out of it, as statements in front of it: its branches see their values."""
        for above, name, step in list(_steps(node)):
            if not self._alone(node.cond, step):
                continue
            value: c_ast.Node = step.expr
            if step.op.startswith("p"):
                if not self.steps_back(step.expr.name):
                    continue
                back, one = "-" if "++" in step.op else "+", c_ast.Constant("int", "1", step.coord)
                value = c_ast.BinaryOp(back, step.expr, one, step.coord)
            replace_child(above, name, value)
            yield c_ast.UnaryOp(step.op, c_ast.ID(step.expr.name, step.coord), step.coord)

    def _alone(self, node: c_ast.Node, step: c_ast.UnaryOp) -> bool:
        """Whether nothing else in an expression can tell when a variable is stepped."""
        if not isinstance(step.expr, c_ast.ID) or step.expr.name not in self.plain:
            return False
        name = step.expr.name
        named = sum(isinstance(n, c_ast.ID) and n.name == name for n in everything(node))
        return named == 1 and not (isinstance(node, c_ast.Decl) and node.name == name)

    def _for(self, node: c_ast.For) -> tuple[c_ast.Node, ...]:
        self._one_step(node)
        counter = stepped_name(node.next)
        init = node.init
        if counter is None or init is None:
            return (node,)
        if isinstance(init, c_ast.DeclList):
            return self._declared(node, counter)
        return self._set(node, counter) if isinstance(init, c_ast.ExprList | c_ast.Assignment) else (node,)

    def _set(self, node: c_ast.For, counter: str) -> tuple[c_ast.Node, ...]:
        """A head that sets several variables: statements that set the others."""
        init = node.init
        parts = [part for item in (init.exprs if isinstance(init, c_ast.ExprList) else [init])
                 for part in _unchained(item)]
        if len(parts) < 2 or not all(_sets(part) for part in parts):
            return (node,)
        others = _other_than([(part.lvalue.name, part.rvalue) for part in parts], counter)
        if others is None:
            return (node,)
        node.init = next(part for part in parts if part.lvalue.name == counter)
        return (*(parts[at] for at in others), node)

    def _declared(self, node: c_ast.For, counter: str) -> tuple[c_ast.Node, ...]:
        """A head that declares several variables: a block that declares the others."""
        decls = node.init.decls
        others = _other_than([(d.name, d) for d in decls], counter) if len(decls) > 1 else None
        if others is None:
            return (node,)
        node.init = c_ast.DeclList([d for d in decls if d.name == counter], node.init.coord)
        return (c_ast.Compound([*(decls[at] for at in others), node], node.coord),)

    def _one_step(self, node: c_ast.For) -> None:
        """Leave the step of the one variable that the condition tests in the head of a loop."""
        if not isinstance(node.next, c_ast.ExprList) or node.cond is None or leaves(node.stmt, c_ast.Continue):
            return
        steps = node.next.exprs
        names = [stepped_name(step) for step in steps]
        tested = [at for at, name in enumerate(names) if name in identifiers_in(node.cond)]
        if None in names or len(tested) != 1 or len(set(names)) != len(names):
            return
        own = steps[tested[0]]
        others = [step for step in steps if step is not own]
        if _depend(steps, names, node.stmt):
            return
        node.next = own
        node.stmt = c_ast.Compound([*block(node.stmt), *others], node.stmt.coord)


def _depend(steps: Sequence[c_ast.Node], names: Sequence[str | None], body: c_ast.Node) -> bool:
    """Whether a step reads another stepped variable, or a name that the loop's body declares."""
    hidden = {n.name for n in everything(body) if isinstance(n, c_ast.Decl)}
    return any(set(names) & _used(step) or hidden & identifiers_in(step) for step in steps)


def _other_than(parts: Sequence[tuple[str, c_ast.Node]], counter: str) -> list[int] | None:
    """The positions of what a loop's head sets beside its counter; None where the order of them matters."""
    names = [name for name, _ in parts]
    if names.count(counter) != 1:
        return None
    first = names.index(counter)
    others = [at for at in range(len(parts)) if at != first]
    if any(counter in identifiers_in(parts[at][1]) for at in others) or set(
            names[first + 1:]) & identifiers_in(parts[first][1]):
        return None
    return others


def _used(step: c_ast.Node) -> frozenset[str]:
    """What a step reads besides the variable that it steps."""
    if isinstance(step, c_ast.UnaryOp):
        return frozenset()
    own = frozenset({step.lvalue.name}) if step.op == "=" else frozenset()
    return identifiers_in(step.rvalue) - own


def _sets(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID)


def _unchained(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """`i = k = 0` as `k = 0` and `i = 0`, for a constant that every type of number holds."""
    chain = [node]
    while isinstance(chain[-1], c_ast.Assignment) and isinstance(chain[-1].rvalue, c_ast.Assignment):
        chain.append(chain[-1].rvalue)
    value = chain[-1].rvalue if isinstance(chain[-1], c_ast.Assignment) else None
    if len(chain) > 1 and isinstance(value, c_ast.Constant) and value.value in ("0", "1"):
        for link in reversed(chain):
            yield c_ast.Assignment(link.op, link.lvalue, value, link.coord)
    else:
        yield node


def _runs_once(node: c_ast.DoWhile) -> bool:
    return (isinstance(node.cond, c_ast.Constant) and node.cond.value == "0"
            and not leaves(node.stmt, (c_ast.Break, c_ast.Continue)))


def _assignments(node: c_ast.Node) -> Iterator[tuple[c_ast.Node, str, c_ast.Assignment]]:
    """The outermost assignments below a node that are evaluated whenever it is, each with where it stands."""
    for name, child in _evaluated(node):
        if isinstance(child, c_ast.Assignment):
            yield node, name, child
        else:
            yield from _assignments(child)


def _steps(node: c_ast.Node) -> Iterator[tuple[c_ast.Node, str, c_ast.UnaryOp]]:
    """The steps below a node that are evaluated whenever it is, each with where it stands."""
    for name, child in _evaluated(node):
        if is_step(child):
            yield node, name, child
        else:
            yield from _steps(child)


def _evaluated(node: c_ast.Node) -> Iterator[tuple[str, c_ast.Node]]:
    """The children of an expression or statement that are evaluated whenever it is, each with its place.

    Of a condition and of what `&&`, `||` or `?:` chooses by, it is the part that is evaluated first.
    """
    if isinstance(node, c_ast.Compound | c_ast.InitList) or (isinstance(node, c_ast.UnaryOp) and node.op == "sizeof"):
        return
    first = "cond" if isinstance(node, c_ast.TernaryOp | c_ast.If) else "init" if isinstance(node, c_ast.Decl) else (
        "left" if isinstance(node, c_ast.BinaryOp) and node.op in _SEQUENCED else "")
    for name, child in node.children():
        if (not first or name == first) and not (
                isinstance(child, c_ast.ExprList) and not isinstance(node, c_ast.FuncCall)):
            yield name, child   # a comma orders what stands around it
