"""C text that includes only those of GCC's headers of x86 instructions that it uses.

`immintrin.h` takes 0.3 s of processor time, most of it for instruction sets that one text does not use.
"""

from __future__ import annotations

import re

WHOLE = "#include <immintrin.h>\n"
_BASE = ("xmmintrin.h", "emmintrin.h", "pmmintrin.h", "tmmintrin.h", "smmintrin.h")
_GUARD = "_IMMINTRIN_H_INCLUDED"   # the other headers refuse to be included without it
_OWN = {"fma": "fmaintrin.h", "f16c": "f16cintrin.h", "avx2": "avx2intrin.h", "avxvnni": "avxvnniintrin.h",
        "avx512f": "avx512fintrin.h", "avx512vnni": "avx512vnniintrin.h", "avx512vpopcntdq": "avx512vpopcntdqintrin.h"}
"""Per extension the header of its intrinsics on whole registers, in the order in which GCC 12 includes them."""

_IMPLIED = ("avx512f", "avx2")   # headers of AVX-512 use vectors of AVX2
_TARGET = re.compile(r'target\("([^"]*)"\)')


def with_narrow_headers(text: str) -> str | None:
    """The text for GCC with the headers of the instruction sets that its functions are compiled for.

    None where it does not include `immintrin.h`, or an instruction set has no header of its own here.  The names of
    the headers are GCC's own: whoever compiles the text takes the whole header where they do not fit.

    Example
    -------
    >>> with_narrow_headers("int x;") is None
    True

    Source: GCC 12, config/i386/immintrin.h.
    """
    extensions = {e for found in _TARGET.findall(text) for e in found.split(",")}
    if WHOLE not in text or not extensions or not extensions <= _OWN.keys():
        return None
    if any(e.startswith("avx512") for e in extensions):
        extensions |= {*_IMPLIED}
    own = [header for extension, header in _OWN.items() if extension in extensions]
    lines = [*(f"#include <{h}>" for h in _BASE), f"#define {_GUARD}", "#include <avxintrin.h>",
             *(f"#include <{h}>" for h in own)]
    return text.replace(WHOLE, "\n".join([*lines, ""]), 1).replace(WHOLE, "")
