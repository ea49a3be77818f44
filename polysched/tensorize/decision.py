"""Whether an instruction computes a statement of a program, and if so which, with the reasons in words."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.errors import IllegalScheduleError, NoIntrinsicMatchError
from polysched.records import dataclass
from polysched.scop.body import Assign
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop, Statement
from polysched.target import Target
from polysched.tensorize.choice import best_few
from polysched.tensorize.description.intrinsic import Intrinsic, Isa
from polysched.tensorize.emission.any_size import emit_for_all_sizes, library_for_all_sizes
from polysched.tensorize.emission.blocking import compulsory_seconds
from polysched.tensorize.emission.cost import copy_cycles, plan_cycles
from polysched.tensorize.emission.function import EmissionOptions
from polysched.tensorize.emission.nest import loaded
from polysched.tensorize.emission.plan import Plan, PlanChoice, Tiling, make_plan
from polysched.tensorize.instruction_choice import NO_INSTRUCTION, InstructionChoice, choice_of
from polysched.tensorize.joining import with_joined
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.any_size import for_all_sizes
from polysched.tensorize.matching.general_loops import NotGeneralError
from polysched.tensorize.matching.grouping import dependences_of
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.match import MatchOptions, match
from polysched.tensorize.matching.operand_layout import LayoutTable
from polysched.tensorize.options import DEFAULT, TensorizeOptions
from polysched.tensorize.plan_candidates import candidate_plans
from polysched.tensorize.program import TensorizedProgram, packed_once, tensorize
from polysched.tensorize.proofs.ideal import adds_in_any_order
from polysched.tensorize.samples import samples_of_whole_sums
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.surroundings import KeptLoop, inside_loops, surroundings

MEASURED_MATCHES = LIMITS.measured_matches
HALF_IDLE = LIMITS.half_idle_share
NARROW_BITS = LIMITS.narrow_bits
LEAST_WINDOWED = LIMITS.least_windowed_work


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision:
    """What was decided for one program.

    Parameters
    ----------
    program : the program around the statement that an instruction computes; None without one.
    reasons : one sentence per statement that was looked at.
    emulated : this machine does not execute the instruction; plain C that computes the same stands for it.
    rivals : the program's match and the next best of the same statement, whose plans are to be measured; else empty.
    """

    program: TensorizedProgram | None
    reasons: tuple[str, ...]
    emulated: bool = False
    rivals: tuple[Match, ...] = ()

    def rest(self, scop: Scop) -> tuple[Scop, ...]:
        """What is left of the program for ordinary code."""
        if self.program is None:
            return (scop,)
        sizes = self.program.match.fragment.sizes
        return tuple(inside_loops(part, loops, sizes) for part, loops in self.program.parts)

    def plan(self, target: Target) -> Plan | None:
        """The loops around the instruction; None without one, and for library calls."""
        if self.program is None or self.program.match.intrinsic.library:
            return None
        return make_plan(self.program.match, emulated=self.emulated, target=target, choice=self.program.choice)


def may_gain(scop: Scop) -> bool:
    """Whether a default instruction could compute a statement: integers of at most 16 bits, and a sum of wider ones.

    That is all that the described instructions read and write; other programs need not be analysed for them.
    """
    narrow = {a.name for a in scop.arrays if a.dtype.is_integer and a.dtype.bits <= NARROW_BITS}
    read = {a.array for s in scop.statements for a in s.accesses} & narrow
    return bool(read) and any(s.depth >= 2 and _adds_integers(s) for s in scop.statements)


def _adds_integers(statement: Statement) -> bool:
    return any(isinstance(b, Assign) and b.dtype.is_integer and b.dtype.bits > NARROW_BITS for b in statement.body)


def decide(scop: Scop, options: TensorizeOptions, target: Target, *, outside: tuple[KeptLoop, ...] = (),
           without: Collection[tuple[str, str]] = (), dependences: Dependences | None = None) -> Decision:
    """The statement and instruction that save most, or why none does.

    A statement that can be taken out of all loops comes before one that some loops have to stay around: then the others
    are still tied, but not it.

    Parameters
    ----------
    outside : loops around the whole program, which somebody else emits.
    without : statements and instructions, by name, that were tried together and found wrong.
    dependences : of the program, when they are known already.

    Raises
    ------
    UsageError : an instruction is not known.
    NoIntrinsicMatchError : one that was chosen for a statement does not compute it so.
    """
    decision = _decide(scop, options, target, outside=outside, without=without,
                       dependences=dependences or analyse(scop))
    if decision.program is None:
        _refuse_unused(scop, options, decision, without)
    return decision


def _refuse_unused(scop: Scop, options: TensorizeOptions, decision: Decision,
                   without: Collection[tuple[str, str]]) -> None:
    """Refuse a choice for a statement that is still there."""
    here = {s.name for s in scop.statements}
    for name, choice in options.chosen.items():
        if name in here and choice.name != NO_INSTRUCTION and (name, choice.name) not in without:
            raise NoIntrinsicMatchError(
                f"{choice.name} does not compute {name} as it was chosen to", where=f"statement {name}",
                witness="; ".join(decision.reasons)[:200] or str(choice)[:200],
                hint="`polysched match` lists the mappings")


def _decide(scop: Scop, options: TensorizeOptions, target: Target, *, outside: tuple[KeptLoop, ...],
            without: Collection[tuple[str, str]], dependences: Dependences) -> Decision:
    """As `decide`, whatever was chosen by hand."""
    if options.intrinsic == DEFAULT and options.sizes:   # one function for all sizes, else one for these
        general = _decide(scop, replace(options, sizes={}, samples={**options.sizes}), target, outside=outside,
                          without=without, dependences=dependences)
        if general.program is not None or not scop.parameters:
            return general
    missing = tuple(p.name for p in scop.parameters if p.name not in options.sizes)
    sizes = options.sizes_of(scop)
    if missing and (outside or fix_parameters(scop.context.params(), sizes).is_empty()):
        return Decision(program=None, reasons=(
            f"no instruction: its code needs the value of {', '.join(missing)} (--size {missing[0]}=N)",))
    considered = _worth_matching(options, sized=not missing)
    found, why = _candidates(dependences, considered, options, sizes, kept=len(outside), in_lanes=not missing)
    if short := {} if found else samples_of_whole_sums(scop, considered, sizes, missing):
        return _decide(scop, replace(options, samples={**options.samples, **short}), target, outside=outside,
                       without=without, dependences=dependences)
    found = [m.on(target) for m in found if (m.fragment.statement.name, m.intrinsic.name) not in without
             and options.allows(m)]
    return _with_fewest_kept(found, why, options, target, outside, dependences, missing)


def _worth_matching(options: TensorizeOptions, *, sized: bool) -> list[Intrinsic]:
    """The instructions to look at, without those that `_split` would refuse."""
    considered = options.considered()
    return considered if sized or options.is_asked else [i for i in considered if adds_in_any_order(i)]


def offered(scop: Scop, options: TensorizeOptions, target: Target) -> dict[str, tuple[InstructionChoice, ...]]:
    """What may be chosen for each statement: mappings and plans of the instructions that the options consider.

    Sizes that are not stated count as typical ones.
    """
    sizes = options.sizes_of(scop)
    if fix_parameters(scop.context.params(), sizes).is_empty():
        return {}
    found, _ = _candidates(analyse(scop), options.considered(), options, sizes, kept=0,
                           in_lanes=all(p.name in options.sizes for p in scop.parameters))
    by_statement: dict[str, list[Match]] = {}
    for candidate in (m.on(target) for m in found):
        if not candidate.intrinsic.library and options.executes(candidate.intrinsic):
            by_statement.setdefault(candidate.fragment.statement.name, []).append(candidate)
    return {name: tuple(dict.fromkeys(
        choice_of(m, plan) for m in best_few(own, target, count=MEASURED_MATCHES)
        for plan, _ in candidate_plans(m, target=target, blocks=1))) for name, own in by_statement.items()}


def _with_fewest_kept(found: list[Match], why: list[str], options: TensorizeOptions, target: Target,
                      outside: tuple[KeptLoop, ...], dependences: Dependences, missing: tuple[str, ...]) -> Decision:
    """The best match among those that the fewest loops stay around; with more loops only where none of them will do."""
    decision = Decision(program=None, reasons=())
    for depth in sorted({len(m.fragment.kept) for m in found} or {0}):
        tried = _best([m for m in found if len(m.fragment.kept) == depth], why, options, target, outside, dependences,
                      missing)
        if tried.program is not None:
            return tried
        decision = replace(decision, reasons=tuple(dict.fromkeys((*decision.reasons, *tried.reasons))))
    return decision


def _candidates(dependences: Dependences, considered: list[Intrinsic], options: TensorizeOptions,
                sizes: Mapping[str, int], *, kept: int, in_lanes: bool) -> tuple[list[Match], list[str]]:
    """The matches of all instructions, and why those that somebody asked for have none.

    Parameters
    ----------
    kept : loops around the whole program, which stay.
    in_lanes : sums may be split among lanes; not where sizes are unknown.
    """
    scop = dependences.scop
    found: list[Match] = []
    why: list[str] = []
    for intrinsic in considered:
        wanted = MatchOptions(numerics=options.numerics, explained=not options.by_model)
        matches = match(scop, intrinsic, wanted, sizes=sizes, dependences=dependences, kept=kept)
        found += matches.with_mirrors
        if not intrinsic.library and in_lanes and all(map(_mostly_idle, matches.with_mirrors)):
            lanes = replace(wanted, partial_sums=True, split=bool(matches.with_mirrors), remainder=True)
            found += match(scop, intrinsic, lanes, sizes=sizes, dependences=dependences, kept=kept).with_mirrors
        if not options.by_model:
            why += [str(e) for e in matches.explanations]
    return found, why


def _mostly_idle(candidate: Match) -> bool:
    """Lanes may hold partial sums then: the instruction computes padding, or waits for copies that are used once."""
    return candidate.utilisation < HALF_IDLE or candidate.copies_for_one_use


@dataclass(frozen=True, eq=False, kw_only=True)
class _Gain:
    """A program with an instruction, the cycles that it saves over ordinary code, and the reason in words."""

    cycles: float
    program: TensorizedProgram
    reason: str


def _best(found: list[Match], why: list[str], options: TensorizeOptions, target: Target,
          outside: tuple[KeptLoop, ...], dependences: Dependences, missing: tuple[str, ...]) -> Decision:
    """The match with the greatest gain over ordinary code, among those whose program splits around the statement."""
    best: _Gain | None = None
    tied: dict[str, str] = {}
    refused: dict[str, list[Refused]] = {}
    written = WrittenInside(outside)
    for candidate in sorted(found, key=lambda m: m.cost_cycles):
        name, ordinary = candidate.fragment.statement.name, ordinary_cycles(candidate.fragment, target)
        if not _saves_more(ordinary - candidate.cost_cycles, best):
            continue
        cycles = _cycles(candidate, target, written)
        slow = cycles >= ordinary
        if (candidate.rest and slow) or not _saves_more(ordinary - cycles, best):   # slow: nothing is left behind
            continue
        text = _costs(candidate, cycles, ordinary)
        if options.by_model and name not in options.chosen and (slow or not options.executes(candidate.intrinsic)):
            refused.setdefault(name, []).append(
                Refused(cycles=cycles, intrinsic=candidate.intrinsic, text=text, slow=slow))
            continue
        program = _split(candidate, options, target, outside, dependences, missing)
        if isinstance(program, str):
            tied[name] = f"{name}: {program}"
        else:
            best = _Gain(cycles=ordinary - cycles, program=program, reason=f"{name}: {text}")
    if best is not None:
        return _taken(best, found, options, target, sized=not missing)
    words = (f"{n}: {t}" for n, several in refused.items() for t in _in_words(several, options))
    reasons = [*tied.values(), *words, *why]
    return Decision(program=None, reasons=tuple(reasons or ["no instruction that this machine executes matches"]))


def _saves_more(cycles: float, best: _Gain | None) -> bool:
    """Whether so many saved cycles are more than those of the best so far."""
    return best is None or cycles > best.cycles


def _costs(candidate: Match, cycles: float, ordinary: float) -> str:
    """What a match costs beside ordinary code, in words."""
    text = f"{candidate.intrinsic.name} about {cycles:.0f} cycles, vector code at best {ordinary:.0f}"
    if candidate.fragment.kept:
        text += f", inside {' and '.join(f'loop {n}' for n in candidate.fragment.kept)}"
    return text


def _split(candidate: Match, options: TensorizeOptions, target: Target, outside: tuple[KeptLoop, ...],
           dependences: Dependences, missing: tuple[str, ...]) -> TensorizedProgram | str:
    """The program around a match, for all values of the missing sizes; in words why there is none."""
    name, same = candidate.fragment.statement.name, candidate.fragment.scop is dependences.scop   # else a loop was cut
    if missing and candidate.ordered and options.by_model and name not in options.chosen:
        return (f"{candidate.intrinsic.name} computes each element once, and whether that pays depends on sizes "
                f"(--size {missing[0]}=N)")
    try:
        if not missing:
            return tensorize(candidate, outside=outside, dependences=dependences if same else None)
        merged = not same and candidate.fragment.others   # statements that are computed at once
        own = dependences_of(candidate.fragment, dependences)
        program = tensorize(candidate, outside=outside, dependences=None if merged else own)
        program = _for_all_sizes(program, own, missing, target, dependences.scop)
        return with_joined(program) if options.executes(candidate.intrinsic) else program   # emulators write in place
    except NotGeneralError as reason:
        return f"{candidate.intrinsic.name} needs sizes, since {reason} (--size {missing[0]}=N)"
    except (IllegalScheduleError, NoIntrinsicMatchError) as refusal:
        return f"{refusal.problem} ({refusal.witness})"


def _taken(best: _Gain, found: list[Match], options: TensorizeOptions, target: Target, *, sized: bool) -> Decision:
    """The decision for a program: what stands for its instruction, and its rivals or how threads share its tiles.

    Parameters
    ----------
    sized : all sizes are known.
    """
    program, chosen = best.program, best.program.match.intrinsic
    emulated = not chosen.library and not options.executes(chosen)
    note = f", by its emulator: this machine does not execute {chosen.isa.name}" if emulated else ""
    rivals: tuple[Match, ...] = ()
    own = options.chosen.get(program.match.fragment.statement.name)
    if own is not None and own.plan is not None and not chosen.library:
        program = replace(program, choice=own.plan)
    elif options.measure and not (emulated or chosen.library) and sized:
        rivals = _rivals(program.match, found, target)
    elif not emulated and not chosen.library:
        program = _handed_out(program, target)
    return Decision(program=program, reasons=(best.reason + note,), emulated=emulated, rivals=rivals)


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A match that `auto` does not take: no faster than vector code (`slow`), or of an instruction that is not here."""

    cycles: float
    intrinsic: Intrinsic
    text: str
    slow: bool


