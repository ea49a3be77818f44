"""The variants of a workload in processes of their own, and blocks of calls in turn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polysched.experiment import Report

VARIANTS = Path(__file__).parent / "variants.py"
CACHE = "POLYSCHED_CACHE_DIR"


@dataclass(frozen=True, eq=False, kw_only=True)
class Running:
    """A variant that waits for its turn.

    Parameters
    ----------
    said : what it said of its first calls: `imported`, `firsts` in seconds, `wrong` sizes.
    """

    process: subprocess.Popen[str]
    said: Mapping[str, Any]

    def block(self, size: int) -> float:
        """Seconds of a call, over a block of them; stopped before and behind it, so that nothing of it spins."""
        self.process.send_signal(signal.SIGCONT)
        assert self.process.stdin is not None
        print(size, file=self.process.stdin, flush=True)
        seconds = float(_line(self.process))
        self.process.send_signal(signal.SIGSTOP)
        return seconds


@dataclass(frozen=True, kw_only=True)
class Field:
    """What takes part.

    Parameters
    ----------
    workload : `kind`, `types`, and the names of `ours`.
    sizes : the first one is that of the first call, the second that of the second size.
    calls : in a block, behind one that warms up.
    peer_python : the interpreter that has PyTorch.
    """

    workload: Mapping[str, Any]
    sizes: Sequence[int]
    calls: int
    peer_python: str
    threads: int

    @contextmanager
    def started(self, peers: Sequence[str], folder: Path, report: Report) -> Iterator[dict[str, Running]]:
        """The variants, started one after the other, so that nobody's first call waits for another's.

        Parameters
        ----------
        folder : each variant of ours gets an empty cache in it.
        """
        running: dict[str, Running] = {}
        try:
            for name in (*self.workload["ours"], *peers):
                report(f"first calls: {name}")
                running[name] = self._started(name, folder / str(len(running)), is_peer=name in peers)
            yield running
        finally:
            for one in running.values():
                one.process.kill()
                one.process.communicate()

    def _started(self, name: str, folder: Path, *, is_peer: bool) -> Running:
        types = "s8 x s8" if name == "torch._int_mm" else self.workload["types"]   # it takes nothing else
        request = {"kind": self.workload["kind"], "variant": name, "types": types, "sizes": list(self.sizes),
                   "calls": self.calls}
        environment = {**os.environ, CACHE: str(folder), "OMP_NUM_THREADS": str(self.threads)}
        if is_peer:   # another interpreter, which has libraries of its own
            environment.pop("PYTHONPATH", None)
        command = [self.peer_python if is_peer else sys.executable, str(VARIANTS), json.dumps(request)]
        process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        said = json.loads(_line(process))
        process.send_signal(signal.SIGSTOP)
        return Running(process=process, said=said)


def _line(process: subprocess.Popen[str]) -> str:
    """What a variant says next.

    Raises
    ------
    RuntimeError : it ended instead.
    """
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{process.args} ended with {process.wait()}")
    return line


def in_turn(running: Mapping[str, Running], sizes: Sequence[int], blocks: int,
            report: Report) -> dict[str, dict[str, list[float]]]:
    """By variant and size, seconds of a call in every block; blocks of the variants alternate."""
    seconds: dict[str, dict[str, list[float]]] = {name: {str(n): [] for n in sizes} for name in running}
    for size in sizes:
        for number in range(blocks):
            report(f"size {size}, block {number + 1}")
            for name, one in running.items():
                seconds[name][str(size)].append(one.block(size))
    return seconds
