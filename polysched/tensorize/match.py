"""Every way to compute a program's statements with an instruction: solve, check, rank, or explain."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.scop.body import Expr, Literal, Load
from polysched.scop.scop import Scop
from polysched.scop.serialise import expression_text
from polysched.tensorize.bodies import Assignment, assignments
from polysched.tensorize.conflicts import conflicts
from polysched.tensorize.encoding import Choice, Encoding, Extents, Group, Rule
from polysched.tensorize.explanation import Explanation, explain, unread
from polysched.tensorize.facts import Fact, Numerics
from polysched.tensorize.fragment import Fragment, fragments
from polysched.tensorize.ideal import accumulates_sum, multiplies, vanishes
from polysched.tensorize.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.isl_check import (
    IslCheck,
    loops_kept_outside,
    order_that_is_lost,
    own_dependences,
    same_tile_dependence,
)
from polysched.tensorize.library_operands import LibraryOperand, library_operand
from polysched.tensorize.operand_layout import LayoutTable, OperandLayout
from polysched.tensorize.separating import separated
from polysched.tensorize.splitting import split_fragments, whole_fragments
from polysched.tensorize.symmetry import mirror_images, up_to_symmetry, with_images

COPIED_ELEMENT_CYCLES = 0.25   # vectors of interleaved elements, at the rate of the second-level cache


@dataclass(frozen=True)
class MatchOptions:
    """How matches are looked for.

    Parameters
    ----------
    rule : `exact` or AMOS's.
    extents : whether loops have to fill the instruction's dimensions.
    numerics : what may change in floating-point results.
    partial_sums : reductions may fill lanes of the result that are added up at the end.
    split : one loop may be cut in two that go into different dimensions (exact rule).
    remainder : the last iterations of a reduction, which fill no whole execution, may stay behind as a statement of
        their own (exact rule).
    limit : stop after this many matches; None for all.
    """

    rule: Rule = Rule.EXACT
    extents: Extents = Extents.ANY
    numerics: Numerics = field(default_factory=Numerics)
    partial_sums: bool = False
    split: bool = False
    remainder: bool = False
    limit: int | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Match:
    """One way: checked by isl, with its layouts and cost.

    Parameters
    ----------
    loops : per group its loops, outermost first; loops of no group run outside.
    assignment : what each input operand holds.
    table : layouts, shared by all matches of one fragment and instruction.
    overlapping : iterations of different lanes or blocks meet in one element of the result (`C[i + j]`): every one gets
        a sum of its own, and these are added at the end.
    ordered : updates of one element keep the program's order.
    apart : what several statements add to one float is added one statement after the other.
    rest : the statement of the iterations that fill no whole execution and stay behind; "" where there are none.
    """

    fragment: Fragment
    intrinsic: Intrinsic
    groups: tuple[Group, ...]
    loops: tuple[tuple[str, ...], ...]
    assignment: Assignment
    table: LayoutTable = field(repr=False)
    overlapping: bool = False
    ordered: bool = False
    apart: bool = False
    rest: str = ""

    @cached_property
    def outer(self) -> tuple[str, ...]:
        """The loops around the instruction, outermost first."""
        inside = {name for members in self.loops for name in members}
        return tuple(loop.name for loop in self.fragment.loops if loop.name not in inside)

    def is_partial(self, group: int) -> bool:
        """The group's lanes of the result hold partial sums of one element."""
        part, written = self.groups[group], self.fragment.loops_of(self.result)
        return self.intrinsic.output.name in part.indexes and any(n not in written for n in self.loops[group])

    @cached_property
    def adds_at_the_end(self) -> bool:
        """The result is first computed in a buffer, several of whose elements are added to one of the program's."""
        return self.overlapping or any(map(self.is_partial, range(len(self.groups))))

    @property
    def result(self) -> Load:
        """The program's element that the instruction's result is."""
        return self.fragment.result

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the match takes for granted, in words."""
        lanes = ("partial sums in lanes are added at the end",) if self.adds_at_the_end else ()
        apart = ("float additions of several statements may be reordered",) if self.apart else ()
        return (*self.assignment.assumptions, *lanes, *apart)

    def fused_extent(self, group: int) -> int:
        """Iterations of all loops of a group together."""
        return self._fused_extents[group]

    @cached_property
    def _fused_extents(self) -> tuple[int, ...]:
        return tuple([self.fragment.iterations(members) for members in self.loops])

    def extent(self, group: int) -> int:
        """The instruction's extent of a group; for a library call, whatever the loops have."""
        return self.groups[group].extent or self.fused_extent(group)

    @property
    def executions(self) -> int:
        """How often the instruction is executed in one iteration of the kept loops."""
        total = self.fragment.work
        for group, members in enumerate(self.loops):
            count, tiles = self.table.tiles(group, members)
            total = total // count * tiles
        return total

    @property
    def utilisation(self) -> float:
        """Share of the instruction's work that is the program's."""
        return self.fragment.work / (self.executions * math.prod(self.extent(g) for g in range(len(self.groups))))

    @cached_property
    def layouts(self) -> tuple[OperandLayout, ...]:
        """How each operand of the instruction lies in the program's arrays, the result first."""
        held = {**self.assignment.held, self.intrinsic.output.name: self.fragment.result}
        return tuple([self.table.layout(o, held[o.name], self.loops) for o in self.table.operands])

    def library_operand(self, layout: OperandLayout) -> LibraryOperand | str:
        """How an operand is handed to a library function, or why it cannot be."""
        described = next(o for o in self.table.operands if o.name == layout.operand)
        held = self.assignment.held.get(layout.operand, self.fragment.result)
        if isinstance(held, Load) and self.fragment.memory_steps[held.reference] is None:
            return "its elements do not lie at equal steps"
        extents = [1 if group is None else self.fused_extent(group) for group, _ in described.subscripts]
        return library_operand(layout.strides, extents, written=layout.operand == self.intrinsic.output.name)

    def counts_padding(self) -> str:
        """Why the places that padding adds would change the result; "" where they do not."""
        output = self.intrinsic.output.name
        for group, part in enumerate(self.groups):
            shown = output in part.indexes and not self.is_partial(group)   # else results that nobody stores
            if shown or self.fused_extent(group) % self.extent(group) == 0:
                continue
            if not vanishes(self.intrinsic, part.indexes - {output}):
                return (f"dimension {part.name} takes {self.extent(group)} iterations, and what {self.intrinsic.name} "
                        "computes of zeros in the place of missing ones counts")
        return ""

    def cannot_be_called(self) -> str:
        """Why the library function cannot take the program's arrays; "" where it can, and for instructions."""
        for layout in self.layouts if self.intrinsic.library else ():
            if isinstance(why := self.library_operand(layout), str):
                return f"operand {layout.operand} cannot be {layout.array}: {why}; {self.intrinsic.name} takes " \
                       f"{self.intrinsic.operand(layout.operand).stride}"
        return ""

    @cached_property
    def cost_cycles(self) -> float:
        """The least that the match can cost: issue cycles of all executions, and one copy of its operands.

        What a plan of the nest really costs, `emission.cost.plan_cycles`, is not less.
        """
        work = self.executions * self.intrinsic.cost.issue_cycles + self.intrinsic.cost.latency_cycles
        if self.intrinsic.library:
            work = self.fragment.work / 16 + self.executions * self.intrinsic.cost.latency_cycles
        return work * self.fragment.times \
            + COPIED_ELEMENT_CYCLES * self.table.least_elements(self.assignment.held, self.loops)

    @property
    def copies_for_one_use(self) -> bool:
        """Some input is packed although each of its elements is used only once."""
        loops = {loop.name for loop in self.fragment.loops if loop.extent > 1}
        return any(layout.mode is LoadMode.PACKED
                   and loops <= self.fragment.loops_of(self.assignment.expression(layout.operand))
                   for layout in self.layouts if layout.operand != self.intrinsic.output.name)

    @property
    def signature(self) -> tuple[object, ...]:
        """What makes two matches the same."""
        return self.fragment.statement.name, self.loops, self.assignment.operands

    def to_json(self) -> dict[str, Any]:
        """The match as plain values."""
        mapping = {g.name: list(m) for g, m in zip(self.groups, self.loops, strict=True)}
        operands = {name: self._words(e) for name, e in self.assignment.operands}
        operands[self.intrinsic.output.name] = self._words(self.fragment.result)
        return {"statement": self.fragment.statement.name, "mapping": mapping, "outer": list(self.outer),
                "kept": list(self.fragment.kept),
                "operands": operands, "layouts": {v.operand: v.to_json() for v in self.layouts},
                "zero_points": self.assignment.correction is not None,
                "rest": self.rest, "assumptions": list(self.assumptions),
                "executions": self.executions * self.fragment.times,
                "utilisation": round(self.utilisation, 4), "cost_cycles": round(self.cost_cycles, 1)}

    def __str__(self) -> str:
        parts = [f"{g.name} <- {' '.join(m) or 'padding'}" for g, m in zip(self.groups, self.loops, strict=True)]
        operands = [f"{n} = {self._words(e)}" for n, e in self.assignment.operands]
        behind = "; zero points are added behind the product" if self.assignment.correction is not None else ""
        behind += f"; the last iterations are {self.rest}" if self.rest else ""
        behind += f"; in every iteration of {' and '.join(self.fragment.kept)}" if self.fragment.kept else ""
        return f"{self.fragment.statement.name}: {', '.join(parts)}; {', '.join(operands)}{behind}"

    def _words(self, e: Expr) -> str:
        return expression_text(self.fragment.scop, self.fragment.statement, e)


