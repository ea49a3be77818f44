"""What a block shares."""

from __future__ import annotations

import pytest

from polysched.gpu import GpuOptions, map_to_device
from polysched.gpu.mapping import Phase
from polysched.gpu.staging import box_in_tile
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from tests.gpu.mapped import CHAIN, PRODUCT, SCALE, STENCIL, WAVEFRONT, mapped
from tests.gpu.staged import OFFSET, SWEEP, TRIANGLE, TWO, WINDOW


def phases(text: str) -> list[Phase]:
    """Those that share something, of all launches."""
    return [phase for launch in mapped(text).launches for phase in launch.phases if phase.staged]


@pytest.mark.parametrize(("text", "staged", "kept"), [
    (PRODUCT, [("A", "B")], [("C",)]), (TRIANGLE, [("A", "B")], [("C",)]), (WINDOW, [("x", "w")], [("y",)]),
    (TWO, [("A", "B"), ("A", "B")], [("C",), ("C", "D")]), (OFFSET, [("A", "x")], [("y",)])])
def test_what_is_read_again_and_what_a_work_item_has_alone(text: str, staged: list[tuple[str, ...]],
                                                           kept: list[tuple[str, ...]]) -> None:
    assert [phase.staged for phase in phases(text)] == staged
    assert [phase.kept for phase in phases(text)] == kept


@pytest.mark.parametrize("text", [SCALE, STENCIL, WAVEFRONT, CHAIN, SWEEP])
def test_nothing_is_shared_without_reuse_or_where_it_is_written(text: str) -> None:
    assert not phases(text)


def test_phases_are_the_whole_launch_in_order() -> None:
    (launch,) = mapped(PRODUCT).launches
    first, second = launch.phases
    assert first.step is None
    assert first.domain.union(second.domain).is_equal(launch.domain)
    assert first.domain.intersect(second.domain).is_empty()


def test_wide_elements_take_shorter_tiles() -> None:
    text = WINDOW.replace("float", "double").replace("n + 7", "n + 63").replace("8", "64")
    (phase,) = phases(text)
    launch = mapped(text).launches[0]
    assert phase.edge < 32
    boxes = {name: box_in_tile(mapped(text).scop, launch, phase, name) for name in phase.staged}
    total = 0
    for box in boxes.values():
        elements = 8
        for edge in box or ():
            elements *= edge.extent
        total += elements
    assert 0 < total <= 32768


def test_it_can_be_left_out() -> None:
    dependences = analysed(from_c_text(PRODUCT)).dependences
    schedule = scheduled(dependences, PipelineOptions(scheduler="original"))
    (launch,) = map_to_device(schedule, options=GpuOptions(shared=False)).launches
    assert launch.phases == ()


def test_work_items_with_variables_of_their_own_share_nothing() -> None:
    text = PRODUCT.replace("C[i][j] = 0;", "float s[2];\n      s[0] = 0; s[1] = 0;").replace(
        "C[i][j] += A[i][k] * B[k][j];", "s[k % 2] += A[i][k] * B[k][j];").replace(
        "    }\n#", "      C[i][j] = s[0] + s[1];\n    }\n#")
    assert "s[k % 2]" in text
    assert all(launch.phases == () for launch in mapped(text).launches)


def test_a_number_that_nothing_writes_is_no_temporary() -> None:
    text = PRODUCT.replace("int n, ", "int n, float by, ").replace("C[i][j] +=", "C[i][j] += by *")
    (launch,) = mapped(text).launches
    assert [phase.staged for phase in launch.phases] == [(), ("A", "B")]
