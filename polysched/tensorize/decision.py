"""Whether an instruction computes a statement of a program, and if so which, with the reasons in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from polysched.dependence import analyse
from polysched.errors import IllegalScheduleError, NoIntrinsicMatchError
from polysched.scop.scop import Scop
from polysched.target import Target
from polysched.tensorize.choice import best_few, executes_here, may_execute_here
from polysched.tensorize.emission.blocking import compulsory_seconds
from polysched.tensorize.emission.cost import plan_cycles
from polysched.tensorize.emission.plan import Plan, make_plan
from polysched.tensorize.facts import Numerics
from polysched.tensorize.fragment import Fragment
from polysched.tensorize.intrinsic import Intrinsic
from polysched.tensorize.match import Match, MatchOptions, match
from polysched.tensorize.measured import measured_plans
from polysched.tensorize.program import TensorizedProgram, tensorize
from polysched.tensorize.registry import INTRINSICS, find_intrinsic, load_intrinsics

AUTO = "auto"
MEASURED_MATCHES = 3
HALF_IDLE = 0.5   # of the instruction's work


@dataclass(frozen=True, kw_only=True)
class TensorizeOptions:
    """Which instructions may compute statements of a program.

    Parameters
    ----------
    intrinsic : the name of one, which is then used wherever it matches; or `auto`: of all that this machine executes
        the cheapest, where that promises more than vector code could do at best.
    files : Python files that describe further instructions.
    sizes : values of the program's parameters; the code is made for them, other sizes take the ordinary code.
    numerics : what may change in floating-point results.
    measure : of the models' plans for the chosen instruction take the one that runs fastest here.
    """

    intrinsic: str = AUTO
    files: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    numerics: Numerics = field(default_factory=Numerics)
    measure: bool = False

    def considered(self) -> list[Intrinsic]:
        """The instructions to look at.

        Raises
        ------
        UsageError : there is none of this name, or a file does not load.
        """
        also: dict[str, Intrinsic] = {}
        for path in self.files:
            also |= load_intrinsics(path)
        if self.intrinsic != AUTO:
            return [find_intrinsic(self.intrinsic, also=also)]
        return [i for i in (*INTRINSICS.values(), *also.values()) if may_execute_here(i)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision:
    """What was decided for one program.

    Parameters
    ----------
    program : the program around the statement that an instruction computes; None without one.
    reasons : one sentence per statement that was looked at.
    emulated : this machine does not execute the instruction; plain C that computes the same stands for it.
    """

    program: TensorizedProgram | None
    reasons: tuple[str, ...]
    emulated: bool = False

    def rest(self, scop: Scop) -> tuple[Scop, ...]:
        """What is left of the program for ordinary code."""
        if self.program is None:
            return (scop,)
        return tuple(p for p in (self.program.before, self.program.after) if p is not None)

    def plan(self, target: Target) -> Plan | None:
        """The loops around the instruction; None without one, and for library calls."""
        if self.program is None or self.program.match.intrinsic.library:
            return None
        return make_plan(self.program.match, emulated=self.emulated, target=target, choice=self.program.choice)


def decide(scop: Scop, options: TensorizeOptions, target: Target) -> Decision:
    """The statement and instruction that save most, or why none does.

    Raises
    ------
    UsageError : an instruction is not known.
    """
    missing = [p.name for p in scop.parameters if p.name not in options.sizes]
    if missing:
        return Decision(program=None, reasons=(
            f"no instruction: its code needs the value of {', '.join(missing)} (--size {missing[0]}=N)",))
    considered = options.considered()
    dependences = analyse(scop)
    sizes = {p.name: options.sizes[p.name] for p in scop.parameters}
    found: list[Match] = []
    why: list[str] = []
    for intrinsic in considered:
        matches = match(scop, intrinsic, MatchOptions(numerics=options.numerics), sizes=sizes, dependences=dependences)
        found += matches.with_mirrors
        if not intrinsic.library and all(map(_mostly_idle, matches.with_mirrors)):
            lanes = MatchOptions(numerics=options.numerics, partial_sums=True, split=bool(matches.with_mirrors),
                                 remainder=True)
            found += match(scop, intrinsic, lanes, sizes=sizes, dependences=dependences).with_mirrors
        if options.intrinsic != AUTO:
            why += [str(e) for e in matches.explanations]
    return _best(found, why, options, target)


def _mostly_idle(candidate: Match) -> bool:
    """Lanes may hold partial sums then: the instruction computes padding, or waits for copies that are used once."""
    return candidate.utilisation < HALF_IDLE or candidate.copies_for_one_use


def _best(found: list[Match], why: list[str], options: TensorizeOptions, target: Target) -> Decision:
    """The match with the greatest gain over ordinary code, among those whose program splits around the statement."""
    best: tuple[float, TensorizedProgram, str] | None = None
    tied: dict[str, str] = {}
    slower: dict[str, tuple[float, str]] = {}
    for candidate in sorted(found, key=lambda m: m.cost_cycles):
        name, ordinary = candidate.fragment.statement.name, ordinary_cycles(candidate.fragment, target)
        if best is not None and ordinary - candidate.cost_cycles <= best[0]:
            continue
        cycles = _cycles(candidate, target)
        text = (f"{candidate.intrinsic.name} about {cycles:.0f} cycles, vector code at best {ordinary:.0f}")
        if candidate.rest and cycles >= ordinary:   # then nothing is to be left behind, either
            continue
        if options.intrinsic == AUTO and cycles >= ordinary:
            slower[name] = min(slower.get(name, (math.inf, "")), (cycles, text))
            continue
        if (best is not None and ordinary - cycles <= best[0]) or not (
                options.intrinsic != AUTO or executes_here(candidate.intrinsic)):
            continue
        try:
            program = tensorize(candidate)
        except (IllegalScheduleError, NoIntrinsicMatchError) as refusal:
            tied[name] = f"{name}: {refusal.problem} ({refusal.witness})"
            continue
        best = (ordinary - cycles, program, f"{name}: {text}")
    if best is not None:
        chosen = best[1].match.intrinsic
        emulated = not chosen.library and not executes_here(chosen)
        note = ", by its emulator: nothing here executes it" if emulated else ""
        program = best[1]
        if options.measure and not emulated and not chosen.library:
            program, told = _fastest(program, found, target)
            note += told
        return Decision(program=program, reasons=(best[2] + note,), emulated=emulated)
    reasons = [*tied.values(), *(f"{n}: no instruction is worth it ({t})" for n, (_, t) in slower.items()), *why]
    return Decision(program=None, reasons=tuple(reasons or ["no instruction that this machine executes matches"]))


def _fastest(program: TensorizedProgram, found: list[Match], target: Target) -> tuple[TensorizedProgram, str]:
    """The program with the plan that runs fastest here, among those of the best matches of the same statement."""
    own = program.match
    same = [m for m in found if (m.intrinsic, m.fragment.statement) == (own.intrinsic, own.fragment.statement)]
    rivals = best_few([m for m in same if m is not own], target, count=MEASURED_MATCHES - 1)
    ranked = measured_plans([own, *rivals], target=target, zero=program.zero)
    best = ranked[0]
    told = f", measured: {best} (slowest of {len(ranked)} plans {1e6 * ranked[-1].median_seconds:.1f} us)"
    return replace(program, match=best.match, choice=best.choice), told


def _cycles(candidate: Match, target: Target) -> float:
    """What a match costs."""
    if candidate.intrinsic.library:
        return candidate.cost_cycles
    return plan_cycles(make_plan(candidate, emulated=False, target=target), target)


def ordinary_cycles(fragment: Fragment, target: Target) -> float:
    """The least that ordinary vector code needs: one multiply-add per lane, pipe and cycle, integers two operations.

    Every element has to come from memory once, for an instruction as for vector code.
    """
    lanes = target.lanes(fragment.update.dtype.bits)
    operations = 1 if fragment.update.dtype.is_float else 2
    seconds = compulsory_seconds(touched_bytes(fragment), target)
    return math.prod(loop.extent for loop in fragment.loops) * operations / (lanes * target.ports.fma_pipes) \
        + seconds * target.frequency_hz


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
