"""Vectors that are wider than what a compiler takes for granted: functions compiled for them, chosen at run time.

    void f(...) { REGION }
      ->
    where gcc was not told of such vectors      #pragma GCC target("avx2")
                                                static void polysched_wide_f(...) { OURS }
                                                void f(...) { if (there are any) { polysched_wide_f(...); return; }
                                                              ORIGINAL }
    where it was                                void f(...) { OURS }

Where the original is kept for small sizes (`--safe`), it stands alone as well, on every machine:

                                                static void polysched_large_f(...) { OURS }
                                                static void polysched_small_f(...) { ORIGINAL }
                                                void f(...) { if (it pays) { polysched_large_f(...); return; }
                                                              polysched_small_f(...); }

The file then compiles to good code with plain `gcc -O2`, and with `-march=native` it is as if nothing stood around it.
OURS stands in the file once: a macro gives the function its other name.  Only one of both ever runs in a process, so
their `static` variables may be two; with `--safe` both run, and there are none.  A function that cannot stand twice
in a file (`standing_twice`) stays alone, and the first line of the file names it.  Clang does not compile the
parallel loops of a function for the function's target (19, `-fopenmp`); there the original runs, or our code for what
clang was told where it calls functions of its own (instructions).

Sources: GCC 12 manual, 6.62.15 (`#pragma GCC target`, `push_options`) and 6.59.16 (`__builtin_cpu_supports`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from polysched.emit_c.alternatives.dispatch import asked_once
from polysched.emit_c.alternatives.standing_twice import may_stand_twice
from polysched.emit_c.c_source import CSource
from polysched.records import dataclass
from polysched.scop.c_frontend.text.function_texts import FunctionText, functions_of
from polysched.scop.c_frontend.text.regions import pragma_lines
from polysched.scop.c_frontend.text.text_scan import Scanner, scanned
from polysched.scop.scop import Scop
from polysched.scop.signature import ParameterKind

Replacement = tuple[int, int, str]
"""Start and end in the file as read, and the new text."""

_MACRO = "POLYSCHED_WIDE"
_SMALL = "polysched_small_"
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_C_WORDS = frozenset({"long", "double", "int", "unsigned", "float", "short", "char", "signed"})


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

    @property
    def asked(self) -> str:
        """The function that says at run time whether there are such vectors: files may include one another."""
        return f"polysched_has_wide_{self.features[0]}"


_EXTENSIONS = {
    32: _Extension(macro="__AVX2__", features=("avx2",), pragmas=('target("avx2")',)),
    64: _Extension(macro="__AVX512F__", features=("avx512f", "avx512bw", "avx512dq", "avx512vl"), pragmas=(
        'target("avx2,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")',
        'optimize("fp-contract=off")')),
}
"""By bytes.  AVX2 has no fused instructions; those of AVX-512 would round otherwise than the original does."""


@dataclass(frozen=True, kw_only=True)
class _Choice:
    """When a call takes our function instead of the original.

    Parameters
    ----------
    extension : what the function needs; None where its vectors are those of every processor.
    pays : sizes for which it does, in C over the parameters; empty for all.
    """

    extension: _Extension | None
    pays: str

    @property
    def prefix(self) -> str:
        return "polysched_large_" if self.pays else "polysched_wide_"


def wide_functions(text: str, sources: Sequence[CSource]) -> list[Replacement]:
    """What `splice` puts around functions whose regions have vectors wider than 16 bytes, or tests of their sizes.

    Parameters
    ----------
    text : the file as read.
    sources : the regions that are put back into it.
    """
    extension = _EXTENSIONS.get(max((_width(source.text) for source in sources), default=0))
    scanner = scanned(text)
    chosen = list(_chosen(scanner, sources, extension))
    top = int(text.startswith("\ufeff"))   # a mark of the byte order stays the first character
    found = [(top, top, line) for line in _first_line(extension, chosen, sources)]
    helper = "" if extension is None else _helper(extension, clang=any(source.preamble for source in sources))
    for function, choice, twice in chosen:
        if twice:
            found += _twice(text, function, choice, helper=helper if choice.extension is not None else "")
            helper = helper if choice.extension is None else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    return [(start, end, added.replace("\n", newline)) for start, end, added in found]


def _chosen(scanner: Scanner, sources: Sequence[CSource], extension: _Extension | None
            ) -> Iterator[tuple[FunctionText, _Choice, bool]]:
    """Every function with something to choose, and whether it may stand twice."""
    for function in functions_of(scanner):
        own = [source for source in sources if _stands_in(source, function)]
        choice = _Choice(extension=extension if any(_width(s.text) for s in own) else None,
                         pays=_test_of_sizes(own))
        if choice.extension is not None or choice.pays:
            known = _with_signature(function, own[0].scop)
            twice = f"{choice.prefix}{known.name}" not in scanner.text   # else an output, transformed once more
            yield known, choice, twice and may_stand_twice(scanner, known, [source.scop for source in own])


def _test_of_sizes(sources: Sequence[CSource]) -> str:
    """For which values of a function's parameters one of its regions runs what was made of it; empty where all do.

    gcc makes worse code of original loops beside others, and passes their variables to teams: they stand alone.
    Both functions compute the same, so the test may be another than the regions' own.
    """
    tests: list[str] = []
    for source in sources:
        region = source.scop.source
        if source.kept or region is None:
            continue
        if region.signature is None or region.signature.inline:
            return ""
        numbers = {p.name for p in region.signature.parameters if p.kind in (
            ParameterKind.INTEGER, ParameterKind.FLOATING)}
        names = set(_WORD.findall(source.pays)) - _C_WORDS
        if region.keeps_state or not names or not names <= numbers - region.changed:
            return ""
        tests.append(source.pays)
    return tests[0] if len(tests) == 1 else " || ".join(f"({test})" for test in dict.fromkeys(tests))


def _stands_in(source: CSource, function: FunctionText) -> bool:
    region = source.scop.source
    return region is not None and function.body < region.start < function.end


def _first_line(extension: _Extension | None, chosen: Sequence[tuple[FunctionText, _Choice, bool]],
                sources: Sequence[CSource]) -> Iterator[str]:
    """The comment that names the flags, and what needs them; none where all vectors are narrow.

    A region whose function is not found in the text (a macro hides its head) stays alone, too.
    """
    if extension is None:
        return
    isa = extension.features[0].upper()
    wide = [(function, may) for function, choice, may in chosen if choice.extension is not None]
    parts = ["fastest with -O3 -march=native -fopenmp"]
    if any(may for _, may in wide):
        parts.append(f"functions for {isa} are chosen at run time otherwise")
    hidden = [source.scop.name for source in sources
              if _width(source.text) and not any(_stands_in(source, function) for function, _ in wide)]
    if alone := dict.fromkeys([*(function.name for function, may in wide if not may), *hidden]):
        parts.append(f"without {isa} told, vectors are taken apart in {', '.join(alone)}")
    yield f"/* polysched: {'; '.join(parts)}. */\n"


def _with_signature(function: FunctionText, scop: Scop) -> FunctionText:
    """The function with what macros hide in its text: the names of parameters, and that it has no value."""
    signature = scop.source.signature if scop.source is not None else None
    if signature is None:
        return function
    names = tuple(p.name for p in signature.parameters)
    function = replace(function, parameters=None if signature.takes_more else names)
    if function.head and signature.return_type == "void" and not function.returns_nothing:
        function = replace(function, head=(*function.head, "void"))
    return function


def _twice(text: str, function: FunctionText, choice: _Choice, *, helper: str) -> Iterator[Replacement]:
    """What stands in front of a function, before its last bracket, and behind it."""
    above = "\n" if text[text.rfind("\n", 0, function.start) + 1:function.start].strip() else ""
    below = "\n" if text[function.end:].split("\n", 1)[0].strip() else ""
    yield function.start, function.start, above + helper + "".join(f"{x}\n" for x in _before(function, choice))
    if function.name == "main":
        ends = ["  return 0;"] if choice.pays else [f"#ifdef {_MACRO}", "  return 0;", "#endif"]
        yield function.end - 1, function.end - 1, "\n" + "".join(f"{x}\n" for x in ends)
    yield function.end, function.end, "\n" + "\n".join(_behind(text, function, choice)).replace("\r\n", "\n") + below


def _width(text: str) -> int:
    """Bytes of the widest vectors of a region, if they are wider than what every x86-64 has; else 0."""
    found = [int(size) for size in re.findall(r"vector_size\((\d+)\)", text)]
    return max((size for size in found if size in _EXTENSIONS), default=0)


def _helper(extension: _Extension, *, clang: bool) -> str:
    """The test at run time, for compilers that were not told.

    Parameters
    ----------
    clang : it compiles our code for what it was told, as functions outside of regions are compiled for their own.
    """
    tests = [f'__builtin_cpu_supports("{feature}")' for feature in extension.features]
    guard = extension.asked.upper()
    helper = (f"#define {_MACRO} 1", f"#ifndef {guard}", f"#define {guard}", *asked_once(extension.asked, tests),
              "#endif")
    gcc = (f"#undef {_MACRO}", f"#if defined(__x86_64__) && defined(__GNUC__) && !defined({extension.macro})")
    if clang:
        return "\n".join((*gcc[:-1], f"{gcc[-1]} && !defined(__clang__)", *helper, "#endif", ""))
    return "\n".join((*gcc, "#ifdef __clang__", f"#define {_MACRO} 0", "#else", *helper, "#endif", "#endif", ""))


def _before(function: FunctionText, choice: _Choice) -> Iterator[str]:
    """What gives ours its other name, and the vectors."""
    named = _named(function, choice.prefix)
    if choice.extension is not None:
        yield from (f"#if !defined({_MACRO}) || {_MACRO}", f"#ifdef {_MACRO}", "#pragma GCC push_options")
        yield from (f"#pragma GCC {pragma}" for pragma in choice.extension.pragmas)
    if choice.pays:
        yield from () if choice.extension is None else ("#endif",)
        yield from (*named, f"__attribute__((noinline)) {_static(function)}".rstrip())
    else:
        yield from (*named, *filter(None, [_static(function)]), "#endif")


def _named(function: FunctionText, prefix: str) -> tuple[str, ...]:
    """What gives the function another name from here on."""
    return (f'#pragma push_macro("{function.name}")', f"#undef {function.name}",
            f"#define {function.name} {prefix}{function.name}")


def _popped(function: FunctionText) -> str:
    return f'#pragma pop_macro("{function.name}")'


def _static(function: FunctionText) -> str:
    """What makes the function this file's own, unless it is."""
    return "" if "static" in function.head else "static"


