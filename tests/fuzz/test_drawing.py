"""Which configurations a number gives: each possible for the pipeline, and as the docstrings promise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.fuzz.configuration import STRATEGY, Build, Configuration
from polysched.fuzz.drawing import (
    BY_NAME,
    INSTRUCTION_BLOCK,
    INSTRUCTION_PERIOD,
    LARGEST_EDGE,
    OTHERS,
    random_configurations,
)
from polysched.tensorize.registry import INTRINSICS

COUNT = 1200


@pytest.fixture(scope="module")
def drawn() -> list[tuple[Configuration, ...]]:
    return [random_configurations(seed) for seed in range(COUNT)]


def test_the_first_is_pluto_tiled_and_the_second_another_scheduler(drawn: list[tuple[Configuration, ...]]) -> None:
    for configurations in drawn:
        first, second, *others = configurations
        assert (first.scheduler, first.sizes == "off") == ("pluto", False)
        assert second.scheduler in OTHERS
        assert len(others) <= 1


def test_labels_of_one_program_differ(drawn: list[tuple[Configuration, ...]]) -> None:
    assert all(len({c.label for c in configurations}) == len(configurations) for configurations in drawn)


def test_one_of_every_other_program_is_compiled_with_optimisations(drawn: list[tuple[Configuration, ...]]) -> None:
    positions = set()
    for seed, configurations in enumerate(drawn):
        chosen = [at for at, c in enumerate(configurations) if c.build is not Build.PLAIN]
        assert len(chosen) == seed % 2
        positions |= set(chosen)
    assert positions == {0, 1, 2}


def test_every_option_is_one_that_the_tiling_and_the_pipeline_take(drawn: list[tuple[Configuration, ...]]) -> None:
    for configurations in drawn[::3]:
        for c in configurations:
            c.tiling_options()
            c.scheduler_options()
            if c.safe or c.intrinsic:
                c.pipeline_options()
                assert c.scheduler in ("pluto", "isl", "original")
                assert (c.nested, c.outer_sizes, c.steps, c.reductions) == (False, (), 0, "keep")


def test_orders_and_outer_tiles_come_with_tiles(drawn: list[tuple[Configuration, ...]]) -> None:
    for c in (c for configurations in drawn for c in configurations):
        edges = (c.sizes,) if isinstance(c.sizes, int) else c.sizes
        assert not (c.sizes == "off" and (c.order or c.point_order or c.outer_sizes))
        if c.outer_sizes:
            assert not isinstance(edges, str)
            assert max(edges) <= c.outer_sizes[0] <= 3 * LARGEST_EDGE
        if not isinstance(edges, str):
            assert all(1 <= e <= LARGEST_EDGE for e in edges)
        assert not (c.scheduler == STRATEGY and c.split)
        assert not c.concurrent_start or c.scheduler == "pluto"


def test_instructions_come_in_blocks_of_programs(drawn: list[tuple[Configuration, ...]]) -> None:
    blocks = {seed // INSTRUCTION_BLOCK for seed, cs in enumerate(drawn) if any(c.intrinsic for c in cs)}
    assert blocks == set(range(0, -(-COUNT // INSTRUCTION_BLOCK), INSTRUCTION_PERIOD))


def test_instructions_by_name_need_no_library() -> None:
    assert set(BY_NAME) == {name for name, own in INTRINSICS.items() if not own.library}
    assert BY_NAME


def test_a_number_gives_the_same_and_its_neighbour_others(drawn: list[tuple[Configuration, ...]]) -> None:
    assert random_configurations(77) == drawn[77]
    plain = [tuple(replace(c, build=Build.PLAIN) for c in cs) for cs in drawn]
    assert len(set(plain)) > 0.95 * COUNT
