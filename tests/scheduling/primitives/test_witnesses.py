"""The pair of instances that a refusal names, held against the program itself: domains, elements, both orders.

Nothing of dependence analysis or legality is used to check it: the elements come from the access relations at the
witness's own sizes, the orders from running through the instances.
"""

import re

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import steps
from polysched.scheduling.primitives import (
    ComputeAt,
    Distribute,
    Fuse,
    Interchange,
    Parallel,
    Peel,
    Privatize,
    Reorder,
    Reverse,
    Scale,
    Shift,
    Skew,
    SplitAt,
    StripMine,
    Tile,
    Unroll,
    UnrollAndJam,
    Vectorize,
)
from polysched.scheduling.primitives.step import Step
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import to_isl
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters, instances_in_order, points_of
from polysched.scop.scop import Scop

PAIR = "for (int i = 1; i < n; i++) { a[i] = b[i - 1]; b[i] = a[i] + 1.0; }"
SWEEP = "for (int t = 0; t < n; t++) for (int i = 1; i < n - 1; i++) a[i] = a[i - 1] + a[i + 1];"
TRIANGLE = "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i - j] += b[j] * a[j];"
NEIGHBOURS = "for (int i = 0; i < n; i++) a[i] = 2.0 * b[i]; for (int k = 0; k < n - 1; k++) b[k] = a[k + 1];"
STRIDED = "for (int i = 0; i < n; i += 3) a[i] = b[i]; for (int j = 0; j < n; j += 3) b[j] = a[n - 1 - j];"
BACK = "for (int i = n - 2; i >= 0; i--) for (int j = 0; j < i; j++) a[i] += a[i + 1] * a[j];"

LATER_FIRST = "the schedule runs the later instance first"

REFUSED: list[tuple[str, Step]] = [
    (PAIR, Distribute(loop="i")),
    (PAIR, Shift(loop="i", statement="S0", amount=1)),
    (PAIR, Shift(loop="i", statement="S1", amount="n")),
    (PAIR, Vectorize(loop="i")),
    (PAIR, Reverse(loop="i")),
    (PAIR, Parallel(loop="i")),
    (SWEEP, UnrollAndJam(loop="t", factor=2)),
    (SWEEP, Reorder(order=("i", "t"))),
    (SWEEP, Interchange(outer="t", inner="i")),
    (SWEEP, Tile(loops=("t", "i"), sizes=(2, 2))),
    (SWEEP, Parallel(loop="t")),
    (SWEEP, Reverse(loop="i")),
    (SWEEP, Vectorize(loop="i")),
    (TRIANGLE, Interchange(outer="i", inner="j")),
    (TRIANGLE, Tile(loops=("i", "j"), sizes=(3, 2))),
    (TRIANGLE, Parallel(loop="i")),
    (NEIGHBOURS, Fuse(first="i", second="k")),
    (STRIDED, Fuse(first="i", second="j")),
    (BACK, Reverse(loop=0)),
    (BACK, Reorder(order=(1, 0))),
    (BACK, Parallel(loop=1)),
]


def written(loops_of_c: str) -> Schedule:
    scop = from_c_text(f"void f(int n, double a[n], double b[n]) {{\n#pragma scop\n{loops_of_c}\n#pragma endscop\n}}")
    return Schedule(dependences=analyse(scop), tree=scop.schedule, algorithm="original")


def elements(scop: Scop, name: str, at: tuple[int, ...], sizes: dict[str, int], *, writes: bool) -> set[object]:
    """The elements that one instance writes, or touches at all."""
    statement = scop.statement(name)
    instance = fix_parameters(statement.domain, sizes)
    for position, value in enumerate(at):
        instance = instance.fix_val(isl.dim_type.set, position, isl.Val(value))
    return {(a.array, tuple(point)) for a in statement.accesses if a.is_write or not writes
            for point in points_of(fix_parameters(a.relation, sizes).intersect_domain(instance).range())}


@pytest.mark.parametrize(("loops_of_c", "step"), REFUSED, ids=lambda v: v.NAME if isinstance(v, Step) else "")
def test_the_witness_is_a_pair_that_the_step_turns_round(loops_of_c: str, step: Step) -> None:
    start = written(loops_of_c)
    scop = start.scop
    with pytest.raises(IllegalScheduleError) as caught:
        steps.apply(start, step)
    found = re.fullmatch(r"(S\d)\[(.*?)\] must run before (S\d)\[(.*?)\] \((\w+) dependence on (\w)\) with n = (\d+), "
                         r"but (.*)", str(caught.value.witness))
    assert found, caught.value.witness
    source, at, sink, to, kind, array, n, reason = found.groups()
    first, last = ((name, tuple(map(int, p.split(", ")))) for name, p in ((source, at), (sink, to)))
    sizes = {"n": int(n)}
    common = elements(scop, *first, sizes, writes=kind != "anti") & elements(scop, *last, sizes, writes=kind != "flow")
    assert array in {name for name, _ in common}
    names = [s.name for s in scop.statements]
    before = [(name, tuple(p)) for name, p in instances_in_order(scop.domain, scop.schedule, sizes, names)]
    assert before.index(first) < before.index(last)
    tree = to_isl(step.rewrite(steps.loop_tree(start.tree)))
    after = [(name, tuple(p)) for name, p in instances_in_order(scop.domain, tree, sizes, names)]
    assert sorted(after) == sorted(before)
    assert (after.index(first) > after.index(last)) == (reason == LATER_FIRST)
    assert reason == LATER_FIRST or isinstance(step, Parallel | Vectorize)
    assert step.NAME in str(caught.value)


@pytest.mark.parametrize(("step", "problem"), [
    (Tile(loops=("t", "i"), sizes=(4,)), "tile wants one size per loop"),
    (Tile(loops=("t", "i"), sizes=(4, 0)), "a tile size is at least 1"),
    (Tile(loops=("t", "t"), sizes=(4, 4)), "a loop is named twice"),
    (StripMine(loop="i", size=0), "a tile size is at least 1"),
    (SplitAt(loop="i", at="m"), "'m' is no affine expression over the parameters"),
    (SplitAt(loop="i", at="n * n"), "is no affine expression over the parameters"),
    (Peel(loop="i", count=0), "peel takes out at least one iteration"),
    (Unroll(loop="i", factor=1), "unrolled by a factor of at least 2"),
    (UnrollAndJam(loop="t", factor=1), "unrolled by a factor of at least 2"),
    (Scale(loop="i", factor=0), "scaled by a factor of at least 1"),
    (Skew(loop="t", by="i", factor=1), "loop 'i' is not around loop 't'"),
    (Interchange(outer="i", inner="z"), "no loop is called 'z'"),
    (Reorder(order=("t", "z")), "no loop is called 'z'"),
    (Fuse(first="t", second="i"), "are not neighbours"),
    (Distribute(loop="i"), "no sequence directly inside"),
    (Vectorize(loop="t"), "loop 't' is not innermost"),
    (Shift(loop="i", statement="S7", amount=1), "loop 'i' does not contain S7"),
    (Privatize(array="z", loop="i"), "the program has no array 'z'"),
    (ComputeAt(producer="S7", loop="i"), "the program has no statement 'S7'"),
    (ComputeAt(producer="S0", loop="i"), "S0 already runs inside loop 'i'"),
    (Parallel(loop="z"), "no loop is called 'z'"),
    (Parallel(loop=7), "7"),
], ids=lambda v: v.NAME if isinstance(v, Step) else "")
def test_a_step_without_meaning_is_refused_in_words(step: Step, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        steps.apply(written(SWEEP), step)
    assert problem in caught.value.problem
