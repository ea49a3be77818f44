"""The loop IR as text: Python's syntax, so that people read it and `parser` reads it back.

    for i in range(0, n, 32, mark='role=tile'):
        for j in range(i, min(i + 32, n)):
            S0(i, j)

A node has a line; where that is longer than `LONGEST`, one for each argument.  What has no short spelling is a record,
the class with those fields that are not at their defaults.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from polysched.emit_c.loop_ir.index import (
    Atom,
    Choice,
    Comparison,
    Condition,
    Extreme,
    Junction,
    Linear,
    Product,
    Quotient,
    Remainder,
    SourceOperation,
    ToBoundary,
    Variable,
)
from polysched.emit_c.loop_ir.loops import (
    Block,
    Edge,
    For,
    If,
    Let,
    Local,
    Node,
    OnCopy,
    Packed,
    RegisterTile,
    StatementInstance,
    ThreadReduction,
)
from polysched.scheduling.marks import LoopMark
from polysched.scop.dtypes import DType

INDENT = "    "
LONGEST = 120
"""Characters of a line, without the indentation of its node."""
_MARKS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[()\[\],]""")
"""Brackets and commas; a quoted text is one mark, so that what stands in it is none."""
CALLS = frozenset({"floord", "quot", "rem", "source", "min", "max", "choose", "to_boundary", "product", "all", "any"})
"""Names of operations in index expressions; a variable of such a name is spelled `names['min']`."""


def loop_text(node: Node) -> str:
    """The lines of a node and all below it, each ended by a newline; `parser.parse_loops` reads them."""
    return "".join(f"{line}\n" for line in _lines(node))


def _lines(node: Node) -> Iterator[str]:
    match node:
        case Block():
            if len(node.children) < 2:
                yield from _nested(node)
            else:
                for child in node.children:
                    yield from _nested(child) if isinstance(child, Block) else _lines(child)
        case For():
            yield from _with(f"for {name_text(node.variable)} in range({_arguments(_for_arguments(node))})",
                             _lines(node.body), word="")
        case If():
            yield from _with(f"if {condition_text(node.condition)}", _lines(node.then), word="")
            if node.otherwise is not None:
                yield from _with("else", _lines(node.otherwise), word="")
        case Let():
            own = [name_text(node.variable), linear_text(node.value), *_given(node, ("depth", "name"))]
            yield from _with(f"let({_arguments(own)})", _lines(node.body))
        case Local():
            yield from _with(f"local({_arguments(map(record_text, node.temporaries))})", _lines(node.body))
        case StatementInstance():
            yield from folded(_instance_text(node))
        case RegisterTile():
            own = _given(node, but=("body", "panels"))
            if node.panels:
                own.append(f"panels={record_text(tuple(panel.name for panel in node.panels))}")
            yield from _with(f"register_tile({_arguments(own)})", _lines(node.body))
        case Packed():
            own = [record_text(node.panel), _instance_text(node.source)]
            yield from _with(f"packed({_arguments(own)})", _lines(node.body))
        case OnCopy():
            yield from _with(f"on_copy({record_text(node.tile)}, {node.count})", _lines(node.body))
        case ThreadReduction():
            yield from _with(f"thread_reduction({_arguments(_given(node, but=('loop',)))})", _lines(node.loop))


def _nested(node: Block) -> Iterator[str]:
    """A block among others, or one that a reader would not see: of fewer than two nodes."""
    inner = [line for child in node.children
             for line in (_nested(child) if isinstance(child, Block) else _lines(child))]
    return _with("block()", inner)


def _with(head: str, body: Iterator[str] | list[str], *, word: str = "with ") -> Iterator[str]:
    yield from folded(f"{word}{head}:")
    lines = list(body)
    yield from (INDENT + line for line in lines or ["pass"])


def folded(text: str) -> Iterator[str]:
    """The lines of a text: itself, or, where that is too long, one for each argument of its first bracket."""
    opening, closing, commas = _first_bracket(text)
    if len(text) <= LONGEST or closing <= opening + 1:
        yield text
        return
    yield text[:opening + 1]
    for first, end in zip((opening, *commas), (*commas, closing), strict=True):
        if argument := text[first + 1:end].strip():
            yield from (INDENT + line for line in folded(f"{argument},"))
    yield text[closing:]


def _first_bracket(text: str) -> tuple[int, int, list[int]]:
    """Where the first round bracket outside of quotes opens and closes, and the commas right inside; zeros without."""
    opening, depth = 0, 0
    commas: list[int] = []
    for match in _MARKS.finditer(text):
        at, mark = match.start(), match.group()
        if mark in "([":
            opening, depth = (at, 1) if mark == "(" and not depth else (opening, depth + bool(depth))
        elif mark in ")]" and depth:
            depth -= 1
            if not depth:
                return opening, at, commas
        elif mark == "," and depth == 1:
            commas.append(at)
    return 0, 0, []


