"""Units of several stages, as instructions have them: dot, bias and ReLU; dot, scale, round and saturate.

    t[i] = bias[i];  t[i] += A[k] * B[i][k];  O[i] = t[i] > 0 ? t[i] : 0        16 x 64 at once

The loops of the program are cut into tiles of the unit's extents, and the rest is the proof for functions.  A reduction
is not cut: what ends a sum cannot be applied to parts of it.  Operands are copied into the unit's own layout.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.description.contraction import Kind
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.functions.described import described
from polysched.tensorize.functions.function_match import (
    FunctionMatch,
    FunctionMatches,
    context_of,
    deepest,
    match_part,
    part_of,
)
from polysched.tensorize.functions.groups import calls, groups
from polysched.tensorize.functions.recurrences import Around
from polysched.tensorize.matching.facts import Numerics


def unit_function(intrinsic: Intrinsic) -> LibraryFunction:
    """An instruction as a function that its own text computes."""
    return LibraryFunction(name=intrinsic.name, variants=(Variant(intrinsic.semantics),), inline=True, packs=True)


def match_unit(dependences: Dependences, intrinsic: Intrinsic, numerics: Numerics | None = None, *,
               sizes: Mapping[str, int] | None = None) -> FunctionMatches:
    """The groups of statements that an instruction of several stages computes, tile by tile.

    Parameters
    ----------
    sizes : values of all parameters of the program.
    """
    started = time.perf_counter()
    function, scop = unit_function(intrinsic), dependences.scop
    variant, given = function.variants[0], dict(sizes or {})
    found: list[FunctionMatch] = []
    reasons: list[tuple[int, str]] = []
    missing = [p.name for p in scop.parameters if p.name not in given]
    if missing:
        reasons.append((0, f"{intrinsic.name} works on tiles of known size: the value of {missing[0]} is not known"))
    for names in groups(dependences) if not missing else ():
        if {*names} & {s for m in found for s in m.statements} or calls(scop, names) != calls(
                variant.scop, [s.name for s in variant.scop.statements]):
            continue
        for around in _tilings(dependences, scop.statement(deepest(dependences, names)), variant, given):
            if isinstance(around, str):
                reasons.append((len(names), f"{' and '.join(names)}: {around}"))
                continue
            part = part_of(dependences, names, around, context_of(scop, given))
            if any(len(a.tiles) != len(around.tiles) for a in part.outer.values()):
                continue   # not all of them run through the tile
            made = match_part(part, function, variant, numerics or Numerics())
            if isinstance(made, FunctionMatch) and (why := untouched(made)):
                made = [why]
            if isinstance(made, FunctionMatch):
                found.append(made)
                break
            reasons += [(len(names), why) for why in made]
    reasons.sort(key=lambda r: -r[0])
    return FunctionMatches(scop=scop, function=function, matches=tuple(found), reasons=tuple(
        dict.fromkeys(w for _, w in reasons)), milliseconds=1000 * (time.perf_counter() - started))


def _tilings(dependences: Dependences, ours: Statement, variant: Variant,
             sizes: Mapping[str, int]) -> Iterator[Around | str]:
    """Which loops of the program's deepest statement run through a tile, or why they cannot."""
    theirs = described(variant).equations[deepest(variant.dependences, tuple(s.name for s in variant.scop.statements))]
    extents = _extents(theirs.domain)
    kept = _kept([s.relation for many in theirs.sources.values() for s in many if s.statement == theirs.name],
                 len(extents))
    own = _kept([p.relation for p in dependences.pairs if p.kind is DependenceKind.FLOW
                 and p.source == p.sink == ours.name], ours.depth)
    mine = _extents(fix_parameters(ours.domain, sizes))
    orders = itertools.permutations(range(len(mine)), len(extents))
    for order in sorted(orders, key=lambda order: [-at for at in order]):
        if any((number in kept) != (at in own) for number, at in enumerate(order)):
            continue
        pairs = [(at, mine[at], wanted, number in kept) for number, (at, wanted) in enumerate(
            zip(order, extents, strict=True))]
        longer = [p for p in pairs if p[1] > p[2] and not p[3]]
        uneven = [p for p in pairs if p[1] % p[2] and p[3]]
        if longer and all(p[1] >= p[2] for p in pairs):
            yield (f"the sum over {ours.iterators[longer[0][0]]} has {longer[0][1]} terms and {variant.name} adds "
                   f"{longer[0][2]}: what ends the sum cannot be applied to parts of it")
        elif uneven and all(p[1] >= p[2] for p in pairs):
            yield (f"loop {ours.iterators[uneven[0][0]]} has {uneven[0][1]} iterations, which is no multiple of "
                   f"{uneven[0][2]}")
        elif all(p[1] == p[2] or (p[3] and p[1] > p[2]) for p in pairs):
            yield Around(tuple(at for at in range(len(mine)) if at not in order),
                         tuple((at, wanted) for at, extent, wanted, _ in pairs if extent > wanted))


def _kept(flows: list[isl.Map], depth: int) -> set[int]:
    """The loops that values of a statement stay inside of on their way to itself; the others add up."""
    return {at for at in range(depth) if all(
        f.is_subset(f.equate(isl.dim_type.in_, at, isl.dim_type.out, at)) for f in flows)}


def _extents(domain: isl.Set) -> list[int]:
    """Iterations per loop of a domain without free parameters that starts at zero; at least to its greatest value."""
    return [int(domain.dim_max_val(at).to_python()) + 1 if not domain.is_empty() else 0
            for at in range(domain.dim(isl.dim_type.set))]


def is_unit(intrinsic: Intrinsic) -> bool:
    """Whether an instruction computes in several stages, so that it is matched with groups of statements."""
    return not intrinsic.library and Kind.STAGES in intrinsic.contraction.kinds


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
