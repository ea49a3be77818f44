"""Reductions by a team: the work items of a block share the values of a reduced loop and combine what each found.

A launch with few work items has a team per work item where all its loops are reductions of one element whose updates
may run in any order.  Every item of the team accumulates in a variable of its own, a tree through shared memory
combines these, and one item updates the element.  What is no reduction that item runs alone.

Rewrite:  launch(i): y[i] = 0; for j: y[i] += A[i][j]
          ->  launch(i, team of 256): y[i] = 0; for j = lane, lane + 256, ...: part += A[i][j]; y[i] += sum of parts

Source: M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA 2007; J. Doerfert et al., IMPACT 2015.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

import islpy as isl

from polysched.dependence.legality import Active, all_active, carrier, equal_parts
from polysched.dependence.reductions import Reduction, find_reductions
from polysched.gpu.bands import values_of
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import Launch, Phase
from polysched.gpu.options import GpuOptions
from polysched.gpu.staging import has_temporaries, is_kept, parts_of
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scop.budget import with_budget
from polysched.scop.dtypes import Kind
from polysched.target.costs import DEVICE
from polysched.tiling.footprints.nest import assumed_parameters, extent_along

OPERATORS = frozenset({"sum", "product", "min", "max", "and", "or", "xor"})


def with_team(schedule: Schedule, launch: Launch, *, options: GpuOptions, sizes: Mapping[str, int]) -> Launch | None:
    """The launch with a team per work item; None where it has none.

    Parameters
    ----------
    sizes : values of parameters; as for `assumed_parameters`.
    """
    assumed = assumed_parameters(schedule.scop, sizes)
    items = prod(extent_along(launch.domain, own, assumed) for own in launch.coordinates)
    if items >= DEVICE.items_together or has_temporaries(schedule.scop, launch):
        return None
    sized = replace(launch, block=(1,) * len(launch.coordinates), team=LIMITS.block_1d, points=(), phases=())
    finder = _Finder(schedule=schedule, launch=sized, options=options)
    phases = with_budget(LIMITS.staging_operations, finder.phases)
    return replace(sized, phases=phases) if phases else None


@dataclass(frozen=True, eq=False, kw_only=True)
class _Finder:
    schedule: Schedule
    launch: Launch
    options: GpuOptions

    def phases(self) -> tuple[Phase, ...]:
        """The phases of a team; none where a loop is no reduction, or no loop is one."""
        found: list[Phase] = []
        for part in parts_of(self.schedule, self.launch):
            own = part if part.step is None else self._reduced(part)
            if own is None:
                return ()
            found.append(replace(own, waits=own.reduces is not None and self._reads_from(found, own)))
        return tuple(found) if any(phase.reduces for phase in found) else ()

    def _reduced(self, part: Phase) -> Phase | None:
        """A part whose steps may be dealt out to a team."""
        scop = self.schedule.scop
        names = [statement.name for statement in scop.statements if self.launch.runs_any_of(statement, part.domain)]
        reduction = next((own for own in find_reductions(scop) if [own.statement] == names), None)
        if reduction is None or not self._may_move(reduction):
            return None
        array = scop.statement(reduction.statement).access(reduction.write).array
        if not self._is_alone(reduction, array) or not is_kept(scop, self.launch, part, array):
            return None
        return replace(part, edge=0, kept=(array,), reduces=reduction) if self._is_free(reduction, part) else None

    def _is_alone(self, reduction: Reduction, array: str) -> bool:
        """Whether the statement writes nothing else, and touches the accumulated array nowhere else."""
        statement = self.schedule.scop.statement(reduction.statement)
        others = [access for access in statement.accesses if access.reference not in reduction.own]
        return not any(access.is_write or access.array == array for access in others)

    def _is_free(self, reduction: Reduction, part: Phase) -> bool:
        """Whether the updates alone connect two values of the step."""
        assert part.step is not None, "only steps are dealt out"
        beside = [own for own in self._inside() if not own.dependence.reduction
                  and own.dependence.source == own.dependence.sink == reduction.statement]
        return carrier(beside, values_of(part.step)) is None

    def _may_move(self, reduction: Reduction) -> bool:
        """Whether its updates may run in any order."""
        exact = reduction.exact and not reduction.dtype.is_float
        if reduction.dtype.kind is Kind.BOOL:   # sums of truths are cut to one bit at every step
            return False
        return (reduction.any_order and not reduction.beside and reduction.operator in OPERATORS
                and (exact or self.options.reassociate))

    def _inside(self) -> list[Active]:
        """The dependences between instances of one work item."""
        functions = (*self.launch.host, *self.launch.coordinates)
        found = list(active_within(all_active(self.schedule.dependences), self.launch.domain))
        for function in functions:
            found = equal_parts(found, values_of(function))
        return found

    def _reads_from(self, earlier: Sequence[Phase], phase: Phase) -> bool:
        """Whether a team reads what one item wrote in an earlier phase, but for the element that it accumulates."""
        assert phase.reduces is not None, "only teams read together"
        writers = {statement.name for own in earlier for statement in self.schedule.scop.statements
                   if self.launch.runs_any_of(statement, own.domain)}
        return any(own.dependence.source in writers and own.dependence.sink == phase.reduces.statement
                   and own.dependence.array not in phase.kept for own in self._inside())


def active_within(active: Sequence[Active], domain: isl.UnionSet) -> Iterator[Active]:
    """What is between instances of a domain."""
    for part in active:
        relation = isl.UnionMap.from_map(part.relation).intersect_domain(domain).intersect_range(domain)
        if not relation.is_empty():
            yield replace(part, relation=isl.Map.from_union_map(relation))
