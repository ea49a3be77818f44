"""A library function as plain C at the place of its call, for machines that do not have the library.

    cblas_dgemm(..., A, lda, ...);  ->  { gather A, B, C into dense arrays; the loops of the text; scatter C; }

It reads the same words as the call does (pointers, distances, transpositions, extents), so these are tested, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysched.tensorize.description.emulator import body_c
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.description.semantics import C_NAMES, Variable


def emulated_library(intrinsic: Intrinsic) -> Intrinsic:
    """The library function with a template that computes what its text says, without headers and flags of a library."""
    lines = list(_block(intrinsic))
    isa = replace(intrinsic.isa, headers=("stdlib.h",), flags=())
    return replace(intrinsic, isa=isa, template=" ".join(lines))


def _block(intrinsic: Intrinsic) -> Iterator[str]:
    """The words under names of their own, then the names of the text, which hide the program's."""
    text = intrinsic.parsed
    values = {o.name for o in intrinsic.operands if o.mode is LoadMode.VALUE}
    arrays = [v for v in text.operands if v.name not in values]
    yield "{ enum { CblasNoTrans, CblasTrans };"
    for size in text.sizes:
        yield f"const int ps_{size} = {{{size}}};"
    for v in text.operands:
        kind = C_NAMES[v.dtype.name]
        if v.name in values:
            yield f"const {kind} ps_{v.name} = {{{v.name}}};"
            continue
        yield f"{'' if v.written else 'const '}{kind} *ps_{v.name} = {{{v.name}}};"
        yield from (f"const long ps_{word}_{v.name} = {{{word}_{v.name}}};" for word in _distances(v))
    yield "{"
    yield from (f"const int {size} = ps_{size};" for size in text.sizes)
    yield from (f"const {C_NAMES[text.operand(n).dtype.name]} {n} = ps_{n};" for n in sorted(values))
    for v in arrays:
        inner = "".join(f"[{e}]" for e in v.shape[1:])
        total = " * ".join(f"(size_t){e}" for e in v.shape)
        yield f"{C_NAMES[v.dtype.name]} (*{v.name}){inner} = malloc({total} * sizeof *ps_{v.name} + 1);"
        yield f"if (!{v.name}) abort();"
        yield _copied(v, back=False)
    yield from body_c(text)
    yield from (_copied(v, back=True) for v in arrays if v.written)
    yield from (f"free({v.name});" for v in arrays)
    yield "} }"


def _distances(v: Variable) -> tuple[str, ...]:
    """The words of an operand beside its pointer."""
    return ("step",) if len(v.shape) == 1 else ("transpose", "stride", "batch")[:len(v.shape)]


def _copied(v: Variable, *, back: bool) -> str:
    """Loops that copy all elements between the caller's memory and the dense array."""
    names = [f"ps_{i}" for i in range(len(v.shape))]
    loops = " ".join(f"for (long {n} = 0; {n} < {e}; {n}++)" for n, e in zip(names, v.shape, strict=True))
    here = v.name + "".join(f"[{n}]" for n in names)
    if len(names) == 1:
        there = f"ps_{v.name}[{names[0]} * ps_step_{v.name}]"
    else:
        row, column = names[-2:]
        at = (f"(ps_transpose_{v.name} ? {column} * ps_stride_{v.name} + {row} "
              f": {row} * ps_stride_{v.name} + {column})")
        there = f"ps_{v.name}[{f'{names[0]} * ps_batch_{v.name} + ' if len(names) == 3 else ''}{at}]"
    return f"{loops} {there} = {here};" if back else f"{loops} {here} = {there};"