@dataclass(frozen=True, eq=False, kw_only=True)
class Matches:
    """What was found for one program and one instruction.

    Parameters
    ----------
    matches : one per class of the instruction's symmetry, cheapest first.
    with_mirrors : all of them.
    explanations : per statement without a match, why.
    refused : mappings that satisfied the CNF and that isl refused, with the reason.
    milliseconds : wall time, without dependence analysis.
    """

    scop: Scop
    intrinsic: Intrinsic
    options: MatchOptions
    matches: tuple[Match, ...]
    with_mirrors: tuple[Match, ...]
    explanations: tuple[Explanation, ...]
    refused: tuple[str, ...]
    milliseconds: float

    @property
    def count(self) -> int:
        return len(self.matches)

    @property
    def total(self) -> int:
        return len(self.with_mirrors)

    def to_json(self) -> dict[str, Any]:
        """The result as plain values; `count` is up to symmetry."""
        sizes = {n: v for m in self.matches[:1] for n, v in m.fragment.sizes.items()}
        return {"program": self.scop.name, "sizes": sizes, "intrinsic": self.intrinsic.name,
                "rule": self.options.rule.value, "extents": self.options.extents.value,
                "count": self.count, "count_with_symmetry": self.total,
                "matches": [m.to_json() for m in self.matches], "refused": list(self.refused),
                "explanations": [e.to_json() for e in self.explanations], "milliseconds": round(self.milliseconds, 2)}


