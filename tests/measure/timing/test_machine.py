"""What a system says about itself, read from its files: processors of three families, caches, memory and time."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from polysched.measure.timing import machine

X86 = """processor\t: 0
model name\t: Some CPU @ 2.00GHz
flags\t\t: fpu sse2 avx avx2 fma avx512f avx_vnni

processor\t: 1
model name\t: Another
flags\t\t: fpu sse2
"""
ARM = "processor\t: 0\nFeatures\t: fp asimd asimddp i8mm sve sve2\nCPU part\t: 0xd40\n\n"
RISCV = "processor\t: 0\nhart\t\t: 0\nisa\t\t: {isa}\nmmu\t\t: sv48\n\n"


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the files of the system hold; all others are missing."""
    found: dict[str, str] = {}
    monkeypatch.setattr(machine, "_read", lambda path: found.get(path, ""))
    monkeypatch.setattr(machine.platform, "processor", lambda: "some processor")
    return found


@pytest.mark.parametrize(("text", "cpu", "isa"), [
    (X86, "Some CPU @ 2.00GHz", ("sse2", "avx", "avx2", "fma", "avx512f", "avx_vnni")),
    (ARM, "some processor", ("asimd", "asimddp", "i8mm", "sve", "sve2")), ("", "some processor", ()),
    (RISCV.format(isa="rv64imafdcv_zicsr_zvl128b"), "some processor", ("v",)),
    (RISCV.format(isa="rv64imafdc_zve32x_zvl32b"), "some processor", ()),
    (RISCV.format(isa="rv64imafdc_v_zba"), "some processor", ("v",))])
def test_a_processor_and_its_vectors(text: str, cpu: str, isa: tuple[str, ...], files: dict[str, str]) -> None:
    files["/proc/cpuinfo"] = text
    found = machine.describe_machine()
    assert (found.cpu, found.isa) == (cpu, isa)
    assert found.identity == (cpu, isa, machine.available_cores())


def test_memory_is_what_the_container_leaves(files: dict[str, str]) -> None:
    files["/proc/meminfo"] = "MemTotal:       100 kB\nMemFree: 1 kB\nMemAvailable:    60 kB\n"
    assert machine.available_memory() == 60 << 10
    files["/sys/fs/cgroup/memory.max"] = "max"
    files["/sys/fs/cgroup/memory.current"] = "5000"
    assert machine.available_memory() == 60 << 10
    files["/sys/fs/cgroup/memory.max"] = "9000"
    assert machine.available_memory() == 4000
    files["/sys/fs/cgroup/memory.current"] = "9001"
    assert machine.available_memory() == 0
    assert machine.describe_machine().memory_bytes == 100 << 10


def test_busy_cores_are_those_that_this_process_may_use(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of three: in two seconds one of them computes, and the other is taken for half of the time."""
    ticks = 100
    before = "cpu  9 9 9 9\ncpu0 10 0 5 900 7 0 0 0 0 0\ncpu1 0 0 0 50 0 1 1 1\ncpu10 5 0 0 0\nintr 1\n"
    after = "cpu  9 9 9 9\ncpu0 150 20 45 900 9 0 0 0 0 0\ncpu1 0 0 0 80 0 1 1 101\ncpu10 5000 0 0 0\nintr 1\n"
    clock = iter([0.0, 2.0])
    files["/proc/stat"] = before
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda own: {0, 1}, raising=False)
    monkeypatch.setattr(machine.os, "sysconf", lambda name: ticks)
    monkeypatch.setattr(machine.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(machine.time, "sleep", lambda seconds: files.update({"/proc/stat": after}))
    assert machine.busy_cores() == (140 + 20 + 40 + 100) / ticks / 2
    files["/proc/stat"] = ""
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (3.25, 1, 1))
    assert machine.busy_cores() == 3.25


def test_caches_are_those_of_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caches = [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2048K"), ("3", "Unified", "30M"),
              ("4", "Unified", "")]
    for at, (level, kind, size) in enumerate(caches):
        folder = tmp_path / f"index{at}"
        folder.mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{value}\n")
    monkeypatch.setattr(machine, "Path", lambda path: tmp_path if path.endswith("cpu0/cache") else Path(path))
    assert machine._caches() == {"L1d": 48 << 10, "L2": 2 << 20, "L3": 30 << 20}


def test_a_revision_says_whether_files_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL"):
        monkeypatch.setenv(f"GIT_{name}", "a@b.example")

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True, text=True).stdout

    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert machine.git_revision(tmp_path) == ""
    git("init", "-q")
    assert machine.git_revision(tmp_path) == ""
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-q", "-m", "first")
    git("tag", "v1")   # a name that another checkout need not have
    revision = machine.git_revision(tmp_path)
    assert len(revision) >= 7
    assert git("rev-parse", "HEAD").startswith(revision)
    (tmp_path / "file").write_text("2")
    assert machine.git_revision(tmp_path) == f"{revision}-dirty"


def test_versions_name_what_is_there() -> None:
    found = machine.versions()
    assert {"polysched", "python", "numpy", "islpy"} <= set(found)
    assert all(found.values())
