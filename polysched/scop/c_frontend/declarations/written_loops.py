"""Loops as they stand in the text, whatever they were rewritten as: for messages."""

from __future__ import annotations

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import describe


class For(c_ast.For):  # type: ignore[misc]
    """A `for` that stands in the text as another loop; syntax trees are walked by the names of classes.

    Attributes
    ----------
    keyword : the word that the loop begins with in the text; empty where it is only a part of what stands there, so
        that it can make no region.
    head : the loop's head in the text; empty where it is not known.
    """

    keyword = ""
    head = ""


def keyword_of(node: c_ast.Node) -> str | None:
    """The word that a loop or condition begins with in the text; None for other statements."""
    if isinstance(node, For):
        return node.keyword
    return {c_ast.For: "for", c_ast.If: "if", c_ast.While: "while", c_ast.DoWhile: "do"}.get(type(node))


def loop_text(node: c_ast.Node) -> str:
    """A loop's head as it stands in the text."""
    if isinstance(node, For) and node.head:
        return node.head
    if isinstance(node, c_ast.For):
        parts = [describe(p) if p is not None else "" for p in (node.init, node.cond, node.next)]
        return f"for ({parts[0].rstrip(';')}; {parts[1]}; {parts[2]})"
    test = describe(node.cond)
    return f"while ({test})" if isinstance(node, c_ast.While) else f"do ... while ({test})"


def named_loop(node: c_ast.Node) -> str:
    """A loop by its word: "the `while` loop"."""
    return f"the `{loop_text(node).partition(' ')[0]}` loop"
