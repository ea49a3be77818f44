"""`RunningModel`: a call that has begun, whose outputs are had one by one as they become whole."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polysched.errors import UsageError
from polysched.model.limits import LIMITS


class RunningModel:
    """Waits for outputs of a call that another thread makes.

    Parameters
    ----------
    name : of the model.
    outputs : arrays that the call fills, by name.
    call : makes the call; it gets the address of one flag per output, which the driver sets.
    """

    def __init__(self, name: str, outputs: Mapping[str, np.ndarray], call: Callable[[Any], None]) -> None:
        self._name = name
        self._outputs = outputs
        self._places = {output: place for place, output in enumerate(outputs)}
        self._flags = (ctypes.c_int * max(len(outputs), 1))()
        self._error: BaseException | None = None
        self._ended_well = False
        self._thread = threading.Thread(target=self._run, args=(call,), name=f"polysched {name[:40]}", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        whole = [n for n in self._outputs if self.is_ready(n)]
        return f"<RunningModel {self._name[:60]}: {len(whole)} of {len(self._outputs)} outputs ready>"

    def _run(self, call: Callable[[Any], None]) -> None:
        try:
            call(ctypes.cast(self._flags, ctypes.c_void_p))
            self._ended_well = True
        except (UsageError, MemoryError) as error:
            self._error = error

    def is_ready(self, name: str) -> bool:
        """Whether an output is whole.

        Raises
        ------
        UsageError : there is no such output.
        """
        if name not in self._places:
            raise UsageError(f"the model has no output {name!r}", where=f"model {self._name}",
                             hint=f"outputs: {', '.join(self._places)}")
        return bool(self._flags[self._places[name]])

    def output(self, name: str) -> np.ndarray:
        """One output, as soon as it is whole; the call goes on.

        Raises
        ------
        UsageError : there is no such output, or the call failed before it was whole.
        MemoryError : the call had no memory for a temporary.
        """
        pause = LIMITS.shortest_pause
        while not self.is_ready(name):
            if not self._thread.is_alive() and not self.is_ready(name):
                self.outputs()
            time.sleep(pause)
            pause = min(2 * pause, LIMITS.longest_pause)
        return self._outputs[name]

    def outputs(self) -> dict[str, np.ndarray]:
        """All outputs, when the call has ended.

        Raises
        ------
        UsageError : an index is outside the dimension that it counts.
        MemoryError : there was no memory for a temporary.
        RuntimeError : the call ended by a fault of the program.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error
        if not self._ended_well:   # a fault of the program, whose traceback the thread has printed
            raise RuntimeError(f"the call of the model {self._name} ended without its results")
        return dict(self._outputs)
