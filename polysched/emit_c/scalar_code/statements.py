"""Statement instances -> lines of C."""

from __future__ import annotations

from collections.abc import Iterable

from polysched.emit_c.scalar_code.c_text import CText, Level
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter
from polysched.scop.body import Assign, BodyStatement, If, Perform, While

INDENT = "  "


def print_body(body: tuple[BodyStatement, ...], printer: ExpressionPrinter) -> list[str]:
    """The lines of one statement instance, not indented."""
    lines: list[str] = []
    for item in body:
        match item:
            case Assign():
                lines.append(_assignment(item, printer))
            case If():
                lines += [f"if ({printer.value(item.condition)}) {{", *_indented(item.then, printer)]
                if item.otherwise:
                    lines += ["} else {", *_indented(item.otherwise, printer)]
                lines.append("}")
            case While():
                lines += [f"while ({printer.value(item.condition)}) {{", *_indented(item.body, printer), "}"]
            case Perform():
                lines.append(_performed(item, printer))
    return lines


def _assignment(item: Assign, printer: ExpressionPrinter) -> str:
    target = printer.element(printer.statement.access(item.target)).at(Level.UNARY)
    return f"{target} {item.op or ''}= {printer.value(item.value).at(Level.ASSIGNMENT)};"


def _performed(item: Perform, printer: ExpressionPrinter) -> str:
    value = printer.value(item.call)
    if item.target is None:
        return f"{value};"
    target = printer.element(printer.statement.access(item.target)).at(Level.UNARY)
    return f"{target} {item.op or ''}= {value.at(Level.ASSIGNMENT)};"


def _indented(body: tuple[BodyStatement, ...], printer: ExpressionPrinter) -> list[str]:
    return [INDENT + line for line in print_body(body, printer)]


def branches(condition: CText | str, then: Iterable[str], otherwise: Iterable[str]) -> list[str]:
    """Two branches whose lines are one level in already."""
    return [f"if ({condition}) {{", *then, "} else {", *otherwise, "}"]


def braced(head: str, body: list[str]) -> list[str]:
    """Braces only where the body is more than one plain line or one loop of plain lines."""
    if not body:
        return [f"{head};"]
    if len(body) == 1 and body[0].endswith(";"):
        return [head, INDENT + body[0]]
    return [f"{head} {{", *(INDENT + line for line in body), "}"]
