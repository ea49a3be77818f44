"""Every way to compute a program's statements with an instruction: solve, check, rank, or explain."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import Any

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.errors import BudgetExceededError
from polysched.records import dataclass
from polysched.scop.body import Expr
from polysched.scop.budget import ISL_OPERATIONS, in_words, with_budget
from polysched.scop.html import preformatted
from polysched.scop.scop import Scop
from polysched.scop.shown import Shown
from polysched.tensorize.description.agreement import require_agreement
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.equality.questions import one_budget
from polysched.tensorize.intrinsics.shipped import is_shipped
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.assignment import Assignment
from polysched.tensorize.matching.bodies import assignments
from polysched.tensorize.matching.encoding import Choice, Encoding, Extents, Rule, grouped
from polysched.tensorize.matching.explanation import Explanation, explain, not_handled, unread
from polysched.tensorize.matching.facts import Fact, Numerics
from polysched.tensorize.matching.grouping import groups_of_statements
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.operand_layout import LayoutTable
from polysched.tensorize.matching.scaling import keeps_old_value
from polysched.tensorize.matching.shapes import (
    is_cut,
    meets_zeros,
    not_hiding,
    shape_or_padding_forbids,
    unhandled_kinds,
)
from polysched.tensorize.matching.splitting import split_fragments, whole_fragments
from polysched.tensorize.matching.symmetry import Images, mirror_images, up_to_symmetry, with_images
from polysched.tensorize.preparing.ordering import (
    loops_kept_outside,
    order_that_is_lost,
    own_dependences,
    same_tile_dependence,
)
from polysched.tensorize.preparing.separating import separated
from polysched.tensorize.proofs.contents import is_one
from polysched.tensorize.proofs.correspondence import Correspondence, Grouped, shared_operands
from polysched.tensorize.proofs.ideal import (
    accumulates_sum,
    adds_in_any_order,
    multiplies,
)
from polysched.tensorize.proofs.instances import first_instances, left_out, missing_instances
from polysched.tensorize.proofs.isl_check import IslCheck, Refusal
from polysched.tensorize.proofs.sum_order import reordered, runs_in_order
from polysched.tensorize.software.conflicts import conflicts
from polysched.tensorize.software.fragment import Fragment, fragments

MOST_MAPPINGS = LIMITS.most_mappings


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
    explained : statements without a match are told why, which takes as long as finding none.
    """

    rule: Rule = Rule.EXACT
    extents: Extents = Extents.ANY
    numerics: Numerics = field(default_factory=Numerics)
    partial_sums: bool = False
    split: bool = False
    remainder: bool = False
    limit: int | None = None
    explained: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Matches(Shown):
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

    def headline(self) -> str:
        return f"of {self.scop.name} on {self.intrinsic.name}: {self.count} match{'es' * (self.count != 1)}"

    def __str__(self) -> str:
        return self.text(everything=True)

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def text(self, *, everything: bool) -> str:
        """The count, the matches, or only the cheapest, and, where there is none, the reasons."""
        lines = [f"{self.scop.name} on {self.intrinsic.name}, rule {self.options.rule.value}: {self.count} "
                 f"match{'es' * (self.count != 1)} ({self.total} with mirror images, {self.milliseconds:.0f} ms)"]
        for m in self.matches if everything else self.matches[:1]:
            lines += (f"  {line}" for line in m.lines())
        return "\n".join([*lines, *map(str, self.explanations if not self.count else ())])

    def to_json(self) -> dict[str, Any]:
        """The result as plain values; `count` is up to symmetry."""
        sizes = {n: v for m in self.matches[:1] for n, v in m.fragment.sizes.items()}
        return {"program": self.scop.name, "sizes": sizes, "intrinsic": self.intrinsic.name,
                "rule": self.options.rule.value, "extents": self.options.extents.value,
                "count": self.count, "count_with_symmetry": self.total,
                "matches": [m.to_json() for m in self.matches], "refused": list(self.refused),
                "explanations": [e.to_json() for e in self.explanations], "milliseconds": round(self.milliseconds, 2)}


