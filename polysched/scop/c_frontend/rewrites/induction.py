"""Variables and pointers that a loop steps by the same amount each time, as functions of its counter."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.bindings import assigned_names, identifiers_in, stepped_name
from polysched.scop.c_frontend.declarations.liveness import Liveness
from polysched.scop.c_frontend.declarations.scopes import Scope, Symbol
from polysched.scop.c_frontend.parse import everything, is_step
from polysched.scop.c_frontend.remarks import GOES_FORWARD
from polysched.scop.c_frontend.rewrites.amounts import (
    ONE,
    ZERO,
    Amount,
    StepTypes,
    binary,
    difference,
    product,
    sum_of,
    wide_text,
)
from polysched.scop.c_frontend.rewrites.bodies import block, leaves, rewrite_bodies
from polysched.scop.c_frontend.rewrites.countdown import replaced, touches
from polysched.scop.scop import SteppedVariable

_PLAIN = (c_ast.Constant, c_ast.ID, c_ast.BinaryOp, c_ast.StructRef)
_AMOUNTS = (*_PLAIN, c_ast.UnaryOp, c_ast.Cast, c_ast.Typename, c_ast.TypeDecl, c_ast.IdentifierType)
_OPERATORS = frozenset({"+", "-", "*"})
_JUMPS = (c_ast.Break, c_ast.Continue)
_LEAVES = (c_ast.Goto, c_ast.Label, c_ast.Return, c_ast.Switch)


@dataclass(frozen=True)
class CountedLoop:
    """A loop `for (i = first; i < last; i += step)`, or one that counts down, whose bounds nothing in it changes."""

    node: c_ast.For
    counter: str
    number: c_ast.Node
    runs: c_ast.Node
    trips: c_ast.Node


@dataclass(eq=False)
class Inductions:
    """Rewrites the loops of a region, inner ones first, in place.

    Rewrite:  for (i = a; i < n; i++) { S(v) v += c; T(v) }
        ->    for (i = a; i < n; i++) { S(v + (i - a) * c) T(v + (i - a) * c + c) }  v += a < n ? (n - a) * c : 0;

    v is a signed integer or a pointer whose address nobody takes.  What a pointer is stepped by behind its declaration,
    or behind `p = e` in one block, is added where it is used.  Variables that the region only steps keep their values
    inside it; what they are stepped by all in all is added behind it (`stepped`).

    Parameters
    ----------
    scope : what is visible at the region.
    types : of the variables that may be stepped, and of what they are stepped by.
    liveness : of the region as written.
    fresh : makes a name that nothing has.
    memory : members and variables that the amounts read, and that a pointer could lead to; the region must not
        change them.
    added : what is known of the amounts of steps that stand for loops.
    starts : names for what counters hold where the region begins.
    """

    scope: Scope
    types: StepTypes
    liveness: Liveness
    fresh: Callable[[str], str]
    stepped: list[SteppedVariable] = field(default_factory=list)
    memory: list[c_ast.Node] = field(default_factory=list)
    added: dict[c_ast.Node, Amount] = field(default_factory=dict)
    starts: Mapping[str, Symbol] = field(default_factory=dict)

    def statements(self, nodes: Sequence[c_ast.Node]) -> tuple[c_ast.Node, ...]:
        """The block items of the region."""
        self.types.declare(nodes)
        items = self._folded(self._block(nodes))
        return tuple(self._behind(items))

    def _step(self, node: c_ast.Node) -> tuple[str | None, Amount | None]:
        """The variable that a statement steps, and by how much, computed as wide as C does."""
        name, amount = step_of(node)
        if name is None or amount is None:
            return name, amount
        if node in self.added:
            return name, self.added[node]
        made = self.types.widened(name, amount.plain)
        return name, None if made is None else Amount(made, made)

    def _block(self, nodes: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        made: list[c_ast.Node] = []
        for node in nodes:
            made += self._rewritten(node, made)
        return made

    def _rewritten(self, node: c_ast.Node, before: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        if isinstance(node, c_ast.Compound):
            node.block_items = self._folded(self._block(node.block_items or ()))
            return [node]
        rewrite_bodies(node, lambda below: self._rewritten(below, ()))
        loop = _counted(node, before) if isinstance(node, c_ast.For) else None
        return [node] if loop is None else self._stepped_in(loop)

    def _stepped_in(self, loop: CountedLoop) -> list[c_ast.Node]:
        """A loop without the steps in its body, and what stands for them around it."""
        items = block(loop.node.stmt)
        behind: list[c_ast.Node] = []
        remarks: list[c_ast.Node] = []
        for name in dict.fromkeys(name for item in items if (name := self._step(item)[0]) is not None):
            amounts = self._only_steps(items, name, _changed(items) | {loop.counter})
            if not amounts or name == loop.counter or _declares(items, name):
                continue
            number, trips = self.types.widened(name, loop.number), self.types.widened(name, loop.trips)
            if number is None or trips is None:
                continue
            total = sum_of(amounts)
            items = self._placed(items, name, number, total)
            if any(name in identifiers_in(item) for item in items):
                remarks += [_remark(f, loop.node.coord) for f in total.forward]
            behind.append(self._add(name, _times(loop, trips, total), loop.node.coord))
        if behind:
            loop.node.stmt = c_ast.Compound(items, loop.node.stmt.coord)
        return [*remarks, loop.node, *behind]

    def _add(self, name: str, amount: Amount, coord: object) -> c_ast.Node:
        """`v += e` behind a loop."""
        made = c_ast.Assignment("+=", c_ast.ID(name, coord), amount.exact, coord)
        self.added[made] = amount
        return made

    def _only_steps(self, items: Sequence[c_ast.Node], name: str, changed: frozenset[str]) -> list[Amount]:
        """What the statements of a block step a variable by; nothing where they do something else to it."""
        amounts = [amount for stepped, amount in map(self._step, items) if stepped == name and amount is not None]
        written = sum(n == name for item in items for n in assigned_names(item))
        fixed = self.types.may_step(name) and written == len(amounts) and all(
            self._is_fixed(amount, changed) for amount in amounts)
        return amounts if fixed else []

    def _placed(self, items: Sequence[c_ast.Node], name: str, number: c_ast.Node, total: Amount) -> list[c_ast.Node]:
        """A loop's body with the value of a variable in the place of its name, without its steps."""
        made: list[c_ast.Node] = []
        offset = product(number, total.plain)
        for item in items:
            stepped, amount = self._step(item)
            if stepped == name and amount is not None:
                offset = binary("+", offset, amount.plain)
            else:
                made.append(replaced(item, name, self.types.moved(name, offset)))
        return made

    def _is_fixed(self, amount: Amount, changed: frozenset[str]) -> bool:
        """Whether an amount is made of variables that statements do not change, constants and members."""
        parts = list(everything(amount.plain))
        if identifiers_in(amount.plain) & changed or not all(isinstance(n, _AMOUNTS) for n in parts):
            return False
        if any(isinstance(n, c_ast.UnaryOp) and n.op != "-" for n in parts):
            return False
        if any(isinstance(n, c_ast.BinaryOp) and n.op not in _OPERATORS | {"/"} for n in parts):
            return False
        self.memory += self.types.exposed(amount.plain)
        return True

    def _folded(self, items: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        """Statements with what pointers are stepped by, behind where they are set, added where they are used."""
        made: list[c_ast.Node] = []
        offsets: dict[str, Amount] = {}
        for item in items:
            name, amount = self._step(item)
            if name in offsets and amount is not None and self._is_fixed(amount, _changed(items) - {name}):
                before = offsets[name]
                offsets[name] = amount if before.plain is ZERO else sum_of([before, amount])
                continue
            item, remarks = self._with_steps(item, {n: by for n, by in offsets.items() if by.plain is not ZERO})
            made += remarks
            made.append(item)
            if (set_name := _set_by(item)) is not None and self.types.is_pointer(set_name):
                offsets[set_name] = Amount(ZERO, ZERO)
        return made

    def _behind(self, items: Sequence[c_ast.Node]) -> Iterator[c_ast.Node]:
        """The statements of the region without the steps of variables that it only steps."""
        only = self._only_stepped(items)
        done: dict[str, list[Amount]] = {name: [] for name in only}
        known = {name: value for name in only if (value := self._value_before(name)) is not None}
        for item in items:
            name, amount = self._step(item)
            if name in done and amount is not None:
                done[name].append(amount)
                continue
            made, remarks = self._with_steps(item, {stepped: sum_of(by) for stepped, by in done.items() if by})
            for stepped, value in known.items():
                made = replaced(made, stepped, value)
            yield from (*remarks, made)
        self._note(only)

    def _only_stepped(self, items: Sequence[c_ast.Node]) -> dict[str, Sequence[Amount]]:
        """The variables of the file that the region only steps, and by what."""
        found = (name for name, _ in map(self._step, items) if name is not None)
        names = dict.fromkeys(name for name in found if name not in self.types.lvalues.declared)
        return {name: amounts for name in names
                if (amounts := self._only_steps(items, name, _changed(items) - {name}))}

    def _with_steps(self, item: c_ast.Node, offsets: Mapping[str, Amount]) -> tuple[c_ast.Node, list[c_ast.Node]]:
        """A statement with what variables were stepped by added to them, and what that takes for granted."""
        remarks: list[c_ast.Node] = []
        for name, by in offsets.items():
            if name in identifiers_in(item):
                remarks += [_remark(f, item.coord) for f in by.forward]
                item = replaced(item, name, self.types.moved(name, by.plain))
        return item, remarks

    def _note(self, only: Mapping[str, Sequence[Amount]]) -> None:
        """Enter the variables whose values the code behind the region reads."""
        for name, amounts in only.items():
            symbol = self.scope.lookup(name)
            if symbol is not None and self.liveness.live_after(symbol):
                by = self.fresh(f"{name}_steps")
                self.stepped.append(SteppedVariable(
                    by=by, declaration=f"long {by} = {wide_text(sum_of(amounts).exact)};", behind=f"{name} += {by};"))

    def _value_before(self, name: str) -> c_ast.Constant | None:
        """The number that a variable holds where the region begins, if the block in front of it says so."""
        region = self.liveness.region
        if any(True for _ in everything(region.function.body, c_ast.Label, c_ast.Case)):
            return None
        for item in reversed(region.before):
            if _set_by(item) == name:
                value = item.init if isinstance(item, c_ast.Decl) else item.rvalue
                return self.types.constant(name, value)
            if name in _changed([item]):
                return None
        return None


def _counted(node: c_ast.For, before: Sequence[c_ast.Node]) -> CountedLoop | None:
    """What a loop counts, where nothing leaves it and its body changes neither counter nor bounds."""
    test, name = node.cond, stepped_name(node.next)
    if (name is None or not isinstance(test, c_ast.BinaryOp) or not isinstance(test.left, c_ast.ID)
            or test.left.name != name or touches(node.stmt, name) or _may_leave(node.stmt)):
        return None
    by, first = _constant_step(node.next, name), _first(node, name, before)
    if by is None or first is None or not _goes_towards(test, by):
        return None
    changed = _changed([node.stmt]) | {name}
    if not all(_is_bound(bound, changed) for bound in (first, test.right)):
        return None
    return _counting(node, name, first, by)


def _goes_towards(test: c_ast.BinaryOp, by: int) -> bool:
    """Whether steps of a size lead to the end of a loop; `n != 0` ends a countdown, or one that wraps around never."""
    if test.op == "!=":
        return by == -1 and isinstance(test.right, c_ast.Constant) and test.right.value == "0"
    return test.op in (("<", "<=") if by > 0 else (">", ">="))


def _counting(node: c_ast.For, name: str, first: c_ast.Node, by: int) -> CountedLoop:
    """The number of a loop's iteration, and how many there are."""
    test, counter = node.cond, c_ast.ID(name, node.coord)
    low, high = (first, test.right) if by > 0 else (test.right, first)
    number = difference(counter, first) if by > 0 else difference(first, counter)
    length = difference(high, low)
    extra = (abs(by) - 1) + (test.op in ("<=", ">="))
    if extra:
        length = binary("+", length, c_ast.Constant("int", str(extra), node.coord))
    if abs(by) != 1:
        size = c_ast.Constant("int", str(abs(by)), node.coord)
        number, length = binary("/", number, size), binary("/", length, size)
    return CountedLoop(node, name, number, c_ast.BinaryOp(test.op, first, test.right, node.coord), length)


def _may_leave(body: c_ast.Node) -> bool:
    """Whether something in a loop's body may skip a part of it."""
    return leaves(body, _JUMPS) or any(isinstance(n, _LEAVES) for n in everything(body))


def _is_bound(bound: c_ast.Node, changed: frozenset[str]) -> bool:
    """Whether a bound is a polynomial of variables that a loop does not change, and of members."""
    parts = list(everything(bound))
    return not identifiers_in(bound) & changed and all(isinstance(n, _PLAIN) for n in parts) and not any(
        isinstance(n, c_ast.BinaryOp) and n.op not in _OPERATORS for n in parts)


def _first(node: c_ast.For, name: str, before: Sequence[c_ast.Node]) -> c_ast.Node | None:
    """The first value of a loop's counter: in its head, or by the statement in front of it."""
    init = node.init
    if init is None and before and _set_by(before[-1]) == name:
        last = before[-1]
        init = last if isinstance(last, c_ast.Assignment) else c_ast.DeclList([last])
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].name == name:
        found: c_ast.Node | None = init.decls[0].init
        return found
    if isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(
            init.lvalue, c_ast.ID) and init.lvalue.name == name:
        return init.rvalue
    return None


