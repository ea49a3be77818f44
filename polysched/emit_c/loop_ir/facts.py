"""What is known at a place of the loop nest, as an isl set, and exact questions about it.

Loop bounds and conditions around the place become constraints; what has no affine form is left out, so a
proof never rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

import islpy as isl

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.disjuncts import Intersection
from polysched.emit_c.loop_ir.index import (
    Atom,
    Comparison,
    Condition,
    Extreme,
    Linear,
    Quotient,
    Remainder,
    SourceOperation,
    Variable,
    constant,
    source_operations,
    variable,
    variables,
)
from polysched.emit_c.loop_ir.loops import For, If, Let, Node, ThreadReduction
from polysched.emit_c.loop_ir.traversal import map_children
from polysched.records import dataclass
from polysched.scop.budget import require_budget, with_budget

_MAX_OPERATIONS = LIMITS.fact_operations
DEEPEST = LIMITS.deepest_facts


@dataclass(frozen=True, eq=False, kw_only=True)
class Facts:
    """Constraints that hold at a place.

    Parameters
    ----------
    context : the parameter values that can occur.
    constraints : conditions over loop variables and parameters, all true at the place.
    """

    context: isl.Set
    constraints: tuple[Condition, ...] = ()

    def inside(self, loop: For) -> Facts:
        """What holds in the body of a loop."""
        here = Linear(((Variable(loop.variable), 1),))
        new = [Comparison(">=", here, arm) for arm in arms_of(loop.lower, "max")]
        new += [Comparison("<", here, arm) for arm in arms_of(loop.upper, "min")]
        return self.without(loop.variable).given(*new)

    def where(self, declared: Let) -> Facts:
        """What holds in the body of a declaration; nothing more of a name that stands for no iterator.

        The ends of pieces are such; isl takes long with them and proves nothing by them.
        """
        if declared.name:
            return self.without(declared.variable)
        return self.without(declared.variable).given(Comparison("==", variable(declared.variable), declared.value))

    def without(self, *names: str) -> Facts:
        """What holds where these names are declared anew: nothing is known of the variables that they hide."""
        kept = tuple(c for c in self.constraints if variables(c).isdisjoint(names))
        return replace(self, constraints=kept)

    def inside_part(self, node: ThreadReduction) -> Facts:
        """What holds in one part of a loop's range."""
        first, end = Linear(((Variable(node.first), 1),)), Linear(((Variable(node.end), 1),))
        new = [Comparison(">=", first, arm) for arm in arms_of(node.whole.lower, "max")]
        new += [Comparison("<=", end, arm) for arm in arms_of(node.whole.upper, "min")]
        return self.without(node.first, node.end).given(*new)

    def given(self, *conditions: Condition) -> Facts:
        """What holds where these conditions do too."""
        return Facts(context=self.context, constraints=(*self.constraints, *conditions))

    def imply(self, condition: Condition) -> bool:
        """Whether the condition is certain; False when it is not or cannot be decided."""
        if not isinstance(condition, Comparison):
            outcomes = (self.imply(arm) for arm in condition.arms)
            return all(outcomes) if condition.op == "&&" else any(outcomes)
        return self.exclude(condition.negation()) if condition.op != "==" else all(
            self.imply(Comparison(op, condition.left, condition.right)) for op in ("<=", ">="))

    def runs(self, loop: For) -> bool:
        """Whether a loop certainly runs at least once."""
        return all(self.imply(Comparison("<", low, high)) for low in arms_of(loop.lower, "max")
                   for high in arms_of(loop.upper, "min"))

    def exclude(self, *conditions: Comparison) -> bool:
        """Whether the conditions certainly never hold together; False when that cannot be decided."""
        names = IslNames(self.context, frozenset(atom for c in conditions for atom in source_operations(c)
                                                 if self.imply(Comparison(">=", atom.operand, constant(0)))))
        known = [names.text(c) for c in _flat(self.constraints)]
        asked = [names.text(c) for c in conditions]
        if None in asked:
            return False
        return _is_empty(tuple(dict.fromkeys(text for text in (*known, *asked) if text)), self.context)


def map_inside(node: Node, facts: Facts, change: Callable[[Node, Facts], Node]) -> Node:
    """The node with every node directly below it changed, given what holds there; a register tile keeps its body."""
    match node:
        case For():
            return replace(node, body=change(node.body, facts.inside(node)))
        case Let():
            return replace(node, body=change(node.body, facts.where(node)))
        case ThreadReduction():
            return replace(node, loop=change(node.loop, facts.inside_part(node)))
        case If():
            otherwise = None if node.otherwise is None else change(node.otherwise, facts)
            return replace(node, then=change(node.then, facts.given(node.condition)), otherwise=otherwise)
        case _:
            return map_children(node, lambda child: change(child, facts))


def _is_empty(texts: tuple[str, ...], context: isl.Set) -> bool:
    """Whether no values meet all conditions in a context; False when finding out takes too many isl operations."""
    return with_budget(_MAX_OPERATIONS, lambda: _never_together(texts, str(context.params()))) is True


