"""How many instances ranks run: the program's, and replicas."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.distribute.distribution import Distributed
from polysched.records import dataclass
from polysched.scop.points import fix_parameters


@dataclass(frozen=True, kw_only=True)
class InstanceCount:
    """Instances of all ranks together.

    Parameters
    ----------
    program : what the sequential program runs.
    replicas : what ranks run besides, because others own it.
    """

    program: int
    replicas: int

    @property
    def share(self) -> float:
        """Replicas for each instance of the program."""
        return self.replicas / self.program if self.program else 0.0


def count_instances(distributed: Distributed, ranks: int, sizes: Mapping[str, int]) -> InstanceCount:
    """Count what ranks run at these sizes.

    Parameters
    ----------
    sizes : values of the program's parameters.
    """
    program = replicas = 0
    axis = fix_parameters(distributed.axis_set, sizes)
    for statement in distributed.scop.statements:
        whole = count_points(fix_parameters(statement.domain.intersect_params(distributed.scop.context), sizes))
        program += whole
        if distributed.tile.steps == 1 or not whole:
            continue
        ends = int(axis.dim_min_val(0).to_python()), int(axis.dim_max_val(0).to_python())
        names = distributed.partition.own_names
        executed = distributed.shares.executed(statement, names)
        replicas -= whole
        for rank in range(ranks):
            own = distributed.partition.values(names, rank, ranks, ends)
            replicas += count_points(fix_parameters(executed, {**sizes, **own}))
    return InstanceCount(program=program, replicas=replicas)


def count_points(instances: isl.Set) -> int:
    """The points of a set, an interval of one dimension at a time as far as it is a product."""
    factor = 1
    for at in reversed(range(instances.dim(isl.dim_type.set))):
        if instances.is_empty():
            return 0
        low, high = instances.dim_min_val(at), instances.dim_max_val(at)
        rest = instances.project_out(isl.dim_type.set, at, 1)
        box = rest.insert_dims(isl.dim_type.set, at, 1)
        box = box.lower_bound_val(isl.dim_type.set, at, low).upper_bound_val(isl.dim_type.set, at, high)
        plain = instances.reset_tuple_id() if instances.has_tuple_id() else instances
        box = box.reset_tuple_id() if box.has_tuple_id() else box
        if plain.is_equal(box):
            factor *= int(high.to_python()) - int(low.to_python()) + 1
            instances = rest
    return factor * int(instances.count_val().to_python())
