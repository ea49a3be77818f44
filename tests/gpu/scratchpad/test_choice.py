"""Tiles by the model, by hand, and the whole search beside them."""

from __future__ import annotations

import pytest

from polysched.errors import UnsupportedScopError, UsageError
from polysched.gpu.scratchpad.choice import Chooser, every_edge
from polysched.gpu.scratchpad.options import ScratchpadOptions
from polysched.gpu.scratchpad.search import exhaustive
from polysched.target.scratchpads import SCRATCHPADS
from tests.gpu.scratchpad.accelerated import dependences, mapped, norm, product


def test_the_models_tile_is_close_to_the_best_of_all() -> None:
    for target in SCRATCHPADS:
        mapping = mapped(product(48, 64, 32, integers=target == "gemmini"), target)
        (own,) = mapping.groups.values()
        best = exhaustive(mapping, own, step=16)
        assert best.cycles <= own.cycles <= 1.05 * best.cycles


def test_tiles_by_hand() -> None:
    (own,) = mapped(product(48, 64, 32), tile=(16, 32)).groups.values()
    assert own.plan.edges == (16, 32)
    assert own.weighed == 1
    (own,) = mapped(product(48, 64, 32), tile=(16,)).groups.values()
    assert own.plan.edges == (16, 16)
    with pytest.raises(UsageError, match="2 loops of tiles, not 3"):
        mapped(product(48, 64, 32), tile=(16, 16, 16))


def test_what_does_not_fit_names_what_binds() -> None:
    with pytest.raises(UnsupportedScopError, match="UB has 262144 bytes") as refused:
        mapped(norm(64, 4096), tile=(64,))
    assert "would fit" in str(refused.value.hint)


def test_a_row_that_no_buffer_holds_is_refused() -> None:
    with pytest.raises(UnsupportedScopError, match="UB has"):
        mapped(norm(2, 40000))


def test_every_edge_of_a_step() -> None:
    chooser = Chooser(dependences=dependences(norm(10, 4)), target=SCRATCHPADS["davinci"], sizes={}, matches={},
                      names=(("h",), ("t0", "t1")), options=ScratchpadOptions())
    from polysched.gpu.bands import host_tree
    from polysched.gpu.mapping import Launch
    from polysched.gpu.options import GpuOptions
    from polysched.scheduling.original import original
    launch = host_tree(original(chooser.dependences), GpuOptions())
    assert isinstance(launch, Launch)
    assert list(every_edge(chooser.planner(launch), 4)) == [(4,), (8,), (10,)]
