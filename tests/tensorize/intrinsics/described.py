"""What tests of a file of descriptions hold against the manuals: operands by type and shape, widths of registers."""

from __future__ import annotations

from math import prod

from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.description.isa_features import features_of


def operands(intrinsic: Intrinsic) -> str:
    """For instance `C int32[16] += uint8[4], int8[16][4]`; `=` where the old value is not read."""
    written = [v for v in intrinsic.parsed.operands if v.written]
    read = [v for v in intrinsic.parsed.operands if not v.written]
    sign = "+=" if intrinsic.contraction.accumulates else "="
    texts = [f"{v.dtype.name}{''.join(f'[{n}]' for n in v.shape)}" for v in (*written, *read)]
    return f"{', '.join(texts[:len(written)])} {sign} {', '.join(texts[len(written):])}"


def register_bits(intrinsic: Intrinsic) -> set[int]:
    """Bits of every operand that fills a register of its own."""
    modes = {o.name: o.mode for o in intrinsic.operands}
    return {prod(v.shape) * v.dtype.bits for v in intrinsic.parsed.operands
            if v.written or modes[v.name] is LoadMode.PACKED}


def features(intrinsics: tuple[Intrinsic, ...]) -> set[tuple[str, ...]]:
    """The extensions of a processor that the instructions of a file need."""
    return {features_of(i.isa) for i in intrinsics}


def require_sources(intrinsics: tuple[Intrinsic, ...]) -> None:
    """Refuse descriptions that nobody can check: without a manual, a section, or a source of their cycles."""
    for i in intrinsics:
        assert i.isa.manual, i.name
        assert i.section, i.name
        assert i.cost.source, i.name
        assert 0 < i.cost.issue_cycles <= i.cost.latency_cycles, i.name
        if not i.library:
            missing = [o.name for o in i.operands if f"{{{o.name}}}" not in i.template and o.mode is not LoadMode.VALUE]
            assert not missing or i.configure or i.isa.machine not in ("x86_64", "aarch64"), (i.name, missing)
