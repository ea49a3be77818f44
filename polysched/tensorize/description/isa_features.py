"""The extensions of a processor that an instruction set needs, from its compiler flags."""

from __future__ import annotations

import re
from collections.abc import Collection

from polysched.tensorize.description.intrinsic import Isa

_BASE = re.compile(r"-march=[\w.-]+?((?:\+\w+)*)$")
_LISTED_AS = {"dotprod": "asimddp"}   # Linux, arch/arm64/kernel/cpuinfo.c


def features_of(isa: Isa) -> tuple[str, ...]:
    """The extensions of the base machine that the flags enable, as compilers spell them, sorted."""
    found: set[str] = set()
    for flag in isa.flags:
        if (base := _BASE.fullmatch(flag)) and isa.machine == "aarch64":
            found |= {f for f in base.group(1).split("+") if f}
        elif flag.startswith("-m"):
            found.add(flag.removeprefix("-m"))
    return tuple(sorted(found))


def is_listed(isa: Isa, flags: Collection[str]) -> bool:
    """Whether a processor's list of features names all of them; Linux spells some with other separators."""
    listed = {re.sub(r"[^a-z0-9]", "", flag.lower()) for flag in flags}
    return all(re.sub(r"[^a-z0-9]", "", _LISTED_AS.get(f, f)) in listed for f in features_of(isa))
