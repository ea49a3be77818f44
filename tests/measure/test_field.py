"""Versions of a function are judged one by one; whatever one does, the others have their times."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.measure.field import Field, Ran, Verdict, Version, field
from polysched.measure.paired import MeasureOptions
from polysched.measure.processes.building import Binary
from polysched.measure.processes.isolation import Limits
from polysched.measure.timing.disturbance import Pressure, Waiting
from polysched.measure.timing.field_run import _Judging
from polysched.scop import from_c_file

DOUBLE = """\
#include <stdlib.h>
#include <string.h>
void twice(int n, double a[n], const double b[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * b[i];
#pragma endscop
}
"""
LOOP = "a[i] = 2 * b[i];"
VERSIONS = {
    "right": (DOUBLE.replace("2 * b[i]", "b[i] + b[i]"), Verdict.TIMED, ""),
    "wrong": (DOUBLE.replace("2 * b[i]", "3 * b[i]"), Verdict.WRONG, "a["),
    "stray": (DOUBLE.replace(LOOP, LOOP + " a[n] = 1;"), Verdict.WRONG, "writes outside the array a"),
    "crash": (DOUBLE.replace(LOOP, LOOP + " __builtin_trap();"), Verdict.CRASHED, "SIGILL"),
    "hang": (DOUBLE.replace(LOOP, LOOP + " while (*(volatile double *)a != 1e300) ;"), Verdict.HUNG, "no progress"),
    "memory": (DOUBLE.replace(LOOP, LOOP + " for (;;) { char *p = malloc(1 << 24); if (!p) abort(); memset(p, 1, 1 << "
                                    "24); }"), Verdict.MEMORY, "ran out of memory"),
    "ends": (DOUBLE.replace(LOOP, LOOP + " _Exit(0);"), Verdict.FAILED, "ended by itself"),
    "no_c": (DOUBLE.replace(LOOP, "a[i] = nothing;"), Verdict.NO_CODE, "nothing"),
    "last": (DOUBLE.replace("2 * b[i]", "b[i] * 2"), Verdict.TIMED, "")}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "twice.c"
    path.write_text(DOUBLE)
    return path


def options() -> MeasureOptions:
    return MeasureOptions(threads=1, flags=("-O1",), limits=Limits(seconds=3, memory_bytes=1 << 28))


def built(found: Field, names: list[str]) -> tuple[dict[str, Binary], list[Ran]]:
    made = found.build([Version(name=n, text=VERSIONS[n][0]) for n in names], jobs=2)
    return ({n: b for n, b in zip(names, made, strict=True) if isinstance(b, Binary)},
            [b for b in made if isinstance(b, Ran)])


def test_every_end_is_a_record_and_the_others_go_on(file):
    told: list[str] = []
    with field((from_c_file(str(file)),), {"n": 100}, options()) as found:
        binaries, refused = built(found, list(VERSIONS))
        raced = found.race(binaries, pairs=3, told=lambda ran: told.append(ran.name), limit_seconds=1.5)
    everything = {ran.name: ran for ran in (*raced, *refused)}
    assert told == list(binaries)
    assert everything.keys() == VERSIONS.keys()
    for name, (_, verdict, reason) in VERSIONS.items():
        assert (everything[name].verdict, name) == (verdict, name)
        assert reason in everything[name].reason
        assert len(everything[name].pairs) == (3 if verdict is Verdict.TIMED else 0)


def test_times_are_in_pairs_with_the_reference(file):
    slow = DOUBLE.replace(LOOP, "{ for (volatile int k = 0; k < 3000; k++) ; a[i] = 2 * b[i]; }")
    with field((from_c_file(str(file)),), {"n": 50}, options()) as found:
        first, second = found.build([Version(name="v0", text=DOUBLE), Version(name="v1", text=slow)], jobs=1)
        assert isinstance(first, Binary)
        assert isinstance(second, Binary)
        (ran,) = found.race({"v1": second}, against=("v0", first), pairs=5, told=lambda ran: None, slow_ratio=3.0)
    assert ran.verdict is Verdict.TIMED
    assert len(ran.pairs) == 1, "a version that is much slower gets one pair"


COUNTING = DOUBLE.replace("#include <string.h>", """#include <string.h>
#include <signal.h>""")
"""Versions after one that damages the process crash there, and are right in a process of their own."""
DAMAGING = COUNTING.replace(LOOP, LOOP + " signal(SIGUSR1, SIG_IGN);")
FRAGILE = COUNTING.replace(LOOP, LOOP + " { void (*before)(int) = signal(SIGUSR1, SIG_DFL); if (before == SIG_IGN) "
                                        "__builtin_trap(); }")


def test_a_version_that_an_earlier_one_damaged_is_judged_in_a_new_process(file):
    with field((from_c_file(str(file)),), {"n": 50}, options()) as found:
        first, second = found.build([Version(name="damaging", text=DAMAGING), Version(name="fragile", text=FRAGILE)],
                                    jobs=1)
        assert isinstance(first, Binary)
        assert isinstance(second, Binary)
        raced = found.race({"damaging": first, "fragile": second}, pairs=1, told=lambda ran: None)
    assert [ran.verdict for ran in raced] == [Verdict.TIMED, Verdict.TIMED]


def test_one_process_judges_what_several_races_ask(file):
    with field((from_c_file(str(file)),), {"n": 50}, options()) as found:
        binaries, _ = built(found, ["right", "last"])
        found.race({"right": binaries["right"]}, pairs=1, told=lambda ran: None)
        process = found.process.conversation
        found.race({"last": binaries["last"]}, against=("right", binaries["right"]), pairs=1, told=lambda ran: None)
        assert found.process.conversation is process
        assert found.process.age == 2


def test_a_process_ends_where_it_is_full(file):
    with field((from_c_file(str(file)),), {"n": 50}, options()) as found:
        binaries, _ = built(found, ["right", "last"])
        found.process.most = 1
        raced = found.race(binaries, pairs=1, told=lambda ran: None)
        assert [ran.verdict for ran in raced] == [Verdict.TIMED, Verdict.TIMED]
        assert found.process.age == 1


def test_what_is_allowed_comes_nearer_with_every_pair(file):
    slower = DOUBLE.replace("  for (int i", "  for (volatile int k = 0; k < n * 3; k++) ;\n  for (int i").replace(
        "#pragma scop\n", "").replace("#pragma endscop\n", "")
    plain = DOUBLE.replace("  for (int i", "  for (volatile int k = 0; k < n * 2; k++) ;\n  for (int i").replace(
        "#pragma scop\n", "").replace("#pragma endscop\n", "")
    with field((from_c_file(str(file)),), {"n": 100000}, options()) as found:
        first, second = found.build([Version(name="v0", text=plain), Version(name="v1", text=slower)], jobs=1)
        assert isinstance(first, Binary)
        assert isinstance(second, Binary)
        (ran,) = found.race({"v1": second}, against=("v0", first), pairs=40, told=lambda ran: None, slow_ratio=2.5)
    assert ran.verdict is Verdict.TIMED
    assert len(ran.pairs) < 40, "a third slower: allowed are 2.5, 1.75, 1.38, 1.19, ..."


def test_a_call_during_which_threads_waited_is_no_clean_sample(tmp_path):
    pressure = tmp_path / "cpu"
    pressure.write_text("some avg10=1.00 avg60=2.00 avg300=3.00 total=1500000\nfull avg10=0.00 total=7\n")

    class Session:
        def run(self, program):
            waited, seconds = calls.pop(0)
            pressure.write_text(f"some avg10=0.00 total={int(waited * 1e6)}\n")
            return {"wall_seconds": seconds}

    class Program:
        name = "v1"

    judging = _Judging.__new__(_Judging)
    judging._session, judging._usual, judging._watch = Session(), {}, Waiting(Pressure(str(pressure)))
    judging._retries, pressure_at_start = 10.0, 1.5
    calls = [(pressure_at_start + 0.5, 0.9), (pressure_at_start + 0.5, 2.0)]
    assert judging._sampled(Program(), 2) == (2.0, True)
    calls = [(3.0, 5.0), (4.0, 4.0), (4.0, 3.0)]
    assert judging._sampled(Program(), 1) == (3.0, True), "disturbed ones are repeated"
    judging._retries = 0.0
    calls = [(5.0, 5.0)]
    assert judging._sampled(Program(), 1) == (5.0, False)
