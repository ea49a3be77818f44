"""Ctrl-C still raises KeyboardInterrupt after the solver ran."""

import subprocess
import sys
from pathlib import Path

PRODUCT = Path(__file__).parents[1] / "kernels" / "gemm.c"
SCRIPT = """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)   # a shell may start what runs behind with SIGINT ignored
import polysched
polysched.optimize({path!r})
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_interrupts_are_still_seen_after_scheduling_and_tiling() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(path=str(PRODUCT))], capture_output=True, text=True,
                          timeout=120)
    assert done.stdout == "interrupted\n", done
