"""C functions as values: expressions with C's types, assignments, declarations and loops, and their text.

Descriptions and programs are both written in it.  It shares no code with what reads them: types are C11's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeAlias, TypeVar

from polysched.fuzz.affine import Affine
from polysched.records import dataclass


@dataclass(frozen=True)
class CType:
    """An arithmetic type by its canonical spelling."""

    name: str
    bits: int
    signed: bool = True
    is_float: bool = False

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest value of an integer type."""
        return (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1) if self.signed else (0, (1 << self.bits) - 1)


_INTEGERS = [CType(f"{'' if signed else 'u'}int{bits}_t", bits, signed) for bits in (8, 16, 32, 64)
             for signed in (True, False)]
TYPES: dict[str, CType] = {t.name: t for t in (*_INTEGERS, CType("float", 32, True, True),
                                              CType("double", 64, True, True))}
INT, UNSIGNED, LONG, ULONG = (TYPES[n] for n in ("int32_t", "uint32_t", "int64_t", "uint64_t"))
RESPELLED = {"int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long",
             "uint8_t": "unsigned char", "uint16_t": "unsigned short", "uint32_t": "unsigned",
             "uint64_t": "unsigned long"}
"""Other names of the same types where int has 32 and long 64 bits."""


@dataclass(frozen=True)
class Number:
    """A constant as it is spelled."""

    text: str

    @property
    def value(self) -> int:
        """Of a whole number; octal ones are not drawn."""
        return int(self.digits, 0)

    @property
    def digits(self) -> str:
        return self.text.rstrip("uUlL")

    @property
    def suffix(self) -> str:
        return "" if self.is_float else self.text[len(self.digits):]

    @property
    def is_float(self) -> bool:
        return not self.text.startswith("0x") and any(c in self.text for c in ".ef")


@dataclass(frozen=True)
class Element:
    """`array[..][..]`, or a variable without subscripts."""

    array: str
    subscripts: tuple[Affine, ...] = ()


@dataclass(frozen=True)
class Looked:
    """`array[index]` where data chooses the element; the index is below the extent."""

    array: str
    index: Expr
    extent: int


@dataclass(frozen=True)
class Converted:
    """A cast."""

    ctype: str
    of: Expr


@dataclass(frozen=True)
class Unary:
    op: str
    of: Expr


@dataclass(frozen=True)
class Binary:
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Choice:
    """`test ? then : otherwise`."""

    test: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True)
class Called:
    """A call of a function of the description language or of C's library."""

    function: str
    arguments: tuple[Expr, ...]


Expr: TypeAlias = Number | Element | Looked | Converted | Unary | Binary | Choice | Called
RESULTS = {"sat_i16": "int16_t", "sat_i32": "int32_t", "abs": "int32_t", "fmaf": "float", "fma_f32": "float",
           "popcount_u32": "int32_t", "__builtin_popcount": "int32_t", "min_i32": "int32_t", "max_i32": "int32_t",
           "min_u32": "uint32_t", "max_u32": "uint32_t"}


@dataclass(frozen=True)
class Assign:
    target: Element
    op: str
    value: Expr


@dataclass(frozen=True)
class Declare:
    """A variable with its first value."""

    name: str
    ctype: str
    value: Expr


@dataclass(frozen=True)
class Loop:
    """`for (iterator = first; iterator < end; iterator += step)`, or the same values from the last one down."""

    iterator: str
    first: Affine
    end: Affine
    body: tuple[Node, ...]
    step: int = 1
    descending: bool = False


@dataclass(frozen=True)
class Branch:
    """`if (test) { then } else { otherwise }`."""

    test: Expr
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...] = ()