def _for_arguments(loop: For) -> list[str]:
    bounds = [linear_text(loop.lower), linear_text(loop.upper), *([str(loop.step)] if loop.step != 1 else [])]
    return bounds + _given(loop, ("mark", "depth", "guard", "forgets", "behind", "fences", "yields"))


def _instance_text(node: StatementInstance) -> str:
    values = [linear_text(value) for value in node.iterators]
    if node.temporaries:
        values.append(f"temporaries={record_text(node.temporaries)}")
    if node.settled:
        values.append(f"settled={record_text(node.settled)}")
    name = node.statement if _is_plain(node.statement) else f"statements[{node.statement!r}]"
    return f"{name}({_arguments(values)})"


def _arguments(texts: Iterator[str] | list[str] | map[str]) -> str:
    return ", ".join(texts)


def _given(value: object, names: tuple[str, ...] | None = None, *, but: tuple[str, ...] = ()) -> list[str]:
    """Fields as keywords, without those at their defaults."""
    found = []
    for field in fields(value):  # type: ignore[arg-type]   # a dataclass
        own = getattr(value, field.name)
        default = field.default_factory() if callable(field.default_factory) else field.default
        if field.name in but or (names is not None and field.name not in names) or (
                type(own) is type(default) and own == default):
            continue
        found.append(f"{field.name}={record_text(own)}")
    return found


def record_text(value: object) -> str:
    """A value in Python's syntax: a number, a text, a tuple, an index expression, or a record."""
    match value:
        case Linear():
            return f"linear({linear_text(value)})"
        case Comparison() | Junction():
            return f"condition({condition_text(value)})"
        case For() if value.body == Block(()):
            return f"loop({_arguments([name_text(value.variable), *_for_arguments(value)])})"
        case Edge():
            own = [name_text(value.variable), linear_text(value.base), str(value.count)]
            return f"edge({_arguments([*own, *(['simd=True'] if value.simd else [])])})"
        case LoopMark():
            return repr(value.to_text().removeprefix(f"{LoopMark.PREFIX} "))
        case DType():
            return f"dtype({value.name!r})"
        case tuple():
            return f"({''.join(f'{record_text(item)}, ' for item in value).rstrip()})"
        case str() | int() | float() | None:
            return repr(value)
    if not is_dataclass(value):
        raise ValueError(f"no text form for {type(value).__name__}")
    return f"{type(value).__name__}({_arguments(_given(value))})"


def _is_plain(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and name not in CALLS and name not in (
        "names", "statements", "True", "False", "None")


def name_text(name: str) -> str:
    """A variable: its name, or an element of `names` where that is no name in Python."""
    return name if _is_plain(name) else f"names[{name!r}]"


def linear_text(form: Linear) -> str:
    """For instance `2*i + floord(n - 1, 32) - 1`."""
    text = ""
    for atom, factor in form.terms:
        sign = ("-" if factor < 0 else "") if not text else " - " if factor < 0 else " + "
        text += f"{sign}{'' if abs(factor) == 1 else f'{abs(factor)}*'}{_atom_text(atom)}"
    if not text:
        return str(form.constant)
    return text if not form.constant else f"{text} {'-' if form.constant < 0 else '+'} {abs(form.constant)}"


def _atom_text(atom: Atom) -> str:
    match atom:
        case Variable():
            return name_text(atom.name)
        case Quotient():
            return f"{'quot' if atom.truncates else 'floord'}({linear_text(atom.numerator)}, {atom.divisor})"
        case Remainder():
            return f"rem({linear_text(atom.numerator)}, {atom.divisor})"
        case SourceOperation():
            return f"source({atom.op!r}, {linear_text(atom.operand)}, {atom.number})"
        case Extreme():
            return f"{atom.kind}({_arguments(map(linear_text, atom.arms))})"
        case Choice():
            return f"choose({condition_text(atom.condition)}, {linear_text(atom.then)}, {linear_text(atom.otherwise)})"
        case ToBoundary():
            own = [repr(atom.template), str(atom.element_bytes), str(atom.boundary_bytes)]
            return f"to_boundary({_arguments([*own, *map(linear_text, atom.subscripts)])})"
        case Product():
            return f"product({linear_text(atom.left)}, {linear_text(atom.right)})"


def condition_text(condition: Condition) -> str:
    """For instance `all(i < n, j >= 0)`."""
    if isinstance(condition, Comparison):
        return f"{linear_text(condition.left)} {condition.op} {linear_text(condition.right)}"
    return f"{'all' if condition.op == '&&' else 'any'}({_arguments(map(condition_text, condition.arms))})"
