"""Random affine programs as values: loops, guards and assignments that print as C and can be taken apart.

Subscripts are affine functions without an offset; printing a program finds, by interval arithmetic over the loop
bounds, the offset and the extents that keep every access inside its array.  So any piece of a program may be
removed or changed and what is left is again a correct C program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeAlias

from polysched.fuzz.affine import Affine, Range, extreme, span
from polysched.records import dataclass


@dataclass(frozen=True)
class Reference:
    """An array element, or a scalar (no subscripts)."""

    array: str
    subscripts: tuple[Affine, ...] = ()


@dataclass(frozen=True)
class Term:
    """One summand of a right-hand side: `factor * element`, `factor * iterator` or `factor` alone.

    Parameters
    ----------
    times : a second element, for a product of two.
    cast : C type that every element is converted to.
    zeros : what is subtracted from either element: zero points.
    distance : the absolute difference of both elements in the place of their product.
    by : one more factor in front, for a product of three.
    """

    factor: str
    of: Reference | Affine | None = None
    negative: bool = False
    times: Reference | None = None
    cast: str = ""
    zeros: tuple[int, int] = (0, 0)
    distance: bool = False
    by: Reference | None = None


@dataclass(frozen=True)
class Clamp:
    """The range that a value is cut to.

    Parameters
    ----------
    wide : C type that the value is computed in.
    named : in a variable with two branches behind it, not in one expression.
    """

    low: int
    high: int
    wide: str
    named: bool = False


@dataclass(frozen=True)
class Statement:
    """`target op sum of terms`.

    Parameters
    ----------
    modulus : take the sum modulo this, for signed integers that must not overflow.
    choose : the larger of the target's old value and the sum, as a ternary.
    clamp : cut the sum to a range.
    when : do it only where this element is greater than a constant: a data-dependent condition.
    declares : C type of the target when the assignment is the declaration of a temporary, in the block around it.
    """

    target: Reference
    op: str
    terms: tuple[Term, ...]
    modulus: int | None = None
    choose: bool = False
    when: Reference | None = None
    declares: str = ""
    clamp: Clamp | None = None


@dataclass(frozen=True)
class Loop:
    """`for (it = lower; it <= upper; it += step)`, or the same points backwards from upper.

    Parameters
    ----------
    lower, upper : the bounds are the maximum and the minimum of these; one or two of each.
    declares : a temporary array that is declared in front of the loop.
    """

    iterator: str
    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]
    step: int
    downward: bool
    body: tuple[Node, ...]
    declares: str = ""


@dataclass(frozen=True)
class Guard:
    """`if (conditions joined) then else otherwise`; a condition is `affine >= 0`, or `affine % modulus == 0`."""

    conditions: tuple[tuple[Affine, int | None], ...]
    joiner: str
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...] = ()


Node: TypeAlias = Statement | Loop | Guard


@dataclass(frozen=True)
class Program:
    """A function around one region.

    Parameters
    ----------
    name : the function's name.
    parameters : sizes, all `int` and never negative.
    types : C element type per array.
    body : the region.
    """

    name: str
    parameters: tuple[str, ...]
    types: Mapping[str, str]
    body: tuple[Node, ...] = field(default=())

    def text(self) -> str:
        """The whole C file."""
        layout = Layout.of(self)
        inside = {node.declares for node in walk(self.body) if isinstance(node, Loop)}
        used = [name for name in self.types if name in layout.lowest and name not in inside]
        declared = [f"int {p}" for p in self.parameters]
        declared += [f"{self.types[name]} {name}" + "".join(f"[{e.text()}]" for e in layout.extents(name))
                     for name in used if layout.lowest[name]]
        scalars = [name for name in used if not layout.lowest[name]]
        declared += [f"{self.types[name]} {name}_out[1]" for name in scalars]
        lines = [f"void {self.name}({', '.join(declared)})", "{"]
        lines += [f"    {self.types[name]} {name} = {name}_out[0];" for name in scalars]
        lines += ["    int " + ", ".join(sorted(iterators(self.body))) + ";"] if iterators(self.body) else []
        lines += ["#pragma scop", *self._lines(self.body, layout, 1), "#pragma endscop"]
        lines += [f"    {name}_out[0] = {name};" for name in scalars]
        return "\n".join([*lines, "}"]) + "\n"

    def _lines(self, nodes: tuple[Node, ...], layout: Layout, depth: int) -> list[str]:
        indent = "    " * depth
        lines: list[str] = []
        for node in nodes:
            match node:
                case Loop():
                    body = self._lines(node.body, layout, depth + 1)
                    if node.declares in layout.lowest:
                        extents = "".join(f"[{e.text()}]" for e in layout.extents(node.declares))
                        lines.append(f"{indent}{self.types[node.declares]} {node.declares}{extents};")
                    lines += [f"{indent}{_loop_head(node)} {{", *body, indent + "}"]
                case Guard():
                    lines += [f"{indent}if ({_condition(node)}) {{", *self._lines(node.then, layout, depth + 1)]
                    if node.otherwise:
                        lines += [indent + "} else {", *self._lines(node.otherwise, layout, depth + 1)]
                    lines.append(indent + "}")
                case Statement():
                    lines.append(indent + self._statement(node, layout))
        return lines

    def _statement(self, node: Statement, layout: Layout) -> str:
        target = layout.element(node.target)
        value = ""
        for position, term in enumerate(node.terms):
            sign = " - " if term.negative else " + " if position else ""
            value += sign + _term(term, layout)
        if node.modulus is not None:
            value = f"({value}) % {node.modulus}"
        if node.choose:
            value = f"{target} > {value} ? {target} : {value}"
        if node.clamp is not None and node.clamp.named:
            return _clamped_by_branches(target, value, node.clamp)
        if node.clamp is not None:
            value = _clamped(value, node.clamp)
        text = f"{node.declares} {target} {node.op} {value};".lstrip()
        if node.when is not None:
            text = f"if ({layout.element(node.when)} > 3) {text}"
        return text


def _term(term: Term, layout: Layout) -> str:
    match term.of:
        case None:
            return term.factor
        case Affine():
            return f"{term.factor} * ({term.of.text()})"
        case Reference():
            first = _element(term.of, term.cast, term.zeros[0], layout)
            if term.times is None:
                element = first
            else:
                second = _element(term.times, term.cast, term.zeros[1], layout)
                element = f"({first} > {second} ? {first} - {second} : {second} - {first})" if term.distance \
                    else f"{first} * {second}"
            if term.by is not None:
                element = f"{layout.element(term.by)} * {element}"
            return element if term.factor == "1" else f"{term.factor} * {element}"


def _element(reference: Reference, cast: str, zero: int, layout: Layout) -> str:
    text = (f"({cast})" if cast else "") + layout.element(reference)
    return f"({text} {'-' if zero > 0 else '+'} {abs(zero)})" if zero else text


def _bounds(clamp: Clamp) -> tuple[str, str]:
    """Both bounds; the least int has no literal of its own type."""
    low, high = (f"({v + 1} - 1)" if v < 0 else str(v) for v in (clamp.low, clamp.high))
    return low, high


def _clamped(value: str, clamp: Clamp) -> str:
    low, high = _bounds(clamp)
    return f"{value} > {high} ? {high} : {value} < {low} ? {low} : {value}"


def _clamped_by_branches(target: str, value: str, clamp: Clamp) -> str:
    low, high = _bounds(clamp)
    return (f"{{ {clamp.wide} cut = {value}; if (cut > {high}) cut = {high}; if (cut < {low}) cut = {low}; "
            f"{target} = cut; }}")


def _fold(function: str, operands: tuple[Affine, ...]) -> str:
    texts = [operand.text() for operand in operands]
    if len(texts) == 1:
        return texts[0]
    relation = ">" if function == "max" else "<"
    return f"(({texts[0]}) {relation} ({texts[1]}) ? ({texts[0]}) : ({texts[1]}))"


def _loop_head(loop: Loop) -> str:
    it, lower, upper = loop.iterator, _fold("max", loop.lower), _fold("min", loop.upper)
    if loop.downward:
        step = f"{it}--" if loop.step == 1 else f"{it} -= {loop.step}"
        return f"for ({it} = {upper}; {it} >= {lower}; {step})"
    step = f"{it}++" if loop.step == 1 else f"{it} += {loop.step}"
    return f"for ({it} = {lower}; {it} <= {upper}; {step})"


def _condition(guard: Guard) -> str:
    texts = [f"{affine.text()} >= 0" if modulus is None else f"({affine.text()}) % {modulus} == 0"
             for affine, modulus in guard.conditions]
    return f" {guard.joiner} ".join(texts)


def iterators(nodes: tuple[Node, ...]) -> frozenset[str]:
    """Every loop variable."""
    return frozenset(node.iterator for node in walk(nodes) if isinstance(node, Loop))


def walk(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Every node, in pre-order."""
    for node in nodes:
        yield node
        match node:
            case Loop():
                yield from walk(node.body)
            case Guard():
                yield from walk(node.then)
                yield from walk(node.otherwise)
            case Statement():
                pass


