"""The programs of elementary functions, for tests: what they lead to, and the values of those that are arithmetic."""

from __future__ import annotations

import re
from collections.abc import Mapping

from polysched.emit_c.vector_math.notation import parse


def leads_to(name: str, programs: Mapping[str, str]) -> set[str]:
    """All programs that a program calls, and those that these call."""
    found: set[str] = set()
    left = list(parse(name, programs[name]).calls())
    while left:
        called = left.pop()
        if called in programs and called not in found:
            found.add(called)
            left += parse(called, programs[called]).calls()
    return found


def value_of(name: str, programs: Mapping[str, str], x: float) -> float:
    """The value of a program of sums and products, in Python's doubles."""
    made = parse(name, programs[name])
    values = {"x": x}
    for _, step, expression in made.steps:
        values[step] = eval(_in_python(expression), {}, values)
    return float(eval(_in_python(made.result), {}, values))


def _in_python(expression: str) -> str:
    """Without the suffixes of floats."""
    return re.sub(r"(?<=[\d.])f\b", "", expression)
