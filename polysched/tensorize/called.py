"""A program around calls of a described function: what runs before them and behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.records import dataclass
from polysched.scop.scop import Scop, Storage
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.library_function import LibraryFunction
from polysched.tensorize.functions.function_match import FunctionMatch, match_function
from polysched.tensorize.functions.ordering import place
from polysched.tensorize.functions.units import match_unit
from polysched.tensorize.options import TensorizeOptions
from polysched.tensorize.program import part


@dataclass(frozen=True, eq=False, kw_only=True)
class CalledProgram:
    """The program in three parts; `before` and `behind` are None where nothing is left.

    Parameters
    ----------
    shared : temporaries of the region that the calls use, or both other parts: memory that stands outside of them.
    unit : the instruction of several stages that computes one call, by its text where the processor does not have it.
    """

    match: FunctionMatch
    before: Scop | None
    behind: Scop | None
    shared: tuple[str, ...]
    unit: Intrinsic | None = None

    @property
    def parts(self) -> tuple[Scop, ...]:
        """What is left for ordinary code."""
        return tuple(p for p in (self.before, self.behind) if p is not None)


@dataclass(frozen=True, eq=False, kw_only=True)
class CallDecision:
    """What was decided for one program: the calls, or None; and one sentence per group of statements."""

    program: CalledProgram | None
    reasons: tuple[str, ...]


def call_function(dependences: Dependences, function: LibraryFunction | Intrinsic,
                  options: TensorizeOptions, *,
                  otherwise: Callable[[], Dependences] | None = None) -> CallDecision:
    """The first part of a program that calls of a function can compute, or why there is none.

    Parameters
    ----------
    function : also an instruction of several stages, whose own text computes tile by tile.
    otherwise : as for `match_unit`.
    """
    if isinstance(function, Intrinsic):
        sizes = {p.name: options.sizes[p.name] for p in dependences.scop.parameters if p.name in options.sizes}
        found = match_unit(dependences, function, options.numerics, sizes=sizes, otherwise=otherwise)
    else:
        found = match_function(dependences, function, options.numerics, sizes=options.sizes)
    reasons: list[str] = []
    for match in found.matches:
        where = place(match)
        words = " and ".join(match.statements)
        if isinstance(where, str):
            reasons.append(f"{words}: {function.name} computes them, but they cannot be taken out of their nest: "
                           f"{where}")
            continue
        before, behind = part(match.scop, where.before), part(match.scop, where.behind)
        inside = f", one call per iteration of {match.depth} loop{'s' * (match.depth > 1)}" if match.depth else ""
        unit = function if isinstance(function, Intrinsic) else None
        program = _with_shared_outside(CalledProgram(match=match, before=before, behind=behind, shared=(), unit=unit))
        emulated = f", by the description's own code where {unit.isa.name} is missing" if unit is not None else ""
        return CallDecision(program=program, reasons=(f"{words}: {function.name}{inside}{emulated}",))
    return CallDecision(program=None, reasons=tuple(reasons or found.reasons[:1] or (
        f"no statements of {found.scop.name} compute {function.name}",)))


def _with_shared_outside(program: CalledProgram) -> CalledProgram:
    """The program whose parts take temporaries that they share for arrays declared outside of them."""
    scop, state = program.match.scop, program.match.state
    called = {o.array for o in state.operands.values()} | {a for n in state.numbers.values() for a, _ in n.elements}
    uses = [called, *({a.name for a in p.arrays} for p in program.parts)]
    several = {a for used in uses for a in used if sum(a in other for other in uses) > 1} | called
    shared = tuple(a.name for a in scop.arrays if a.storage is Storage.LOCAL and a.name in several)

    def published(p: Scop | None) -> Scop | None:
        if p is None:
            return None
        arrays = tuple(replace(a, storage=Storage.OUTER, c_element=f"(*{a.name})" if a.is_scalar else a.c_element)
                       if a.name in shared else replace(a, dead_after=False) if a.name in several else a
                       for a in p.arrays)
        return replace(p, arrays=arrays)

    return replace(program, before=published(program.before), behind=published(program.behind), shared=shared)
