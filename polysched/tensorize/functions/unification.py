"""A proof that a part of a program computes what a described function does, statement by statement.

Both sides are recurrence equations.  Instances that are assumed to correspond have equal values if their equations are
the same expression of leaves that correspond: the same elements of memory, the same numbers, and values of recursive
statements whose instances correspond again.  Every recursive statement of the function gets one partner and one
bijection of instances, so the proof is an induction along the data flow.

Source: D. Barthou, P. Feautrier, X. Redon, "On the equivalence of two systems of affine recurrence equations", Euro-Par
2002; S. Verdoolaege, G. Janssens, M. Bruynooghe, "Equivalence checking of static affine programs using widening to
handle recurrences", TOPLAS 34(3), 2012.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace

import islpy as isl

from polysched.errors import BudgetExceededError
from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, Literal, Load, Unary, children, rebuild, walk
from polysched.scop.dtypes import INT32, DType, usual_conversion
from polysched.tensorize.equality.ladder import Verdict, same_function
from polysched.tensorize.functions.addresses import same_place
from polysched.tensorize.functions.expansion import Case, Kind, Leaf, cases
from polysched.tensorize.functions.loop_mapping import loop_mappings
from polysched.tensorize.functions.recurrences import OUTER, Recurrences
from polysched.tensorize.functions.state import Number, State
from polysched.tensorize.limits import LIMITS

COMMUTATIVE = frozenset({"+", "*", "&", "|", "^", "==", "!="})
MOST_STEPS = LIMITS.unification_steps
MOST_CHOICES = LIMITS.unification_choices
LADDER_CONFLICTS = LIMITS.unification_conflicts


@dataclass(eq=False, kw_only=True)
class Budget:
    """Comparisons that are left for one pair of a function and a part of a program."""

    left: int = MOST_STEPS

    def spend(self) -> None:
        """One comparison.

        Raises
        ------
        BudgetExceededError : none is left.
        """
        self.left -= 1
        if self.left < 0:
            raise BudgetExceededError("the function and the program are too large to be compared",
                                      where="tensorize/functions/unification", witness=f"{MOST_STEPS} comparisons")


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """One case of each side, for pairs of instances `{ [program's] -> [function's] }`."""

    pairs: isl.Map
    theirs: Case
    ours: Case


@dataclass(frozen=True, eq=False, kw_only=True)
class Prover:
    """A search for a correspondence between a function and a part of a program.

    Parameters
    ----------
    function, program : both systems; the function's parameters have the prefix of `state`.
    reorder : floats may be added and multiplied in another order.
    packs : operands may lie at any distances, since they are copied.
    differences : what was found to differ, the deepest last.
    """

    function: Recurrences
    program: Recurrences
    reorder: bool
    packs: bool = False
    budget: Budget = field(default_factory=Budget)
    differences: list[str] = field(default_factory=list)

    def values(self, state: State, theirs: str, ours: str, pairs: isl.Map) -> Iterator[State]:
        """States in which these pairs of instances `{ [program's] -> [function's] }` have equal values."""
        self.budget.spend()
        if pairs.is_empty():
            yield state
        elif theirs in self.function.recursive or ours in self.program.recursive:
            yield from self._recursive(state, theirs, ours, pairs)
        else:
            yield from self._bodies(state, theirs, ours, pairs)

    def _recursive(self, state: State, theirs: str, ours: str, pairs: isl.Map) -> Iterator[State]:
        if theirs in state.instances:
            partner, bijection = state.instances[theirs]
            if partner == ours and pairs.is_subset(bijection):
                yield state
            return
        if ours in {partner for partner, _ in state.instances.values()}:
            return
        a, b = self.program.equations[ours].domain, self.function.equations[theirs].domain
        found = False
        for after, bijection in loop_mappings(state, a, b):
            if not after.in_program(pairs).is_subset(bijection):
                continue
            found = True
            assumed = replace(after, instances={**after.instances, theirs: (ours, bijection)})
            yield from self._bodies(assumed, theirs, ours, bijection)
        if not found:
            self.differences.append(f"the loops of {ours} are not those of the function's {theirs}")

    def _bodies(self, state: State, theirs: str, ours: str, pairs: isl.Map) -> Iterator[State]:
        """States in which the equations of these instances have equal values."""
        mine = cases(self.program, ours, state.in_program(pairs).domain())
        wanted = cases(self.function, theirs, state.restricted(pairs).range())
        compared = [Comparison(pairs=pairs, theirs=w, ours=m) for m in mine for w in wanted]
        # what leads to loops comes first: their extents decide which cases there are; of units they are numbers, and
        # where a sum begins, the place of its operands is told, or else, if it begins at its last elements, behind it
        for sign in (1, -1) if self.packs else (-1,):
            found = False
            compared.sort(key=lambda c: sign * sum(leaf.kind is Kind.VALUE for side in (c.theirs, c.ours)
                                                   for leaf in side.leaves.values()))
            for after in self._all(state, list(compared), f"{ours} against the function's {theirs}"):
                found = True
                yield after
            if found:
                return

    def _all(self, state: State, compared: list[Comparison], what: str) -> Iterator[State]:
        if not compared:
            yield state
            return
        first = compared[0]
        pairs = state.restricted(
            first.pairs.intersect_domain(first.ours.domain).intersect_range(first.theirs.domain))
        if pairs.is_empty():
            yield from self._all(state, compared[1:], what)
            return
        first = replace(first, pairs=pairs)
        found = False
        for after in self._case(state, first):
            found = True
            yield from self._all(after, compared[1:], what)
        if not found:
            self.differences.append(f"{what}: the program computes {_text(self.program, first.ours)}, the function "
                                    f"{_text(self.function, first.theirs)}")

    def _case(self, state: State, c: Comparison) -> Iterator[State]:
        found = False
        for after in self._same(state, c.theirs.value, c.ours.value, c):
            found = True
            yield after
        if not found:
            yield from self._by_ladder(state, c)

    def _same(self, state: State, theirs: Expr, ours: Expr, c: Comparison) -> Iterator[State]:
        """States in which two expressions are the same operations on leaves that correspond."""
        self.budget.spend()
        if theirs.dtype != ours.dtype:
            return
        if isinstance(theirs, Load):
            yield from self._leaf(state, theirs, ours, c)
            return
        exact = False
        if type(theirs) is type(ours) and _operation(theirs) == _operation(ours):
            mine, wanted = children(ours), children(theirs)
            orders = [mine]
            if isinstance(theirs, Binary) and theirs.op in COMMUTATIVE:
                orders.append(mine[::-1])
            for order in orders:
                for after in self._each(state, wanted, order, c):
                    exact = True
                    yield after
        if isinstance(theirs, Binary) and not exact:
            yield from self._other_words(state, theirs, ours, c)

    def _each(self, state: State, theirs: tuple[Expr, ...], ours: tuple[Expr, ...], c: Comparison) -> Iterator[State]:
        if len(theirs) != len(ours):
            return
        if not theirs:
            yield state
            return
        for after in self._same(state, theirs[0], ours[0], c):
            yield from self._each(after, theirs[1:], ours[1:], c)

    def _other_words(self, state: State, theirs: Binary, ours: Expr, c: Comparison) -> Iterator[State]:
        """Factors that are one or minus one, differences for sums, and what another order of operations gives."""
        if theirs.op == "+" and isinstance(ours, Binary) and ours.op == "-":   # a - b is a + -b, exactly
            negated = _negated(ours.right, ours.dtype)
            for first, second in ((theirs.left, theirs.right), (theirs.right, theirs.left)):
                yield from self._each(state, (first, second), (ours.left, negated), c)
        if theirs.op == "*":
            yield from self._left_out(state, theirs, ours, c)
        if theirs.op in ("+", "*") and (theirs.dtype.is_integer or self.reorder):
            yield from self._reordered(state, theirs, ours, c)

    def _left_out(self, state: State, theirs: Binary, ours: Expr, c: Comparison) -> Iterator[State]:
        """A factor that the program does not have is one, or minus one where it negates: neither rounds."""
        for factor, rest in ((theirs.left, theirs.right), (theirs.right, theirs.left)):
            if self._by_value(factor, c) is None:
                continue
            for sign, value in ((1, ours), (-1, ours.operand if isinstance(ours, Unary) and ours.op == "-" else None)):
                if value is not None:
                    for after in self._leaf(state, factor, _literal(sign, factor.dtype), c):
                        yield from self._same(after, rest, value, c)
        if isinstance(ours, Unary) and ours.op == "-" and isinstance(ours.operand, Binary) and (
                ours.operand.op == "*" and ours.operand.dtype == ours.dtype):
            product = ours.operand   # -(a * b) is -a * b, exactly
            turned = replace(product, left=_negated(product.left, product.dtype))
            yield from self._same(state, theirs, turned, c)

    def _reordered(self, state: State, theirs: Binary, ours: Expr, c: Comparison) -> Iterator[State]:
        """Chains of additions, or of products, whose members are the same in any order."""
        wanted, mine = (list(_chain(e, theirs.op, theirs.dtype)) for e in (theirs, ours))
        if len(wanted) < 3 and len(mine) < 3:
            return
        spare = next((e for e in wanted if theirs.op == "*" and self._by_value(e, c) is not None), None)
        state = replace(state, order=state.order or theirs.dtype.is_float)
        yield from self._members(state, theirs, [e for e in wanted if e is not spare], mine, spare, c)

    def _members(self, state: State, chain: Binary, wanted: list[Expr], mine: list[Expr], spare: Expr | None,
                 c: Comparison) -> Iterator[State]:
        """The members of two chains in pairs; what is left over in the program's is the number handed over."""
        self.budget.spend()
        if not wanted:
            if spare is not None:
                value: Expr = _literal(1, spare.dtype)
                for at, e in enumerate(mine):   # several in the chain's type, as the program has them
                    value = Binary(chain.op, _in_type(value, chain.dtype), e, chain.dtype) if at else e
                yield from self._leaf(state, spare, value, c)
            elif not mine:
                yield state
            return
        for at, e in enumerate(mine):
            for after in self._same(state, wanted[0], e, c):
                yield from self._members(after, chain, wanted[1:], [*mine[:at], *mine[at + 1:]], spare, c)

    def _by_value(self, e: Expr, c: Comparison) -> str | None:
        """The number of the function that an expression is, by name; None for anything else."""
        if isinstance(e, Load):
            leaf = c.theirs.leaves[e.reference]
            if leaf.kind is Kind.MEMORY and self.function.array(leaf.name).is_scalar:
                return leaf.name
        return None

    def _leaf(self, state: State, theirs: Expr, ours: Expr, c: Comparison) -> Iterator[State]:
        """States in which a leaf of the function is an expression of the program."""
        assert isinstance(theirs, Load)
        if theirs.dtype != ours.dtype:
            return
        leaf = c.theirs.leaves[theirs.reference]
        name = self._by_value(theirs, c)
        if name is not None:
            number = self._number(state, ours, c)
            known = state.numbers.get(name)
            if number is not None and (known is None or known.equals(number)):
                yield replace(state, numbers={**state.numbers, name: number})
            return
        if not isinstance(ours, Load):
            return
        other = c.ours.leaves[ours.reference]
        if leaf.kind is not other.kind:
            return
        wanted = state.restricted(c.pairs.apply_range(leaf.relation))
        mine = other.relation.intersect_domain(state.in_program(c.pairs).domain())
        if leaf.kind is Kind.VALUE:
            yield from self.values(state, leaf.name, other.name, mine.reverse().apply_range(wanted))
        elif leaf.kind is Kind.NUMBER:
            if state.in_program(wanted).is_equal(mine):
                yield state
        else:
            after = same_place(state, self.function.array(leaf.name), wanted, self.program.array(other.name), mine,
                               packs=self.packs)
            if after is not None:
                yield after

    def _number(self, state: State, ours: Expr, c: Comparison) -> Number | None:
        """An expression of the program that has one value in a whole call; None for any other."""
        elements: list[tuple[str, isl.Map]] = []
        names: dict[str, str] = {}
        for e in walk(ours):
            if isinstance(e, Load) and e.reference not in names:
                leaf = c.ours.leaves[e.reference]
                values = isl.Map.from_range(leaf.relation.intersect_domain(state.in_program(c.pairs).domain()).range())
                if leaf.kind is Kind.VALUE or not values.is_single_valued():
                    return None
                names[e.reference] = f"@{len(elements)}"
                elements.append((leaf.name, values))
        value = rebuild(ours, lambda e: Load(names[e.reference], e.dtype) if isinstance(e, Load) else e)
        return Number(value=value, elements=tuple(elements))

    def _by_ladder(self, state: State, c: Comparison) -> Iterator[State]:
        """Other words for the same function of the leaves, proved by the equality ladder."""
        wanted, mine = _loads(c.theirs.value), _loads(c.ours.value)
        if c.theirs.value.dtype != c.ours.value.dtype or len(wanted) != len(mine) or not wanted:
            return
        for after, names in itertools.islice(self._assignments(state, wanted, mine, c), MOST_CHOICES):
            outcome = same_function(c.theirs.value, _renamed(c.ours.value, names), conflicts=LADDER_CONFLICTS)
            if outcome.verdict is Verdict.EQUAL and (self.reorder or not outcome.reassociated):
                yield replace(after, order=after.order or outcome.reassociated)

    def _assignments(self, state: State, wanted: tuple[Load, ...], mine: tuple[Load, ...],
                     c: Comparison) -> Iterator[tuple[State, dict[str, Load]]]:
        """Bijections of leaves that correspond: per leaf of the program the function's."""
        self.budget.spend()
        if not wanted:
            yield state, {}
            return
        for at, e in enumerate(mine):
            for after in self._leaf(state, wanted[0], e, c):
                for whole, names in self._assignments(after, wanted[1:], (*mine[:at], *mine[at + 1:]), c):
                    yield whole, {**names, e.reference: wanted[0]}


