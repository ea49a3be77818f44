"""One pair: a description, and a program that is the same function in other words or nearly so, from a number."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

from polysched.fuzz.matches import near_misses, words
from polysched.fuzz.matches.c_tree import (
    RESULTS,
    TYPES,
    Binary,
    Called,
    Choice,
    Converted,
    Expr,
    Function,
    Number,
    mapped,
    type_of,
    walk,
)
from polysched.fuzz.matches.loop_words import embedded, with_values
from polysched.fuzz.matches.units import BRANCHES, Unit, unit
from polysched.records import dataclass

PROGRAMS_PER_UNIT = 8
SAME, NEAR_MISS = "same", "near miss"
HEAD = ("#include <stdint.h>\n#include <stdlib.h>\n#include <math.h>\nint __builtin_popcount(unsigned);\n"
        "#pragma polysched pure __builtin_popcount\n")


@dataclass(frozen=True)
class Pair:
    """One pair.

    Parameters
    ----------
    relation : SAME or NEAR_MISS.
    words : the rewrites, in order.
    miss : what was changed; empty for SAME.
    programs : the program at each of two sizes.
    lanes : matches may use partial sums, cut loops and remainders, too.
    strict : sums of floats keep their order and roundings, and floats are random.
    """

    seed: int
    unit: Unit
    relation: str
    words: tuple[str, ...]
    miss: str
    programs: tuple[Function, ...]
    lanes: bool = False
    strict: bool = False

    @property
    def has_floats(self) -> bool:
        return any(t.is_float for f in (self.unit.function, *self.programs) for t in f.types.values())


@lru_cache(maxsize=64)
def _unit(seed: int) -> Unit:
    return unit(seed)


def pair(seed: int) -> Pair:
    """The pair of this number: neighbours share their description."""
    described = _unit(seed // PROGRAMS_PER_UNIT)
    source = random.Random(f"pair {seed}")
    function, sizes = embedded(source, described)
    function = _as_program(function)
    branches = described.kind == BRANCHES
    function, done = words.reworded(source, function, source.choice((0, 1, 2, 3, 4, 6)),
                                    words.OF_BRANCHES if branches else None)
    relation, miss = SAME, ""
    if source.random() < 0.55:
        relation = NEAR_MISS
        function, miss = near_misses.missed(source, function,
                                            near_misses.OF_BRANCHES if branches else None)
    symbolic = source.random() < 0.25
    programs = tuple(with_values(function, values, symbolic=symbolic) for values in sizes)
    return Pair(seed, described, relation, done, miss, programs, lanes=source.random() < 0.3,
                strict=source.random() < 0.5)


def _as_program(function: Function) -> Function:
    """What descriptions call, as programs write it."""
    def change(e: object) -> object:
        match e:
            case Called(function="fma_f32", arguments=arguments):
                return Called("fmaf", arguments)
            case Called(function="popcount_u32", arguments=(x,)):
                return Called("__builtin_popcount", (_handed_over(x, "uint32_t", function),))
            case Called(function="min_i32" | "max_i32" | "min_u32" | "max_u32" as name, arguments=arguments):
                a, b = (_handed_over(x, RESULTS[name], function) for x in arguments)
                return Choice(Binary("<" if name.startswith("min") else ">", a, b), a, b)
            case Called(function="sat_i16" | "sat_i32" as name, arguments=(x,)):
                ctype = f"int{name.removeprefix('sat_i')}_t"
                x = _handed_over(x, "int32_t" if name == "sat_i16" else "int64_t", function)
                low, high = TYPES[ctype].range
                least = Binary("-", Number(str(low + 1)), Number("1"))
                return Converted(ctype, Choice(Binary(">", x, Number(str(high))), Number(str(high)),
                                               Choice(Binary("<", x, least), least, x)))
        return e

    if not any(isinstance(e, Called) for e in walk(function.body)):
        return function
    return replace(function, body=mapped(function.body, change))


def _handed_over(x: Expr, ctype: str, function: Function) -> Expr:
    """An argument as a parameter of this type gets it."""
    own, wanted = type_of(x, function.types), TYPES[ctype]
    keeps = own.bits < wanted.bits or (own.bits == wanted.bits and own.signed)
    return x if keeps else Converted(ctype, x)


def program_text(program: Function) -> str:
    """A C file with the program's region."""
    return HEAD + program.text()


DESCRIPTION = '''"""Described for polysched fuzz --instructions."""

from polysched.tensorize.description.intrinsic import Cost, Intrinsic, Isa, LoadMode, Operand, Register

REGISTER = Register(c_type="int", load="", store="", zero="")

{name} = Intrinsic(
    name="{name}", section="none", template="-", cost=Cost(issue_cycles=1, latency_cycles=1),
    isa=Isa(name="fuzz", machine="none", manual="none"),
    semantics="""
{text}""",
    operands=({operands},))
'''


def description_text(u: Unit) -> str:
    """The user's Python file."""
    operands = ", ".join(f'Operand(name="{n}", register=REGISTER, mode=LoadMode.{mode})'
                         for (n, _), mode in zip(u.function.arrays, u.modes, strict=True))
    return DESCRIPTION.format(name=u.function.name, text=u.described.text(region=False), operands=operands)


def described(own: Pair, what: str) -> str:
    """Both texts of a pair in Markdown, and what is wrong."""
    programs = dict.fromkeys(program_text(p) for p in own.programs)
    sizes = [f" (at {', '.join(f'{n} = {v}' for n, v in p.sizes)})" if p.sizes else "" for p in own.programs]
    options = ["floats keep their order and roundings"] * own.strict + ["partial sums, split, remainder"] * own.lanes
    lines = ["Description:\n", "```python", description_text(own.unit).rstrip(), "```\n", f"Program{sizes[0]}:\n"]
    lines += [f"```c\n{text.rstrip()}\n```\n" for text in programs]
    return "\n".join([*lines, f"Options: {', '.join(options) or 'default'}.\n", f"What is wrong: {what}\n"])
