"""Small programs that steps are applied to, and what comes out: loops by name, instances in order."""

from __future__ import annotations

import islpy as isl

from polysched.dependence import analyse
from polysched.scheduling import steps
from polysched.scheduling.schedule import Schedule
from polysched.scop.points import instances_in_order
from tests.scop_builder import build_scop


def as_written(scop):
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def product():
    """C[i][j] += A[i][k] * B[k][j]."""
    return as_written(build_scop(
        [("S0", "{ S0[i, j, k] : 0 <= i < N and 0 <= j < N and 0 <= k < N }",
          ["{ S0[i, j, k] -> C[i, j] }", "{ S0[i, j, k] -> A[i, k] }", "{ S0[i, j, k] -> B[k, j] }"],
          ["{ S0[i, j, k] -> C[i, j] }"])], "{ S0[i, j, k] -> [i, j, k] }"))


def stencil():
    """A[i] = A[i - 1] + A[i + 1], over time."""
    return as_written(build_scop(
        [("S0", "{ S0[t, i] : 0 <= t < N and 1 <= i < N }",
          ["{ S0[t, i] -> A[i - 1] }", "{ S0[t, i] -> A[i + 1] }"], ["{ S0[t, i] -> A[i] }"])],
        "{ S0[t, i] -> [t, i] }"))


def two_loops():
    """for i: B[i] = A[i]; for j: C[j] = B[j + 1]."""
    return as_written(build_scop(
        [("S0", "{ S0[i] : 0 <= i <= N }", ["{ S0[i] -> A[i] }"], ["{ S0[i] -> B[i] }"]),
         ("S1", "{ S1[j] : 0 <= j < N }", ["{ S1[j] -> B[j + 1] }"], ["{ S1[j] -> C[j] }"])],
        "{ S0[i] -> [0, i]; S1[j] -> [1, j] }"))


def split_two_loops():
    """The same with the sequence as a sequence node, as front ends make it."""
    schedule = two_loops()
    text = ('{ domain: "[N] -> { S0[i] : 0 <= i <= N; S1[j] : 0 <= j < N }", child: { sequence: [ '
            '{ filter: "{ S0[i] }", child: { schedule: "[{ S0[i] -> [(i)] }]" } }, '
            '{ filter: "{ S1[j] }", child: { schedule: "[{ S1[j] -> [(j)] }]" } } ] } }')
    return Schedule(dependences=schedule.dependences, algorithm="original",
                    tree=isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text))


def names(schedule):
    return [loop.name for loop in steps.loops(steps.loop_tree(schedule.tree))]


def order(schedule, size=4):
    scop = schedule.scop
    statement_names = [s.name for s in scop.statements]
    return [(name, tuple(point)) for name, point in
            instances_in_order(scop.domain, schedule.tree, {"N": size}, statement_names)]