def _operation(e: Expr) -> tuple[object, ...]:
    """What an expression does with its operands."""
    if isinstance(e, Literal):
        return (e.text,)
    return (getattr(e, "op", ""), getattr(e, "function", ""))


def _literal(value: int, dtype: DType) -> Literal:
    number = float(value) if dtype.is_float else value
    return Literal(str(number), number, dtype)


def _in_type(e: Expr, dtype: DType) -> Expr:
    return e if e.dtype == dtype else Cast(e, dtype)


def _negated(e: Expr, dtype: DType) -> Expr:
    """Minus an operand of a type: an unsigned number of fewer bits has no negative in its own."""
    if e.dtype.is_float:
        return Unary("-", e, e.dtype)   # exact in every type
    return Unary("-", e if usual_conversion(e.dtype, INT32) == dtype else _in_type(e, dtype), dtype)


def _chain(e: Expr, op: str, dtype: DType) -> Iterator[Expr]:
    """The members of a chain of one operation in one type, with signs taken along; what wraps or rounds is a member."""
    if isinstance(e, Binary) and e.op == op and e.dtype == dtype:
        yield from _chain(e.left, op, dtype)
        yield from _chain(e.right, op, dtype)
    elif isinstance(e, Binary) and op == "+" and e.op == "-" and e.dtype == dtype:
        yield from _chain(e.left, op, dtype)
        yield _negated(e.right, dtype)
    elif isinstance(e, Unary) and e.op == "-" and op == "*" and e.dtype == dtype:
        yield _literal(-1, e.dtype)
        yield from _chain(e.operand, op, dtype)
    else:
        yield e