def match(scop: Scop, intrinsic: Intrinsic, options: MatchOptions | None = None, *,
          sizes: Mapping[str, int] | None = None, dependences: Dependences | None = None, kept: int = 0) -> Matches:
    """All matches of an instruction in a program, every one checked by isl independently of the CNF.

    Where loops around a statement carry dependences between it and others, its matches are those of the nest inside.

    Parameters
    ----------
    sizes : values of the program's parameters; sample sizes where there is none.
    dependences : of the program, when they are known already.
    kept : so many outer loops around the whole program stay outside in any case.
    """
    chosen = options or MatchOptions()
    if dependences is None:
        dependences = analyse(scop)
    started = time.perf_counter()
    found: list[Match] = []
    refused: list[str] = []
    read = tuple(f.inside(kept) for f in fragments(scop, sizes=sizes))
    known = {f.statement.name for f in read}
    explanations = [unread(scop, s, intrinsic) for s in scop.statements if s.name not in known]
    for fragment in read:
        mine = list(_of_fragment(fragment, intrinsic, chosen, dependences, refused, explanations))
        if chosen.split and chosen.rule is Rule.EXACT:
            mine += _of_halves(fragment, intrinsic, chosen, dependences, refused)
        if chosen.remainder and chosen.rule is Rule.EXACT and not intrinsic.library:
            mine += list(_of_whole(fragment, intrinsic, chosen, dependences, refused, mine))
        if chosen.rule is Rule.EXACT and not any(map(_of_one_product, mine)):
            mine += _of_products(fragment, intrinsic, chosen, dependences, refused)
        if mine:
            explanations = [e for e in explanations if e.statement != fragment.statement.name]
        found += mine
    ranked = sorted(up_to_symmetry(found, intrinsic), key=lambda m: (m.cost_cycles, -sum(map(len, m.loops))))
    return Matches(scop=scop, intrinsic=intrinsic, options=chosen, matches=tuple(ranked), with_mirrors=tuple(found),
                   explanations=tuple(explanations), refused=tuple(refused),
                   milliseconds=1000 * (time.perf_counter() - started))


