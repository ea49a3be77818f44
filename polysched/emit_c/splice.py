"""Put emitted regions back into the file they came from; every other byte stays."""

from __future__ import annotations

from collections.abc import Sequence

from polysched.emit_c.c_source import CSource
from polysched.emit_c.scalar_code.c_text import DIRECTIVES
from polysched.errors import UsageError
from polysched.scop.c_frontend.text_scan import Scanner


def splice(text: str, sources: Sequence[CSource]) -> str:
    """Replace each region of a file by its emitted C; what regions need outside of functions goes behind the includes.

    Parameters
    ----------
    text : the file as read with line ends untouched; equals `SourceRegion.text` of every region.
    sources : one per region, in any order; regions must not overlap.

    Raises
    ------
    UsageError : a source has no region, comes from another text, or two regions overlap.
    """
    pieces: list[str] = []
    done = 0
    replaced = [_replacement(text, source) for source in sources]
    if preambles := "".join(source.preamble for source in sources):
        at = _behind_includes(text[:min(start for start, _, _ in replaced)])
        replaced.append((at, at, preambles.replace("\n", "\r\n" if "\r\n" in text else "\n")))
    for start, end, lines in sorted(replaced):
        if start < done:
            raise UsageError("two regions of one file overlap", where="splice",
                             witness=f"characters {start} to {end}", hint="splice each region once")
        pieces += [text[done:start], lines]
        done = end
    return "".join([*pieces, text[done:]])


def _behind_includes(text: str) -> int:
    """The end of the last line with an `#include` that no `#if`, bracket or comment encloses; 0 without one."""
    depth = brackets = found = 0
    for word, start, end, _ in Scanner(text).tokens:
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


def _replacement(text: str, source: CSource) -> tuple[int, int, str]:
    region = source.scop.source
    if region is None or region.text != text:
        raise UsageError(f"the region {source.scop.name!r} does not come from this text", where="splice",
                         hint="pass SourceRegion.text of the regions that are put back")
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [_placed(line, region.indent) for line in (*region.declarations, *source.text.splitlines())]
    rest = text[region.end:].split("\n", 1)[0]
    ends_line = ((region.end > region.start and text[region.end - 1] == "\n")
                 or bool(rest.strip() and lines and lines[-1].startswith(DIRECTIVES)))
    before = text[text.rfind("\n", 0, region.start) + 1:region.start]
    if before.strip():
        lines.insert(0, "")
    elif before and lines:
        lines[0] = lines[0].removeprefix(region.indent)
    return region.start, region.end, newline.join(lines) + (newline if ends_line else "")


def _placed(line: str, indent: str) -> str:
    return line if line.startswith(DIRECTIVES) or not line else indent + line
