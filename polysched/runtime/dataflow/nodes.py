"""Nodes of a dataflow, and futures of their values."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

from polysched.errors import RunFailedError, UsageError
from polysched.records import dataclass, shortened
from polysched.runtime.dataflow.codes import Code

if TYPE_CHECKING:
    from polysched.runtime.dataflow.cluster import Cluster


class Node:
    """One call of code on a worker; its cluster alone changes it.

    Parameters
    ----------
    code, arguments : what runs on what; futures among the arguments stand for their values.
    worker : its place in the gang.
    program : the name of its program.
    """

    def __init__(self, code: Code, arguments: tuple[Any, ...], worker: int, program: str) -> None:
        self.code, self.arguments, self.worker, self.program = code, arguments, worker, program
        self.given = False       # to the cluster, to be sent
        self.references: list[Any] = []
        self.actor = ""          # the process that it was sent to, by name
        self.attempt = 0         # how often it was sent
        self.suspected = 0       # how often its process was lost when it may have run
        self.began = 0.0         # on its worker, seconds since 1970
        self.seconds = 0.0       # that it took there
        self.error: BaseException | None = None
        self.ended = Event()

    @property
    def inputs(self) -> list[Node]:
        """The nodes whose values it takes."""
        return [a.node for a in self.arguments if isinstance(a, Future)]

    @property
    def done(self) -> bool:
        """Whether its values exist."""
        return self.ended.is_set() and self.error is None


@dataclass(frozen=True, eq=False)
class Future:
    """A value that a node will have; it is passed on to other nodes before it exists, and never leaves the workers
    unless somebody asks for its `result`.
    """

    cluster: Cluster
    node: Node
    at: int

    @property
    def done(self) -> bool:
        """Whether the value exists."""
        return self.node.done

    def result(self, seconds: float | None = None) -> Any:
        """The value, here.

        Raises
        ------
        RunFailedError : it does not exist within the time, or its worker was lost again and again.
        PolyschedError, or what a function raised : from the code.
        """
        return self.cluster.fetch(self, seconds)

    def __repr__(self) -> str:
        state = "sent" if self.node.references else "not sent"
        return shortened(
            f"<Future of {self.node.program} on worker {self.node.worker}, {'done' if self.done else state}>")


def require_own(arguments: tuple[Any, ...], cluster: Cluster) -> None:
    """Futures are of this cluster, and stand as arguments of their own.

    Raises
    ------
    UsageError : one is not, or stands inside of a list.
    """
    for argument in arguments:
        if isinstance(argument, Future) and argument.cluster is not cluster:
            raise UsageError("a future of another cluster cannot be passed on", witness=repr(argument),
                             hint="pass its result()")
        if isinstance(argument, (list, tuple, set)) and any(isinstance(a, Future) for a in argument):
            raise UsageError("a future stands inside of a list", hint="pass each future as an argument of its own")
        if isinstance(argument, dict) and any(isinstance(a, Future) for a in argument.values()):
            raise UsageError("a future stands inside of a dictionary",
                             hint="pass each future as an argument of its own")


def timed_out(seconds: float | None) -> RunFailedError:
    """The error of a result that took too long."""
    return RunFailedError(f"a result does not exist after {seconds:g} seconds")