def _in_words(refused: list[Refused], options: TensorizeOptions) -> Iterator[str]:
    """The best that this machine executes, and the best that would be faster but that it does not execute."""
    absent: set[Isa] = set()
    for found in sorted(refused, key=lambda r: r.cycles):
        if found.intrinsic.isa in absent:   # of its instructions one was tried
            continue
        if options.executes(found.intrinsic):
            yield f"no instruction is worth it ({found.text})"
            return
        absent.add(found.intrinsic.isa)
        if not found.slow and len(absent) == 1:
            yield (f"{found.text}, but this machine does not execute {found.intrinsic.isa.name} "
                   f"(--intrinsic {found.intrinsic.name} runs its emulator)")


def _for_all_sizes(program: TensorizedProgram, dependences: Dependences, missing: tuple[str, ...],
                   target: Target, given: Scop) -> TensorizedProgram:
    """The program whose nest computes every size from the least one on that pays; found by halving the sample sizes.

    Parameters
    ----------
    given : the program as it was matched.

    Raises
    ------
    NotGeneralError : the match holds for its sample sizes only.
    """
    match = program.match
    general = for_all_sizes(match, dependences, missing, gone=program.gone, given=given)
    if match.intrinsic.library:
        library_for_all_sizes(general, "f", program.scale)   # refuses what it cannot call
        return replace(program, general=general)
    if copies_windows(make_plan(match, emulated=False, target=target)):   # work is no measure of what they cost
        each = ordinary_cycles_each(match.fragment, target)
        emit_for_all_sizes(general, match, "f", EmissionOptions(zero=program.zero), least_work=LEAST_WINDOWED,
                           ordinary_cycles=each)
        return replace(program, general=general, least_work=LEAST_WINDOWED, ordinary_cycles=each)
    least, smaller = float(match.fragment.work), match
    while smaller.fragment.work > 1 and plan_cycles(make_plan(smaller, emulated=False, target=target), target) \
            < ordinary_cycles(smaller.fragment, target):
        least = float(smaller.fragment.work)
        smaller = _halved(smaller)
    emit_for_all_sizes(general, match, "f", EmissionOptions(zero=program.zero), least_work=least)   # refuses what it
    return replace(program, general=general, least_work=least)                                     # cannot emit


