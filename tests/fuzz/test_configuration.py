"""Configurations: told apart by their labels, handed on as they are, exact where nothing is rounded anew."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from polysched.errors import BudgetExceededError
from polysched.fuzz.configuration import TOLERANCE, Analyses, Build, Configuration, machine
from polysched.fuzz.drawing import random_configurations
from polysched.scop import from_c_text
from polysched.scop.scop import Scop

TEXT = """
void f(int n, unsigned A[n][n], unsigned B[n], unsigned s_out[1])
{
    unsigned s = s_out[0];
#pragma scop
    for (int i = 0; i < n; i++) {
        s = 0;
        for (int j = 0; j < n; j++)
            s += A[i][j];
        B[i] = s;
    }
#pragma endscop
    s_out[0] = s;
}
"""
VALUES: dict[str, tuple[Any, ...]] = {
    "scheduler": ("pluto", "isl", "strategy", "best"), "fusion": ("smart", "max", "no"), "strategy_seed": (0, 3),
    "sizes": ("off", "auto", 4, 44, (4,), (4, 4), (44,), (4, 4, 4)), "outer_sizes": ((), (4,), (8, 8)),
    "order": ((), (0,), (1, 0)), "point_order": ((), (0,), (1, 0)), "nested": (False, True), "parallel": (True, False),
    "vector_bits": (0, 256), "expand": (False, True), "reductions": ("keep", "exact"), "reassociate": (False, True),
    "split": (False, True), "concurrent_start": (0, 1, 2), "parallel_degrees": (1, 2), "packing": (True, False),
    "guard": (False, True), "safe": (False, True), "intrinsic": ("", "auto"), "steps": (0, 2), "steps_seed": (0, 5)}
PLAIN = Configuration(scheduler="pluto")


@pytest.fixture(scope="module")
def scop() -> Scop:
    return from_c_text(TEXT)


@pytest.mark.parametrize("option", VALUES)
def test_a_label_tells_every_value_from_the_others(option: str) -> None:
    start = replace(PLAIN, scheduler="strategy", steps=1)
    labels = [replace(start, **{option: value}).label for value in VALUES[option]]
    assert len(set(labels)) == len(labels)
    assert all(label.isidentifier() for label in labels)


def test_every_option_but_the_compiler_has_a_part_in_the_label() -> None:
    assert {f.name for f in fields(Configuration)} == set(VALUES) | {"build"}
    assert replace(PLAIN, build=Build.O3).label == PLAIN.label


def test_drawn_configurations_with_one_label_are_the_same() -> None:
    known: dict[str, Configuration] = {}
    for seed in range(900):
        for drawn in random_configurations(seed):
            plain = replace(drawn, build=Build.PLAIN)
            assert known.setdefault(plain.label, plain) == plain


@pytest.mark.parametrize(("changes", "tolerance"), [
    ({}, 0.0), ({"vector_bits": 512, "packing": False}, 0.0), ({"reassociate": True}, TOLERANCE),
    ({"intrinsic": "auto"}, TOLERANCE), ({"reductions": "exact"}, 0.0), ({"safe": True}, 0.0)])
def test_results_may_differ_where_sums_are_rounded_in_another_order(changes: dict[str, Any], tolerance: float) -> None:
    assert replace(PLAIN, **changes).tolerance == tolerance


def test_options_come_to_the_scheduler_the_tiling_and_the_pipeline() -> None:
    own = Configuration(scheduler="isl", fusion="max", sizes=(3, 5), outer_sizes=(9,), order=(1, 0),
                        point_order=(0, 1), nested=True, parallel=False, vector_bits=256, split=True,
                        concurrent_start=1, parallel_degrees=2, expand=True, reassociate=True, guard=True,
                        intrinsic="auto")
    scheduling, tiling, pipeline = own.scheduler_options(), own.tiling_options(), own.pipeline_options()
    assert (scheduling.fusion, scheduling.split_index_sets, scheduling.concurrent_start) == ("max", True, 1)
    assert (tiling.sizes, tiling.outer_sizes, tiling.order, tiling.point_order) == ((3, 5), (9,), (1, 0), (0, 1))
    assert (tiling.nested, tiling.parallel, tiling.register, tiling.diamond) == (True, False, True, True)
    assert tiling.target.vector_bits == pipeline.vector_bits == 256
    assert (pipeline.scheduler, pipeline.fusion, pipeline.tile, pipeline.parallel) == ("isl", "max", (3, 5), False)
    assert (pipeline.expand, pipeline.reassociate, pipeline.guard, pipeline.safe) == (True, True, True, False)
    assert pipeline.tensorize is not None
    assert pipeline.tensorize.intrinsic == "auto"
    assert replace(own, intrinsic="").pipeline_options().tensorize is None
    assert machine(0).vector_bits == 0


def test_each_kind_of_dependences_is_computed_once(scop: Scop) -> None:
    analyses = Analyses(scop)
    assert analyses.of() is analyses.of(reductions="keep", expand=False)
    assert analyses.of(expand=True) is analyses.of(expand=True) is not analyses.of()
    assert analyses.of(reductions="exact") is not analyses.of()
    assert not analyses.of().relaxed
    assert analyses.of(reductions="exact").relaxed


def test_what_is_made_is_the_file_with_another_region(scop: Scop) -> None:
    made = replace(PLAIN, sizes=2).make(scop, TEXT)
    assert made.text.startswith(TEXT[:TEXT.index("#pragma scop")].rstrip("\n")[:40])
    assert "s_out[0] = s;" in made.text
    assert "void traced(" in made.traced
    assert not made.instructions
    assert list(made.kinds()) == []


def test_too_small_a_budget_is_no_refusal(scop: Scop) -> None:
    with pytest.raises(BudgetExceededError, match="more than"):
        PLAIN.make(scop, TEXT, operations=5)