Node: TypeAlias = Assign | Declare | Loop | Branch
Tree = TypeVar("Tree")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class Function:
    """One function.

    Parameters
    ----------
    arrays : parameters and their types, in order; extents follow from what the body accesses.
    sizes : names of `int` parameters that bounds are written with, and their values.
    respelled : types are spelled without stdint.h's names.
    """

    name: str
    arrays: tuple[tuple[str, str], ...]
    body: tuple[Node, ...]
    sizes: tuple[tuple[str, int], ...] = ()
    respelled: bool = False

    @cached_property
    def types(self) -> dict[str, CType]:
        """Of the parameters and of every local variable."""
        found = {name: TYPES[ctype] for name, ctype in self.arrays}
        found.update({d.name: TYPES[d.ctype] for d in walk(self.body) if isinstance(d, Declare)})
        return found

    @cached_property
    def written(self) -> frozenset[str]:
        return frozenset(n.target.array for n in walk(self.body) if isinstance(n, Assign)) & {n for n, _ in self.arrays}

    @cached_property
    def boxes(self) -> dict[str, list[tuple[int, int]]]:
        """Least and greatest subscript per dimension of every array."""
        found: dict[str, list[tuple[int, int]]] = {}
        for e, ranges in _elements(self.body, dict(_sized(self.sizes))):
            if isinstance(e, Looked):
                spans = [(0, e.extent - 1)]
            else:
                spans = [span(s, ranges) for s in e.subscripts]
            known = found.setdefault(e.array, spans)
            found[e.array] = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(known, spans, strict=True)]
        return found

    def extents(self, array: str) -> list[int]:
        """The declared extents; subscripts below zero are moved up."""
        return [high - min(low, 0) + 1 for low, high in self.boxes.get(array, [])]

    def ctype(self, name: str) -> str:
        return RESPELLED.get(name, name) if self.respelled else name

    def declared(self, array: str, ctype: str, *, constant: bool) -> str:
        extents = self.extents(array)
        mark = "const " if constant and array not in self.written and extents else ""
        return f"{mark}{self.ctype(ctype)} {array}" + "".join(f"[{e}]" for e in extents)

    def head(self, name: str | None = None, *, constant: bool = False) -> str:
        """`void name(parameters)`."""
        parameters = [f"int {n}" for n, _ in self.sizes]
        parameters += [self.declared(a, t, constant=constant) for a, t in self.arrays]
        return f"void {name or self.name}({', '.join(parameters)})"

    def text(self, name: str | None = None, *, region: bool = True) -> str:
        """The whole function.

        Parameters
        ----------
        region : as a program with its region marked; otherwise as a description, whose inputs are constant.
        """
        marks = ("#pragma scop", "#pragma endscop") if region else ()
        lines = [*marks[:1], *self.lines(self.body, 1), *marks[1:]]
        return "\n".join([self.head(name, constant=not region), "{", *lines, "}", ""])

    def lines(self, nodes: tuple[Node, ...], depth: int) -> Iterator[str]:
        margin = "    " * depth
        for node in nodes:
            match node:
                case Assign():
                    yield f"{margin}{self.word(node.target)} {node.op} {self.word(node.value)};"
                case Declare():
                    yield f"{margin}{self.ctype(node.ctype)} {node.name} = {self.word(node.value)};"
                case Loop():
                    yield f"{margin}{_for(node)} {{"
                    yield from self.lines(node.body, depth + 1)
                    yield f"{margin}}}"
                case Branch():
                    yield f"{margin}if ({self.word(node.test)}) {{"
                    yield from self.lines(node.then, depth + 1)
                    if node.otherwise:
                        yield f"{margin}}} else {{"
                        yield from self.lines(node.otherwise, depth + 1)
                    yield f"{margin}}}"

    def word(self, e: Expr, *, inside: bool = False) -> str:
        """The text of an expression; operators inside of others are in brackets."""
        match e:
            case Number():
                return e.text
            case Element():
                lows = [low for low, _ in self.boxes.get(e.array, [])]
                moved = [s.plus(Affine((), -min(low, 0))) for s, low in zip(e.subscripts, lows, strict=False)]
                return e.array + "".join(f"[{s.text()}]" for s in moved)
            case Looked():
                return f"{e.array}[{self.word(e.index)}]"
            case Converted():
                text = f"({self.ctype(e.ctype)}){self.word(e.of, inside=True)}"
            case Unary():
                text = f"{e.op}{self.word(e.of, inside=True)}"
            case Binary():
                text = f"{self.word(e.left, inside=True)} {e.op} {self.word(e.right, inside=True)}"
            case Choice():
                text = " ".join((self.word(e.test, inside=True), "?", self.word(e.then, inside=True), ":",
                                 self.word(e.otherwise, inside=True)))
            case Called():
                return f"{e.function}({', '.join(map(self.word, e.arguments))})"
        return f"({text})" if inside else text


def _for(loop: Loop) -> str:
    i, step = loop.iterator, "++" if loop.step == 1 else f" += {loop.step}"
    if loop.descending:
        return f"for (int {i} = {loop.end.plus(Affine((), -1)).text()}; {i} >= {loop.first.text()}; {i}--)"
    return f"for (int {i} = {loop.first.text()}; {i} < {loop.end.text()}; {i}{step})"


def _sized(sizes: tuple[tuple[str, int], ...]) -> Iterator[tuple[str, tuple[int, int]]]:
    return ((name, (value, value)) for name, value in sizes)