def _of_one_product(m: Match) -> bool:
    """No factor of the product is the number one."""
    return not any(isinstance(e, Literal) for name, e in m.assignment.operands
                   if m.intrinsic.operand(name).mode is not LoadMode.VALUE)


def _of_products(fragment: Fragment, intrinsic: Intrinsic, options: MatchOptions, dependences: Dependences,
                 refused: list[str]) -> Iterator[Match]:
    """Matches of one product of several that a statement adds, each of which becomes a statement of its own."""
    is_float = fragment.update.dtype.is_float
    made = separated(fragment, dependences) if multiplies(intrinsic) and (
        options.numerics.reassociate or not is_float) else None
    if made is None:
        return
    scop, names = made
    after = conflicts(scop, of=names)   # memory-based: those of sums hide none, they may change places
    for part in fragments(scop, sizes=fragment.sizes):
        if part.statement.name in names:
            yield from filter(_of_one_product, _of_fragment(part.inside(len(fragment.kept)), intrinsic, options, after,
                                                            refused, [], apart=is_float))


def _of_halves(fragment: Fragment, intrinsic: Intrinsic, options: MatchOptions, dependences: Dependences,
               refused: list[str]) -> Iterator[Match]:
    """Matches with one loop split over two groups."""
    if not assignments(fragment, intrinsic, options.numerics):
        return
    for split in split_fragments(fragment, intrinsic, dependences):
        yield from _of_fragment(split.fragment, intrinsic, options, split.dependences, refused, [],
                                halves=split.halves)


def _of_whole(fragment: Fragment, intrinsic: Intrinsic, options: MatchOptions, dependences: Dependences,
              refused: list[str], found: list[Match]) -> Iterator[Match]:
    """Matches without the last iterations of a reduction, where those that were found execute on padding."""
    units: dict[str, set[int]] = {}
    for loop in fragment.loops:
        if loop.name not in fragment.loops_of(fragment.result):
            units[loop.name] = {unit for m in found if (unit := _unit(m, fragment, loop.name)) > 1}
    for whole in whole_fragments(fragment, units, dependences):
        ways = [*_of_fragment(whole.fragment, intrinsic, options, whole.dependences, refused, [])]
        if options.split:
            ways += _of_halves(whole.fragment, intrinsic, options, whole.dependences, refused)
        yield from (replace(m, rest=whole.rest) for m in ways if _unit(m, whole.fragment, whole.loop) == whole.unit)


def _unit(m: Match, fragment: Fragment, loop: str) -> int:
    """Iterations of a loop of the fragment that one execution takes; 1 for a loop outside, or fused with others."""
    own, split = ({x.name for x in f.loops} for f in (fragment, m.fragment))
    names = {loop} if loop in split else split - own   # its halves
    inside = [g for g, members in enumerate(m.loops) if names & set(members)]
    return math.prod(m.extent(g) for g in inside) if all(len(m.loops[g]) == 1 for g in inside) else 1


