"""Workers of a cluster judge candidates; one that dies costs one trial, and here alone something is written."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest

from polysched.errors import UsageError
from polysched.measure.field import Verdict
from polysched.measure.paired import MeasureOptions
from polysched.measure.processes.dask_cluster import workers_of
from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_file
from polysched.search.building import LocalBuilder, Wanted
from polysched.search.identity import place_of
from polysched.search.packages.cluster import Errand, cluster_runner, judge
from polysched.search.space import Proposal
from polysched.target import find_compiler
from tests.search.programs import OPTIONS, PRODUCT, product

pytest.importorskip("distributed", reason="polysched[cluster] is not installed")
MEASURE = MeasureOptions(threads=1, flags=("-O1",))


@pytest.fixture
def scop(tmp_path):
    (tmp_path / "product.c").write_text(PRODUCT)
    return from_c_file(str(tmp_path / "product.c"))


def errand(scop, text: str) -> Errand:
    return Errand(file="product.c", text=PRODUCT, start=scop.source.start, options=OPTIONS, sizes={"n": 24},
                  measure=MEASURE, against=None, candidate=("v1", text, ()), pairs=2, slow_ratio=9.0)


def test_a_worker_judges_what_it_is_sent(scop):
    good = judge(errand(scop, PRODUCT))
    assert (good.verdict, len(good.pairs)) == (Verdict.TIMED, 2)
    assert judge(errand(scop, PRODUCT.replace("+=", "-="))).verdict is Verdict.WRONG
    assert judge(errand(scop, "int x")).verdict is Verdict.NO_CODE


@pytest.mark.campaign   # workers take long to start
def test_a_worker_that_dies_costs_one_trial(scop):
    place = place_of(OPTIONS, find_compiler(), threads=1, flags=MEASURE.flags)
    made = LocalBuilder(scop, OPTIONS).build([
        Wanted(number=k, proposal=Proposal(recipe=Recipe(tile=edge))) for k, edge in enumerate((4, 8, 16))])
    with cluster_runner("local:1", scop, {"n": 24}, OPTIONS, MEASURE, place) as runner:
        told = []
        runner.race(made[:1], against=None, pairs=1, slow_ratio=9.0, told=lambda c, ran: told.append(ran))
        assert told[0].verdict is Verdict.TIMED
        pid = next(iter(runner.client.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        runner.race(made[1:], against=made[0], pairs=1, slow_ratio=9.0, told=lambda c, ran: told.append(ran))
        other = replace(place, threads=7)
        assert not replace(runner, place=other.text, places={}).takes_part(next(iter(workers_of(runner.client))))
    lost = [ran for ran in told if ran.verdict is Verdict.CRASHED]
    assert len(lost) <= 1
    assert all("lost" in ran.reason for ran in lost)
    assert [ran.verdict for ran in told if ran not in lost] == [Verdict.TIMED] * (3 - len(lost))


def test_programs_without_a_file_are_refused():
    place = place_of(OPTIONS, find_compiler(), threads=1, flags=MEASURE.flags)
    with pytest.raises(UsageError, match="programs that stand in C files"), cluster_runner(
            "local:1", replace(product(), source=None), {}, OPTIONS, MEASURE, place):
        pass


def test_without_a_machine_of_the_kind_the_search_is_refused(scop, monkeypatch):
    class Client:
        def scheduler_info(self, n_workers):
            return {"workers": {"a": 1}}

        def run(self, *arguments, workers, on_error):
            return dict.fromkeys(workers, "another machine")

    monkeypatch.setattr("polysched.search.packages.cluster.connected", lambda address, stack, pin: Client())
    place = place_of(OPTIONS, find_compiler(), threads=1, flags=MEASURE.flags)
    with pytest.raises(UsageError, match="no worker is a machine") as refusal, cluster_runner(
            "x", scop, {}, OPTIONS, MEASURE, place):
        pass
    assert refusal.value.witness == "another machine"