def _constant_step(step: c_ast.Node, name: str) -> int | None:
    stepped, amount = step_of(step)
    if stepped != name or amount is None:
        return None
    node, sign = amount.plain, 1
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        node, sign = node.expr, -1
    elif isinstance(node, c_ast.BinaryOp) and node.left is ZERO:
        node, sign = node.right, -1
    value = int(node.value) if isinstance(node, c_ast.Constant) and node.value.isdigit() else 0
    return sign * value or None


def step_of(node: c_ast.Node) -> tuple[str | None, Amount | None]:
    """The variable that a statement steps, and by how much; no amount where it is set to something else."""
    if is_step(node) and isinstance(node.expr, c_ast.ID):
        amount = ONE if "++" in node.op else c_ast.UnaryOp("-", ONE, node.coord)
        return node.expr.name, Amount(amount, amount)
    if not isinstance(node, c_ast.Assignment) or not isinstance(node.lvalue, c_ast.ID):
        return None, None
    name, value = node.lvalue.name, node.rvalue
    if node.op == "=" and isinstance(value, c_ast.BinaryOp) and value.op in ("+", "-") and isinstance(
            value.left, c_ast.ID) and value.left.name == name:
        op, value = value.op, value.right
    elif node.op in ("+=", "-="):
        op = node.op[0]
    else:
        return None, None
    if op == "-":
        value = c_ast.BinaryOp("-", ZERO, value, value.coord)   # `widened` knows it by this zero
    return name, Amount(value, value)


