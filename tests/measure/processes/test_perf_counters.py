"""Performance counters: software events are always there, hardware events only where the system allows."""

import mmap
import platform
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from polysched.measure.processes import perf_counters
from polysched.measure.processes.perf_counters import (
    ATTRIBUTE_BYTES,
    EVENTS,
    READING,
    SOFTWARE,
    PerfCounters,
    attribute_of,
    specification,
)
from polysched.target import find_compiler

TASK_CLOCK = (SOFTWARE, 1)
needs_linux = pytest.mark.skipif(platform.system() != "Linux", reason="perf_event_open is Linux's")


def work() -> None:
    for _ in range(20):
        np.sort(np.random.default_rng(1).random(100_000))


@needs_linux
def test_a_counter_counts_this_thread_and_later_ones() -> None:
    counters = PerfCounters({"task_clock": TASK_CLOCK})
    if not counters.read():
        pytest.skip("the system lets no counter be read")
    before = counters.read()["task_clock"]
    work()
    alone = counters.read()["task_clock"] - before
    assert alone > 1_000_000
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert counters.read()["task_clock"] - before > 1.3 * alone
    counters.close()
    assert counters.read() == {}


@needs_linux
def test_the_kernels_own_events_are_counted() -> None:
    counters = PerfCounters()
    before = counters.read()
    if "page_faults" not in before:
        pytest.skip("the system lets no counter be read")
    memory = mmap.mmap(-1, 64 * mmap.PAGESIZE)
    for page in range(64):
        memory[page * mmap.PAGESIZE] = 1
    after = counters.read()
    assert after["page_faults"] - before["page_faults"] >= 64, "each page of new memory faults once"
    assert after["task_clock_ns"] > before["task_clock_ns"]
    counters.close()


@needs_linux
def test_switches_are_counted_where_events_inside_the_kernel_may_be() -> None:
    counters = PerfCounters()
    before = counters.read()
    if "context_switches" not in before:
        pytest.skip("events inside the kernel may not be counted here: perf_event_paranoid")
    thread = threading.Event()
    for _ in range(5):
        thread.wait(0.001)
    assert counters.read()["context_switches"] - before["context_switches"] >= 5, "each wait gives the core away"
    counters.close()


def test_events_that_do_not_exist_are_left_out() -> None:
    assert PerfCounters({"nonsense": (99, 99)}).read() == {}


def test_hardware_events_are_counts_or_absent() -> None:
    counters = PerfCounters()
    assert set(counters.read()) <= set(EVENTS)
    assert all(count >= 0 for count in counters.read().values())
    counters.close()


HEADERS_OWN = r"""
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
static const struct { const char *name; int type, config, in_the_kernel; } events[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0},
    {"cache_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 0},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 0},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 0},
    {"task_clock_ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0},
    {"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0},
    {"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1},
    {"cpu_migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1}};
int main(void)
{
    printf("%d %d\n", PERF_ATTR_SIZE_VER5, SYS_perf_event_open);
    for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct perf_event_attr what = {.type = events[i].type, .size = PERF_ATTR_SIZE_VER5, .config = events[i].config,
            .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
            .inherit = 1, .exclude_hv = 1, .exclude_kernel = !events[i].in_the_kernel};
        printf("%s ", events[i].name);
        for (unsigned byte = 0; byte < PERF_ATTR_SIZE_VER5; byte++)
            printf("%02x", ((unsigned char *)&what)[byte]);
        printf("\n");
    }
    return 0;
}
"""


@needs_linux
def test_every_request_is_laid_out_as_the_kernels_own_header_does(tmp_path: Path) -> None:
    """Hardware events too, which many machines of tests refuse: nothing but the layout could be wrong with them."""
    (tmp_path / "header.c").write_text(HEADERS_OWN)
    made = find_compiler().run(["header.c", "-o", "header"], folder=tmp_path)
    if "perf_event.h" in made.stderr:
        pytest.skip("the kernel's headers are not installed")
    assert made.returncode == 0, made.stderr
    ran = subprocess.run([tmp_path / "header"], capture_output=True, text=True, check=True)
    first, *lines = ran.stdout.splitlines()
    assert first == f"{ATTRIBUTE_BYTES} {perf_counters.SYSCALL_NUMBER[platform.machine()]}"
    assert dict(line.split() for line in lines) == {
        name: attribute_of(kind, config).hex() for name, (kind, config) in EVENTS.items()}


def test_a_counter_that_shared_its_register_has_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    counters = PerfCounters({})
    counters._descriptors = {"alone": 11, "shared": 12}
    answers = {11: READING.pack(700, 50, 50), 12: READING.pack(300, 50, 20)}
    monkeypatch.setattr(perf_counters.os, "read", lambda fd, size: answers[fd][:size])
    assert counters.read() == {"alone": 700}
    assert perf_counters.counted({"alone": 600, "shared": 1}, counters.read()) == {"alone": 100}


def test_a_program_in_c_gets_the_same_events_as_numbers() -> None:
    assert specification({"page_faults": (SOFTWARE, 2)}) == f"page_faults:1:2:{1 << 1 | 1 << 5 | 1 << 6}"