def _renamed(value: Expr, names: Mapping[str, Load]) -> Expr:
    return rebuild(value, lambda e: names[e.reference] if isinstance(e, Load) else e)


def _loads(e: Expr) -> tuple[Load, ...]:
    return tuple(dict.fromkeys(x for x in walk(e) if isinstance(x, Load)))


def _text(system: Recurrences, case: Case) -> str:
    """A value in words."""
    def words(e: Expr) -> str:
        match e:
            case Load(reference=reference):
                return _leaf_text(system, case.leaves[reference])
            case Literal(text=text):
                return text
            case Binary(op=op, left=left, right=right):
                return f"({words(left)} {op} {words(right)})"
            case Unary(op=op, operand=operand):
                return f"{op}{words(operand)}"
        inner = ", ".join(map(words, children(e)))
        return f"{getattr(e, 'function', '') or type(e).__name__.lower()}({inner})"
    return words(case.value)


def _leaf_text(system: Recurrences, leaf: Leaf) -> str:
    name = system.equations[leaf.name].array if leaf.kind is Kind.VALUE else leaf.name
    names = next(iter(system.equations.values())).outer_names
    text = str(leaf.relation).replace(system.prefix or "\0", "")
    text = re.sub(rf"{OUTER}(\d+)", lambda m: dict(enumerate(names)).get(int(m.group(1)), m.group()), text)
    image = text[text.index("->", text.index("{")) + 2:].split(":")[0].strip(" }")
    return image.strip("[]") if leaf.kind is Kind.NUMBER else f"{name}{'' if image == '[]' else image}"
