"""Ctrl-C and termination end a command at once, even while isl computes, and leave nothing behind."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import islpy as isl
import pytest

from polysched.cli.entry import INTERRUPTED, TERMINATED
from polysched.scop import isl_clock
from polysched.scop.isl_interrupt import signals_stop_isl

needs_clock = pytest.mark.skipif(isl_clock.clock() is None, reason="no POSIX timers, or another layout of islpy")

SOURCE = "void f(int n, double *a) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\n}\n"

ENDLESS = """
import sys
import islpy as isl
from polysched.cli.entry import main
from polysched.scop.c_frontend import frontend

def read(*_):
    print("reading", flush=True)
    isl.Set("{ [i, j, k, l] : 0 <= l < k < j < i < 9999 and (i + l) mod 7 = 3 }").count_val()

frontend._read = read
frontend.with_budget = lambda _, compute, **__: compute()
sys.exit(main(["c2c", "in.c", "-o", "out.c", "--json", "out.json"]))
"""


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, whoever started the tests: what a shell puts into the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@needs_clock
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)])
def test_a_call_of_isl_ends(tmp_path: Path, number: signal.Signals, code: int) -> None:
    (tmp_path / "in.c").write_text(SOURCE)
    started = subprocess.Popen([sys.executable, "-c", ENDLESS], cwd=tmp_path, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        assert started.stdout is not None
        assert started.stdout.readline() == "reading\n"
        started.send_signal(number)
        _, told = started.communicate(timeout=60)
    finally:
        started.kill()
    assert started.returncode == code, told
    assert "Traceback" not in told
    assert [p.name for p in tmp_path.iterdir()] == ["in.c"]


@needs_clock
def test_isl_works_again_after_a_signal() -> None:
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt), signals_stop_isl():
            signal.raise_signal(signal.SIGINT)
        assert not isl.Set("{ [i] : 0 <= i < 3 }").is_empty()
        with signals_stop_isl():
            assert isl.Set("{ [i] : 0 <= i < 3 }").count_val().to_python() == 3