def _of_fragment(fragment: Fragment, intrinsic: Intrinsic, options: MatchOptions, dependences: Dependences,
                 refused: list[str], explanations: list[Explanation],
                 halves: tuple[str, str] | None = None, *, apart: bool = False) -> Iterator[Match]:
    """Matches of one statement; `apart` where its sum is known to be added to behind those of other statements."""
    table = assignments(fragment, intrinsic, options.numerics)
    ordered = intrinsic.contraction.finish is not None or not accumulates_sum(intrinsic) or (
        fragment.update.dtype.is_float and not options.numerics.reassociate)
    outside, impossible = loops_kept_outside(fragment, dependences, ahead=not intrinsic.library, sums=not ordered) \
        if table else ({}, "")
    apart = apart or (bool(table) and not ordered and fragment.update.dtype.is_float and (outside, impossible) != \
        loops_kept_outside(fragment, dependences, ahead=not intrinsic.library))
    if outside and not impossible and len(fragment.kept) + len(outside) < fragment.statement.depth:
        fragment = fragment.inside(len(fragment.kept) + len(outside))
        outside, table = {}, assignments(fragment, intrinsic, options.numerics)
    checker = IslCheck(fragment)
    overlapping = not intrinsic.library and bool(table) and checker.overlapping
    if intrinsic.library and not fragment.is_box:
        impossible = impossible or (f"{intrinsic.name} computes whole rectangles of iterations, and those of "
                                    f"{fragment.statement.name} have another shape")
    if not intrinsic.library and table:   # a library is called in the program's order
        impossible = impossible or order_that_is_lost(fragment, dependences)
    if not fragment.is_box and not all(vanishes(intrinsic, frozenset({e.array})) for e in intrinsic.contraction.inputs):
        impossible = impossible or (f"the iterations of {fragment.statement.name} are no box, and one operand of "
                                    f"{intrinsic.name} that is zero does not hide what padding would add")
    if overlapping and ordered:
        impossible = impossible or (f"iterations of {fragment.statement.name} that are far apart add to one element, "
                                    "and these additions would change their order")
    images = mirror_images(table, intrinsic)
    encoding = Encoding(fragment, intrinsic, table, options.rule, options.extents, outside,
                        partial_sums=options.partial_sums and accumulates_sum(intrinsic) and (
                            fragment.update.dtype.is_integer or options.numerics.reassociate), halves=halves,
                        mirrored=frozenset(at for found in images.values() for at, _ in found))
    extents = [g.extent for g in encoding.groups]
    indexes = [g.indexes for g in encoding.groups]
    count = 0
    before = len(refused)
    layouts = LayoutTable(fragment, intrinsic, encoding.groups)
    own = own_dependences(fragment, dependences, ordered=ordered) if table else []
    output = intrinsic.output.name
    for choice in with_images(encoding.solutions(), images) if table and not impossible else ():
        candidate = Match(fragment=fragment, intrinsic=intrinsic, groups=encoding.groups, loops=choice.loops,
                          assignment=table[choice.assignment], table=layouts, overlapping=overlapping, ordered=ordered,
                          apart=apart)
        refusal = checker.refusal(candidate.assignment.held, output, indexes, choice.loops) \
            or same_tile_dependence(fragment, own, extents, choice.loops) \
            or (checker.written_while_read(candidate.assignment.held, choice.loops) if intrinsic.library else None)
        if refusal is not None:
            refused.append(f"{candidate}: {refusal.reason}")
            encoding.learn(choice, refusal.loops)
            continue
        if why := candidate.counts_padding() or candidate.cannot_be_called():
            refused.append(f"{candidate}: {why}")
            continue
        yield candidate
        count += 1
        if options.limit is not None and count >= options.limit:
            break
    if not count:
        whole = replace(encoding, mirrored=frozenset())   # for the explanation every assignment counts
        explanations.append(explain(whole, impossible=impossible, refused=tuple(refused[before:])))


__all__ = ["Choice", "Fact", "Match", "MatchOptions", "Matches", "match"]