def _behind(text: str, function: FunctionText, choice: _Choice) -> Iterator[str]:
    """The function as it was written, with the choice at its beginning."""
    chosen, popped = _calling(function, choice.prefix), _popped(function)
    head, body = text[function.start:function.body + 1], "".join(_without_pragmas(text, function)).lstrip("\r\n")
    small = [*_small(function, head, body), head] if choice.pays else []
    otherwise = f"  {_call(function, _SMALL) if function.returns_nothing else _calling(function, _SMALL)}"
    if choice.extension is None:
        yield from (popped, *small, f"  if ({choice.pays}) {chosen}", otherwise, "}")
    elif choice.pays:
        yield from (popped, f"#ifdef {_MACRO}", "#pragma GCC pop_options", "#endif", "#endif",
                    *small, f"#ifndef {_MACRO}", f"  if ({choice.pays}) {chosen}", f"#elif {_MACRO}",
                    f"  if (({choice.pays}) && {choice.extension.asked}()) {chosen}", "#endif", otherwise, "}")
    else:
        yield from (f"#ifdef {_MACRO}", popped, "#pragma GCC pop_options", "#endif", "#endif",
                    f"#ifdef {_MACRO}", head, f"#if {_MACRO}", f"  if ({choice.extension.asked}()) {chosen}", "#endif",
                    body, "#endif")


def _calling(function: FunctionText, prefix: str) -> str:
    """The call that a function returns from."""
    call = _call(function, prefix)
    return f"{{ {call} return; }}" if function.returns_nothing else f"return {call}"


def _call(function: FunctionText, prefix: str) -> str:
    return f"{prefix}{function.name}({', '.join(function.parameters or ())});"


def _small(function: FunctionText, head: str, body: str) -> Iterator[str]:
    """The original alone: gcc keeps no variable of it ready for a call of ours."""
    if function.name == "main":
        body = f"{body[:-1]}\n  return 0;\n}}"
    yield from (*_named(function, _SMALL), f"__attribute__((noinline)) {_static(function)}".rstrip(), head, body,
                _popped(function))


def _without_pragmas(text: str, function: FunctionText) -> Iterator[str]:
    """The body behind its first bracket, without the lines that mark regions."""
    at = function.body + 1
    for pragma in pragma_lines(text):
        if at <= pragma.start < function.end:
            yield text[at:text.rfind("\n", 0, pragma.start) + 1]
            at = (text.find("\n", pragma.end) + 1) or len(text)
    yield text[at:function.end]
