"""Which elements of a tile come from the program's memory, and which go back, told by the dependences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.dependence.legality import Active
from polysched.errors import UnsupportedScopError
from polysched.gpu.mapping import Launch
from polysched.gpu.scratchpad.groups import active_inside
from polysched.gpu.scratchpad.stages import CubeStage, Stage
from polysched.records import dataclass
from polysched.scop.scop import Access, AccessKind, Statement


@dataclass(frozen=True, eq=False, kw_only=True)
class Flows:
    """The flow of values in and out of a group.

    Parameters
    ----------
    dependences : of the program.
    launch : the group.
    inside : the dependences within it, at one value of every loop of the host.
    """

    dependences: Dependences
    launch: Launch
    inside: tuple[Active, ...]

    @staticmethod
    def of(dependences: Dependences, launch: Launch) -> Flows:
        """The flows of a group."""
        return Flows(dependences=dependences, launch=launch,
                     inside=tuple(active_inside(dependences, launch.domain, launch.host)))

    def loaded(self, stages: tuple[Stage, ...], array: str, domain: isl.UnionSet) -> isl.Set:
        """The elements that instances of a domain read before the group writes them, or may leave as they were."""
        found = self._nothing(array)
        cleared = {stage.statement for stage in stages if isinstance(stage, CubeStage) and stage.cleared}
        for statement, access in self._accesses(stages, array):
            own = domain.intersect(isl.UnionSet.from_set(statement.domain))
            if access.is_write:
                if access.kind is AccessKind.MUST_WRITE and access.exact:
                    continue
            elif statement.name in cleared and any(w.array == array for w in statement.writes):
                continue
            else:
                own = own.subtract(self._known(statement, access))
            found = found.union(_elements(access, own, found))
        return found.coalesce()

    def stored(self, stages: tuple[Stage, ...], array: str, domain: isl.UnionSet) -> isl.Set:
        """The elements that instances of a domain write and somebody reads afterwards."""
        found = self._nothing(array)
        if not self.escapes(array):
            return found
        for statement, access in self._accesses(stages, array):
            if access.is_write:
                own = domain.intersect(isl.UnionSet.from_set(statement.domain))
                found = found.union(_elements(access, own, found))
        return found.coalesce()

    def escapes(self, array: str) -> bool:
        """Whether somebody outside of a tile of the group may see the array's values."""
        scop = self.dependences.scop
        if not scop.array(array).is_temporary:
            return True
        own = set(self.launch.statements())
        users = {s.name for s in scop.statements for a in s.accesses if a.array == array}
        if not users <= own:
            return True
        pairs = [p for p in self.dependences.pairs if p.array == array and p.kind is DependenceKind.FLOW]
        return any(not _covered(pair.relation, self.inside, pair.source_reference, pair.sink_reference)
                   for pair in pairs)

    def ends(self, array: str) -> tuple[tuple[int, int], ...]:
        """The first and the last subscript that the program uses, per dimension.

        Raises
        ------
        UnsupportedScopError : nothing says where the array ends, or it is used in front of its first element.
        """
        found = self._nothing(array)
        for statement in self.dependences.scop.statements:
            for access in statement.accesses:
                if access.array == array:
                    own = isl.UnionSet.from_set(statement.domain)
                    found = found.union(_elements(access, own, found))
        found = found.intersect_params(self.dependences.scop.context.params())
        result = []
        for k in range(found.dim(isl.dim_type.set)):
            first, last = found.dim_min_val(k), found.dim_max_val(k)
            if not first.is_int() or not last.is_int():
                raise UnsupportedScopError(f"nothing says where the array {array} ends, so it cannot be copied",
                                           where=array, hint="subscripts have to be sums of loops and constants")
            if first.to_python() < 0:
                raise UnsupportedScopError(f"the array {array} is used in front of its first element", where=array,
                                           hint="subscripts on an accelerator begin with 0")
            result.append((int(first.to_python()), int(last.to_python())))
        return tuple(result)

    def _known(self, statement: Statement, access: Access) -> isl.UnionSet:
        """The instances whose read gets a value that the group wrote in the same tile."""
        scop = self.dependences.scop
        found = isl.UnionSet.empty(statement.domain.get_space())
        for part in self.inside:
            pair = part.dependence
            if pair.kind is not DependenceKind.FLOW or pair.sink_reference != access.reference:
                continue
            source = scop.statement(pair.source).access(pair.source_reference)
            if source.kind is AccessKind.MUST_WRITE and source.exact:
                found = found.union(isl.UnionSet.from_set(part.relation.range()))
        return found

    def _nothing(self, array: str) -> isl.Set:
        for statement in self.dependences.scop.statements:
            for access in statement.accesses:
                if access.array == array:
                    return isl.Set.empty(access.relation.get_space().range())
        raise KeyError(array)

    def _accesses(self, stages: tuple[Stage, ...], array: str) -> Iterator[tuple[Statement, Access]]:
        for name in _statements(stages):
            statement = self.dependences.scop.statement(name)
            yield from ((statement, access) for access in statement.accesses if access.array == array)


def _statements(stages: Iterable[Stage]) -> Iterator[str]:
    for stage in stages:
        yield from (stage.statement,) if isinstance(stage, CubeStage) else stage.statements


def _elements(access: Access, domain: isl.UnionSet, like: isl.Set) -> isl.Set:
    reached = isl.UnionMap.from_map(access.relation).intersect_domain(domain).range()
    return like if reached.is_empty() else isl.Set.from_union_set(reached)


def _covered(relation: isl.Map, inside: tuple[Active, ...], source: str, sink: str) -> bool:
    """Whether a dependence stays within tiles of the group."""
    found = isl.Map.empty(relation.get_space())
    for part in inside:
        if part.dependence.source_reference == source and part.dependence.sink_reference == sink:
            found = found.union(part.relation)
    return bool(relation.is_subset(found))