def match(scop: Scop, intrinsic: Intrinsic, options: MatchOptions | None = None, *,
          sizes: Mapping[str, int] | None = None, dependences: Dependences | None = None, kept: int = 0,
          compared: bool = False) -> Matches:
    """All matches of an instruction in a program, every one checked by isl independently of the CNF.

    Where loops around a statement carry dependences between it and others, its matches are those of the nest inside.

    Parameters
    ----------
    sizes : values of the program's parameters; sample sizes where there is none.
    dependences : of the program, when they are known already.
    kept : so many outer loops around the whole program stay outside in any case.
    compared : the readings of the instruction's text are known to agree, as tests compare those of shipped ones.

    Raises
    ------
    SourceSyntaxError : the readings of an instruction's text differ, which is looked for once per text and process.
    """
    chosen = options or MatchOptions()
    if not compared and not is_shipped(intrinsic.semantics):
        require_agreement(intrinsic.semantics)
    if dependences is None:
        dependences = analyse(scop)
    with one_budget() as asked:
        found = _matches(scop, intrinsic, chosen, dependences, sizes, kept)
        if not found.count and (other := intrinsic.other_form) is not None:
            again = _matches(scop, other, replace(chosen, explained=False), dependences, sizes, kept)
            found = again if again.count else found
    return found if not asked.refused else replace(
        found, explanations=tuple(e.because(asked.words) for e in found.explanations))


def _matches(scop: Scop, intrinsic: Intrinsic, chosen: MatchOptions, dependences: Dependences,
             sizes: Mapping[str, int] | None, kept: int) -> Matches:
    """As `match`, behind the instruction's text."""
    started = time.perf_counter()
    found: list[Match] = []
    refused: list[str] = []
    wanted = None if sizes is None else tuple(sorted(sizes.items()))
    read = tuple(f.inside(kept) for f in _fragments(scop, wanted, tables=bool(intrinsic.contraction.tables)))
    explanations = _unread(scop, intrinsic, read)
    if strange := unhandled_kinds(intrinsic):
        explanations, read = explanations + [not_handled(f.statement.name, intrinsic, strange) for f in read], ()
    elif intrinsic.contraction.others:
        explanations += _together(scop, intrinsic, chosen, found, refused, sizes=sizes or {}, kept=kept)
        read = ()
    for fragment in read:
        mine: list[Match] = []
        try:
            for ways in _ways(fragment, intrinsic, chosen, dependences, refused, explanations, mine):
                mine += ways
        except BudgetExceededError as error:   # what was found until then is as good as ever
            explanations.append(Explanation(statement=fragment.statement.name, intrinsic=intrinsic.name, conflicts=(
                f"{error.problem}; {error.hint}" if error.hint else error.problem,)))
        if mine:
            explanations = [e for e in explanations if e.statement != fragment.statement.name]
        found += mine
    ranked = sorted(up_to_symmetry(found, intrinsic), key=lambda m: (m.cost_cycles, -sum(map(len, m.loops))))
    return Matches(scop=scop, intrinsic=intrinsic, options=chosen, matches=tuple(ranked), with_mirrors=tuple(found),
                   explanations=tuple(explanations), refused=tuple(refused),
                   milliseconds=1000 * (time.perf_counter() - started))


@lru_cache(maxsize=2)
def _fragments(scop: Scop, sizes: tuple[tuple[str, int], ...] | None, *, tables: bool) -> tuple[Fragment, ...]:
    """The statements of a program, which many instructions are compared with one after the other."""
    return fragments(scop, sizes=None if sizes is None else dict(sizes), tables=tables)


