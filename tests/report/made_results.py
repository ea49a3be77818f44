"""Results for the tests of reports: measurements and records as a run would have kept them."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

from polysched.experiment.record import Record
from polysched.experiment.standings import Standings, Status, VariantTimes
from polysched.measure.measurement import Listing, Measurement, Work
from polysched.measure.timing.machine import Machine
from polysched.measure.timing.peak import Peaks
from polysched.measure.timing.statistics import Sample, Timing
from tests.measure.test_results import MEASUREMENT

PEAKS = Peaks(one_core={"float64": 40e9, "float32": 80e9}, all_cores={"float64": 80e9, "float32": 160e9},
              bandwidth={1: 200e9, 2: 90e9, 3: 30e9, 0: 12e9}, memory_all_cores=20e9, threads=2, compiler="gcc 12")
MACHINE = Machine(cpu="Example CPU & Co", isa=("avx2", "fma"), cores=2, caches={"L1d": 32768}, memory_bytes=1 << 33,
                  system="Linux 6")


def samples(seconds: float, count: int = 20, spread: float = 0.03) -> tuple[Sample, ...]:
    """Reproducible repeats around a time."""
    noise = random.Random(round(seconds * 1e9))
    walls = [seconds * (1 + spread * noise.random()) for _ in range(count)]
    return tuple(Sample(wall_seconds=w, thread_cpu_seconds=w, process_cpu_seconds=2 * w, involuntary_switches=0,
                        counters={"cycles": round(w * 3e9)}) for w in walls)


def measured(function: str, *, seconds: float = 1.0, ratio: float = 2.0, flops: int = 10**9, moved: int = 10**8,
             **changes: Any) -> Measurement:
    """A verified measurement of a kernel."""
    verification = MEASUREMENT.verification
    assert verification is not None
    known: dict[str, Any] = {
        "source": f"{function}.c", "function": function, "sizes": {"n": 1000}, "machine": MACHINE, "peaks": PEAKS,
        "work": Work(flop_count=flops, bytes_moved=moved),
        "timing": Timing(original=samples(seconds * ratio), transformed=samples(seconds), warmups=(), threads=2),
        "listings": (Listing(line=7, original="for (int i = 0; i < n; i++)\n    A[i] = B[i] < 2;\n",
                             schedule="band permutable\n  parallel    S0: i\n",
                             transformed="#pragma omp parallel for\nfor (int i = 0; i < n; i += 1)\n"
                                         "    A[i] = B[i] < 2;\n"),)}
    return dataclasses.replace(MEASUREMENT, **(known | changes))


def contest(case: str, times: dict[str, float], **values: Any) -> Record:
    """A case of an experiment in which several programs were timed; a time of 0 is one that was wrong."""
    variants = tuple(
        VariantTimes(name=name, status=Status.VERIFIED, rounds={n: (s,) for n, s in enumerate(samples(seconds))})
        if seconds else VariantTimes(name=name, status=Status.WRONG, problem="C[0] differs")
        for name, seconds in times.items())
    return record(case, contest=Standings(variants=variants).to_json(), **values)


def record(case: str, *, status: str = "done", problem: str = "", **values: Any) -> Record:
    """A case of an experiment that is in no folder."""
    return Record(experiment="peers & us", case=case, key=case, parameters={"workload": {"sizes": {"M": 64}}},
                  threads=(2,), options={}, status=status, problem=problem, values=values, seconds=1.0,
                  machine=dataclasses.asdict(MACHINE) | {"isa": list(MACHINE.isa)},
                  conditions={"governor": "", "load": 0.1}, libraries={"islpy": "1"}, git_revision="abc",
                  started="2026-01-02T00:00:00+00:00")