@lru_cache(maxsize=LIMITS.kept_questions)
def _never_together(texts: tuple[str, ...], context: str) -> bool:
    """The answer; the same question is asked of many places, and of many codes of one program."""
    for count in range(DEEPEST, len(texts), DEEPEST):
        _together(texts[:count], context)   # so that no chain of outer places is deeper
    return _together(texts, context).is_empty()


@lru_cache(maxsize=LIMITS.kept_questions)
def _together(texts: tuple[str, ...], context: str) -> Intersection:
    """The values that meet all conditions: those of an outer place, which are kept, and one more."""
    return Intersection(_alone(texts[-1]), _together(texts[:-1], context)) if texts else Intersection(_alone(context))


@lru_cache(maxsize=LIMITS.kept_questions)
def _alone(text: str) -> isl.Set:
    """One set of parameters: reading texts is what takes time."""
    made = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)
    require_budget()
    return made


def arms_of(form: Linear, kind: str) -> tuple[Linear, ...]:
    """The arms of a min or max, or the form alone when it is none of this kind."""
    match form.terms:
        case ((Extreme(kind=found, arms=arms), 1),) if found == kind:
            return tuple(arm + form.constant for arm in arms)
        case _:
            return (form,)


def _flat(conditions: tuple[Condition, ...]) -> Iterator[Comparison]:
    for condition in conditions:
        if isinstance(condition, Comparison):
            yield condition
        elif condition.op == "&&":
            yield from _flat(condition.arms)


class IslNames:
    """isl's text of conditions and forms: parameters keep their names, loop variables get made-up ones, since theirs
    can be isl keywords.  What has no affine form has no text: None.

    Attributes
    ----------
    parameters : names of the context's parameters.
    natural : operations of the program on numbers that are not negative, which round as isl does.
    """

    def __init__(self, context: isl.Set, natural: frozenset[SourceOperation] = frozenset()) -> None:
        self.natural = natural
        count = context.dim(isl.dim_type.param)
        self.parameters: list[str] = [str(context.get_dim_name(isl.dim_type.param, i)) for i in range(count)]
        self._loops: dict[str, str] = {}

    def all(self) -> list[str]:
        """Every name in use so far."""
        return [*self.parameters, *self._loops.values()]

    def loop(self, name: str) -> str:
        """The name of a loop variable."""
        return self._loops.setdefault(name, f"polysched_v{len(self._loops)}")

    def condition(self, condition: Condition) -> str | None:
        """A comparison, or several."""
        if isinstance(condition, Comparison):
            return self.comparison(condition)
        texts = [self.condition(arm) for arm in condition.arms]
        known = [text for text in texts if text is not None]
        if condition.op != "&&" and len(known) < len(texts):
            return None
        return f"({(' and ' if condition.op == '&&' else ' or ').join(known)})" if known else None

    def comparison(self, condition: Comparison) -> str | None:
        """`left op right`."""
        left, right = self.form(condition.left), self.form(condition.right)
        if left is None or right is None:
            return None
        return f"{left} {'=' if condition.op == '==' else condition.op} {right}"

    def text(self, condition: Comparison) -> str | None:
        """The set of the parameters and loop variables that meet a comparison."""
        compared = self.comparison(condition)
        return None if compared is None else f"[{', '.join(self._used(condition))}] -> {{ : {compared} }}"

    def _used(self, condition: Comparison) -> list[str]:
        return sorted(name if name in self.parameters else self.loop(name) for name in variables(condition))

    def form(self, form: Linear) -> str | None:
        """A linear form, in parentheses."""
        pieces = [str(form.constant)]
        for atom, factor in form.terms:
            text = self._atom(atom)
            if text is None:
                return None
            pieces.append(f"{factor}*{text}")
        return "(" + " + ".join(pieces) + ")"

    def _natural(self, atom: SourceOperation) -> str | None:
        """An operation on a number that is not negative."""
        inner = self.form(atom.operand)
        if inner is None:
            return None
        if atom.op == "&":   # a number of ones: the lowest bits
            return f"({inner} mod {atom.number + 1})"
        divisor = atom.number if atom.op in ("/", "%") else 1 << atom.number
        return f"({inner} mod {divisor})" if atom.op == "%" else f"floor({inner}/{divisor})"

    def _atom(self, atom: Atom) -> str | None:
        match atom:
            case Variable(name=name):
                return name if name in self.parameters else self.loop(name)
            case Quotient():
                inner = self.form(atom.numerator)
                return None if inner is None else f"floor({inner}/{atom.divisor})"
            case Remainder():
                inner = self.form(atom.numerator)
                return None if inner is None else f"({inner} mod {atom.divisor})"
            case SourceOperation() if atom in self.natural:
                return self._natural(atom)
            case Extreme():
                arms = [self.form(arm) for arm in atom.arms]
                known = [arm for arm in arms if arm is not None]
                return f"{atom.kind}({', '.join(known)})" if len(known) == len(arms) else None
            case _:
                return None


def distance(first: Linear, second: Linear) -> int | None:
    """`first - second` when it is a constant."""
    difference = first - second
    return difference.constant if difference.is_constant else None


def depends_on(form: Linear, names: frozenset[str]) -> bool:
    """Whether any of the variables occurs in the form."""
    return bool(variables(form) & names)
