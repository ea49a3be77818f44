"""Run the loop IR in Python: which statement instances it visits, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polysched.emit_c.index import Atom, Choice, Comparison, Condition, Extreme, Linear, Quotient, Remainder, Variable
from polysched.emit_c.loops import Block, For, If, Let, Node, StatementInstance

_COMPARE = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__}


def run_loops(node: Node, values: Mapping[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The statement instances of plain loops (before register tiles) in execution order.

    Parameters
    ----------
    values : the parameters, and the loop variables around the node.
    """
    match node:
        case StatementInstance():
            yield node.statement, tuple(value_of(form, values) for form in node.iterators)
        case Block():
            for child in node.children:
                yield from run_loops(child, values)
        case For():
            for at in range(value_of(node.lower, values), value_of(node.upper, values), node.step):
                inside = {**values, node.variable: at}
                if node.guard is not None and not holds(node.guard, inside):
                    break
                yield from run_loops(node.body, inside)
        case If():
            chosen = node.then if holds(node.condition, values) else node.otherwise
            if chosen is not None:
                yield from run_loops(chosen, values)
        case Let():
            yield from run_loops(node.body, {**values, node.variable: value_of(node.value, values)})
        case _:
            raise ValueError(f"{type(node).__name__} is no plain loop")


def value_of(form: Linear, values: Mapping[str, int]) -> int:
    """The value of an index expression."""
    return form.constant + sum(factor * _value_of_atom(atom, values) for atom, factor in form.terms)


def _value_of_atom(atom: Atom, values: Mapping[str, int]) -> int:
    match atom:
        case Variable():
            return values[atom.name]
        case Quotient():
            return value_of(atom.numerator, values) // atom.divisor
        case Remainder():
            return value_of(atom.numerator, values) % atom.divisor
        case Extreme():
            return (min if atom.kind == "min" else max)(value_of(arm, values) for arm in atom.arms)
        case Choice():
            return value_of(atom.then if holds(atom.condition, values) else atom.otherwise, values)


def holds(condition: Condition, values: Mapping[str, int]) -> bool:
    """Whether a condition is true."""
    if isinstance(condition, Comparison):
        return bool(_COMPARE[condition.op](value_of(condition.left, values), value_of(condition.right, values)))
    arms = (holds(arm, values) for arm in condition.arms)
    return all(arms) if condition.op == "&&" else any(arms)
