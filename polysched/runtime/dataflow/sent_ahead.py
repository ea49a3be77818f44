"""How far ahead nodes are sent: as much work per worker as hides the engine, and no more.

A node that was sent to a process that dies is sent again, and the engine has to give it up first.  So what lies with a
worker is what it needs while news of an end travels back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from polysched.runtime.dataflow.nodes import Node
from polysched.runtime.limits import LIMITS


class SentAhead:
    """Nodes that wait to be sent, in the order in which they were given, and the work that lies with each worker."""

    def __init__(self) -> None:
        self._took: dict[str, float] = {}              # seconds of the last node of a code, by its key
        self._waiting: dict[int, deque[Node]] = {}
        self._with: dict[int, dict[Node, float]] = {}  # sent and not ended, with the seconds that they may take
        self._seconds: dict[int, float] = {}           # their sums

    def add(self, node: Node) -> None:
        """Let a node wait."""
        self._waiting.setdefault(node.worker, deque()).append(node)

    def ready(self) -> Iterator[Node]:
        """The nodes that may be sent now, inputs first; each waits no longer when it is given."""
        found = True
        while found:
            found = False
            for worker, waiting in self._waiting.items():
                while waiting and self._has_room(worker) and _has_inputs(waiting[0]):
                    found = True
                    yield waiting.popleft()

    def sent(self, node: Node) -> None:
        """A node lies with its worker."""
        expected = self._took.get(node.code.key, LIMITS.ahead_seconds / LIMITS.unknown_ahead)
        self._with.setdefault(node.worker, {})[node] = expected
        self._seconds[node.worker] = self._seconds.get(node.worker, 0.0) + expected

    def ended(self, node: Node) -> None:
        """A node does so no longer."""
        if node.seconds:
            self._took[node.code.key] = node.seconds
        own = self._with.get(node.worker, {})
        if node in own:
            self._seconds[node.worker] -= own.pop(node)
        if not own:
            self._seconds[node.worker] = 0.0

    def rest(self) -> list[Node]:
        """What waits; it waits no longer."""
        left = [node for waiting in self._waiting.values() for node in waiting]
        self._waiting.clear()
        return left

    def _has_room(self, worker: int) -> bool:
        return (len(self._with.get(worker, ())) < LIMITS.fewest_ahead
                or self._seconds[worker] < LIMITS.ahead_seconds)


def _has_inputs(node: Node) -> bool:
    """Whether what it takes was sent, or has failed."""
    return all(before.references or before.ended.is_set() for before in node.inputs)
