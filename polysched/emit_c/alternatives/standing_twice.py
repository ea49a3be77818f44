"""Whether the text of a function may stand in a file a second time, `static` and under another name (`wide_vectors`).

Not where the text stands for one function: it is `extern`, has assembly, unknown attributes or macros in front of its
name, a variable number of arguments; it needs its own name (`__func__`, its address, a struct of that name); or its
directives make another text of a second copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from polysched.emit_c.limits import LIMITS
from polysched.scop.c_frontend.text.function_texts import FunctionText
from polysched.scop.c_frontend.text.text_scan import Scanner
from polysched.scop.scop import Array, Scop, Storage

_ONCE = frozenset({"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "asm", "__asm__", "__asm"})
"""Words in a body that may stand in a file once, or that tell which function they stand in."""
_ATTRIBUTE = frozenset({"__attribute__", "__attribute"})
_TWICE = frozenset({"noinline", "noclone", "hot", "cold", "nothrow", "nonnull", "unused", "used", "flatten"})
"""Attributes that may hold for both functions; others (`weak`, `constructor`, `section`) may hold for one."""
_TYPE = frozenset({"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "_Complex",
                   "struct", "union", "enum"})
_WITH_TYPE = frozenset({"static", "inline", "__inline", "__inline__", "const", "volatile", "restrict", "__restrict",
                        "__restrict__", "__extension__", "*"})
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_DEFINED = re.compile(r"#\s*define\s+([A-Za-z_$][\w$]*)(\(?)([^\n]*)")
_TYPES = re.compile(r"\s*(?:(?:void|char|short|int|long|float|double|signed|unsigned|const|inline|_Bool|\w+_t)"
                    r"\b\s*)*(?://.*|/\*[^*]*\*/\s*)?")
"""What a macro in front of a function's name may stand for."""
_DIRECTIVE = re.compile(r"#\s*(\w*)\s*([\w$]*)")
_FOR_THE_NEXT = re.compile(r"#\s*pragma\s+omp\s+declare\b")


def may_stand_twice(scanner: Scanner, function: FunctionText, scops: Sequence[Scop]) -> bool:
    """Whether a second function with this text, `static` and under another name, does what this one does.

    Parameters
    ----------
    function : with the names of its parameters where they are known.
    scops : its regions.
    """
    if function.parameters is None or not _is_plain(_without_attributes(function.head), *_macros(scanner)) or \
            any(not _is_known_by_name(function, scop) for scop in scops):
        return False
    if not _begins_there(scanner, function.start) or scanner.has_directive(function.start, function.body) or \
            not _read_alike(scanner, function):
        return False
    if function.name == "main" and sum(t[0] == "main" for t in scanner.tokens) > 1:
        return False   # it is called
    words = [t[0] for t in scanner.tokens if function.body <= t[1] < function.end]
    return not _ONCE & set(words) and ("static" not in words or _outer_bytes(scops) <= LIMITS.most_static_bytes)


def _is_known_by_name(function: FunctionText, scop: Scop) -> bool:
    """Whether the function has the name in its text, and does not need that name itself."""
    region = scop.source
    return region is not None and not region.names_itself and region.function == function.name


def _is_plain(head: Sequence[str], types: frozenset[str], others: frozenset[str]) -> bool:
    """Whether the words in front of a name are one type and what may stand beside it.

    A header's macro looks like a type's name; beside another type it is a macro, which can be any attribute.

    Parameters
    ----------
    types, others : macros of the file that are types or nothing, and all others.
    """
    words = list(head)
    tags = {at + 1 for at, word in enumerate(words) if word in ("struct", "union", "enum")}
    named = [word for at, word in enumerate(words) if at not in tags and word not in _TYPE | _WITH_TYPE | types]
    types_told = any(word in _TYPE for word in words)
    if others & set(words) or not all(map(_IDENTIFIER.fullmatch, named)) or "extern" in words:
        return False
    return len(named) + types_told <= 1 and (bool(named) or types_told or bool(types & set(words)))


def _begins_there(scanner: Scanner, start: int) -> bool:
    """Whether a declaration begins there, that no directive ahead of it is for."""
    ahead = [t for t in scanner.tokens if t[1] < start]
    while ahead and ahead[-1][0] == "#":
        if _FOR_THE_NEXT.match(scanner.text[ahead[-1][1]:ahead[-1][2]].lstrip()):
            return False
        ahead.pop()
    return not ahead or ahead[-1][0] in (";", "{", "}")


def _read_alike(scanner: Scanner, function: FunctionText) -> bool:
    """Whether a body's directives are whole, and leave macros as a second copy of the body needs them."""
    depth = 0
    defined: dict[str, list[str]] = {}
    for kind, name in _directives(scanner, function):
        depth += (kind in ("if", "ifdef", "ifndef")) - (kind == "endif")
        if depth < 0 or (kind in ("else", "elif", "elifdef", "elifndef") and not depth) or kind.startswith("include"):
            return False
        if kind in ("define", "undef"):
            defined.setdefault(name, []).append(kind)
    return not depth and all(
        kinds in (["define"], ["define", "undef"] * (len(kinds) // 2)) for kinds in defined.values())


def _directives(scanner: Scanner, function: FunctionText) -> Iterator[tuple[str, str]]:
    """Kind of every directive of a body, and the word behind it."""
    for token in scanner.between(function.body, function.end):
        if token[0] == "#" and (found := _DIRECTIVE.match(scanner.text[token[1]:token[2]].lstrip())) is not None:
            yield found[1], found[2]


def _macros(scanner: Scanner) -> tuple[frozenset[str], frozenset[str]]:
    """The macros of a file that are types or nothing, and those that may be more."""
    found = [macro for token in scanner.tokens if token[0] == "#"
             and (macro := _DEFINED.match(scanner.text[token[1]:token[2]].lstrip())) is not None]
    others = frozenset(macro[1] for macro in found if macro[2] or not _TYPES.fullmatch(macro[3]))
    return frozenset(macro[1] for macro in found) - others, others


def _without_attributes(head: Sequence[str]) -> tuple[str, ...]:
    """The words in front of a name without `__attribute__((...))` that may hold for both functions."""
    words, at = list(head), 0
    while at < len(words):
        if words[at] in _ATTRIBUTE and words[at + 1:at + 3] == ["(", "("]:
            end = at + 3
            while end < len(words) and (words[end].strip("_") in _TWICE or words[end] == ","):
                end += 1
            if words[end:end + 2] == [")", ")"]:
                del words[at:end + 2]
                continue
        at += 1
    return tuple(words)


def _outer_bytes(scops: Sequence[Scop]) -> int:
    """Bytes of the arrays of regions that may be `static` in the function, so that they would be there twice."""
    return sum(_constant_bytes(array) for scop in scops for array in scop.arrays if array.storage is Storage.OUTER)


def _constant_bytes(array: Array) -> int:
    """Bytes of an array whose extents are numbers; else 0: `static` arrays have such extents."""
    count = array.dtype.bytes
    for extent in array.extents:
        if extent is None or not extent.is_cst():
            return 0
        count *= int(extent.max_val().to_python())
    return count
