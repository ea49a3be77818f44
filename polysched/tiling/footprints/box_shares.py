"""How much of what a box of iterations would touch the instances of a nest do touch: half for a triangle of an array.

The models compute with the bounding box of the loops.  What leaves some of it empty (triangles, trapezoids, loops at
an angle: skewed tiles and diamonds) moves less.  Counted when somebody asks, as explanations do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from polysched.records import dataclass
from polysched.scop.budget import with_budget
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Access, Scop
from polysched.tiling.footprints.point_count import point_count
from polysched.tiling.footprints.references import Reference, reference_of, timed_relation
from polysched.tiling.limits import LIMITS
from polysched.tiling.tree.distribute import sets_of

COUNTING_OPERATIONS = LIMITS.counting_operations


@dataclass(frozen=True, eq=False, kw_only=True)
class Instances:
    """The instances of a nest, as far as counting what they touch needs them.

    Parameters
    ----------
    domain : the instances.
    path : the loops around the nest, and its own.
    first : how many of them are around it.
    parameters : the sizes that were assumed.
    """

    scop: Scop
    domain: isl.UnionSet
    path: tuple[isl.UnionPwAff, ...]
    first: int
    parameters: Mapping[str, int]

    def touched(self, reference: Reference, loops: frozenset[int]) -> tuple[Reference, float] | None:
        """Elements that one access touches, anew for every value that these loops of the nest take together.

        Returns the access, and the number in one execution of the nest, on average; None where nothing is known.
        """
        found = self._access(reference)
        if found is None:
            return None
        alone, timed = found

        def counted() -> float:
            dims, fixed = isl.dim_type.in_, fix_parameters(timed, self.parameters)
            runs = point_count(_without(fixed, range(self.first, len(self.path))).domain())
            gone = [self.first + loop for loop in range(len(self.path) - self.first) if loop not in loops]
            placed = _without(fixed, gone).move_dims(isl.dim_type.out, 0, dims, 0, len(self.path) - len(gone))
            return point_count(placed.range().reset_tuple_id().coalesce()) / max(1.0, runs)

        count = with_budget(COUNTING_OPERATIONS, counted)
        return None if not count else (alone, count)

    def _access(self, reference: Reference) -> tuple[Reference, isl.Map] | None:
        """The first access of the reference alone, from the loops to the elements that the instances here touch."""
        for part in sets_of(self.domain):
            name = part.get_tuple_name()
            statement = self.scop.statement(name) if name in reference.statements else None
            for access in () if statement is None else statement.accesses:
                if statement is None or access.array != reference.array or not access.exact:
                    continue
                here = _restricted(access, part)
                alone = reference_of(self.scop.array(access.array), statement, here, self.path, self.parameters,
                                     self.first)
                if alone.coefficients == reference.coefficients and not alone.whole:
                    return alone, timed_relation(statement, here, self.path)
        return None


def _restricted(access: Access, part: isl.Set) -> Access:
    return replace(access, relation=access.relation.intersect_domain(part))


def _without(relation: isl.Map, loops: range | list[int]) -> isl.Map:
    for loop in reversed(loops):
        relation = relation.project_out(isl.dim_type.in_, loop, 1)
    return relation
