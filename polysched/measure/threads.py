"""The OpenMP variables of a measured process."""

from __future__ import annotations


def thread_environment(threads: int, *, pin: bool) -> dict[str, str]:
    """The OpenMP variables of a measured process."""
    values = {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
    return values | ({"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"} if pin else {})
