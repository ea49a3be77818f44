"""`serve`: a real-time and a best-effort queue over the threads of one process."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import numpy as np

from polysched.errors import RunFailedError, UsageError
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared
from polysched.records import dataclass
from polysched.runtime.isolated import Apart, serve_apart
from polysched.runtime.kernels import ENTRY, PackedArguments, PreemptibleKernel
from polysched.runtime.limits import LIMITS
from polysched.runtime.models import PreemptibleModel
from polysched.runtime.padding import demand, rise
from polysched.runtime.scheduler_rows import SERVE, JobRow, Options, Told
from polysched.runtime.scheduler_source import SCHEDULER
from polysched.scop.shown import Shown
from polysched.target import Target, find_compiler, host

_ONE_AT_A_TIME = Lock()
_NO_THREAD = "can't start new thread"
"""What Python says of a thread that the system does not give."""
_NO_REST = 2
"""What the scheduler returns where nothing would have best effort rest."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """What is run again and again.

    Parameters
    ----------
    name : of its own.
    kernel, arguments : what runs, and on what; arrays are worked on in place.  A model writes its outputs into arrays
        that are arguments, too.
    period : of a real-time job, seconds from one request to the next; None for best effort.
    first : seconds to the first request.
    requests : how many, of a real-time job; of one of best effort the number of runs, or None: until everything else is
        done.  Its arrays are in between then.
    tile_seconds : that a tile is expected to take, for the choice between yield and reset; unless given, twice
        the median of its last yields.

    Raises
    ------
    UsageError : a number is out of its range.
    """

    name: str
    kernel: PreemptibleKernel | PreemptibleModel
    arguments: Mapping[str, Any]
    period: float | None = None
    first: float = 0.0
    requests: int | None = None
    tile_seconds: float | None = None

    def __post_init__(self) -> None:
        where = f"job {self.name}"
        if self.tile_seconds is not None and not (_is_time(self.tile_seconds) and self.tile_seconds > 0):
            raise UsageError("a tile takes a positive number of seconds", where=where, witness=repr(self.tile_seconds))
        if self.period is not None and not (_is_time(self.period) and self.period > 0):
            raise UsageError("a period is a positive number of seconds", where=where, witness=repr(self.period))
        if not _is_time(self.first):
            raise UsageError("the first request is at 0 seconds or later", where=where, witness=repr(self.first))
        if self.requests is None and self.period is not None:
            raise UsageError("a real-time job says how many requests it has", where=where)
        if self.requests is not None and not _is_count(self.requests, LIMITS.most_requests):
            raise UsageError(f"a job has 1 to {LIMITS.most_requests} requests", where=where,
                             witness=repr(self.requests))
        last = self.first + (self.period or 0.0) * ((self.requests or 1) - 1)
        if last > LIMITS.most_seconds:
            raise UsageError(f"a job's last request is after {LIMITS.most_seconds:.0f} seconds at most", where=where,
                             witness=f"{last:g} seconds")

    @property
    def real_time(self) -> bool:
        """Whether it has requests at given times."""
        return self.period is not None


def _is_time(value: Any) -> bool:
    return isinstance(value, Real) and isfinite(value) and float(value) >= 0


def _is_count(value: Any, most: int) -> bool:
    return isinstance(value, Integral) and 1 <= int(value) <= most


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """How jobs share the cores.

    Parameters
    ----------
    workers : threads; each runs one job at a time.
    preempt : a job of best effort yields behind its tile when a request finds no idle thread; otherwise requests wait
        for whole runs.
    pad : best effort goes on beside requests, on threads that these leave; otherwise all of it stops meanwhile.
    most_rise : with `pad`, only jobs go on beside requests with which no request's latency is expected to rise by more
        than this share (`padding.rise`); None lets all of them.
    reset : where a tile is expected to take long, a run is thrown away in the middle of one and begun anew, if the
        kernel allows it (`PreemptibleKernel.restart`); after a few times in a row it yields.  It takes the signal
        SIGUSR2 while jobs are served.
    fifo : ask for SCHED_FIFO; `Served.fifo` says whether the system gave it.
    isolated : in a process of their own, so that a job that crashes ends that one alone; arrays are copied there, and
        back when all is done.
    target : the machine, for `most_rise`; with the costs that `polysched machine --calibrate` measured
        (`read_calibrated(path).of_target(host())`), or this machine with the shipped ones.
    """

    workers: int = 1
    preempt: bool = True
    pad: bool = True
    fifo: bool = False
    reset: bool = False
    isolated: bool = False
    most_rise: float | None = None
    target: Target | None = None

    def __post_init__(self) -> None:
        if not _is_count(self.workers, LIMITS.most_workers):
            raise UsageError(f"there are 1 to {LIMITS.most_workers} threads", witness=repr(self.workers))
        if self.most_rise is not None and not _is_time(self.most_rise):
            raise UsageError("a latency rises by 0 or more", witness=repr(self.most_rise))


@dataclass(frozen=True, eq=False, kw_only=True)
class JobResult:
    """What became of a job.

    Parameters
    ----------
    name, real_time : of the job.
    runs : to the end.
    stops : times that a run was left at a tile or a step to go on there: for a request, or because everything else was
        done. Rests under SCHED_FIFO are not counted.
    resets : times that a run was thrown away.
    beside : it went on beside requests, where there were threads for both.
    seconds : in which it ran, waits of its thread included.
    latencies, waits : of each request, seconds from its release to its end, and to its start.
    """

    name: str
    real_time: bool
    runs: int
    stops: int
    resets: int
    beside: bool
    seconds: float
    latencies: np.ndarray = field(default_factory=lambda: np.zeros(0))
    waits: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class Served(Shown):
    """What became of all jobs.

    Parameters
    ----------
    jobs : in the order given.
    yields : seconds from asking a job to stop until its thread was free, by yield or by reset.
    seconds : from the start to the end.
    fifo : threads ran under SCHED_FIFO.
    """

    jobs: tuple[JobResult, ...]
    yields: np.ndarray
    seconds: float
    fifo: bool

    def __iter__(self) -> Iterator[JobResult]:
        return iter(self.jobs)

    def __contains__(self, name: object) -> bool:
        return any(j.name == name for j in self.jobs)

    def __getitem__(self, name: str) -> JobResult:
        """The result of a job.

        Raises
        ------
        UsageError : no job is called so.
        """
        found = next((j for j in self.jobs if j.name == name), None)
        if found is None:
            raise UsageError("no job is called so", witness=repr(name), hint=", ".join(j.name for j in self.jobs))
        return found

    def headline(self) -> str:
        """How many jobs, for how long."""
        return f"{len(self.jobs)} jobs in {self.seconds:.3g} s" + (", SCHED_FIFO" if self.fifo else "")

    def __str__(self) -> str:
        lines = [self.headline()]
        for j in self.jobs:
            text = f"  {j.name}: {j.runs} runs, {j.stops} stops, {j.resets} resets, {j.seconds:.3g} s"
            if j.real_time:
                middle, late = np.quantile(j.latencies, (0.5, 0.99))
                text += f", latency median {1e6 * middle:.0f} us, p99 {1e6 * late:.0f} us"
            lines.append(text)
        if len(self.yields):
            lines.append(f"  {len(self.yields)} yields, median {1e6 * np.median(self.yields):.0f} us")
        return "\n".join(lines)


def serve(jobs: Sequence[Job], options: ServeOptions | None = None) -> Served:
    """Run jobs until all requests are served, and all runs done that were asked for.

    A job of best effort that is stopped goes on at its next tile.  Requests of one job wait for each other.

    Ctrl-C, or what else Python raises meanwhile, ends it: no run begins, best effort yields at its next tile, and runs
    of requests go to their ends.  A kernel that crashes ends the process, unless the jobs have one of their own
    (`ServeOptions(isolated=True)`): then the arrays are as they were before.

    Raises
    ------
    UsageError : there is no job, two have one name or share memory that one writes, or nothing ends.
    RunFailedError : a kernel had no memory for its temporaries, threads could not be started, or a job crashed in a
        process of its own.
    """
    options = options or ServeOptions()
    _check(jobs)
    packed = [j.kernel.packed(j.arguments) for j in jobs]
    _check_apart(jobs, packed)
    times = [np.zeros((2, j.requests if j.real_time and j.requests else 0)) for j in jobs]
    beside = _beside(jobs, options)
    given = (JobRow * len(jobs))(*(_row(*each) for each in zip(jobs, packed, times, beside, strict=True)))
    yields = np.zeros(LIMITS.most_yields)
    told = Told(yields=_doubles(yields))
    own = Options(workers=options.workers, preempt=options.preempt, all_beside=all(beside), fifo=options.fifo,
                  most_yields=LIMITS.most_yields, reset=options.reset, most_in_a_row=LIMITS.most_resets,
                  tell_crashes=options.isolated, reset_seconds=LIMITS.reset_seconds, rest_share=LIMITS.rest_share,
                  rest_every=LIMITS.rest_every)
    if options.isolated:
        apart = [Apart(name=j.name, machine_code=j.kernel.machine_code, entry=ENTRY, arrays=p.kept, written=p.written,
                       row=r, times=t) for j, p, r, t in zip(jobs, packed, given, times, strict=True)]
        failed, rows, told = serve_apart(apart, _machine_code(), own, yields)
    else:
        failed = _called(given, own, told, (packed, times, yields))
        rows = tuple(given)
    if failed:
        raise RunFailedError("a thread could not be started", where="the thread that has best effort rest"
                             if failed == _NO_REST else "a worker", witness=f"{options.workers} workers",
                             hint="fewer workers, a higher limit of processes (ulimit -u)" + (
                                 ", or fifo=False" if failed == _NO_REST else ""))
    for job, row in zip(jobs, rows, strict=True):
        if row.failed:
            raise RunFailedError(job.kernel.failure, where=f"job {job.name}")
    return Served(jobs=tuple(
        JobResult(name=j.name, real_time=j.real_time, runs=r.runs, stops=r.stops, resets=r.resets, seconds=r.seconds,
                  beside=bool(r.beside), latencies=t[0], waits=t[1])
        for j, r, t in zip(jobs, rows, times, strict=True)),
        yields=yields[:min(told.yield_count, len(yields))], seconds=told.seconds, fifo=bool(told.fifo))


def _called(rows: Any, options: Options, told: Told, kept: object) -> int:
    """Have the scheduler run, in a thread of its own: this one waits, so that a signal of Python's ends it.

    An exception here, Ctrl-C for instance, has it begin nothing more; it comes when no run goes on any more, or, the
    second time, at once.  It may come at any place, also before the thread runs or while that waits for another
    `serve`: then the thread, if there ever is one, ends without a run.

    Parameters
    ----------
    kept : what the scheduler writes, which stays as long as it runs.
    """
    library, done, found = _library(), Event(), list[int]()
    deciding, decided = Lock(), list[bool]()   # whether it runs; who comes first decides

    def decide(runs: bool) -> bool:
        with deciding:
            decided.append(runs)
            return decided[0]

    def run() -> None:
        try:
            with _ONE_AT_A_TIME:
                if decide(True):
                    found.append(getattr(library, SERVE)(rows, len(rows), ctypes.byref(options), ctypes.byref(told)))
        finally:
            done.set()
            del keeps[:]

    keeps = [kept]
    try:
        Thread(target=run, name="polysched serve").start()
        done.wait()
    except BaseException as error:
        if decide(False):
            told.stop = 1
            done.wait()
        if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
            raise RunFailedError("a thread could not be started", where="the scheduler", witness=str(error),
                                 hint="a higher limit of processes (ulimit -u)") from None
        raise
    return found[0]


def _beside(jobs: Sequence[Job], options: ServeOptions) -> list[bool]:
    """Whether each job may run beside requests; real-time ones do."""
    if options.most_rise is None or not options.pad:
        return [j.real_time or options.pad for j in jobs]
    target = options.target or host()
    needs = [demand(j.kernel, j.arguments, target) for j in jobs]
    urgent = [n for n, j in zip(needs, jobs, strict=True) if j.real_time]
    return [j.real_time or all(rise(u, n, options.workers - 1, target) <= options.most_rise for u in urgent)
            for n, j in zip(needs, jobs, strict=True)]


def _row(job: Job, packed: PackedArguments, times: np.ndarray, beside: bool) -> JobRow:
    return JobRow(run=job.kernel.entry, arguments=packed.addresses, real_time=job.real_time,
                  requests=-1 if job.requests is None else job.requests, first=job.first, period=job.period or 0.0,
                  resettable=not job.real_time and job.kernel.resettable, tile_seconds=job.tile_seconds or 0.0,
                  beside=beside, latency=_doubles(times[0]), waiting=_doubles(times[1]))


def _doubles(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def _check(jobs: Sequence[Job]) -> None:
    for job in jobs:
        if not isinstance(job, Job):
            raise UsageError("what is served is a job", witness=repr(job), hint="Job(name=, kernel=, arguments=)")
        if not isinstance(job.kernel, (PreemptibleKernel, PreemptibleModel)):
            raise UsageError("a job runs what can be stopped", where=f"job {job.name}", witness=repr(job.kernel),
                             hint="preemptible(scop), or preemptible_model(model)")
    names = [j.name for j in jobs]
    if not jobs:
        raise UsageError("there is no job")
    if twice := next((n for at, n in enumerate(names) if n in names[:at]), None):
        raise UsageError("two jobs have one name", witness=twice)
    if all(j.requests is None for j in jobs):
        raise UsageError("one job at least says how often it runs", where=f"job {names[0]}", hint="requests=1")


def _check_apart(jobs: Sequence[Job], packed: Sequence[PackedArguments]) -> None:
    """Jobs run beside each other: what one writes no other one may touch."""
    for at, (job, own) in enumerate(zip(jobs, packed, strict=True)):
        for other, others in zip(jobs[:at], packed[:at], strict=True):
            for a, a_written in zip(own.kept, own.written, strict=True):
                for b, b_written in zip(others.kept, others.written, strict=True):
                    if (a_written or b_written) and np.may_share_memory(a, b):
                        raise UsageError("two jobs share memory that one of them writes",
                                         witness=f"{other.name}, {job.name}", hint="give one of them a copy")


@lru_cache(maxsize=1)
def _machine_code() -> bytes:
    """The scheduler as a shared object."""
    with tempfile.TemporaryDirectory(prefix="polysched-") as folder:
        compile_shared(SCHEDULER, name="scheduler", folder=Path(folder), compiler=find_compiler(None),
                       flags=(*DEFAULT_FLAGS, "-pthread"), openmp=False, what="the scheduler")
        return (Path(folder) / "scheduler.so").read_bytes()


@lru_cache(maxsize=1)
def _library() -> Any:
    with tempfile.TemporaryDirectory(prefix="polysched-") as folder:
        path = Path(folder) / "scheduler.so"
        path.write_bytes(_machine_code())
        return ctypes.CDLL(str(path))
