"""`Program`: one of several dataflows that share the workers of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from polysched.errors import UsageError
from polysched.records import shortened
from polysched.runtime.dataflow.codes import Code
from polysched.runtime.dataflow.nodes import Future, Node, require_own

if TYPE_CHECKING:
    from polysched.runtime.dataflow.cluster import Cluster


class Program:
    """A dataflow on some workers of a cluster; `Cluster.program` makes one.

    Parameters
    ----------
    cluster : that runs it.
    name : for messages.
    workers : places in the gang; the program's own worker n is the n-th of them.
    """

    def __init__(self, cluster: Cluster, name: str, workers: Sequence[int]) -> None:
        self.cluster, self.name, self.workers = cluster, name, tuple(workers)

    def __repr__(self) -> str:
        return shortened(f"<Program {self.name} on {len(self.workers)} workers>")

    def load(self, *codes: Code) -> None:
        """Bring code to all of the program's workers and to the spare ones, and wait until it is compiled there."""
        self.cluster.load(codes)

    def put(self, value: Any) -> Any:
        """A value as it is now, to be passed to many nodes; a large one is sent to each machine once."""
        return self.cluster.put(value)

    def call(self, code: Code, *arguments: Any, worker: int = 0, on_demand: bool = False
             ) -> Future | tuple[Future, ...]:
        """Send a node to a worker at once, before its inputs exist; a future per value.

        Parameters
        ----------
        arguments : values as they are now, futures, or what `put` gave; code never changes them.
        worker : of the program.
        on_demand : send it only when its result is asked for, or another node that was sent takes it.

        Raises
        ------
        UsageError : there is no such worker, or an argument is a future of another cluster or in a list.
        """
        if not 0 <= worker < len(self.workers):
            raise UsageError(f"the program has workers 0 to {len(self.workers) - 1}", where=self.name,
                             witness=repr(worker))
        require_own(arguments, self.cluster)
        node = Node(code, self.cluster.kept(arguments), self.workers[worker], self.name)
        if not on_demand:
            self.cluster.send(node)
        futures = tuple(Future(self.cluster, node, at) for at in range(code.results))
        return futures[0] if code.results == 1 else futures