def _unread(scop: Scop, intrinsic: Intrinsic, read: Iterable[Fragment]) -> list[Explanation]:
    """Why the other statements are no fragments."""
    known = {f.statement.name for f in read}
    return [unread(scop, s, intrinsic) for s in scop.statements if s.name not in known]


def _together(scop: Scop, intrinsic: Intrinsic, options: MatchOptions, found: list[Match], refused: list[str], *,
              sizes: Mapping[str, int], kept: int) -> list[Explanation]:
    """Add the matches of statements that an instruction with several results computes at once; why others are none."""
    explanations: list[Explanation] = []
    count = len(intrinsic.contraction.results)
    try:
        for group in groups_of_statements(scop, intrinsic, sizes=sizes, kept=kept):
            if isinstance(group, str):
                explanations.append(Explanation(statement="statements", intrinsic=intrinsic.name, conflicts=(group,)))
            else:
                found += _of_fragment(group.fragment, intrinsic, options, group.dependences, refused, explanations)
    except BudgetExceededError as error:
        explanations.append(Explanation(statement="statements", intrinsic=intrinsic.name, conflicts=(
            f"{error.problem}; {error.hint}",)))
    matched = {m.fragment.statement.name for m in found}
    none = Explanation(statement="statements", intrinsic=intrinsic.name, conflicts=(
        f"{intrinsic.name} writes {count} elements at once, and no {count} statements of {scop.name} have the same "
        "loops and results of these widths",))
    return [e for e in explanations if e.statement not in matched] or ([] if matched else [none])


def _ways(fragment: Fragment, intrinsic: Intrinsic, options: MatchOptions, dependences: Dependences,
          refused: list[str], explanations: list[Explanation], found: list[Match]) -> Iterator[Iterable[Match]]:
    """The statement as it stands, then cut in every way that the options allow.

    Parameters
    ----------
    found : the matches so far, which the caller adds to.
    """
    yield _of_fragment(fragment, intrinsic, options, dependences, refused, explanations)
    exact = options.rule is Rule.EXACT and not intrinsic.contraction.tables
    if is_cut(intrinsic) and not found:
        yield _of_begun_ahead(fragment, intrinsic, options, dependences, refused)
    if options.split and exact:
        yield _of_halves(fragment, intrinsic, options, dependences, refused)
    if options.remainder and exact and not intrinsic.library:
        yield _of_whole(fragment, intrinsic, options, dependences, refused, list(found))
    if exact and intrinsic.contraction.accumulates and not any(map(_of_one_product, found)):
        yield _of_products(fragment, intrinsic, options, dependences, refused)


def _of_begun_ahead(fragment: Fragment, intrinsic: Intrinsic, options: MatchOptions, dependences: Dependences,
                    refused: list[str]) -> Iterator[Match]:
    """Matches of an instruction that leaves out the first iterations of a dimension, and so of the program's loop."""
    for loop, steps in itertools.product(fragment.loops[len(fragment.kept):], sorted(first_instances(intrinsic))):
        ahead = fragment.beginning_ahead(loop.name, steps)
        yield from _of_fragment(ahead, intrinsic, options, dependences, refused, [])


