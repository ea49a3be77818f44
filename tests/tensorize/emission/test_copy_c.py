"""Copies between arrays and buffers move exactly the elements of their tables, whatever the order of the axes."""

from __future__ import annotations

import ctypes
import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest

from polysched.target import Costs, Target, find_compiler
from polysched.tensorize.emission.copy_c import copy_loops, is_turned
from polysched.tensorize.emission.copy_plan import Axis, Coordinate, CopyPlan

FLAGS = ["-O0", "-w", "-shared", "-fPIC"]


def drawn(seed: int) -> CopyPlan:
    """A random table: coordinates cut into digits, some with padding, in any order."""
    chooser = random.Random(seed)
    counts = [chooser.randint(1, 7) for _ in range(chooser.randint(1, 3))]
    order = chooser.sample(range(len(counts)), len(counts))
    steps, size, start = [0] * len(counts), 1, 3
    for at in order:
        steps[at] = size
        size *= counts[at]
        if chooser.random() < 0.2:
            start, steps[at] = start + steps[at] * (counts[at] - 1), -steps[at]
    axes: list[Axis] = []
    for at, count in enumerate(counts):
        inner = chooser.randint(1, 4)
        middle = chooser.randint(1, 2)
        extents = [-(-count // (inner * middle)) + (chooser.random() < 0.2), middle, inner]
        for digit, extent in enumerate(extents):
            axes.append(Axis(name=f"x{at}_{digit}", coordinate=at, weight=math.prod(extents[digit + 1:]),
                             extent=extent))
    chooser.shuffle(axes)
    return CopyPlan(coordinates=tuple(Coordinate(count=c, step=s) for c, s in zip(counts, steps, strict=True)),
                    axes=tuple(axes), start=start)


PLANS = [drawn(seed) for seed in range(90)]


def pairs(plan: CopyPlan) -> list[tuple[int, int]]:
    """Every place of the buffer that is no padding, and its element of the array."""
    found = []
    for place, point in enumerate(itertools.product(*(range(a.extent) for a in plan.axes))):
        at = [0] * len(plan.coordinates)
        for axis, x in zip(plan.axes, point, strict=True):
            at[axis.coordinate] += axis.weight * x
        if all(x < c.count for x, c in zip(at, plan.coordinates, strict=True)):
            found.append((place, plan.start + sum(x * c.step for x, c in zip(at, plan.coordinates, strict=True))))
    return found


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("copies")
    lines = []
    for at, plan in enumerate(PLANS):
        for name, to_buffer, factor in (("fill", True, "10 * "), ("copy", True, ""), ("empty", False, "")):
            body = copy_loops(plan, array="a", buffer="b", to_buffer=to_buffer, team=None,
                              value=lambda element, factor=factor: factor + element)
            lines += [f"void {name}{at}(int *a, int *b) {{", *body, "}"]
    (folder / "c.c").write_text("\n".join(["#include <string.h>", *lines]))
    done = find_compiler().run([*FLAGS, str(folder / "c.c"), "-o", str(folder / "c.so")])
    assert not done.returncode, done.stderr
    return ctypes.CDLL(str(folder / "c.so"))


@pytest.mark.parametrize("at", range(len(PLANS)))
def test_elements_go_where_the_table_says_and_padding_is_not_touched(at: int, copies: ctypes.CDLL) -> None:
    plan = PLANS[at]
    array, buffer = np.arange(400, dtype=np.int32), np.full(plan.elements, -7, np.int32)
    wanted, elements = buffer.copy(), dict(pairs(plan))
    for place, element in elements.items():
        wanted[place] = 10 * array[element]
    given = [ctypes.c_void_p(x.ctypes.data) for x in (array, buffer)]
    getattr(copies, f"fill{at}")(*given)
    np.testing.assert_array_equal(buffer, wanted)
    getattr(copies, f"copy{at}")(*given)
    np.testing.assert_array_equal(buffer, np.where(wanted == -7, -7, wanted // 10))
    back = array.copy()
    buffer[:] = np.arange(plan.elements) + 1000
    for place, element in elements.items():
        back[element] = buffer[place]
    getattr(copies, f"empty{at}")(*given)
    np.testing.assert_array_equal(array, back)
    np.testing.assert_array_equal(buffer, np.arange(plan.elements) + 1000)


def test_tables_know_their_strides_and_their_padding() -> None:
    for plan in PLANS:
        strides = [math.prod(a.extent for a in plan.axes[at + 1:]) for at in range(len(plan.axes))]
        assert list(plan.strides) == strides
        assert plan.elements == math.prod(a.extent for a in plan.axes)
        assert all(plan.stride_of(a.name) == s for a, s in zip(plan.axes, strides, strict=True))
        padded = len(pairs(plan)) < plan.elements
        assert any(plan.is_padded(c) for c in range(len(plan.coordinates))) is padded
    assert PLANS[0].stride_of("nothing") == 0


@pytest.mark.parametrize(("order", "turned"), [((0, 1), False), ((1, 0), True)])
def test_a_transposition_is_turned(order: tuple[int, int], turned: bool) -> None:
    axes = (Axis(name="i", coordinate=0, weight=1, extent=64), Axis(name="j", coordinate=1, weight=1, extent=64))
    plan = CopyPlan(coordinates=(Coordinate(count=64, step=64), Coordinate(count=64, step=1)),
                    axes=tuple(axes[at] for at in order), start=0)
    assert is_turned(plan) is turned


def test_large_copies_are_shared_by_threads_only_where_that_is_allowed() -> None:
    axes = tuple(Axis(name=n, coordinate=at, weight=1, extent=1 << 10) for at, n in enumerate("ij"))
    plan = CopyPlan(coordinates=(Coordinate(count=1 << 10, step=1 << 10), Coordinate(count=1 << 10, step=1)),
                    axes=axes, start=0)
    dear = Target(costs=Costs(team_start_seconds=1e-3))
    for team, shared in ((None, False), (Target(), True), (dear, False)):
        text = list(copy_loops(plan, array="a", buffer="b", to_buffer=True, team=team))
        assert text[0].startswith("#pragma omp for") is shared
    assert not any("omp" in x for x in copy_loops(PLANS[0], array="a", buffer="b", to_buffer=True, team=Target()))
