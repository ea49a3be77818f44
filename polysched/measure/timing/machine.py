"""Where a measurement was taken: the processor, its caches, its state, and the versions of everything involved."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from polysched.records import dataclass
from polysched.version import __version__

VECTOR_FLAGS = ("sse2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx_vnni",
                "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "asimd", "asimddp", "i8mm",
                "bf16", "sve", "sve2", "v")
BUSY_SECONDS = 0.3
LIBRARIES = ("islpy", "ortools", "python-sat", "numpy", "pycparser", "ziglang", "intel-openmp", "torch",
             "halide", "numba")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine as results name it.

    Parameters
    ----------
    cpu : the processor's own name.
    isa : the instruction-set extensions that matter for vector code.
    cores : processors that this process may use.
    caches : bytes per level and kind, of one cache each (`L1d`, `L2`, `L3`).
    memory_bytes : physical memory.
    system : operating system and release.
    """

    cpu: str
    isa: tuple[str, ...]
    cores: int
    caches: Mapping[str, int]
    memory_bytes: int
    system: str

    @property
    def identity(self) -> tuple[str, tuple[str, ...], int]:
        """What two results must share before they may be compared."""
        return self.cpu, self.isa, self.cores


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What changes from run to run.

    Parameters
    ----------
    governor : the frequency governor of the first core; empty when the system does not say.
    load : the load average of the last minute.
    """

    governor: str
    load: float


def describe_machine() -> Machine:
    """The machine that this process runs on."""
    cpu, flags = _cpu_info()
    return Machine(cpu=cpu, isa=tuple(f for f in VECTOR_FLAGS if f in flags), cores=available_cores(),
                   caches=_caches(), memory_bytes=_memory("MemTotal"),
                   system=f"{platform.system()} {platform.release()}")


def describe_conditions() -> Conditions:
    """The state of the machine now."""
    return Conditions(governor=_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
                      load=round(os.getloadavg()[0], 2))


def versions() -> dict[str, str]:
    """The versions of polysched, Python and the libraries that shape results."""
    found = {"polysched": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def git_revision(folder: Path) -> str:
    """The revision of the checkout around a folder, with `-dirty` when files differ; empty outside of one."""
    try:
        done = subprocess.run(["git", "-C", str(folder), "describe", "--always", "--dirty", "--exclude=*"],
                              capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def available_cores() -> int:
    """The number of processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def busy_cores(seconds: float = BUSY_SECONDS) -> float:
    """How many of the available cores are in use now, by this or other programs, or taken by the machine's owner.

    Unlike the load average this knows nothing of the last minute.  Where the system does not tell: the load average.
    """
    before = _busy_ticks()
    if before is None:
        return os.getloadavg()[0]
    started = time.monotonic()
    time.sleep(seconds)
    after = _busy_ticks() or before
    return (after - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - started)


def _busy_ticks() -> int | None:
    """Clock ticks that the available cores have spent busy since the start; None where /proc/stat does not say."""
    cores = {f"cpu{core}" for core in os.sched_getaffinity(0)} if hasattr(os, "sched_getaffinity") else set[str]()
    rows = [line.split() for line in _read("/proc/stat").splitlines() if line.split(" ", 1)[0] in cores]
    if not rows:
        return None
    user, nice, system, irq, softirq, stolen = 1, 2, 3, 6, 7, 8
    return sum(int(row[column]) for row in rows for column in (user, nice, system, irq, softirq, stolen)
               if column < len(row))


def available_memory() -> int:
    """The bytes that a new process can get, the container's limit included; what only caches files is free."""
    free = _memory("MemAvailable") or (4 << 30)
    for folder, limit_file, used_file, cached in (
            ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")):
        limit, used = (_read(f"{folder}/{name}") for name in (limit_file, used_file))
        if limit.isdigit() and used.isdigit():
            rows = (line.split() for line in _read(f"{folder}/memory.stat").splitlines())
            caches = sum(int(row[1]) for row in rows if row[0] == cached)
            free = min(free, max(0, int(limit) - int(used) + caches))
    return free


def _cpu_info() -> tuple[str, set[str]]:
    name, flags = platform.processor() or platform.machine(), set[str]()
    for line in _read("/proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        match key.strip():
            case "model name":
                name = value.strip()
            case "flags" | "Features":
                flags = set(value.split())
            case "isa":
                flags = _riscv_extensions(value.strip())
        if not line and flags:
            break
    return name, flags


def _riscv_extensions(isa: str) -> set[str]:
    """`rv64imafdcv_zicsr`: single letters behind the width, then longer names."""
    letters, *names = isa.split("_")
    return {*letters[len("rv64"):], *names}


def _caches() -> dict[str, int]:
    """The sizes that Linux tells about the first core's caches."""
    sizes: dict[str, int] = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (_read(str(index / part)) for part in ("level", "type", "size"))
        if kind == "Instruction" or not size.endswith(("K", "M")):
            continue
        factor = 1 << (10 if size.endswith("K") else 20)
        sizes[f"L{level}" + ("d" if kind == "Data" else "")] = int(size[:-1]) * factor
    return sizes


def _memory(key: str) -> int:
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip("\n")
    except OSError:
        return ""
