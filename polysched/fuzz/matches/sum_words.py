"""Updates and sums in other words: spelled out, by a scalar, in parts, with and without a local."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from polysched.fuzz.matches.c_tree import (
    Assign,
    Binary,
    Converted,
    CType,
    Declare,
    Element,
    Function,
    Loop,
    Number,
    mapped,
    replaced_at,
    type_of,
    walk,
)


def spelled_out(source: random.Random, function: Function) -> Function | None:
    """`C += x` as `C = C + x`, or the other way."""
    def change(node: Any) -> Any:
        if not isinstance(node, Assign):
            return node
        if node.op != "=":
            return Assign(node.target, "=", Binary(node.op[0], node.target, node.value))
        match node.value:
            case Binary(op="+", left=left, right=right) if left == node.target:
                return Assign(node.target, "+=", right)
        return node

    return replace(function, body=mapped(function.body, change))


def with_scalar(source: random.Random, function: Function) -> Function | None:
    """A part of a value in a variable of its own, of the part's type."""
    found = [n for n in walk(function.body) if isinstance(n, Assign)
             and not isinstance(n.value, Element | Number)]
    if not found:
        return None
    chosen = source.choice(found)
    part = source.choice([e for e in walk(chosen.value) if not isinstance(e, Number)])
    name = f"s{sum(isinstance(n, Declare) for n in walk(function.body))}"
    value = mapped(chosen.value, lambda e: Element(name) if e == part else e)
    new = [Declare(name, type_of(part, function.types).name, part), replace(chosen, value=value)]
    return replace(function, body=mapped(function.body, lambda n: new if n == chosen else n))


def split_sum(source: random.Random, function: Function) -> Function | None:
    """`C += a + b` as two statements, where the sum wraps no earlier than the result."""
    types = function.types
    found = [n for n in walk(function.body) if isinstance(n, Assign) and n.op in ("+=", "-=")
             and isinstance(n.value, Binary) and n.value.op in "+-"
             and not type_of(n.value, types).is_float and not types[n.target.array].is_float
             and type_of(n.value, types).bits >= types[n.target.array].bits]
    if not found:
        return None
    chosen = source.choice(found)
    assert isinstance(chosen.value, Binary)
    second = chosen.op if chosen.value.op == "+" else "-=" if chosen.op == "+=" else "+="
    new = [replace(chosen, value=chosen.value.left), Assign(chosen.target, second, chosen.value.right)]
    return replace(function, body=mapped(function.body, lambda n: new if n == chosen else n))


def joined_sum(source: random.Random, function: Function) -> Function | None:
    """Two statements that add to one element as one, where the sum wraps no earlier than the result."""
    types = function.types
    for at, node in enumerate(walk(function.body)):
        body = node.body if isinstance(node, Loop) else ()
        for n, (a, b) in enumerate(itertools.pairwise(body)):
            if not isinstance(a, Assign) or not isinstance(b, Assign) or a.target != b.target or {a.op, b.op} != {"+="}:
                continue
            value = Binary("+", a.value, b.value)
            if not type_of(value, types).is_float and type_of(value, types).bits >= types[a.target.array].bits:
                new = replace(node, body=(*body[:n], Assign(a.target, "+=", value), *body[n + 2:]))
                return replace(function, body=replaced_at(function.body, at, new))
    return None


def _local_sums(function: Function) -> Iterator[tuple[Declare, Assign]]:
    """Locals that start from zero, with what adds them to something."""
    nodes = list(walk(function.body))
    zeros = [d for d in nodes if isinstance(d, Declare) and isinstance(d.value, Number) and d.value.text == "0"]
    added = [n for n in nodes if isinstance(n, Assign) and n.op in ("+=", "-=")]
    return ((d, n) for d in zeros for n in added if n.value == Element(d.name))


def _wraps_no_earlier(local: Declare, last: Assign, types: Mapping[str, CType]) -> bool:
    return types[local.name].bits >= types[last.target.array].bits and not types[local.name].is_float


def local_dropped(source: random.Random, function: Function, *, exact: bool = True) -> Function | None:
    """A sum in a local added to the result straight away, where the local wraps no earlier than the result.

    Parameters
    ----------
    exact : keep the function; otherwise the wrap of a narrow local is lost.
    """
    found = [(d, n) for d, n in _local_sums(function) if not exact or _wraps_no_earlier(d, n, function.types)]
    if not found:
        return None
    local, last = source.choice(found)
    inner = [n for n in walk(function.body) if isinstance(n, Assign) and n.target == Element(local.name)]
    reads = sum(e == Element(local.name) for e in walk(function.body))
    if len(inner) != 1 or inner[0].op not in ("+=", "-=") or reads != 2:
        return None
    op = "+=" if inner[0].op == last.op else "-="

    def change(node: Any) -> Any:
        if node in (local, last):
            return []
        return Assign(last.target, op, inner[0].value) if node == inner[0] else node

    return replace(function, body=mapped(function.body, change))


def local_folded(source: random.Random, function: Function) -> Function | None:
    """`T t = 0; t += x; C += t` as `C += (T)x`."""
    for at, node in enumerate(walk(function.body)):
        match node:
            case Loop(body=(Declare(value=Number(text="0")) as local, Assign(op="+=") as first, Assign() as last)) if \
                    first.target == last.value == Element(local.name):
                new = replace(node, body=(replace(last, value=Converted(local.ctype, first.value)),))
                return replace(function, body=replaced_at(function.body, at, new))
    return None
