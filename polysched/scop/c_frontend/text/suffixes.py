"""Constants of the types of IEC 60559, `1.5f16`, whose suffixes a parser of standard C cannot read.

Those of `_Float16` are a type of their own.  `_Float32`, `_Float64` and `_Float32x` compute as `float` and `double` do.

Source: ISO/IEC TS 18661-3, section 8 (constants), now C23 6.4.4.3.
"""

from __future__ import annotations

import re

from polysched.records import dataclass
from polysched.scop.c_frontend.text.text_scan import without_directives

_DIGITS = r"((?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?|0[xX][0-9a-fA-F.]+[pP][+-]?\d+)"
_CONSTANT = re.compile(rf"{_DIGITS}[fF](16|32|64|32x)")
_PLAIN = {"32": "f", "64": "", "32x": ""}


@dataclass(frozen=True)
class Suffixed:
    """A text with names in place of constants.

    Parameters
    ----------
    text : what the parser reads.
    spellings : of the constants, by the names.
    """

    text: str
    spellings: dict[str, str]


def without_suffixes(text: str) -> Suffixed:
    """Preprocessed text that a parser of standard C reads.

    Rewrite:  x * 1.5f16 + 2.0f64  ->  x * polysched_f16_0 + 2.0
    """
    if not _CONSTANT.search(text):
        return Suffixed(text, {})
    parts: list[str] = []
    spellings: dict[str, str] = {}
    copied = 0
    for word, start, end, _ in without_directives(text).tokens:
        found = _CONSTANT.fullmatch(word)
        if found is None:
            continue
        new = found[1] + _PLAIN.get(found[2], "")
        if found[2] == "16":
            new = f"polysched_f16_{len(spellings)}"
            spellings[new] = word
        parts += [text[copied:start], new]
        copied = end
    return Suffixed("".join((*parts, text[copied:])), spellings)
