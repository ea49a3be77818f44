"""A described function and a part of a program that computes it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.errors import BudgetExceededError
from polysched.records import dataclass
from polysched.scop.body import Assign, Binary, walk
from polysched.scop.budget import ISL_OPERATIONS, in_words, with_budget
from polysched.scop.points import with_sizes
from polysched.scop.scop import Scop, Statement
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.equality.questions import one_budget
from polysched.tensorize.functions.addresses import same_place
from polysched.tensorize.functions.described import assigned, described, outputs_of
from polysched.tensorize.functions.groups import calls, groups, least_live
from polysched.tensorize.functions.loop_mapping import loop_mappings
from polysched.tensorize.functions.readings import require_readings
from polysched.tensorize.functions.recurrences import (
    OUTER,
    Around,
    Equation,
    Recurrences,
    loops_around,
    recurrences,
    same_iterations,
    tiling_map,
)
from polysched.tensorize.functions.state import PREFIX, State
from polysched.tensorize.functions.unification import Prover
from polysched.tensorize.intrinsics import blas_functions
from polysched.tensorize.matching.facts import FINITE, Numerics
from polysched.tensorize.preparing.canonical import reordered_form


@dataclass(frozen=True, eq=False, kw_only=True)
class FunctionMatch:
    """Statements of a program that calls of a function compute, one call per iteration of the loops around.

    Parameters
    ----------
    statements : names, in textual order.
    depth : number of loops around a call.
    outer : per statement the iterators of these loops, by position.
    program : their equations.
    state : the proved correspondence.
    outputs : the program's arrays that the call writes.
    dead : the program's arrays that the statements wrote, that nothing reads, and that the call does not write.
    context : values of the parameters for which it holds.
    guard : those of them for which the call may be made; None for all.
    assumed : those of the program's own parameters that the context takes for granted although the program allows
        others; None where it does not.
    """

    function: LibraryFunction
    variant: Variant
    dependences: Dependences
    statements: tuple[str, ...]
    depth: int
    outer: Mapping[str, Around]
    program: Recurrences
    state: State
    outputs: tuple[str, ...]
    dead: tuple[str, ...]
    context: isl.Set
    guard: isl.Set | None = None
    assumed: isl.Set | None = None

    @property
    def program_writes(self) -> frozenset[str]:
        """The function's arrays that it writes."""
        return frozenset(outputs_of(self.variant))

    @property
    def scop(self) -> Scop:
        return self.dependences.scop

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What somebody who accepts the match takes for granted."""
        found = []
        if self.function.reorders:
            found.append(f"{self.function.name} may add in another order and round a product with its addition once")
            found.append(FINITE)
        elif self.state.order:
            found.append("floats are added or multiplied in another order")
        return tuple(found)


@dataclass(frozen=True, eq=False, kw_only=True)
class FunctionMatches:
    """What was found for one program and one function.

    Parameters
    ----------
    reasons : why parts of the program are not the function, in words; the likeliest first.
    """

    scop: Scop
    function: LibraryFunction
    matches: tuple[FunctionMatch, ...]
    reasons: tuple[str, ...]
    milliseconds: float

    @property
    def count(self) -> int:
        return len(self.matches)

    def to_json(self) -> dict[str, Any]:
        """The result as plain values."""
        return {"program": self.scop.name, "function": self.function.name, "count": self.count,
                "matches": [{"statements": list(m.statements), "loops_around": m.depth, "outputs": list(m.outputs),
                             "dead": list(m.dead), "assumptions": list(m.assumptions)} for m in self.matches],
                "reasons": list(self.reasons), "milliseconds": round(self.milliseconds, 2)}


def match_function(dependences: Dependences, function: LibraryFunction, numerics: Numerics | None = None, *,
                   sizes: Mapping[str, int] | None = None) -> FunctionMatches:
    """The parts of a program that a function computes; parts of one match are in no other.

    Parameters
    ----------
    dependences : value-based, of the program.
    sizes : values of parameters; without them the match holds for all that the program allows.

    Raises
    ------
    SourceSyntaxError, UndefinedDescriptionError, BudgetExceededError : the readings of the text; see `readings`.
    """
    allowed = numerics or Numerics()
    if function not in blas_functions.ALL:   # what is shipped, a test compares
        require_readings(function)
    started = time.perf_counter()
    found: list[FunctionMatch] = []
    reasons: list[tuple[int, str]] = []   # with the number of statements that each is about
    if function.reorders and not _all_allowed(allowed):
        reasons.append((0, f"{function.name} reorders float additions, may round a product and its addition once and "
                           "may leave out what is multiplied by zero, not all of which is allowed: it needs --allow "
                           "reassociate,contract,finite"))
    else:
        with one_budget() as asked:
            found = _in_all_parts(dependences, function, allowed, sizes or {}, reasons)
            other = dependences if found or not function.reorders else reordered_form(dependences)
            if other is not dependences:
                again = _in_all_parts(other, function, allowed, sizes or {}, [])
                found = [m for m in again if _changed(dependences.scop, other.scop) <= {*m.statements}]
        reasons += [(0, asked.words)] if asked.refused else []
    reasons.sort(key=lambda r: -r[0])
    return FunctionMatches(
        scop=dependences.scop, function=function, matches=tuple(found),
        reasons=tuple(dict.fromkeys(w for _, w in reasons)), milliseconds=1000 * (time.perf_counter() - started))


def _all_allowed(numerics: Numerics) -> bool:
    """Whether everything is allowed that functions which reorder may do."""
    return numerics.reassociate and numerics.contract and numerics.finite


def _in_all_parts(dependences: Dependences, function: LibraryFunction, allowed: Numerics, sizes: Mapping[str, int],
                  reasons: list[tuple[int, str]]) -> list[FunctionMatch]:
    """The matches of all parts of a program; why others have none is added to the reasons."""
    found: list[FunctionMatch] = []
    context = with_sizes(dependences.scop.context, sizes)
    for names in groups(dependences):
        for depth in range(min(dependences.scop.statement(n).depth for n in names) + 1):
            if any({*names} & {*m.statements} for m in found):
                break
            made = _within_budget(_Part(dependences, names, depth, context), function, allowed)
            if isinstance(made, FunctionMatch):
                found.append(made)
            else:
                reasons += [(len(names), why) for why in made]
    return found


def _changed(before: Scop, after: Scop) -> set[str]:
    """The statements that are not those of another program: code beside a call keeps the order of its additions.

    One that reads a partial sum less is as it was.
    """
    old = {s.name: s for s in before.statements}
    return {s.name for s in after.statements if s.name not in old or not s.domain.is_equal(old[s.name].domain)
            or (s.body != old[s.name].body and _operations(s) >= _operations(old[s.name]))}


def _operations(statement: Statement) -> int:
    return sum(isinstance(e, Binary) for item in statement.body if isinstance(item, Assign) for e in walk(item.value))


@dataclass(frozen=True, eq=False)
class _Part:
    """Some statements of a program inside some loops."""

    dependences: Dependences
    names: tuple[str, ...]
    depth: int
    context: isl.Set
    around: Around | None = None   # of the deepest statement; its outermost loops when None

    @cached_property
    def outer(self) -> dict[str, Around]:
        """Per statement the iterators of the loops around."""
        around = Around(tuple(range(self.depth))) if self.around is None else self.around
        return loops_around(self.dependences, self.names, deepest(self.dependences, self.names), around)

    @cached_property
    def program(self) -> Recurrences:
        return recurrences(self.dependences, self.names, depth=self.depth, context=self.context, outer=self.outer)

    @cached_property
    def calls(self) -> frozenset[str]:
        return calls(self.dependences.scop, self.names)

    @cached_property
    def inner_depths(self) -> int:
        return max(self.dependences.scop.statement(n).depth for n in self.names) - self.depth

    @cached_property
    def least_live(self) -> list[str]:
        return least_live(self.dependences, self.names)

    @cached_property
    def live(self) -> list[str] | str:
        return live_arrays(self.dependences, self.program, self.outer, self.context)

    def may_be(self, variant: Variant) -> bool:
        """Whether a function has as many loops and calls the same functions."""
        scop = assigned(variant).scop
        return (self.inner_depths == max(s.depth for s in scop.statements)
                and self.calls == calls(scop, [s.name for s in scop.statements]))

    def __str__(self) -> str:
        return " and ".join(self.names) + (f" inside {self.depth} loop{'s' * (self.depth > 1)}" if self.depth else "")


def part_of(dependences: Dependences, names: tuple[str, ...], around: Around, context: isl.Set) -> _Part:
    """Some statements inside some loops, some of which may run through tiles."""
    return _Part(dependences, names, around.depth, context, around)


def _within_budget(part: _Part, function: LibraryFunction, numerics: Numerics) -> FunctionMatch | list[str]:
    """As `_of_part`; a part whose sets isl does not compare in time is refused, and says so."""
    made = with_budget(ISL_OPERATIONS, lambda: _of_part(part, function, numerics))
    return [f"{part}: needs more than {in_words(ISL_OPERATIONS)}"] if made is None else made


def _of_part(part: _Part, function: LibraryFunction, numerics: Numerics) -> FunctionMatch | list[str]:
    """The first variant of a function that computes a part; else why not, per variant that is worth a word."""
    reasons = []
    for variant in function.variants:
        if part.may_be(variant):
            made = match_part(part, function, variant, numerics)
            if isinstance(made, FunctionMatch):
                return made
            reasons += made
    return reasons


def match_part(part: _Part, function: LibraryFunction, variant: Variant,
               numerics: Numerics) -> FunctionMatch | list[str]:
    """The match of one variant with a part of a program; else why there is none."""
    wanted, outputs = described(variant), outputs_of(variant)
    live = _comparable(part, variant, wanted)
    if isinstance(live, str):
        return [f"{part}: {live}"]
    prover = Prover(function=wanted, program=part.program, reorder=numerics.reassociate and function.reorders,
                    packs=function.packs)
    start = State(context=part.program.iterations.intersect(_prefixed(variant.scop.context)))
    try:
        for order in itertools.permutations(live):
            for state in _outputs(prover, start, list(zip(outputs, order, strict=True))):
                made = FunctionMatch(
                    function=function, variant=variant, dependences=part.dependences, statements=part.names,
                    depth=part.depth, outer=part.outer, program=part.program, state=state, outputs=tuple(order),
                    dead=tuple(a for a in part.program.written if a not in live), context=part.context,
                    guard=_guard(variant, part, state, packs=function.packs))
                why = _refusal(made, wanted)
                if not why and proved_again(made):
                    return made
                prover.differences.append(why or "the proof does not hold once all sizes are known")
    except BudgetExceededError as error:
        return [f"{part}: {error.problem} ({error.witness})"]
    worth = [d for d in prover.differences if "the program computes" in d] or prover.differences
    return [f"{part}: {worth[0]}"] if worth else []


def _comparable(part: _Part, variant: Variant, wanted: Recurrences) -> list[str] | str:
    """The arrays in which a part leaves values, where it has as many and as many recursions as a variant; else why not.

    Parameters
    ----------
    wanted : the variant's equations.
    """
    outputs = outputs_of(variant)
    if len(part.least_live) > len(outputs):
        return f"it leaves values in {', '.join(part.least_live)}, {variant.name} in {', '.join(outputs)}"
    live = part.live
    if isinstance(live, str):
        return live
    if len(live) != len(outputs):
        return f"it leaves values in {', '.join(live) or 'nothing'}, {variant.name} in {', '.join(outputs)}"
    if len(wanted.recursive) != len(part.program.recursive):
        return f"{_recursive(part.program)}, and in {variant.name} {_recursive(wanted)}"
    return live


def _recursive(system: Recurrences) -> str:
    """How many statements depend on their own values, in words."""
    count = len(system.recursive)
    return "1 statement depends on its own values" if count == 1 else \
        f"{count or 'no'} statements depend on their own values"


def live_arrays(dependences: Dependences, program: Recurrences, outer: Mapping[str, Around],
                context: isl.Set) -> list[str] | str:
    """The arrays in which a part leaves values that somebody reads; or which value is read too early, in words.

    Parameters
    ----------
    context : the values of the parameters that are asked about.
    """
    scop = dependences.scop
    live = [a for a in program.written if not scop.array(a).is_temporary]
    for pair in dependences.pairs:
        if pair.kind is not DependenceKind.FLOW or pair.source not in outer:
            continue
        relation = pair.relation.intersect_params(context)
        if pair.sink in outer:
            relation = relation.subtract(same_iterations(relation, outer[pair.source], outer[pair.sink]))
        if relation.is_empty():
            continue
        if pair.array not in live:
            live.append(pair.array)
        last = _whole(program.equations[pair.source].final, outer[pair.source])
        early = relation.domain().reset_tuple_id().subtract(last)
        if not early.is_empty():
            return f"{pair.sink} reads a value of {pair.array} that is not the last one"
    return live


def _whole(domain: isl.Set, around: Around) -> isl.Set:
    """A domain with the iterators of the loops around as dimensions again, where they stood."""
    for number, place in sorted(enumerate(around.whole), key=lambda pair: pair[1]):
        at = domain.find_dim_by_name(isl.dim_type.param, f"{OUTER}{number}")
        domain = domain.move_dims(isl.dim_type.set, place, isl.dim_type.param, at, 1)
    if not around.tiles:
        return domain
    return _without(domain.apply(tiling_map(domain.dim(isl.dim_type.set), around)), OUTER)


def deepest(dependences: Dependences, names: tuple[str, ...]) -> str:
    """The last of the deepest statements."""
    return max((dependences.scop.statement(n) for n in reversed(names)), key=lambda s: s.depth).name


def _outputs(prover: Prover, state: State, pairs: list[tuple[str, str]]) -> Iterator[State]:
    """States in which the arrays that the function writes end up with the same elements and values."""
    if not pairs:
        yield state
        return
    theirs, ours = pairs[0]
    wanted, mine = prover.function.finals(theirs), prover.program.finals(ours)
    wanted.sort(key=lambda e: -e.domain.dim(isl.dim_type.set))   # loops tell sizes, and sizes whose values stay
    if len(wanted) != len(mine):
        prover.differences.append(f"{len(mine)} statements leave values in {ours}, {len(wanted)} of the function in "
                                  f"{theirs}")
        return
    for order in itertools.permutations(mine):
        for after in _written(prover, state, list(zip(wanted, order, strict=True))):
            yield from _outputs(prover, after, pairs[1:])


def _written(prover: Prover, state: State, pairs: list[tuple[Equation, Equation]]) -> Iterator[State]:
    """States in which pairs of statements leave the same values in the same elements."""
    if not pairs:
        yield state
        return
    theirs, ours = pairs[0]
    found = False
    for after, bijection in loop_mappings(state, ours.domain, theirs.domain):
        found = True
        last = bijection.intersect_domain(ours.final)
        if not last.range().is_equal(after.in_program(theirs.final)):
            prover.differences.append(f"other values of {ours.name} stay than of the function's {theirs.name}")
            continue
        array = prover.function.array(theirs.array)
        placed = same_place(after, array, last.apply_range(theirs.target), prover.program.array(ours.array),
                            ours.target.intersect_domain(ours.final), packs=prover.packs)
        if placed is None:
            prover.differences.append(f"{ours.name} writes {ours.array} in another pattern than the function writes "
                                      f"{theirs.array}, or in another type")
            continue
        for proved in prover.values(placed, theirs.name, ours.name, last):
            yield from _written(prover, proved, pairs[1:])
    if not found:
        prover.differences.append(f"the loops of {ours.name} are not those of the function's {theirs.name}")


def _refusal(found: FunctionMatch, described: Recurrences) -> str:
    """Why the call cannot be made although the values are the same; "" where it can."""
    variant, state = found.variant, found.state
    if found.guard is not None and found.guard.is_empty():
        return f"{variant.name} needs {variant.requires or 'what its text takes for granted'}, which does not hold"
    return _missing(variant, state) or _overlap(described, found.program, state)


def _missing(variant: Variant, state: State) -> str:
    """What an argument of the call needs and the program does not say; "" where it says everything."""
    known = {*(p.spelling for p in variant.scop.parameters if p.name in state.values), *state.operands, *state.numbers}
    missing = [p.name for p in variant.signature.parameters
               if p.name not in known and f"{{{p.name}}}" in variant.template]
    if missing:
        return f"nothing in the program says what {missing[0]} is"
    if any(p.name not in state.values for p in variant.scop.parameters):
        return "not all sizes of the function follow from the program"
    sizes = {p.name for p in variant.scop.parameters}
    inner = [n for n, v in state.values.items() if n in sizes and any(len(m) > 1 for m in v)]
    if inner:
        return f"{inner[0]} would be no affine function of the program's sizes"
    return ""


def _guard(variant: Variant, part: _Part, state: State, *, packs: bool) -> isl.Set | None:
    """The values of the parameters for which every call has what the function needs; None for all that can occur.

    Parameters
    ----------
    packs : as of the function; the loops around it have no iterations where there is nothing to compute.
    """
    allowed = _without(state.context.intersect(_prefixed(variant.preconditions)), PREFIX)
    forbidden = _without(part.program.iterations.subtract(allowed), OUTER)
    reached = _without(part.program.iterations, OUTER)   # a call is made where the program computes something
    if forbidden.is_empty() and ((packs and part.depth > 0) or part.context.is_subset(reached)):
        return None
    return part.context.intersect(reached).subtract(forbidden).coalesce()


def _without(values: isl.Set, prefix: str) -> isl.Set:
    """A set without the parameters whose names start so."""
    for at in reversed(range(values.dim(isl.dim_type.param))):
        if str(values.get_dim_name(isl.dim_type.param, at)).startswith(prefix):
            values = values.project_out(isl.dim_type.param, at, 1)
    return values


def _prefixed(values: isl.Set) -> isl.Set:
    for at in range(values.dim(isl.dim_type.param)):
        values = values.set_dim_name(isl.dim_type.param, at, f"{PREFIX}{values.get_dim_name(isl.dim_type.param, at)}")
    return values


def _overlap(described: Recurrences, program: Recurrences, state: State) -> str:
    """What one operand writes and another one accesses; "" where operands are apart."""
    arrays: dict[str, list[str]] = {}
    for theirs, operand in state.operands.items():
        arrays.setdefault(operand.array, []).append(theirs)
    for array, several in arrays.items():
        if len(several) > 1 and {*several} & {*described.written}:
            return f"{' and '.join(several)} would both lie in {array}, and the function writes one of them"
    numbers = {a for n in state.numbers.values() for a, _ in n.elements if a}
    if taken := sorted(numbers & {*program.written} & {o.array for o in state.operands.values()}):
        return f"a number that the call takes by value lies in {taken[0]}, which the call writes"
    return ""


def proved_again(found: FunctionMatch) -> bool:
    """Whether the proof holds with everything known from the start."""
    context = found.state.context if found.guard is None else found.state.context.intersect_params(found.guard)
    start = replace(found.state, context=context, instances={}, order=False)
    prover = Prover(function=described(found.variant), program=found.program, reorder=found.state.order,
                    packs=found.function.packs)
    return any(True for _ in _outputs(prover, start, list(zip(outputs_of(found.variant), found.outputs, strict=True))))
