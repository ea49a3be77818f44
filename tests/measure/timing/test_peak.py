"""Peaks: the programs compile and compute, figures are cached per machine and compiler, and no time is judged."""

import ctypes
import json
from pathlib import Path

import pytest

from polysched.errors import RunFailedError
from polysched.measure.processes.building import compile_shared
from polysched.measure.timing import peak
from polysched.measure.timing.peak import Peaks, cache_file, cached_peaks, measure_peaks, peaks, working_sets
from polysched.measure.timing.peak_source import peak_program
from polysched.target import CacheLevel, Target, find_compiler, host

FIGURES = Peaks(one_core={"float32": 4e9}, all_cores={"float32": 8e9}, bandwidth={1: 2e9, 0: 1e9},
                memory_all_cores=1.5e9, threads=2, compiler="gcc")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_the_programs_compile_for_every_width(tmp_path: Path, bits: int) -> None:
    text, operations = peak_program(bits, frozenset())
    library = compile_shared(text, name="peak", folder=tmp_path, compiler=find_compiler(), flags=("-O2",))
    loaded = ctypes.CDLL(str(library.path))
    assert set(operations) == {"float32", "float64"}
    assert operations["float32"] == 2 * operations["float64"]
    assert loaded.stream_step() % (bits // 64) == 0


def test_the_instructions_of_this_machine_are_used() -> None:
    _, operations = peak_program(host().vector_bits, host().features)
    assert ("int8_tiles" in operations) == ("amx_int8" in host().features)
    assert ("int8" in operations) == bool(host().features & {"avx512_vnni", "avx_vnni", "asimddp"})


def test_a_matrix_unit_is_used_where_the_system_permits_it(tmp_path: Path) -> None:
    text, operations = peak_program(512, frozenset({"amx_int8", "amx_bf16"}))
    assert {name: operations[name] for name in ("int8_tiles", "bfloat16_tiles")} == {
        "int8_tiles": 6 * 2 * 16 * 16 * 64, "bfloat16_tiles": 6 * 2 * 16 * 16 * 32}
    if not {"amx_int8", "amx_bf16"} <= host().features:
        pytest.skip("this machine has no matrix unit with tiles")
    library = ctypes.CDLL(str(compile_shared(text, name="peak", folder=tmp_path, compiler=find_compiler(),
                                             flags=("-O2",)).path))
    if not library.tiles_permitted():
        pytest.skip("the system does not permit the tile registers")
    library.peak_int8_tiles(100)
    library.peak_bfloat16_tiles(100)


def test_the_better_of_vectors_and_matrix_unit_counts() -> None:
    reports = [{"arithmetic": "int8", "one": 1.0, "all": 2.0}, {"arithmetic": "float32", "one": 5.0, "all": 6.0},
               {"arithmetic": "int8", "one": 4.0, "all": 1.0}]
    assert peak._best(reports, "one") == {"int8": 4.0, "float32": 5.0}
    assert peak._best(reports, "all") == {"int8": 2.0, "float32": 6.0}


def test_working_sets_fit_their_level() -> None:
    caches = (CacheLevel(level=1, size_bytes=1 << 15), CacheLevel(level=2, size_bytes=1 << 20))
    assert working_sets(Target(caches=caches)) == [(1, 1 << 14), (2, 1 << 19), (0, 64 << 20)]


@pytest.mark.slow
def test_this_machine_can_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Target(caches=(CacheLevel(level=1, size_bytes=1 << 15),), vector_bits=host().vector_bits,
                   features=host().features)
    monkeypatch.setattr(peak, "host", lambda: small)
    found = measure_peaks(find_compiler())
    assert set(found.bandwidth) == {0, 1}
    assert {"float32", "float64"} <= set(found.one_core)
    assert all(rate > 0 for rate in (*found.one_core.values(), *found.all_cores.values(), *found.bandwidth.values()))


def test_figures_of_a_busy_machine_are_refused_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []

    def measure(compiler: object, on_report: object = None) -> Peaks:
        measured.append(compiler)
        return FIGURES

    monkeypatch.setattr(peak, "measure_peaks", measure)
    monkeypatch.setattr(peak, "available_cores", lambda: 2)
    monkeypatch.setattr(peak, "busy_cores", lambda: 1.0)
    with pytest.raises(RunFailedError, match="other programs use this machine") as refusal:
        peaks(find_compiler())
    assert refusal.value.witness == "1.0 of 2 cores are in use"
    assert not measured
    assert peaks(find_compiler(), even_if_busy=True) == FIGURES
    assert cached_peaks(find_compiler()) is None
    monkeypatch.setattr(peak, "busy_cores", lambda: 0.1)
    assert peaks(find_compiler()) == FIGURES
    assert cached_peaks(find_compiler()) == FIGURES
    assert peaks(find_compiler()) == FIGURES
    assert len(measured) == 2
    peaks(find_compiler(), again=True)
    assert len(measured) == 3


@pytest.mark.parametrize("content", ["", "{", "{}", json.dumps({"format_version": 99})])
def test_a_broken_cache_is_measured_again(content: str) -> None:
    path = cache_file(find_compiler())
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert cached_peaks(find_compiler()) is None


def test_a_cache_that_cannot_be_written_is_remarked(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "cache").write_text("a file")
    monkeypatch.setattr(peak, "measure_peaks", lambda compiler, on_report=None: FIGURES)
    monkeypatch.setattr(peak, "busy_cores", lambda: 0.0)
    assert peaks(find_compiler()) == FIGURES
    assert "could not be kept" in caplog.text


def test_a_target_takes_the_figures() -> None:
    target = FIGURES.of_target(Target())
    assert target.peak_flops(32, "float32") == 4e9
    assert target.bandwidth(1) == 2e9
    assert FIGURES.operations_per_second("float32", 1) == 4e9
    assert FIGURES.operations_per_second("float32", 2) == 8e9
    assert FIGURES.operations_per_second("float16", 2) is None