def _of_one_product(m: Match) -> bool:
    """No factor of the product is the number one."""
    return not any(is_one(e) for name, e in m.assignment.operands
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
    problem = _problem(fragment, intrinsic, options, dependences, apart=apart)
    images = mirror_images(problem.table, intrinsic)
    encoding = Encoding(problem.fragment, intrinsic, problem.table, options.rule, options.extents, problem.outside,
                        partial_sums=options.partial_sums and accumulates_sum(intrinsic) and not fragment.others and (
                            fragment.update.dtype.is_integer or options.numerics.reassociate), halves=halves,
                        mirrored=frozenset(at for found in images.values() for at, _ in found))
    before, count = len(refused), 0
    impossible = problem.impossible
    if problem.table and not impossible:
        for candidate in _checked(problem, encoding, images, dependences, refused):
            yield candidate
            count += 1
            if options.limit is not None and count >= options.limit:
                break
    if not count and options.explained:
        whole = replace(encoding, mirrored=frozenset())   # for the explanation every assignment counts
        explanations.append(explain(whole, impossible=impossible, refused=tuple(refused[before:])))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Problem:
    """One statement and one instruction, ahead of the search.

    Parameters
    ----------
    fragment : with the loops that stay outside in any case taken away.
    table : the assignments of operands.
    outside : loops that have to stay around the instruction, with the reason.
    impossible : why there is no match, whatever goes where; "" where one may exist.
    ordered, apart, overlapping : as in `Match`.
    """

    fragment: Fragment
    intrinsic: Intrinsic
    numerics: Numerics
    table: tuple[Assignment, ...]
    outside: dict[str, str]
    impossible: str
    ordered: bool
    apart: bool
    overlapping: bool
    checker: IslCheck


def _problem(fragment: Fragment, intrinsic: Intrinsic, options: MatchOptions, dependences: Dependences, *,
             apart: bool) -> _Problem:
    """What dependences and shapes leave of a statement, for every mapping alike."""
    table = assignments(fragment, intrinsic, options.numerics)
    ordered = _is_ordered(fragment, intrinsic, options.numerics)
    outside, impossible = loops_kept_outside(fragment, dependences, ahead=not intrinsic.library, sums=not ordered) \
        if table else ({}, "")
    outside |= _moving_tables(fragment, intrinsic, table)
    apart = apart or (bool(table) and not ordered and fragment.update.dtype.is_float and (outside, impossible) != \
        loops_kept_outside(fragment, dependences, ahead=not intrinsic.library))
    if outside and not impossible and len(fragment.kept) + len(outside) < fragment.statement.depth:
        fragment = fragment.inside(len(fragment.kept) + len(outside))
        outside, table = {}, assignments(fragment, intrinsic, options.numerics)
    checker = IslCheck(fragment, shared=shared_operands(intrinsic), counted=not_hiding(intrinsic))
    overlapping = not intrinsic.library and bool(table) and checker.overlapping
    impossible = impossible or shape_or_padding_forbids(fragment, intrinsic, checker, options.numerics)
    if not intrinsic.library and table:   # a library is called in the program's order
        impossible = impossible or order_that_is_lost(fragment, dependences)
    if overlapping and (ordered or fragment.others):
        impossible = impossible or (f"iterations of {fragment.statement.name} that are far apart add to one element, "
                                    "and these additions would change their order")
    return _Problem(fragment=fragment, intrinsic=intrinsic, numerics=options.numerics, table=table, outside=outside,
                    impossible=impossible, ordered=ordered, apart=apart, overlapping=overlapping, checker=checker)


def _is_ordered(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics) -> bool:
    """Whether updates of one element keep their order."""
    return not adds_in_any_order(intrinsic) or (fragment.update.dtype.is_float and not numerics.reassociate)


def _moving_tables(fragment: Fragment, intrinsic: Intrinsic, table: tuple[Assignment, ...]) -> dict[str, str]:
    """The outermost loops that stay outside since a table changes with the last of them."""
    tables = [table[0].expression(t) for t in intrinsic.contraction.tables] if table else []
    names = frozenset().union(*map(fragment.loops_of, tables))
    deep = max((at + 1 for at, p in enumerate(fragment.loops) if p.name in names and p.extent > 1), default=0)
    return dict.fromkeys(fragment.statement.iterators[len(fragment.kept):deep], "a table changes with it")


def _cannot_be_emitted(candidate: Match, numerics: Numerics) -> str:
    """Why the instruction would not compute the statement although operands correspond; "" where it does."""
    if is_cut(candidate.intrinsic) and not numerics.finite and candidate.takes_zeros:
        return meets_zeros(candidate.fragment)
    return candidate.counts_padding() or candidate.cannot_be_called() or keeps_old_value(candidate)


@dataclass(eq=False)
class _OrderCheck:
    """Whether mappings keep the order of updates; those with the same places of the sum's loops share the answer."""

    problem: _Problem
    own: list[isl.Map]
    groups: tuple[Grouped, ...]
    known: dict[tuple[tuple[str, ...], ...], Refusal | None] = field(default_factory=dict)

    def __call__(self, loops: tuple[tuple[str, ...], ...]) -> Refusal | None:
        problem = self.problem
        told = not problem.overlapping and problem.intrinsic.output.name not in problem.checker.shared
        equal = problem.checker.written if told else frozenset[str]()   # an element tells its loops
        key = tuple(() if {*members} <= equal else members for members in loops)
        if key not in self.known:
            self.known[key] = reordered(problem.fragment, problem.intrinsic, self.own, self.groups, loops, equal=equal)
        return self.known[key]


def _checked(problem: _Problem, encoding: Encoding, images: Images, dependences: Dependences,
             refused: list[str]) -> Iterator[Match]:
    """The solutions of an encoding that isl and the instruction's shape admit; what isl refuses is learned."""
    fragment, intrinsic, checker = problem.fragment, problem.intrinsic, problem.checker
    extents, indexes = [g.extent for g in encoding.groups], [g.indexes for g in encoding.groups]
    layouts = LayoutTable(fragment, intrinsic, encoding.groups)
    own = own_dependences(fragment, dependences, ordered=problem.ordered)
    relations = Correspondence(fragment, intrinsic, grouped(intrinsic, encoding.groups), adds_up=problem.overlapping) \
        if checker.shared else None
    cut = grouped(intrinsic, encoding.groups) if is_cut(intrinsic) else None
    in_order = _OrderCheck(problem, own, grouped(intrinsic, encoding.groups)) \
        if own and problem.ordered and runs_in_order(intrinsic) else None
    output, compared = intrinsic.output.name, [a.without(intrinsic.contraction.tables) for a in problem.table]
    for number, choice in enumerate(with_images(encoding.solutions(), images)):
        if number >= MOST_MAPPINGS:
            raise BudgetExceededError(f"{fragment.statement.name} has more than {MOST_MAPPINGS} mappings of loops to "
                                      f"dimensions of {intrinsic.name}", hint="give a limit, or keep loops outside")
        candidate = Match(fragment=fragment, intrinsic=intrinsic, groups=encoding.groups, loops=choice.loops,
                          assignment=problem.table[choice.assignment], table=layouts, overlapping=problem.overlapping,
                          ordered=problem.ordered, apart=problem.apart)
        held = compared[choice.assignment]

        def asked(held: Mapping[str, Expr] = held, choice: Choice = choice) -> tuple[Refusal | None]:
            return (checker.refusal(held, output, indexes, choice.loops,
                                    lambda: left_out(fragment, intrinsic, cut, choice.loops))
                    or (relations.refusal(held, choice.loops) if relations is not None else None)
                    or missing_instances(fragment, intrinsic, cut, choice.loops)
                    or (in_order(choice.loops) if in_order is not None
                        else same_tile_dependence(fragment, own, extents, choice.loops))
                    or (checker.written_while_read(held, choice.loops) if intrinsic.library else None),)

        answer = with_budget(ISL_OPERATIONS, asked)
        if answer is None:
            raise BudgetExceededError(f"isl compares the elements of {candidate} for more than "
                                      f"{in_words(ISL_OPERATIONS)}", hint="smaller or fixed extents may help")
        refusal, = answer
        if refusal is not None:
            refused.append(f"{candidate}: {refusal.reason}")
            encoding.learn(choice, refusal.loops, refusal.groups)
        elif why := _cannot_be_emitted(candidate, problem.numerics):
            refused.append(f"{candidate}: {why}")
        else:
            yield candidate


__all__ = ["Choice", "Fact", "Match", "MatchOptions", "Matches", "match"]
