"""Ranks in Python: every rank's part of every step by the interpreter, messages from their sets."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
import numpy as np

from polysched.distribute import Distributed
from polysched.scop.interpreter import execute
from polysched.scop.points import fix_parameters, points_of
from polysched.scop.scop import Scop

Arrays = dict[str, np.ndarray]


def simulate(distributed: Distributed, ranks: int, sizes: Mapping[str, int], arrays: Mapping[str, np.ndarray]
             ) -> list[Arrays]:
    """The arrays of every rank at the end; local arrays live in a rank as long as the region."""
    first, *others = distributed.parts
    own = [{name: values.copy() for name, values in arrays.items()} for _ in range(ranks)]
    axis = fix_parameters(distributed.axis_set, sizes)
    if axis.is_empty():
        return own
    ends = int(axis.dim_min_val(0).to_python()), int(axis.dim_max_val(0).to_python())
    partition = distributed.partition
    steps = sorted(points_of(fix_parameters(distributed.step_set, sizes))) if distributed.steps else [()]
    known = [partition.values(partition.own_names, rank, ranks, ends) for rank in range(ranks)]
    for step in steps:
        here = {**sizes, **{f"polysched_step{at}": value for at, value in enumerate(step)}}
        for rank in range(ranks):
            run_part(first, {**here, **known[rank]}, own[rank])
        sent = []
        for message in distributed.messages:
            for sender in range(ranks):
                for receiver in set(range(ranks)) - {sender}:
                    other = partition.values(partition.other_names, receiver, ranks, ends)
                    elements = fix_parameters(message.elements, {**here, **known[sender], **other})
                    values_sent = own[sender][message.array]
                    sent += [(receiver, message.array, at, values_sent[at]) for at in points_of(elements)]
        for rank in range(ranks):   # while the messages are on their way
            for part in others:
                run_part(part, {**here, **known[rank]}, own[rank])
        for receiver, array, at, value in sent:
            own[receiver][array][at] = value
    for part_of in distributed.gathered:
        for sender in range(ranks):
            for at in points_of(fix_parameters(part_of.elements, {**sizes, **known[sender]})):
                for receiver in range(ranks):
                    own[receiver][part_of.array][at] = own[sender][part_of.array][at]
    return own


def run_part(part: Scop, values: Mapping[str, int], arrays: Arrays) -> None:
    """One rank's part of a step."""
    if not fix_parameters(isl.Set.from_params(part.context), values).is_empty():
        execute(part, values, arrays, wrap_signed=True)
    else:   # the code tests what it assumes, so nothing may be left to run
        assert all(fix_parameters(s.domain, values).is_empty() for s in part.statements)


def with_local_arrays_outside(scop: Scop) -> Scop:
    """The program with its local arrays as arguments, so that the interpreter keeps them between steps."""
    from dataclasses import replace

    from polysched.scop.scop import Storage
    return replace(scop, arrays=tuple(replace(a, storage=Storage.ARGUMENT) for a in scop.arrays))
