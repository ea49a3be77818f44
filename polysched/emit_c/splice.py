"""Put emitted regions back into the file they came from; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from polysched.emit_c.c_source import CSource
from polysched.emit_c.scalar_code.c_text import DIRECTIVES
from polysched.errors import UsageError
from polysched.scop.c_frontend.text.regions import PragmaLine, pragma_lines
from polysched.scop.c_frontend.text.text_scan import scanned
from polysched.scop.scop import NameReads, SourceRegion


def splice(text: str, sources: Sequence[CSource], also: Sequence[tuple[int, int, str]] = ()) -> str:
    """Replace each region of a file by its emitted C; what regions need outside of functions goes behind the includes.

    Parameters
    ----------
    text : the file as read with line ends untouched; equals `SourceRegion.text` of every region.
    sources : one per region, in any order; regions must not overlap.
    also : further replacements: where each starts and ends in the text, and what stands there instead.

    Raises
    ------
    UsageError : a source has no region, comes from another text, or two regions overlap.
    """
    named = _still_named([(source.scop.source, source.text) for source in sources])
    replaced = [_replacement(text, source, names) for source, names in zip(sources, named, strict=True)]
    replaced += _pragmas_around(text, [(start, end) for start, end, _ in replaced])
    return _assembled(text, replaced, "".join(source.preamble for source in sources), also)


def _assembled(text: str, replaced: Sequence[tuple[int, int, str]], preamble: str,
               also: Sequence[tuple[int, int, str]] = ()) -> str:
    """The text with what is replaced, and a preamble behind the includes that stand ahead of all of it."""
    pieces: list[str] = []
    done = 0
    head: list[tuple[int, int, str]] = []
    if preamble:
        at = _behind_includes(text[:min(start for start, _, _ in replaced)])
        head = [(at, at, preamble.replace("\n", "\r\n" if "\r\n" in text else "\n"))]
    for start, end, lines in sorted((*replaced, *head, *also), key=lambda each: each[:2]):
        if start < done:
            raise UsageError("two regions of one file overlap", where="splice",
                             witness=f"characters {start} to {end}", hint="splice each region once")
        pieces += [text[done:start], lines]
        done = end
    return "".join([*pieces, text[done:]])


def _behind_includes(text: str) -> int:
    """The end of the last line with an `#include` that no `#if`, bracket or comment encloses; 0 without one."""
    depth = brackets = found = 0
    for word, start, end, _ in scanned(text).tokens:
        if word != "#":
            brackets += 0 if depth else (word in ("{", "(")) - (word in ("}", ")"))
            continue
        words = text[start:end].replace("#", " ", 1).split()
        directive = words[0] if words else ""
        depth += directive.startswith("if")
        depth -= directive == "endif"
        if directive.startswith("include") and not depth and brackets <= 0:
            found = text.find("\n", end) + 1 or len(text)
    return found


def _pragmas_around(text: str, regions: Sequence[tuple[int, int]]) -> list[tuple[int, int, str]]:
    """The lines of `#pragma scop` and `#pragma endscop` around code that was replaced without them."""
    found: list[tuple[int, int, str]] = []
    opened: PragmaLine | None = None
    for pragma in pragma_lines(text):
        if pragma.word == "scop":
            opened = pragma
        elif opened is not None:
            if any(start < pragma.end and opened.start < end for start, end in regions):
                found += [_line_of(text, p) for p in (opened, pragma)
                          if not any(start <= p.start < end for start, end in regions)]
            opened = None
    return found


def _line_of(text: str, pragma: PragmaLine) -> tuple[int, int, str]:
    """The whole line of a pragma, to be left out."""
    end = text.find("\n", pragma.end)
    return text.rfind("\n", 0, pragma.start) + 1, len(text) if end < 0 else end + 1, ""


def _still_named(emitted: Sequence[tuple[SourceRegion | None, str]]) -> list[list[str]]:
    """For each region the names that only regions have read and that their new text does not read any more.

    `(void)name;` keeps compilers from warning of an unused variable or static function.
    """
    uses: dict[tuple[str | None, str], list[tuple[int, NameReads]]] = {}
    for at, (region, _) in enumerate(emitted):
        for reads in region.reads if region is not None else ():
            uses.setdefault((reads.function, reads.name), []).append((at, reads))
    named: list[list[str]] = [[] for _ in emitted]
    for (_, name), found in uses.items():
        if sum(reads.inside for _, reads in found) == found[0][1].in_all and all(
                _is_idle(name, emitted[at][1]) for at, _ in found):
            named[found[0][0]].append(name)
    return named


def _is_idle(name: str, text: str) -> bool:
    """Whether C does not name a variable, or names one that it declares itself."""
    declared = (rf"(?:^|[(;{{])\s*(?:\w+ )*[A-Za-z_]\w*[ *]+{re.escape(name)}(\[[^;]*\])?"
                r"( __attribute__[^;]*)?( =|;)")
    return not re.search(rf"\b{re.escape(name)}\b", text) or bool(re.search(declared, text, re.M))


def put_back(text: str, regions: Sequence[tuple[SourceRegion, str]], preamble: str = "") -> str:
    """Replace regions of a file by texts, with what they need outside of functions behind the includes.

    Raises
    ------
    UsageError : a region comes from another text.
    """
    replaced = [_put(text, region, emitted, names)
                for (region, emitted), names in zip(regions, _still_named(regions), strict=True)]
    return _assembled(text, replaced, preamble)


def _replacement(text: str, source: CSource, named: Sequence[str] = ()) -> tuple[int, int, str]:
    region = source.scop.source
    if region is None:
        raise UsageError(f"the region {source.scop.name!r} does not come from this text", where="splice",
                         hint="pass SourceRegion.text of the regions that are put back")
    return _put(text, region, source.text, named, kept=source.kept)


def _put(text: str, region: SourceRegion, emitted: str, named: Sequence[str] = (), *, kept: bool = False
         ) -> tuple[int, int, str]:
    """Where a region starts and ends, and what stands there instead."""
    if region.text != text:
        raise UsageError(f"the region {region.function!r} does not come from this text", where="splice",
                         hint="pass SourceRegion.text of the regions that are put back")
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [_placed(line, region.indent) for line in _lines(emitted, region, named, kept=kept)]
    rest = text[region.end:].split("\n", 1)[0]
    ends_line = ((region.end > region.start and text[region.end - 1] == "\n")
                 or bool(rest.strip() and lines and lines[-1].startswith(DIRECTIVES)))
    before = text[text.rfind("\n", 0, region.start) + 1:region.start]
    if before.strip():
        lines.insert(0, "")
    elif before and lines:
        lines[0] = lines[0].removeprefix(region.indent)
    return region.start, region.end, newline.join(lines) + (newline if ends_line else "")


def _lines(emitted: str, region: SourceRegion, named: Sequence[str], *, kept: bool) -> Iterator[str]:
    """What stands in a region's place: declarations, the code, and steps of variables that the code leaves alone.

    Names of its own are declared in brackets: another region of the block may have the same.
    """
    stepped = () if kept else region.stepped
    texts = (emitted, *(text for s in stepped for text in (s.declaration, s.behind)))
    own = [*(line for line in region.saved if not _is_left(line, texts)), *(s.declaration for s in stepped)]
    opened, closed = (["{"], ["}"]) if region.bare else ([], [])
    inner, outer = (["{"], ["}"]) if own and not region.bare else ([], [])
    yield from (*opened, *region.declarations, *inner, *own, *(f"(void){name};" for name in named))
    yield from (*emitted.splitlines(), *(s.behind for s in stepped), *outer, *closed)


def _is_left(declaration: str, texts: Sequence[str]) -> bool:
    """Whether a declaration saves a value for code that is not there: it names what no text does."""
    found = re.fullmatch(r"const [^=]*?(\w+) = .*;", declaration)
    return found is not None and not any(re.search(rf"\b{found[1]}\b", where) for where in texts)


def _placed(line: str, indent: str) -> str:
    return line if line.startswith(DIRECTIVES) or not line else indent + line
