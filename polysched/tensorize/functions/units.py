"""Units of several stages, as instructions have them: dot, bias and ReLU; dot, scale, round and saturate.

    t[i] = bias[i];  t[i] += A[k] * B[i][k];  O[i] = t[i] > 0 ? t[i] : 0        16 x 64 at once

The loops of the program are cut into tiles of the unit's extents (`tilings`), and the rest is the proof for functions.
A reduction is not cut: what ends a sum cannot be applied to parts of it.  Operands are copied into the unit's layout.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.errors import SourceSyntaxError, UnsupportedScopError
from polysched.scop.body import unconditional_references
from polysched.scop.points import with_sizes
from polysched.scop.scop import Scop, Storage
from polysched.tensorize.description.contraction import Kind
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.functions.described import assigned, described
from polysched.tensorize.functions.function_match import (
    FunctionMatch,
    FunctionMatches,
    deepest,
    match_part,
    part_of,
)
from polysched.tensorize.functions.groups import calls, groups
from polysched.tensorize.functions.recurrences import loops_around
from polysched.tensorize.functions.tilings import Tiling, tilings, with_whole_tiles
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.software.conditional_reads import may_always_be_accessed

WORD = re.compile(r"[A-Za-z_]\w*")


def unit_function(intrinsic: Intrinsic) -> LibraryFunction:
    """An instruction as a function that its own text computes, with what the text calls under names of its own."""
    used = [f for name, f in FUNCTIONS.items() if f.c_source and name in WORD.findall(intrinsic.semantics)]
    own = {f.name: f"polysched_{f.name}" for f in used}

    def renamed(text: str) -> str:
        return WORD.sub(lambda word: own.get(word.group(), word.group()), text)

    helpers = "".join(f"#ifndef {own[f.name].upper()}\n#define {own[f.name].upper()}\n{renamed(f.c_source.strip())}\n"
                      "#endif\n" for f in used)
    return LibraryFunction(name=intrinsic.name, variants=(Variant(renamed(intrinsic.semantics), helpers=helpers),),
                           inline=True, packs=True)


def match_unit(dependences: Dependences, intrinsic: Intrinsic, numerics: Numerics | None = None, *,
               sizes: Mapping[str, int] | None = None,
               otherwise: Callable[[], Dependences] | None = None) -> FunctionMatches:
    """The groups of statements that an instruction of several stages computes, tile by tile.

    Parameters
    ----------
    sizes : values of parameters of the program; lengths of sums have to be known.
    otherwise : makes the program in other words, which are looked at where it has no match as it stands.
    """
    started = time.perf_counter()
    found = _in_groups(dependences, intrinsic, numerics or Numerics(), dict(sizes or {}))
    if not found.matches and otherwise is not None:
        again = _in_groups(otherwise(), intrinsic, numerics or Numerics(), dict(sizes or {}))
        found = again if again.matches or not found.reasons else found
    return replace(found, milliseconds=1000 * (time.perf_counter() - started))


def _in_groups(dependences: Dependences, intrinsic: Intrinsic, numerics: Numerics,
               given: Mapping[str, int]) -> FunctionMatches:
    """As `match_unit`, of a program as it stands."""
    function, scop = unit_function(intrinsic), dependences.scop
    variant = function.variants[0]
    if isinstance(why := _statements(variant), str):
        return FunctionMatches(scop=scop, function=function, matches=(), reasons=(why,), milliseconds=0)
    found: list[FunctionMatch] = []
    reasons: list[tuple[int, str]] = []
    for names in groups(dependences):
        theirs = tuple(s.name for s in assigned(variant).scop.statements)
        if {*names} & {s for m in found for s in m.statements} or calls(scop, names) != calls(
                assigned(variant).scop, theirs):
            continue
        own = deepest(assigned(variant), theirs)
        for tiling in tilings(dependences, scop.statement(deepest(dependences, names)), variant, own, given):
            made = [tiling] if isinstance(tiling, str) else _matched(
                dependences, names, tiling, function, numerics, given)
            if isinstance(made, FunctionMatch):
                found.append(made)
                break
            reasons += [(len(names), why if why.startswith(names[0]) else f"{' and '.join(names)}: {why}")
                        for why in made]
    reasons.sort(key=lambda r: -r[0])
    return FunctionMatches(scop=scop, function=function, matches=tuple(found), reasons=tuple(
        dict.fromkeys(w for _, w in reasons)), milliseconds=0)


def _unread(scop: Scop, names: Collection[str]) -> str:
    """An element that the program may not read although a unit reads its operands whole; "" where there is none."""
    for statement in map(scop.statement, names):
        certain = {*unconditional_references(statement.body)}
        for access in statement.reads:
            if access.reference not in certain and not may_always_be_accessed(scop, statement, access):
                return (f"{statement.name} reads {access.array} where a condition on data holds, and nothing says that "
                        "the elements exist elsewhere, where the unit reads them, too; declare the extents of "
                        f"{access.array}")
    return ""


def _matched(dependences: Dependences, names: tuple[str, ...], tiling: Tiling, function: LibraryFunction,
             numerics: Numerics, sizes: Mapping[str, int]) -> FunctionMatch | list[str]:
    """The match of some statements in whole tiles; else why there is none."""
    if why := _unread(dependences.scop, names):
        return [why]
    outer = loops_around(dependences, names, deepest(dependences, names), tiling.around)
    if any(len(a.tiles) != len(tiling.around.tiles) for a in outer.values()):
        return []   # not all of them run through the tile
    whole = with_whole_tiles(dependences, names, outer, tiling)
    if isinstance(whole, str):
        return [whole]
    part = part_of(whole.dependences, names, tiling.around, with_sizes(whole.dependences.scop.context, sizes))
    made = match_part(part, function, function.variants[0], numerics)
    if not isinstance(made, FunctionMatch):
        return made
    if why := untouched(made):
        return [why]
    return made if whole.assumed is None else replace(made, assumed=whole.assumed)


def is_unit(intrinsic: Intrinsic) -> bool:
    """Whether an instruction computes in several stages, so that it is matched with groups of statements."""
    return not intrinsic.library and Kind.STAGES in intrinsic.contraction.kinds


def has_partial_sum(intrinsic: Intrinsic) -> bool:
    """Whether an instruction keeps a part of its sum in a variable of its own, or cuts it on its way.

    Where ranges exclude that anything is cut, it is matched as a sum; else a program that adds the same parts in the
    same variables is, as of a unit.
    """
    if intrinsic.library or intrinsic.contraction.tables or is_unit(intrinsic):
        return False
    own = _statements(unit_function(intrinsic).variants[0])
    return isinstance(own, Scop) and (bool(intrinsic.contraction.limits) or any(
        a.storage is Storage.LOCAL for a in own.arrays))


def _statements(variant: Variant) -> Scop | str:
    """The text as a Scop; why it is none: short floats have no type in C, and what it calls may branch on data."""
    try:
        return assigned(variant).scop
    except (SourceSyntaxError, UnsupportedScopError) as refusal:
        return f"the text is not read as a function: {refusal.problem}"


def untouched(found: FunctionMatch) -> str:
    """An operand that the unit does not read or write whole, so that it cannot be copied; "" where there is none."""
    system = described(found.variant)
    for name in found.state.operands:
        array = system.array(name)
        touched = [e.target.range() for e in system.equations.values() if e.array == name]
        touched += [s.relation.range() for e in system.equations.values() for many in e.sources.values() for s in many
                    if s.statement is None and s.array == name]
        total = touched[0]
        for more in touched[1:]:
            total = total.union(more)
        if total.count_val().to_python() != elements(found, array.name):
            return f"{found.function.name} leaves parts of its operand {name} alone"
    return ""


def elements(found: FunctionMatch, name: str) -> int:
    """Elements of an operand of a unit, whose extents are numbers."""
    total = 1
    for extent in extents_of_operand(described(found.variant).scop, name):
        total *= extent
    return total


def extents_of_operand(scop: Scop, name: str) -> list[int]:
    """The extents that the text declares."""
    return [int(e.max_val().to_python()) if e is not None else 0 for e in scop.array(name).extents]
