"""A random program as a plain Python function: the same loops over the same elements, for the Python front end."""

from __future__ import annotations

from polysched.fuzz.affine import Affine
from polysched.fuzz.program import Guard, Layout, Loop, Node, Program, Reference, Statement, Term


def python_text(program: Program) -> str:
    """The source of a Python function of the sizes and the arrays; a scalar is an array of one element.

    For programs without a data-dependent condition and without a modulus: their numbers mean the same in both
    languages.
    """
    layout = Layout.of(program)
    names = [*program.parameters, *(name for name in program.types if name in layout.lowest)]
    return "\n".join([f"def {program.name}({', '.join(names)}):", *_lines(program.body, layout, 1), ""])


def _lines(nodes: tuple[Node, ...], layout: Layout, depth: int) -> list[str]:
    indent = "    " * depth
    lines: list[str] = []
    for node in nodes:
        match node:
            case Loop():
                lines += [f"{indent}for {node.iterator} in {_range(node)}:", *_lines(node.body, layout, depth + 1)]
            case Guard():
                joiner = {"&&": " and ", "||": " or "}[node.joiner]
                condition = joiner.join(_condition(*c) for c in node.conditions)
                lines += [f"{indent}if {condition}:", *_lines(node.then, layout, depth + 1)]
                if node.otherwise:
                    lines += [f"{indent}else:", *_lines(node.otherwise, layout, depth + 1)]
            case Statement():
                lines.append(indent + _statement(node, layout))
    return lines


def _range(loop: Loop) -> str:
    lower, upper = _fold("max", loop.lower), _fold("min", loop.upper)
    if loop.downward:
        return f"range({upper}, {lower} - 1, -{loop.step})"
    return f"range({lower}, {upper} + 1, {loop.step})"


def _fold(function: str, operands: tuple[Affine, ...]) -> str:
    texts = [operand.text() for operand in operands]
    return texts[0] if len(texts) == 1 else f"{function}({', '.join(texts)})"


def _condition(affine: Affine, modulus: int | None) -> str:
    return f"{affine.text()} >= 0" if modulus is None else f"({affine.text()}) % {modulus} == 0"


def _statement(node: Statement, layout: Layout) -> str:
    target = _element(node.target, layout)
    value = ""
    for position, term in enumerate(node.terms):
        sign = " - " if term.negative else " + " if position else ""
        value += sign + _term(term, layout)
    if node.choose:
        value = f"{target} if {target} > {value} else {value}"
    return f"{target} {node.op} {value}"


def _term(term: Term, layout: Layout) -> str:
    factor = term.factor.rstrip("fu")
    match term.of:
        case None:
            return factor
        case Affine():
            return f"{factor} * ({term.of.text()})"
        case Reference():
            return f"{factor} * {_element(term.of, layout)}" + (
                f" * {_element(term.times, layout)}" if term.times else "")


def _element(reference: Reference, layout: Layout) -> str:
    if not reference.subscripts:
        return f"{reference.array}[0]"
    return layout.element(reference).replace("][", ", ")
