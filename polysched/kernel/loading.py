"""Libraries of compiled code, loaded so that their threads do not spin long between calls.

GCC's OpenMP runtime lets threads that wait for work spin for hundreds of thousands of turns: other libraries' threads,
such as those of NumPy's products, lose a core to them.  How long they spin is read once, when the runtime is loaded.

Source: the manual of libgomp, `GOMP_SPINCOUNT` and `OMP_WAIT_POLICY`.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from polysched.kernel.limits import LIMITS

RUNTIME = "libgomp.so.1"
SPIN = "GOMP_SPINCOUNT"
POLICIES = (SPIN, "OMP_WAIT_POLICY")


def load(path: Path) -> ctypes.CDLL:
    """The library; where it brings the runtime, and nobody says how threads wait, they spin for a short while.

    Raises
    ------
    OSError : it cannot be loaded.
    """
    if any(name in os.environ for name in POLICIES) or is_loaded(RUNTIME):
        return ctypes.CDLL(str(path))
    os.environ[SPIN] = str(LIMITS.spin_turns)
    try:
        return ctypes.CDLL(str(path))
    finally:
        os.environ.pop(SPIN, None)   # other programs that are started decide for themselves


def is_loaded(library: str) -> bool:
    """Whether the process has a shared library already; one that cannot be asked for counts as such."""
    mode = getattr(os, "RTLD_NOLOAD", None)
    if mode is None:
        return True
    try:
        ctypes.CDLL(library, mode=mode)
    except OSError:
        return False
    return True
