"""The machine's peak: operations per second by element type, bytes per second by cache level, measured once and cached.

The cache is a file per machine and compiler in the user's cache folder (`$XDG_CACHE_HOME/polysched`, else
`~/.cache/polysched`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from polysched.errors import RunFailedError
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.measure.processes.isolation import End, Limits, run_isolated
from polysched.measure.processes.threads import thread_environment
from polysched.measure.processes.workspace import workspace
from polysched.measure.timing.machine import available_cores, busy_cores, describe_machine
from polysched.measure.timing.peak_source import peak_program
from polysched.records import dataclass
from polysched.target import Compiler, Target, host

logger = logging.getLogger(__name__)

FORMAT_VERSION = 2
"""2: matrix units count."""
SHARE_OF_CACHE = 0.5
LARGEST_BUSY_SHARE = 0.15
MEMORY_FACTOR = 4
LEAST_MEMORY_BYTES = 64 << 20
MOST_MEMORY_BYTES = 1 << 30
CHILD_MODULE = "polysched.measure.timing.peak_run"


@dataclass(frozen=True, kw_only=True)
class Peaks:
    """What a machine can do at most.

    Parameters
    ----------
    one_core : operations per second by element type, of one core alone.
    all_cores : of all cores together.
    bandwidth : bytes per second that one core reads out of each cache level; memory is level 0.
    memory_all_cores : bytes per second that all cores together read out of memory.
    threads : how many cores "all" are.
    compiler : that compiled the programs.
    """

    one_core: Mapping[str, float]
    all_cores: Mapping[str, float]
    bandwidth: Mapping[int, float]
    memory_all_cores: float
    threads: int
    compiler: str

    def operations_per_second(self, dtype: str, threads: int) -> float | None:
        """The peak of this many threads for an element type; None when it was not measured."""
        rates = self.one_core if threads == 1 else self.all_cores
        return rates.get(dtype)

    def of_target(self, target: Target) -> Target:
        """The target with these figures instead of estimates."""
        return replace(target, peak_flop_per_second=dict(self.one_core),
                       bandwidth_bytes_per_second=dict(self.bandwidth))


def measure_peaks(compiler: Compiler, *, on_report: Callable[[Mapping[str, Any]], None] | None = None) -> Peaks:
    """Measure the machine; takes some seconds and wants it idle.

    Raises
    ------
    CompileError, RunFailedError : a program does not compile or does not end well.
    """
    target, threads = host(), available_cores()
    text, operations = peak_program(target.vector_bits, target.features)
    with workspace() as folder:
        binary = compile_shared(text, name="peak", folder=folder, compiler=compiler,
                                flags=(*DEFAULT_FLAGS, "-ffp-contract=fast"), what="the peak programs")
        request = {"library": str(binary.path), "operations": operations, "threads": threads,
                   "working_sets": working_sets(target)}
        ended = run_isolated(CHILD_MODULE, request, folder=folder, limits=Limits(seconds=120),
                             environment=thread_environment(threads, pin=False), on_report=on_report)
    if ended.end is not End.FINISHED:
        raise RunFailedError(f"the peak programs {ended.describe()}", witness=ended.error_output or None)
    arithmetic = [r for r in ended.reports if "arithmetic" in r]
    bandwidth = {int(r["bandwidth"]): r for r in ended.reports if "bandwidth" in r}
    return Peaks(one_core=_best(arithmetic, "one"), all_cores=_best(arithmetic, "all"),
                 bandwidth={n: r["one"] for n, r in bandwidth.items()},
                 memory_all_cores=bandwidth[0].get("all", bandwidth[0]["one"]), threads=threads,
                 compiler=compiler.version)


def _best(reports: Sequence[Mapping[str, Any]], key: str) -> dict[str, float]:
    """By element type the highest rate: vectors and a matrix unit compete."""
    return {name: max(r[key] for r in reports if r["arithmetic"] == name)
            for name in dict.fromkeys(str(r["arithmetic"]) for r in reports)}


def working_sets(target: Target) -> list[tuple[int, int]]:
    """For each cache level, and memory as level 0, how many bytes to stream through."""
    sets = [(c.level, int(SHARE_OF_CACHE * c.size_bytes)) for c in target.caches]
    last = max((c.size_bytes for c in target.caches), default=0)
    return [*sets, (0, min(MOST_MEMORY_BYTES, max(LEAST_MEMORY_BYTES, MEMORY_FACTOR * last)))]


def peaks(compiler: Compiler, *, again: bool = False, even_if_busy: bool = False,
          on_report: Callable[[Mapping[str, Any]], None] | None = None) -> Peaks:
    """The cached figures of this machine, or new ones, which are kept.

    Parameters
    ----------
    again : measure although there are cached figures.
    even_if_busy : measure although other programs use the cores; such figures are too low, and are not kept.

    Raises
    ------
    RunFailedError : the cores are in use, before or after measuring.
    """
    cached = None if again else cached_peaks(compiler)
    if cached is not None:
        return cached
    if not even_if_busy:
        refuse_busy()
    measured = measure_peaks(compiler, on_report=on_report)
    if not even_if_busy:
        refuse_busy()
        _save(compiler, measured)
    return measured


def refuse_busy() -> None:
    """Refuse to measure while other work would spoil it.

    Raises
    ------
    RunFailedError : other programs use the cores; the witness says how many.
    """
    busy, cores = busy_cores(), available_cores()
    if busy > LARGEST_BUSY_SHARE * cores:
        raise RunFailedError("other programs use this machine, so what it can do at most cannot be measured",
                             witness=f"{busy:.1f} of {cores} cores are in use",
                             hint="repeat it on an idle machine; --busy measures anyway and keeps nothing")


def cached_peaks(compiler: Compiler) -> Peaks | None:
    """The figures that were measured on this machine with this compiler; None when there are none."""
    path = cache_file(compiler)
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    if value.pop("format_version", None) != FORMAT_VERSION:
        return None
    return Peaks(**(value | {"bandwidth": {int(k): v for k, v in value["bandwidth"].items()}}))


def cache_file(compiler: Compiler) -> Path:
    """Where the figures of this machine and compiler are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", tempfile.gettempdir())) / ".cache"
    identity = repr((describe_machine().identity, compiler.version)).encode()
    return Path(base) / "polysched" / f"machine-{hashlib.sha256(identity).hexdigest()[:16]}.json"


def _save(compiler: Compiler, measured: Peaks) -> None:
    """Keep the figures; a cache that cannot be written is only worth a remark."""
    path = cache_file(compiler)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
            json.dump({"format_version": FORMAT_VERSION} | asdict(measured), file)
        os.replace(file.name, path)
    except OSError as error:
        logger.warning("the figures of this machine could not be kept in %s: %s", path, error.strerror)
