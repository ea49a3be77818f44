"""Reading results of both kinds: nothing is lost, machines are not mixed, and of repetitions the last counts."""

import dataclasses
from pathlib import Path

import pytest

from polysched.errors import UsageError
from polysched.experiment import record as records
from polysched.experiment.folders import load_module
from polysched.measure import results
from polysched.report import read_results
from tests.report.made_results import MACHINE, PEAKS, contest, measured, record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.jsonl"


def test_both_kinds_may_be_in_one_file(path: Path) -> None:
    results.append(path, measured("gemm"))
    records.append(path, contest("case", {"polysched": 1.0, "numpy": 2.0}, flop_count=10, bytes_moved=5,
                                 dtype="float32", peaks=dataclasses.asdict(PEAKS)))
    gemm, case = read_results([path]).entries
    assert (gemm.kernel, gemm.group, gemm.reference, gemm.label) == ("gemm", "", "original", "")
    assert (case.kernel, case.group, case.reference) == ("case", "peers & us", "numpy")
    assert case.sizes == {"M": 64}
    assert case.peaks == PEAKS
    assert case.roof() == min(160e9, 2 * 20e9)
    (ours,) = case.compared()
    assert ours.name == "polysched"
    assert ours.speed_up == pytest.approx(2.0, rel=0.05)
    assert ours.interval is not None
    assert ours.interval.low <= ours.speed_up <= ours.interval.high


def test_a_baseline_can_be_named(path: Path) -> None:
    records.append(path, contest("case", {"polysched": 1.0, "numpy": 2.0, "torch": 3.0}, reference="torch"))
    (case,) = read_results([path]).entries
    assert case.reference == "torch"
    assert {v.name for v in case.compared()} == {"polysched", "numpy"}


def test_variants_may_name_their_threads(path: Path) -> None:
    records.append(path, contest("case", {"polysched@2": 1.0, "gcc": 2.0, "polly@2": 3.0}, threads=[1, 2]))
    (case,) = read_results([path]).entries
    assert (case.reference, case.threads) == ("gcc", 2)
    assert [v.name for v in case.compared()] == ["polysched@2", "polly@2"]


def test_the_rate_is_a_share_of_peak_and_roof(path: Path) -> None:
    results.append(path, measured("gemm", seconds=1.0, flops=8 * 10**9, moved=10**9))
    (entry,) = read_results([path]).entries
    rate = entry.rate(entry.compared()[0])
    assert rate == pytest.approx(8e9, rel=0.05)
    assert entry.peak == 80e9
    assert entry.roof() == 80e9     # 8 operations per byte at 20 GB/s would allow more


def test_one_thread_has_the_roof_of_one_thread(path: Path) -> None:
    timing = measured("f").timing
    assert timing is not None
    results.append(path, measured("f", threads=1, timing=dataclasses.replace(timing, threads=1), moved=10**9))
    (entry,) = read_results([path]).entries
    assert (entry.peak, entry.memory_bandwidth, entry.roof()) == (40e9, 12e9, 12e9)


def test_of_repetitions_the_last_counts(path: Path) -> None:
    for seconds in (1.0, 2.0):
        results.append(path, measured("gemm", seconds=seconds))
    found = read_results([path])
    assert found.older == 1
    assert found.entries[0].compared()[0].seconds == pytest.approx(2.0, rel=0.05)


def test_labels_tell_results_of_one_kernel_apart(path: Path) -> None:
    options = {"scheduler": "pluto", "tile": 32}
    results.append(path, measured("gemm", options=options))
    results.append(path, measured("gemm", options=options | {"tile": [8, 64]}))
    results.append(path, measured("gemm", options=options, sizes={"n": 7}))
    assert [e.label for e in read_results([path]).entries] == [
        "n=1000; tile 32", "n=1000; tile 8x64", "n=7; tile 32"]


def test_tiles_of_one_kernel_make_a_heat_map(path: Path) -> None:
    for edge in (8, 16, 32):
        results.append(path, measured("gemm", options={"tile": [edge, 64]}, seconds=float(edge)))
    results.append(path, measured("gemm", options={"tile": [8, 64]}, sizes={"n": 7}))
    first, *rest = read_results([path]).entries
    assert [t.edges for t in first.tiles] == [(8, 64), (16, 64), (32, 64)]
    assert not any(e.tiles for e in rest)


def test_the_models_pick_is_marked(path: Path) -> None:
    records.append(path, record("k", candidates=[
        {"edges": [8, 8], "measured_seconds": [3.0, 1.0, 2.0], "predicted_seconds": 1.5},
        {"edges": "auto", "tiles": [[8], [16, 8]], "measured_seconds": [1.0], "predicted_seconds": 1.0}]))
    (entry,) = read_results([path]).entries
    assert [(t.edges, t.seconds, t.is_pick) for t in entry.tiles] == [((8, 8), 2.0, False), ((16, 8), 1.0, True)]


def test_failures_are_kept_with_their_reason(path: Path) -> None:
    results.append(path, measured("bad", timing=None, failure="crashed"))
    records.append(path, record("worse", status="hung", problem="no word for 60 s"))
    assert [e.problem for e in read_results([path]).entries] == ["not verified: crashed", "hung: no word for 60 s"]


def test_machines_are_not_mixed_unless_meant(path: Path) -> None:
    results.append(path, measured("f"))
    results.append(path, measured("f", machine=dataclasses.replace(MACHINE, cpu="another")))
    with pytest.raises(UsageError, match="the results come from several machines") as refusal:
        read_results([path])
    assert refusal.value.witness == "Example CPU & Co, 2 cores; another, 2 cores"
    assert "--any-machine" in str(refusal.value.hint)
    assert len(read_results([path], any_machine=True).entries) == 2


def test_what_is_no_result_is_refused(path: Path) -> None:
    path.write_text("")
    with pytest.raises(UsageError, match="there is no result in these files"):
        read_results([path])
    path.write_text('{"format_version": 1}\n')
    with pytest.raises(UsageError, match="format version 1"):
        read_results([path])
    with pytest.raises(UsageError, match="cannot be read"):
        read_results([path.with_name("nowhere")])


def test_experiments_whose_files_have_the_same_names_are_loaded_side_by_side(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "workloads.py").write_text(f"NAME = '{name}'\n")
        (folder / "run.py").write_text("import workloads\n")
    loaded = [load_module(tmp_path / name / "run.py") for name in ("one", "two", "one")]
    assert [module.workloads.NAME for module in loaded] == ["one", "two", "one"]
