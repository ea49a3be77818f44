"""Clusters for the tests of dataflow: in this process, or of Ray."""

import pytest

from polysched.runtime.dataflow import Cluster, cluster
from tests.runtime.dataflow.in_process import InProcess


@pytest.fixture
def in_process(monkeypatch):
    """A function that makes a cluster in this process whose workers die before some nodes."""
    made = []

    def make(workers: int = 2, spares: int = 1, crash_before=(), tells: bool = False, **more) -> Cluster:
        kind = type("Engine", (InProcess,), {"crash_before": frozenset(crash_before), "tells": tells})
        monkeypatch.setattr(cluster, "RayWorkers", kind)
        made.append(Cluster(workers=workers, spares=spares, **more))
        return made[-1]
    yield make
    for each in made:
        each.close()


@pytest.fixture(scope="package")
def ray_cluster():
    """Two worker processes of Ray, and a spare one."""
    pytest.importorskip("ray", reason="needs the extra `ray`")
    with Cluster(workers=2, spares=1) as made:
        yield made