def span(affine: Affine, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """Least and greatest value over ranges of the names."""
    low = high = affine.constant
    for name, factor in affine.terms:
        first, last = ranges[name] if factor > 0 else ranges[name][::-1]
        low, high = low + factor * first, high + factor * last
    return low, high


def _elements(nodes: tuple[Node, ...], ranges: dict[str, tuple[int, int]]) -> Iterator[
        tuple[Element | Looked, dict[str, tuple[int, int]]]]:
    for node in nodes:
        if isinstance(node, Loop):
            first, end = span(node.first, ranges)[0], span(node.end, ranges)[1]
            last = first + (max(end - 1 - first, 0) // node.step) * node.step
            yield from _elements(node.body, {**ranges, node.iterator: (first, last)})
        else:
            yield from ((e, ranges) for e in walk(node) if isinstance(e, Element | Looked))


def walk(tree: Any) -> Iterator[Any]:
    """Every value inside a tree, from the outside in, left to right; an affine function is a leaf."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from walk(part)
    elif is_dataclass(tree) and not isinstance(tree, Affine):
        yield tree
        kind: Any = type(tree)
        for name in _parts(kind):
            yield from walk(getattr(tree, name))


@cache
def _parts(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


def mapped(tree: Tree, change: Callable[[Any], Any]) -> Tree:
    """The tree with every value replaced by what `change` makes of it, the inner ones first; a node may become several.

    Parameters
    ----------
    change : gives the value itself for what stays.
    """
    made: Tree
    if isinstance(tree, tuple):
        made = _flat(mapped(part, change) for part in tree)
        return made
    if not is_dataclass(tree) or isinstance(tree, Affine | type):
        return tree
    old = {name: getattr(tree, name) for name in _parts(type(tree))}
    new = {name: mapped(value, change) for name, value in old.items()}
    same = all(new[name] is old[name] or new[name] == old[name] for name in old)
    made = change(tree if same else replace(tree, **new))
    return made


def _flat(parts: Iterable[Any]) -> Any:
    """A tuple of nodes, each of which may have become several."""
    return tuple(one for part in parts for one in (part if isinstance(part, list) else (part,)))


def replaced_at(tree: Tree, at: int, new: Any) -> Tree:
    """The tree with another value at a position of `walk`; positions count from 0."""
    made: Tree = _replaced(tree, [at], new)
    return made


def _replaced(tree: Any, left: list[int], by: Any) -> Any:
    if isinstance(tree, tuple):
        return _flat(_replaced(part, left, by) for part in tree)
    if not is_dataclass(tree) or isinstance(tree, Affine | type) or left[0] < 0:
        return tree
    left[0] -= 1
    if left[0] < 0:
        return by
    for name in _parts(type(tree)):
        old = getattr(tree, name)
        new = _replaced(old, left, by)
        if new is not old and new != old:
            return replace(tree, **{name: new})
    return tree


def promoted(t: CType) -> CType:
    """Integer promotion (C11 6.3.1.1)."""
    return INT if not t.is_float and t.bits < 32 else t


def common(left: CType, right: CType) -> CType:
    """The usual arithmetic conversions (C11 6.3.1.8)."""
    if left.is_float or right.is_float:
        return max((t for t in (left, right) if t.is_float), key=lambda t: t.bits)
    left, right = promoted(left), promoted(right)
    if left.signed == right.signed:
        return left if left.bits >= right.bits else right
    signed, unsigned = (left, right) if left.signed else (right, left)
    return signed if signed.bits > unsigned.bits else unsigned


def type_of(e: Expr, types: Mapping[str, CType]) -> CType:
    """The type of an expression in C."""
    match e:
        case Number():
            return _number_type(e)
        case Element() | Looked():
            return types[e.array]
        case Converted():
            return TYPES[e.ctype]
        case Unary():
            return INT if e.op == "!" else promoted(type_of(e.of, types))
        case Binary():
            if e.op in (*COMPARISONS, "&&", "||"):
                return INT
            left = type_of(e.left, types)
            return promoted(left) if e.op in ("<<", ">>") else common(left, type_of(e.right, types))
        case Choice():
            return common(type_of(e.then, types), type_of(e.otherwise, types))
        case Called():
            return TYPES[RESULTS[e.function]]


def _number_type(e: Number) -> CType:
    """C11 6.4.4.1: the first type of a list that holds the value; decimal numbers without `u` are signed."""
    if e.is_float:
        return TYPES["float" if e.text.endswith("f") else "double"]
    suffix, hexadecimal = e.suffix.lower(), e.digits.startswith("0x")
    longs = [LONG, ULONG] if "l" in suffix else [INT, UNSIGNED, LONG, ULONG]
    fitting = [t for t in longs if t.range[0] <= e.value <= t.range[1]
               and (not t.signed if "u" in suffix else t.signed or hexadecimal)]
    return fitting[0]
