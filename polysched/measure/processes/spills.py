"""Vector registers that a compiler stores to the stack, counted in its assembly text: on x86 and on ARM."""

from __future__ import annotations

import re

SPILL = re.compile(
    r"^\s+(?:v?mov[a-z0-9]+\s+%[xyz]mm\d+,\s*-?\d*\(%r[bs]p\)"                 # AT&T: vmovaps %zmm2, 64(%rsp)
    r"|st[pru]+\s+[qz]\d+,(?:\s*[qz]\d+,)?\s*\[(?:sp|x29)\b)", re.MULTILINE)   # str q0, [sp, 16]
"""A store of a whole vector register, in functions that address their frame by a constant."""


def spilled_vectors(listing: str) -> int:
    """How many instructions store a vector register to the stack.

    Local arrays whose places are known have such stores, too; those of the same source are in each of its versions.
    """
    return len(SPILL.findall(listing))