def _halved(match: Match) -> Match:
    """A match of a nest with half of the iterations of every loop, which only costs are asked of."""
    loops = tuple(replace(loop, extent=max(1, loop.extent // 2)) for loop in match.fragment.loops)
    fragment = replace(match.fragment, loops=loops)
    return replace(match, fragment=fragment, table=LayoutTable(fragment, match.intrinsic, match.groups))


def _handed_out(program: TensorizedProgram, target: Target) -> TensorizedProgram:
    """The program whose threads take tiles one by one, where the nest is long enough for that."""
    choice = PlanChoice(tiling=Tiling.HANDED_OUT)
    plan = make_plan(program.match, emulated=False, target=target, choice=choice)
    return replace(program, choice=choice) if plan.handed_out else program


def _rivals(own: Match, found: list[Match], target: Target) -> tuple[Match, ...]:
    """A match and the next best of the same statement with the same instruction."""
    same = [m for m in found if (m.intrinsic, m.fragment.statement) == (own.intrinsic, own.fragment.statement)]
    return own, *best_few([m for m in same if m is not own], target, count=MEASURED_MATCHES - 1)


@dataclass(frozen=True)
class WrittenInside:
    """What the loops around matches write, asked for once per statement.

    Parameters
    ----------
    outside : loops around the whole program.
    """

    outside: tuple[KeptLoop, ...]
    known: dict[tuple[str, int], list[frozenset[str]]] = field(default_factory=dict)

    def __call__(self, candidate: Match) -> list[frozenset[str]]:
        """Per kept loop of a match the arrays that something inside writes."""
        fragment = candidate.fragment
        key = fragment.statement.name, len(fragment.kept)
        if key not in self.known:
            places = surroundings(fragment.scop, fragment.statement.name) if fragment.kept else ()
            inside = [place.statements for place in places[len(self.outside):len(fragment.kept)]]
            self.known[key] = [*(loop.written for loop in self.outside), *(
                frozenset(a.array for n in names for a in fragment.scop.statement(n).writes) for names in inside)]
        return self.known[key]


def _cycles(candidate: Match, target: Target, written: WrittenInside) -> float:
    """What a match costs in all iterations of the loops around it, some of its packing ahead of them."""
    if candidate.intrinsic.library:
        return candidate.cost_cycles
    plan, fragment = make_plan(candidate, emulated=False, target=target), candidate.fragment
    total = plan_cycles(plan, target) * fragment.times
    for operand, at in packed_once(candidate, written(candidate)).items():
        if plan.place(operand).packed:
            total -= copy_cycles(plan, plan.place(operand)) * (fragment.times - math.prod(fragment.kept_extents[:at]))
    return total


def ordinary_cycles(fragment: Fragment, target: Target) -> float:
    """The least that ordinary vector code needs: one multiply-add per lane, pipe and cycle, integers two operations.

    Every element has to come from memory once, for an instruction as for vector code, and in every iteration of the
    loops around.
    """
    seconds = compulsory_seconds(touched_bytes(fragment), target)
    computed = math.prod(loop.extent for loop in fragment.loops) * ordinary_cycles_each(fragment, target)
    return (computed + seconds * target.frequency_hz) * fragment.times


def ordinary_cycles_each(fragment: Fragment, target: Target) -> float:
    """Cycles of ordinary vector code per iteration, without what it fetches."""
    operations = 1 if fragment.update.dtype.is_float else 2
    return operations / (target.lanes(fragment.update.dtype.bits) * target.multiply_adds_per_cycle)


def copies_windows(plan: Plan) -> bool:
    """Whether an input is copied more than once, as the windows of a convolution that overlap are."""
    fragment = plan.match.fragment
    for place in plan.places:
        if not place.packed or place.operand in plan.match.written:
            continue
        for reference in loaded(plan.match, place.operand):
            inside = math.prod(1 + sum(abs(c) * (fragment.loop(n).extent - 1) for n, c in index.coefficients)
                               for index in fragment.indices[reference])
            moved = math.prod(fragment.loop(n).extent for index in fragment.indices[reference]
                              for n, _ in index.coefficients)
            if moved > inside:
                return True
    return False


def touched_bytes(fragment: Fragment) -> int:
    """Bytes of the elements that a statement reads, and twice those that it writes."""
    statement = fragment.statement
    own = statement.access(fragment.target)
    total = 0
    for access in {(a.array, str(a.relation)): a for a in statement.accesses}.values():
        elements = math.prod(1 + sum(abs(c) * (fragment.loop(n).extent - 1) for n, c in index.coefficients)
                             for index in fragment.indices[access.reference])
        written = access.array == own.array and access.relation.is_equal(own.relation)
        total += elements * fragment.scop.array(access.array).dtype.bytes * (2 if written else 1)
    return total
