"""Which instructions a random contraction is tried with: mostly those that read its types."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

from polysched.fuzz.configuration import Build, Configuration
from polysched.fuzz.contractions import contraction
from polysched.fuzz.drawing import BY_NAME, VECTOR_BITS
from polysched.fuzz.program import Program, Reference, Statement, walk
from polysched.tensorize.proofs.ideal import multiplies
from polysched.tensorize.registry import INTRINSICS

DTYPES = {"float": "float32", "double": "float64", "int": "int32", "unsigned": "int32", "long": "int64",
          "short": "int16", "unsigned char": "uint8", "signed char": "int8", "_Float16": "float16"}
"""What instructions call these types; unsigned sums are kept in the same bits as signed ones."""
NAMED = 2
BUILDS = (Build.PLAIN, Build.PLAIN, Build.PLAIN, Build.O2, Build.O3, Build.CLANG)


def contraction_configurations(seed: int) -> tuple[Configuration, ...]:
    """The whole pipeline with two instructions by name, and with `auto` or with another one."""
    source = random.Random(f"contraction configuration {seed}")
    names = suitable(contraction(seed))
    chosen = source.sample(names, min(NAMED, len(names)))
    chosen.append("auto" if source.random() < 0.25 else source.choice(BY_NAME))
    return tuple(_configuration(source, name) for name in dict.fromkeys(chosen))


def _configuration(source: random.Random, name: str) -> Configuration:
    """Mostly the program's own order around the instruction: other campaigns look at schedules."""
    around = Configuration(scheduler="original", expand=source.random() < 0.8, parallel=source.random() < 0.7,
                           build=source.choice(BUILDS), intrinsic=name)
    if source.random() < 0.75:
        return around
    return replace(around, scheduler=source.choice(("pluto", "isl")), sizes=source.choice(("auto", "off", 4)),
                   vector_bits=source.choice(VECTOR_BITS))


def suitable(program: Program) -> list[str]:
    """The instructions with the program's kind of update and types; without any, those with its type of sums."""
    update = next(s for s in walk(program.body) if isinstance(s, Statement) and any(t.times for t in s.terms))
    term = next(t for t in update.terms if t.times is not None)
    factors = tuple(sorted(DTYPES[program.types[e.array]] for e in (term.of, term.times) if isinstance(e, Reference)))
    total, found = DTYPES[program.types["P"]], _kinds()
    same = [n for n, kind in found.items() if kind == (total, factors, update.clamp is not None, not term.distance)]
    return same or [n for n, kind in found.items() if kind[0] == total] or list(BY_NAME)


@cache
def _kinds() -> dict[str, tuple[str, tuple[str, ...], bool, bool]]:
    """Per instruction the types of sum and factors, whether it saturates, and whether it multiplies."""
    found = {}
    for name in BY_NAME:
        contracted = INTRINSICS[name].contraction
        if contracted.kinds:   # what the drawn programs compute are sums
            continue
        found[name] = (contracted.output_dtype.name, tuple(sorted(d.name for d in contracted.input_dtypes)),
                       contracted.finish is not None, multiplies(INTRINSICS[name]))
    return found
