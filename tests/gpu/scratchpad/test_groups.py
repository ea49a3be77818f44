"""Which nests share tiles."""

from __future__ import annotations

from polysched.gpu.bands import host_tree
from polysched.gpu.mapping import HostLoop
from polysched.gpu.options import GpuOptions
from polysched.gpu.scratchpad.groups import joined, partitions, runs_of
from polysched.scheduling.original import original
from tests.gpu.scratchpad.accelerated import chain, dependences, program


def test_every_cut_of_a_run_the_coarsest_first() -> None:
    assert list(partitions(3)) == [((0, 3),), ((0, 1), (1, 3)), ((0, 2), (2, 3)), ((0, 1), (1, 2), (2, 3))]
    assert len(list(partitions(9))) == 2


def test_products_in_a_row_share_rows() -> None:
    given = dependences(chain(32, 32, 32, 16))
    (run,) = runs_of(host_tree(original(given), GpuOptions()))
    assert isinstance(run, tuple)
    assert len(run) == 2
    both = joined(given, run)
    assert both is not None
    assert len(both.coordinates) == 1
    assert both.statements() == ("S0", "S1", "S2", "S3", "S4")


def test_what_reads_every_row_shares_none() -> None:
    given = dependences(program("float a[9], float b[9]", "for (int i = 0; i < 9; i++) a[i] = b[i] + 1.0f;\n"
                                "for (int i = 0; i < 9; i++) b[i] = a[8 - i];"))
    (run,) = runs_of(host_tree(original(given), GpuOptions()))
    assert isinstance(run, tuple)
    assert joined(given, run) is None


def test_a_loop_of_the_host_ends_a_run() -> None:
    given = dependences(program("float a[9]", "for (int i = 0; i < 9; i++) a[i] = 0.0f;\n"
                                "for (int t = 0; t < 4; t++) for (int i = 1; i < 9; i++) a[i] = a[i] + a[0];"))
    kinds = [isinstance(own, HostLoop) for own in runs_of(host_tree(original(given), GpuOptions()))]
    assert kinds[0] is False