def references(statement: Statement) -> Iterator[Reference]:
    """Every element that a statement names, but for declared temporaries."""
    if not statement.declares:
        yield statement.target
    if statement.when is not None:
        yield statement.when
    for term in statement.terms:
        yield from (element for element in (term.of, term.times, term.by) if isinstance(element, Reference))


def computes(program: Program, values: Mapping[str, int]) -> bool:
    """Whether some assignment is executed when the parameters have these values; data-dependent conditions hold."""
    return _executes(program.body, dict(values))


def _executes(nodes: tuple[Node, ...], values: dict[str, int]) -> bool:
    for node in nodes:
        match node:
            case Statement():
                return True
            case Loop():
                lower = max(_value(bound, values) for bound in node.lower)
                upper = min(_value(bound, values) for bound in node.upper)
                points = range(upper, lower - 1, -node.step) if node.downward else range(lower, upper + 1, node.step)
                if any(_executes(node.body, values | {node.iterator: point}) for point in points):
                    return True
            case Guard():
                held = [_value(affine, values) >= 0 if modulus is None else _value(affine, values) % modulus == 0
                        for affine, modulus in node.conditions]
                taken = all(held) if node.joiner == "&&" else any(held)
                if _executes(node.then if taken else node.otherwise, values):
                    return True
    return False


