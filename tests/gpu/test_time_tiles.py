"""Several steps in one launch: where diamonds are legal, and what their parts are."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polysched.errors import UsageError
from polysched.gpu import GpuMapping, GpuOptions, map_to_device
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_file, from_c_text
from polysched.scop.scop import Scop
from tests.gpu.mapped import CHAIN, PRODUCT, shape
from tests.gpu.stencils import FAR, LINE, PLANE

KERNELS = Path(__file__).parents[1] / "kernels"


def tiled(scop: Scop, time_tile: int, scheduler: str = "original") -> GpuMapping:
    schedule = scheduled(analysed(scop).dependences, PipelineOptions(scheduler=scheduler))
    return map_to_device(schedule, options=GpuOptions(time_tile=time_tile))


def test_a_launch_has_wavefronts_outside_and_diamonds_inside() -> None:
    mapping = tiled(from_c_text(LINE), 8)
    (launch,) = mapping.launches
    assert shape(mapping.host) == "for(1)"
    assert str(launch) == ("kernel0: diamonds of 8 iterations, each a block of 256 work items that share a step, "
                           "1 dimension, run S0, S1")
    (wave,) = launch.host
    expected = isl.UnionMap("{ S0[s, i] -> [floor((2s + i)/16) + floor((2s - i)/16)];"
                            " S1[s, i] -> [floor((2s + 1 + i)/16) + floor((2s + 1 - i)/16)] }")
    assert isl.UnionMap.from_union_pw_aff(wave).is_equal(expected.intersect_domain(launch.domain))
    assert launch.tiles is not None
    assert len(launch.tiles.steps) == 1


def test_other_dimensions_have_tiles_with_slopes_of_their_own() -> None:
    (launch,) = tiled(from_c_text(PLANE), 4).launches
    assert launch.tiles is not None
    first, last = (str(own) for own in launch.tiles.steps)
    assert "S0[s, i, j] -> [(floor((2s + j)/64))]" in first   # two columns away is overwritten
    assert "S0[s, i, j] -> [(s)]" in last


@pytest.mark.parametrize(("name", "scheduler"), [
    ("jacobi_2d", "pluto"), ("seidel_2d", "pluto"), ("fdtd_2d", "pluto"), ("heat_3d", "original")])
def test_kernels_over_time(name: str, scheduler: str) -> None:
    mapping = tiled(from_c_file(str(KERNELS / f"{name}.c")), 4, scheduler)
    assert [own.tiles is not None for own in mapping.launches] == [True]


@pytest.mark.parametrize("text", [FAR, CHAIN, PRODUCT])
def test_other_loops_stay(text: str) -> None:
    mapping = tiled(from_c_text(text), 4)
    assert not any(own.tiles for own in mapping.launches)
    assert mapping.lines()[-1] == "no loop of the host may run several iterations in a launch"
    assert shape(mapping.host) == shape(tiled(from_c_text(text), 0).host)


def test_nobody_asked_for_none() -> None:
    mapping = tiled(from_c_text(LINE), 0)
    assert not any(own.tiles for own in mapping.launches)
    assert "several iterations" not in str(mapping)


def test_too_many_iterations_are_refused() -> None:
    with pytest.raises(UsageError, match="a launch cannot run 1025 iterations"):
        GpuOptions(time_tile=1025)
