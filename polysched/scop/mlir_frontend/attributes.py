"""Types and attributes of MLIR.

Source: MLIR's documentation, "Builtin Dialect": attributes and types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysched.scop.mlir_frontend.affine_forms import read_map, read_set
from polysched.scop.mlir_frontend.words import Words


def read_type(words: Words) -> str:
    """A type as text, each blank left out."""
    if words.accept("("):
        arguments = words.listed(")", lambda: read_type(words))
        words.expect("->")
        return f"({', '.join(arguments)}) -> {result_types(words)}"
    if words.kind not in ("word", "named"):
        words.refuse("a type was expected")
    name = words.next()
    return name + (f"<{words.balanced('<', '>')}>" if words.word == "<" else "")


def result_types(words: Words) -> tuple[str, ...]:
    """The types behind `->`."""
    return tuple(words.listed(")", lambda: read_type(words))) if words.accept("(") else (read_type(words),)


def read_attribute(words: Words, aliases: Mapping[str, Any]) -> Any:
    """The value of an attribute: maps and sets as such, numbers, truth values and lists of these, or text."""
    if words.word in ("affine_map", "affine_set"):
        reader = read_map if words.next() == "affine_map" else read_set
        words.expect("<")
        value: Any = reader(words)
        words.expect(">")
        return value
    if words.kind == "number" or words.word == "-":
        return _number(words)
    if words.word in ("true", "false"):
        return words.next() == "true"
    if words.accept("["):
        return words.listed("]", lambda: read_attribute(words, aliases))
    if words.word == "{":
        return read_attributes(words, aliases)
    if words.kind == "text":
        return words.next()[1:-1]
    if words.word in aliases:
        return aliases[words.next()]
    if words.word == "array":
        return _array(words)
    if words.kind == "named" and words.word[0] == "@":
        return words.next().strip('@"')
    found = read_type(words)
    if words.accept(":"):   # of `dense<...> : tensor<...>`
        read_type(words)
    return found


def read_attributes(words: Words, aliases: Mapping[str, Any]) -> dict[str, Any]:
    """A dictionary in braces; one without a value is true."""
    words.expect("{")

    def entry() -> tuple[str, Any]:
        if words.kind not in ("word", "text"):
            words.refuse("the name of an attribute was expected")
        name = words.next().strip('"')
        return name, read_attribute(words, aliases) if words.accept("=") else True

    return dict(words.listed("}", entry))


def _number(words: Words) -> int | float:
    """A number; its type is passed."""
    negative, text = words.accept("-"), words.word
    value: int | float = float(words.next()) if words.kind == "number" and "." in text else words.integer("a number")
    if words.accept(":"):
        kind = read_type(words)
        if text.startswith("0x") and kind[0] in "fb":
            words.refuse("a float before this is written by its bits", hint="write it in decimal")
        value = float(value) if kind[0] in "fb" else value
    return -value if negative else value


def _array(words: Words) -> list[int]:
    """`array<i32: 0, 1>`, or `array<i32>`."""
    words.next()
    words.expect("<")
    words.of_kind("word", "a type")
    words.accept(":")
    return words.listed(">", lambda: words.integer("a number"))