def _value(affine: Affine, values: Mapping[str, int]) -> int:
    return affine.constant + sum(coefficient * values[name] for name, coefficient in affine.terms)


@dataclass(frozen=True)
class Layout:
    """Per array and dimension, bounds on the subscripts as functions of the parameters."""

    lowest: Mapping[str, tuple[Affine, ...]]
    highest: Mapping[str, tuple[Affine, ...]]

    @classmethod
    def of(cls, program: Program) -> Layout:
        """The bounds over a whole program, by interval arithmetic; parameters are not negative."""
        found: dict[str, list[Range]] = {}
        for statement, ranges in _statements_with_ranges(program.body, {p: (Affine(((p, 1),)),) * 2
                                                                        for p in program.parameters}):
            for reference in references(statement):
                spans = [span(subscript, ranges) for subscript in reference.subscripts]
                known = found.setdefault(reference.array, spans)
                found[reference.array] = [(extreme(a[0], b[0], min), extreme(a[1], b[1], max))
                                          for a, b in zip(known, spans, strict=True)]
        return cls({name: tuple(s[0] for s in spans) for name, spans in found.items()},
                   {name: tuple(s[1] for s in spans) for name, spans in found.items()})

    def element(self, reference: Reference) -> str:
        """The C spelling of an element, moved so that the lowest subscript is 0."""
        if not reference.subscripts:
            return reference.array
        lowest = self.lowest[reference.array]
        return reference.array + "".join(f"[{s.plus(low, -1).text()}]"
                                         for s, low in zip(reference.subscripts, lowest, strict=True))

    def extents(self, name: str) -> list[Affine]:
        """The declared extents; at least 1 for any parameters that are not negative."""
        sizes = [high.plus(low, -1) for low, high in zip(self.lowest[name], self.highest[name], strict=True)]
        return [Affine(tuple((n, c) for n, c in size.terms if c > 0), max(size.constant + 1, 1)) for size in sizes]


def _statements_with_ranges(nodes: tuple[Node, ...], ranges: dict[str, Range]) -> Iterator[
        tuple[Statement, dict[str, Range]]]:
    for node in nodes:
        match node:
            case Statement():
                yield node, ranges
            case Loop():
                inner = (span(node.lower[0], ranges)[0], span(node.upper[0], ranges)[1])
                yield from _statements_with_ranges(node.body, {**ranges, node.iterator: inner})
            case Guard():
                yield from _statements_with_ranges(node.then, ranges)
                yield from _statements_with_ranges(node.otherwise, ranges)
