"""Vectors that are wider than what a compiler takes for granted: functions compiled for them, chosen at run time.

    void f(...) { REGION }
      ->
    where gcc was not told of such vectors      #pragma GCC target("avx2")
                                                static void polysched_wide_f(...) { OURS }
                                                void f(...) { if (there are any) { polysched_wide_f(...); return; }
                                                              ORIGINAL }
    where it was                                void f(...) { OURS }

The file then compiles to good code with plain `gcc -O2`, and with `-march=native` it is as if nothing stood around it.
OURS stands in the file once: a macro gives the function its other name.  A function that cannot stand twice in a file
(it has `static` variables, attributes, a variable number of arguments, or is `main`) stays alone.  Clang does not
compile the parallel loops of a function for the function's target (19, `-fopenmp`); there the original runs.

Sources: GCC 12 manual, 6.62.15 (`#pragma GCC target`, `push_options`) and 6.59.16 (`__builtin_cpu_supports`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from polysched.emit_c.alternatives.dispatch import asked_once
from polysched.emit_c.c_source import CSource
from polysched.scop.c_frontend.text.function_texts import FunctionText, functions_of
from polysched.scop.c_frontend.text.regions import pragma_lines
from polysched.scop.c_frontend.text.text_scan import Scanner

Replacement = tuple[int, int, str]
"""Start and end in the file as read, and the new text."""

_MACRO = "POLYSCHED_WIDE"
_ONCE = frozenset({"static", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "asm", "__asm__", "__asm"})
"""Words in a body that may stand in a file once, or that tell which function they stand in."""
_HEAD_ONCE = frozenset({"extern", "#", "[", "__attribute__", "__attribute"})
"""Words in front of a function's name that say what holds for one function: `weak`, `constructor`, `section`."""
_DEFINED = re.compile(r"#\s*define\s+([A-Za-z_$][\w$]*)")


@dataclass(frozen=True, kw_only=True)
class _Extension:
    """What vectors of a number of bytes need.

    Parameters
    ----------
    macro : what compilers define that were told of it.
    features : what a processor has to support.
    pragmas : for the functions.
    """

    macro: str
    features: tuple[str, ...]
    pragmas: tuple[str, ...]


_EXTENSIONS = {
    32: _Extension(macro="__AVX2__", features=("avx2",), pragmas=('target("avx2")',)),
    64: _Extension(macro="__AVX512F__", features=("avx512f", "avx512bw", "avx512dq", "avx512vl"), pragmas=(
        'target("avx2,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")',
        'optimize("fp-contract=off")')),
}
"""By bytes.  AVX2 has no fused instructions; those of AVX-512 would round otherwise than the original does."""


def wide_functions(text: str, sources: Sequence[CSource]) -> list[Replacement]:
    """What `splice` puts around functions whose regions have vectors wider than 16 bytes.

    Parameters
    ----------
    text : the file as read.
    sources : the regions that are put back into it.
    """
    widths = {source.scop.source.start: width for source in sources
              if source.scop.source is not None and (width := _width(source.text))}
    if not widths:
        return []
    scanner = Scanner(text)
    extension = _EXTENSIONS[max(widths.values())]
    found: list[Replacement] = []
    for function in functions_of(scanner):
        if any(function.body < start < function.end for start in widths) and _may_stand_twice(scanner, function):
            above = "\n" if text[text.rfind("\n", 0, function.start) + 1:function.start].strip() else ""
            below = "\n" if text[function.end:].split("\n", 1)[0].strip() else ""
            helper = "" if found else _helper(extension)
            found += [(function.start, function.start, above + helper + _before(function, extension)),
                      (function.end, function.end, _behind(text, function) + below)]
    if not found:
        return []
    newline = "\r\n" if "\r\n" in text else "\n"
    isa = extension.features[0].upper()
    return [(start, end, added.replace("\n", newline)) for start, end, added in (
        (0, 0, f"/* polysched: fastest with -O3 -march=native -fopenmp; functions for {isa} are chosen "
               "at run time otherwise. */\n"), *found)]


def _width(text: str) -> int:
    """Bytes of the widest vectors of a region, if they are wider than what every x86-64 has; else 0."""
    found = [int(size) for size in re.findall(r"vector_size\((\d+)\)", text)]
    return max((size for size in found if size in _EXTENSIONS), default=0)


def _may_stand_twice(scanner: Scanner, function: FunctionText) -> bool:
    """Whether a second function with this text, `static` and under another name, does what this one does.

    `main` returns 0 where it ends, no other function does.  A macro in front of the name can be an attribute.
    """
    defined = {found[1] for token in scanner.tokens if token[0] == "#"
               and (found := _DEFINED.match(scanner.text[token[1]:token[2]].lstrip())) is not None}
    if function.parameters is None or not function.head or (_HEAD_ONCE | defined) & set(function.head) or \
            function.name == "main" or scanner.has_directive(function.start, function.body):
        return False
    words = [t[0] for t in scanner.tokens if function.body <= t[1] < function.end]
    member = any(word == function.name and before in (".", ">") for before, word in pairwise(words))
    return not member and not _ONCE & set(words)


def _helper(extension: _Extension) -> str:
    """The test at run time, for compilers that were not told."""
    tests = [f'__builtin_cpu_supports("{feature}")' for feature in extension.features]
    return "\n".join((
        f"#if defined(__x86_64__) && defined(__GNUC__) && !defined({extension.macro})", "#ifdef __clang__",
        f"#define {_MACRO} 0", "#else", f"#define {_MACRO} 1",
        *asked_once("polysched_has_wide", tests), "#endif", "#endif", ""))


def _wide_name(function: FunctionText) -> str:
    return f"polysched_wide_{function.name}"


def _before(function: FunctionText, extension: _Extension) -> str:
    static = () if "static" in function.head else ("static",)
    return "\n".join((f"#if !defined({_MACRO}) || {_MACRO}", f"#ifdef {_MACRO}", "#pragma GCC push_options",
                      *(f"#pragma GCC {pragma}" for pragma in extension.pragmas),
                      f'#pragma push_macro("{function.name}")', f"#undef {function.name}",
                      f"#define {function.name} {_wide_name(function)}", *static, "#endif", ""))


def _behind(text: str, function: FunctionText) -> str:
    """The function as it was written, with the choice at its beginning."""
    call = f"{_wide_name(function)}({', '.join(function.parameters or ())});"
    chosen = f"{{ {call} return; }}" if function.returns_nothing else f"return {call}"
    head, body = text[function.start:function.body + 1], "".join(_without_pragmas(text, function))
    return "\n".join(("", f"#ifdef {_MACRO}", f'#pragma pop_macro("{function.name}")', "#pragma GCC pop_options",
                      "#endif", "#endif",
                      f"#ifdef {_MACRO}", head, f"#if {_MACRO}", f"  if (polysched_has_wide()) {chosen}", "#endif",
                      body.lstrip("\r\n"), "#endif")).replace("\r\n", "\n")


def _without_pragmas(text: str, function: FunctionText) -> Iterator[str]:
    """The body behind its first bracket, without the lines that mark regions."""
    at = function.body + 1
    for pragma in pragma_lines(text):
        if at <= pragma.start < function.end:
            yield text[at:text.rfind("\n", 0, pragma.start) + 1]
            at = (text.find("\n", pragma.end) + 1) or len(text)
    yield text[at:function.end]
