"""Target: the machine that code is generated for, as far as the models need to know it.

`host()` reads the machine it runs on from /proc and /sys; where these do not answer (another operating
system, a container that hides them) every value has the explicit default of a small x86-64 core.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache
from math import log2
from pathlib import Path

from polysched.records import dataclass
from polysched.target.constant import constant
from polysched.target.costs import SHIPPED, Costs
from polysched.target.limits import LIMITS

LINE_BYTES = LIMITS.line_bytes
"""Of a cache whose line nobody names; where a target is known, `Target.line_bytes` counts."""
BUFFER_ALIGNMENT_BYTES = 64
"""Of buffers of the emitted code, whatever the machine: a vector of 512 bits, the widest of any target."""
MOST_GUEST_SHARE_BYTES = LIMITS.most_guest_share_bytes
"""Of the last cache for each core, in a guest; bytes.

A hypervisor shows the whole cache of a processor to a guest that has some of its cores, and other guests fill it too.
No x86-64 server with full cores has more than 12 MB a core.
"""


@dataclass(frozen=True, kw_only=True)
class CacheLevel:
    """One level of data or unified cache.

    Parameters
    ----------
    level : 1 is nearest to the core.
    size_bytes : capacity of one instance.
    line_bytes : bytes that are moved together.
    ways : associativity; 0 when unknown.
    shared_by : logical processors that share one instance.
    """

    level: int
    size_bytes: int
    line_bytes: int = LINE_BYTES
    ways: int = 0
    shared_by: int = 1

    def __post_init__(self) -> None:
        if self.size_bytes <= 0 or self.line_bytes <= 0:
            raise ValueError(f"L{self.level}: a cache has a size and a line")

    @property
    def way_bytes(self) -> int:
        """Addresses that far apart share a set."""
        return self.size_bytes // self.ways if self.ways else LIMITS.way_bytes


@dataclass(frozen=True, kw_only=True)
class CorePorts:
    """What one core can do per cycle, for the projected cost model.

    The defaults are those of a current wide x86-64 core (two fused multiply-add pipes of latency 4, two
    loads of a full vector per cycle, 512 instructions in flight); `Target.ports` can be given by hand.
    """

    issue_per_cycle: int = constant(4, unit="instructions/cycle", source="renaming: 5 in Ice Lake, 6 in Zen 3")
    fma_pipes: int = constant(2, unit="instructions/cycle", source="uops.info, VFMADD231PD (YMM), Ice Lake, Zen 2 to 4")
    fma_latency_cycles: int = constant(4, unit="cycles", source="uops.info, VFMADD231PD (YMM), Ice Lake, Zen 3, Zen 4")
    loads_per_cycle: int = constant(2, unit="vectors/cycle", source="uops.info, VMOVUPS loads (YMM), Ice Lake, Zen 3")
    window: int = constant(512, unit="instructions", source="reorder buffers: 352 in Ice Lake, 512 in Golden Cove")

    @property
    def sums_in_flight(self) -> int:
        """Independent sums that keep all pipes busy."""
        return self.fma_pipes * self.fma_latency_cycles


PORTS = CorePorts()
"""Of the machines that nobody describes."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A machine.

    Parameters
    ----------
    name : the processor as it calls itself.
    architecture : `x86_64`, `aarch64`, `riscv64`, ...
    features : instruction set extensions in the kernel's spelling (`avx512f`, `asimd`, ...).
    vector_bits : width of the widest vector register that is worth using; 0 means scalar code only.
    vector_registers : number of architectural vector registers.
    cores : processors that this process may use.
    caches : data and unified caches, nearest first.
    frequency_hz : clock rate assumed by the models.
    ports : what a core does per cycle.
    costs : what teams of threads, rows, transfers and copies take.
    peak_flop_per_second : measured operations per second of one core by element type (`float32`, ...);
        empty until measured.
    bandwidth_bytes_per_second : measured bytes per second of one core out of each cache level, and out of
        memory under level 0; empty until measured.
    """

    name: str = "generic"
    architecture: str = "x86_64"
    features: frozenset[str] = frozenset()
    vector_bits: int = 128
    vector_registers: int = 16
    cores: int = 1
    caches: tuple[CacheLevel, ...] = (
        CacheLevel(level=1, size_bytes=32 * 1024, ways=8),
        CacheLevel(level=2, size_bytes=512 * 1024, ways=8),
        CacheLevel(level=3, size_bytes=8 * 1024 * 1024, ways=16),
    )
    frequency_hz: float = 2.5e9
    ports: CorePorts = PORTS
    costs: Costs = SHIPPED
    peak_flop_per_second: Mapping[str, float] = field(default_factory=dict, hash=False)
    bandwidth_bytes_per_second: Mapping[int, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.cores < 1:
            raise ValueError("a target has at least one core")
        if not self.frequency_hz > 0:
            raise ValueError(f"frequency_hz: {self.frequency_hz!r} is no positive number")
        if self.vector_bits % 64:
            raise ValueError(f"{self.vector_bits} bits is no vector width")
        if not self.caches:
            raise ValueError("a target has at least one cache")
        if [c.level for c in self.caches] != sorted({c.level for c in self.caches}):
            raise ValueError("caches are listed once each, nearest first")

    def lanes(self, element_bits: int) -> int:
        """Elements of a vector register; 1 on a scalar target."""
        return max(1, self.vector_bits // element_bits)

    @property
    def vector_bytes(self) -> int:
        """Of the vectors that the emitted code or the C compiler makes: of the base instruction set at least."""
        return max(128, self.vector_bits) // 8

    def with_vectors(self, bits: int) -> Target:
        """The machine with vectors of this width, and as many registers as such vectors have at least."""
        return replace(self, vector_bits=bits, vector_registers=max(self.vector_registers, _registers_of(bits)))

    @property
    def multiply_adds_per_cycle(self) -> float:
        """Of full vectors that a core issues."""
        return self.ports.fma_pipes / self.costs.vector_slowdown

    @property
    def team_seconds(self) -> float:
        """Start and end of a team of threads on all cores."""
        return self.costs.team_seconds(self.cores)

    @property
    def team_work_cycles(self) -> float:
        """Of one core, from which on a team of threads shares a piece of work (`Costs.team_worth`)."""
        return self.costs.team_worth * self.team_seconds * self.frequency_hz

    @property
    def team_bytes(self) -> int:
        """Of a panel that is copied or cleared, from which on a team of threads shares that."""
        return self.team_iterations(self.costs.copied_byte_cycles)

    def team_iterations(self, cycles: float) -> int:
        """Iterations from which on threads share a loop: the nearest power of four, the same for machines much alike.

        Parameters
        ----------
        cycles : of an iteration on one core.
        """
        least, most = 4, 1 << 30   # a number in the emitted C: an `int`
        wanted = min(max(self.team_work_cycles, least * cycles), most * cycles)
        return int(4 ** round(log2(wanted / cycles) / 2))

    def cache(self, level: int) -> CacheLevel | None:
        """The cache of this level, if the machine has one."""
        return next((c for c in self.caches if c.level == level), None)

    def usable_bytes(self, level: int) -> int:
        """What a tile may fill of a cache (`Costs.usable_share`), as `kept_bytes` counts the levels."""
        return self._share_bytes(level, self.costs.usable_share)

    def kept_bytes(self, level: int) -> int:
        """What stays in a cache while other data passes through it (`Costs.kept_share`).

        Parameters
        ----------
        level : 1 is nearest; the outermost cache where there are fewer levels.
        """
        return self._share_bytes(level, self.costs.kept_share)

    def _share_bytes(self, level: int, share: float) -> int:
        return int(self.caches[:level][-1].size_bytes * share)

    @property
    def way_bytes(self) -> int:
        """Of the first cache: addresses that far apart share a set."""
        return self.caches[0].way_bytes

    @property
    def row_grid_bytes(self) -> int:
        """Rows that far apart, or a multiple of it, share a quarter of the sets of the first cache."""
        return max(self.line_bytes, self.way_bytes // 4)

    @property
    def line_bytes(self) -> int:
        return self.caches[0].line_bytes

    def peak_flops(self, element_bits: int, name: str | None = None) -> float:
        """Operations per second of one core: as measured, else a multiply and an add per lane and pipe."""
        if name is not None and name in self.peak_flop_per_second:
            return self.peak_flop_per_second[name]
        return 2.0 * self.lanes(element_bits) * self.multiply_adds_per_cycle * self.frequency_hz

    @property
    def private_levels(self) -> tuple[int, ...]:
        """The levels of the caches that a core has to itself, the outermost first; of the first cache where none is."""
        found = sorted((c.level for c in self.caches if c.shared_by == 1), reverse=True)
        return tuple(found or [self.caches[0].level])

    @property
    def last_private(self) -> CacheLevel:
        """The outermost cache that a core has to itself; the first one where none is."""
        return max((c for c in self.caches if c.shared_by == 1), key=lambda c: c.level, default=self.caches[0])

    def beyond(self, cache: CacheLevel) -> int:
        """The level from which a cache is filled; 0 for memory."""
        return cache.level + 1 if self.cache(cache.level + 1) else 0

    def bandwidth(self, level: int) -> float:
        """Bytes per second of one core out of a cache level, or out of memory (level 0).

        As measured, else one full vector per load pipe and cycle from L1, less per level further out
        (`Costs.level_slowdown`), and `Costs.memory_bytes_per_cycle` from memory.
        """
        if level in self.bandwidth_bytes_per_second:
            return self.bandwidth_bytes_per_second[level]
        if level == 0:
            return self.costs.memory_bytes_per_cycle * self.frequency_hz
        first = max(self.vector_bits, 64) / 8 * self.ports.loads_per_cycle * self.frequency_hz
        return first / self.costs.level_slowdown ** (level - 1)


def host(root: Path = Path("/")) -> Target:
    """The machine this process runs on.

    Parameters
    ----------
    root : where /proc and /sys are found; another folder for tests.
    """
    processor = _processor() if root == Path("/") else _processor_of(root)
    return replace(processor, cores=_usable_cores(root))


@cache
def _processor() -> Target:
    """The processor here: it does not change, and reading what the system says of it takes milliseconds."""
    return _processor_of(Path("/"))


def _processor_of(root: Path) -> Target:
    """The processor that /proc and /sys tell of, with the generic number of cores."""
    generic = Target()
    cpu = _cpu_fields(root / "proc/cpuinfo")
    features = frozenset((cpu.get("flags") or cpu.get("Features") or _riscv_letters(cpu.get("isa", ""))).split())
    architecture = platform.machine().lower().replace("amd64", "x86_64").replace("arm64", "aarch64")
    bits, registers = _vectors(architecture, features, root)
    return replace(
        generic,
        name=cpu.get("model name", cpu.get("uarch", platform.processor() or architecture or generic.name)),
        architecture=architecture or generic.architecture,
        features=features,
        vector_bits=bits,
        vector_registers=registers,
        caches=_caches(root / "sys/devices/system/cpu/cpu0/cache", guest="hypervisor" in features) or generic.caches,
        frequency_hz=_frequency(root, cpu) or generic.frequency_hz)


def _cpu_fields(path: Path) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in _read(path).splitlines():
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    return fields


def _riscv_letters(isa: str) -> str:
    base, *extensions = isa.split("_")
    return " ".join([*base.removeprefix("rv64").removeprefix("rv32"), *extensions])


def _registers_of(bits: int) -> int:
    """Vector registers of the extension of x86-64 that has this width (Intel SDM volume 1, chapters 14 and 15)."""
    return 32 if bits >= 512 else 16


def _vectors(architecture: str, features: frozenset[str], root: Path) -> tuple[int, int]:
    """Width and number of vector registers."""
    if architecture == "x86_64":
        if "avx512f" in features:
            return 512, _registers_of(512)
        return (256 if "avx2" in features else 128), _registers_of(256)  # SSE2 is part of the base instruction set
    if architecture == "aarch64":
        if "sve" in features:
            length = _read(root / "proc/sys/abi/sve_default_vector_length").strip()
            return (int(length) * 8 if length.isdigit() else 128), 32
        return 128, 32
    if architecture.startswith("riscv"):
        return (128, 32) if "v" in features else (0, 32)  # the specification promises 128 bits
    return 0, 16


def _usable_cores(root: Path) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _read(root / "sys/fs/cgroup/cpu.max").split()
    if len(quota) == 2 and all(word.isdigit() for word in quota):
        cores = min(cores, max(1, int(quota[0]) // int(quota[1])))
    return cores


def _caches(folder: Path, *, guest: bool) -> tuple[CacheLevel, ...]:
    """The caches of a processor; a guest has no more of the one that it shares than its cores' part."""
    found: dict[int, CacheLevel] = {}
    for index in sorted(folder.glob("index*")):
        level, size = _read(index / "level").strip(), _bytes(_read(index / "size").strip())
        if _read(index / "type").strip() not in ("Data", "Unified") or not level.isdigit() or not size:
            continue
        found[int(level)] = CacheLevel(
            level=int(level), size_bytes=size,
            line_bytes=_number(_read(index / "coherency_line_size")) or LINE_BYTES,
            ways=_number(_read(index / "ways_of_associativity")),
            shared_by=max(1, _listed(_read(index / "shared_cpu_list").strip())))
    caches = tuple(found[level] for level in sorted(found))
    return tuple(map(_of_guest, caches)) if guest else caches


def _of_guest(cache: CacheLevel) -> CacheLevel:
    most = MOST_GUEST_SHARE_BYTES * cache.shared_by
    return cache if cache.size_bytes <= most else replace(cache, size_bytes=most, ways=0)


def _frequency(root: Path, cpu: Mapping[str, str]) -> float:
    most = _number(_read(root / "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"))
    if most:
        return most * 1e3
    try:
        return float(cpu.get("cpu MHz", "0")) * 1e6
    except ValueError:
        return 0.0


def _bytes(text: str) -> int:
    unit = {"K": 1024, "M": 1024 * 1024, "G": 1024 ** 3}.get(text[-1:], 1)
    digits = text.rstrip("KMG")
    return int(digits) * unit if digits.isdigit() else 0


def _number(text: str) -> int:
    return int(text) if text.strip().isdigit() else 0


def _listed(text: str) -> int:
    """How many processors a list such as `0-3,8` names."""
    count = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            count += (int(last) if last.isdigit() else int(first)) - int(first) + 1
    return count


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
