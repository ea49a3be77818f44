"""Target: what is read from a machine's files, and what is assumed where they are silent."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.target import target as target_module
from polysched.target.costs import Costs
from polysched.target.target import CacheLevel, CorePorts, Target, host


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def cache(index: int, level: int, kind: str, size: str, shared: str) -> dict[str, str]:
    folder = f"sys/devices/system/cpu/cpu0/cache/index{index}"
    return {f"{folder}/level": f"{level}\n", f"{folder}/type": f"{kind}\n", f"{folder}/size": f"{size}\n",
            f"{folder}/coherency_line_size": "64\n", f"{folder}/ways_of_associativity": "12\n",
            f"{folder}/shared_cpu_list": f"{shared}\n"}


@pytest.fixture
def x86(monkeypatch):
    monkeypatch.setattr(target_module.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)


def test_a_machine_with_all_its_files(tmp_path, x86):
    root = write(tmp_path, {
        "proc/cpuinfo": "processor : 0\nmodel name\t: Some Core\ncpu MHz : 3000.5\nflags : fpu sse2 avx2 fma avx512f\n"
                        "\nprocessor : 1\nmodel name : Other\n",
        **cache(0, 1, "Data", "48K", "0"), **cache(1, 1, "Instruction", "32K", "0"),
        **cache(2, 2, "Unified", "2M", "0-1"), **cache(3, 3, "Unified", "32768K", "0-3,8"),
        "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "4500000\n",
        "sys/fs/cgroup/cpu.max": "300000 100000\n"})
    found = host(root)
    assert found.name == "Some Core"
    assert (found.vector_bits, found.vector_registers, found.cores) == (512, 32, 3)
    assert found.caches == (
        CacheLevel(level=1, size_bytes=48 << 10, ways=12, shared_by=1),
        CacheLevel(level=2, size_bytes=2 << 20, ways=12, shared_by=2),
        CacheLevel(level=3, size_bytes=32 << 20, ways=12, shared_by=5))
    assert found.frequency_hz == 4.5e9
    assert "fma" in found.features


@pytest.mark.parametrize(("flags", "shown", "size", "ways"), [
    ("fpu hypervisor", "260M", 32 << 20, 0), ("fpu hypervisor", "32M", 32 << 20, 12), ("fpu", "260M", 260 << 20, 12)])
def test_a_guest_has_its_cores_part_of_the_last_cache(tmp_path, x86, flags, shown, size, ways):
    root = write(tmp_path, {"proc/cpuinfo": f"flags : {flags}\n", **cache(0, 1, "Data", "48K", "0"),
                            **cache(2, 2, "Unified", "2M", "0"), **cache(3, 3, "Unified", shown, "0-1")})
    _, second, last = host(root).caches
    assert second == CacheLevel(level=2, size_bytes=2 << 20, ways=12, shared_by=1)
    assert last == CacheLevel(level=3, size_bytes=size, ways=ways, shared_by=2)


def test_a_machine_without_files_has_the_defaults(tmp_path, x86):
    found, generic = host(tmp_path), Target()
    assert found.caches == generic.caches
    assert found.frequency_hz == generic.frequency_hz
    assert (found.vector_bits, found.vector_registers, found.cores) == (128, 16, 8)


def test_files_with_nonsense_do_not_crash(tmp_path, x86):
    root = write(tmp_path, {"proc/cpuinfo": "cpu MHz : fast\nflags :\n", **cache(0, 1, "Data", "big", "all"),
                            "sys/fs/cgroup/cpu.max": "max 100000\n"})
    assert host(root).caches == Target().caches
    assert host(root).cores == 8


@pytest.mark.parametrize(("machine", "cpuinfo", "expected"), [
    ("x86_64", "flags : sse2", (128, 16)),
    ("x86_64", "flags : avx avx2", (256, 16)),
    ("aarch64", "Features : fp asimd", (128, 32)),
    ("aarch64", "Features : fp asimd sve", (256, 32)),
    ("riscv64", "isa : rv64imafdcv_zicsr", (128, 32)),
    ("riscv64", "isa : rv64imafdc_zicsr", (0, 32)),
    ("wasm", "", (0, 16)),
])
def test_vector_registers_by_architecture(tmp_path, monkeypatch, machine, cpuinfo, expected):
    monkeypatch.setattr(target_module.platform, "machine", lambda: machine)
    write(tmp_path, {"proc/cpuinfo": cpuinfo, "proc/sys/abi/sve_default_vector_length": "32\n"})
    found = host(tmp_path)
    assert (found.vector_bits, found.vector_registers) == expected


def test_the_real_host_is_consistent():
    found = host()
    assert found.cores >= 1
    sizes = [c.size_bytes for c in found.caches]
    assert sizes == sorted(sizes)


def test_measured_figures_take_precedence():
    target = Target(vector_bits=512, frequency_hz=1e9)
    assert target.lanes(64) == 8
    assert target.peak_flops(64) == 2 * 8 * 2 * 1e9
    assert Target(peak_flop_per_second={"float64": 5.0}).peak_flops(64, "float64") == 5.0
    assert Target(bandwidth_bytes_per_second={0: 7.0}).bandwidth(0) == 7.0
    assert target.bandwidth(1) > target.bandwidth(2) > target.bandwidth(3) > target.bandwidth(0)


def test_a_scalar_target_has_one_lane():
    assert Target(vector_bits=0).lanes(32) == 1


@pytest.mark.parametrize("wrong", [
    {"cores": 0}, {"vector_bits": 100},
    {"caches": (CacheLevel(level=2, size_bytes=1), CacheLevel(level=1, size_bytes=1))}])
def test_targets_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError):
        Target(**wrong)


def test_private_levels_are_the_outermost_first_and_never_none():
    shared, own = CacheLevel(level=3, size_bytes=1 << 22, shared_by=8), CacheLevel(level=2, size_bytes=1 << 19)
    first = CacheLevel(level=1, size_bytes=1 << 15)
    assert Target(caches=(first, own, shared)).private_levels == (2, 1)
    assert Target(caches=(replace(first, shared_by=2), shared)).private_levels == (1,)


def test_shares_of_caches_are_counted_from_the_core() -> None:
    machine = Target(caches=(CacheLevel(level=1, size_bytes=48 << 10, ways=12),
                             CacheLevel(level=2, size_bytes=2 << 20, ways=16)),
                     costs=Costs(kept_share=0.5, usable_share=0.75))
    assert [machine.kept_bytes(level) for level in (1, 2, 3)] == [24 << 10, 1 << 20, 1 << 20]
    assert machine.usable_bytes(1) == 36 << 10
    with pytest.raises(ValueError, match="at least one cache"):
        Target(caches=())


def test_rows_share_sets_by_the_ways_of_the_first_cache() -> None:
    def machine(size: int, ways: int) -> Target:
        return Target(caches=(CacheLevel(level=1, size_bytes=size, ways=ways),))
    assert machine(48 << 10, 12).row_grid_bytes == machine(32 << 10, 8).row_grid_bytes == 1024
    assert machine(128 << 10, 8).row_grid_bytes == 4096
    assert machine(64 << 10, 0).row_grid_bytes == 1024, "ways that nobody names"
    assert machine(512, 8).row_grid_bytes == 64, "a line at least"


def test_sums_in_flight_keep_all_pipes_busy() -> None:
    assert CorePorts(fma_pipes=3, fma_latency_cycles=5).sums_in_flight == 15


def test_equal_machines_have_one_hash() -> None:
    measured = Target(peak_flop_per_second={"float32": 1e9}, bandwidth_bytes_per_second={0: 1e9})
    assert hash(measured) == hash(replace(measured))
    assert measured != Target()
    assert len({measured, Target(), Target()}) == 2