def _declares(items: Sequence[c_ast.Node], name: str) -> bool:
    return any(isinstance(n, c_ast.Decl) and n.name == name for item in items for n in everything(item))


def _times(loop: CountedLoop, trips: c_ast.Node, total: Amount) -> Amount:
    """What a loop steps a variable by, in all of its iterations."""
    exact = c_ast.TernaryOp(loop.runs, product(trips, total.exact), ZERO, loop.node.coord)
    return Amount(product(trips, total.plain), exact, (loop.runs, *total.forward))


def _remark(runs: c_ast.Node, coord: object) -> c_ast.Node:
    """That a loop's last value does not lie in front of its first."""
    operator = runs.op if runs.op.endswith("=") else f"{runs.op}="
    assumed = c_ast.BinaryOp(operator, copy.deepcopy(runs.left), copy.deepcopy(runs.right), coord)
    return c_ast.FuncCall(c_ast.ID(GOES_FORWARD, coord), c_ast.ExprList([assumed], coord), coord)


def _set_by(node: c_ast.Node) -> str | None:
    """The variable that a statement declares with a value, or sets."""
    if isinstance(node, c_ast.Decl) and node.init is not None:
        return None if node.name is None else str(node.name)
    if isinstance(node, c_ast.Assignment) and node.op == "=" and isinstance(node.lvalue, c_ast.ID):
        return None if node.lvalue.name in identifiers_in(node.rvalue) else str(node.lvalue.name)
    return None


def _changed(items: Iterable[c_ast.Node]) -> frozenset[str]:
    """What statements assign or declare."""
    return frozenset(name for item in items for name in (
        *assigned_names(item), *(n.name for n in everything(item) if isinstance(n, c_ast.Decl) and n.name)))
