"""A `Distributed` program as a dataflow: a node per rank and step, exact messages as values between them.

A rank's state is the rows of each array that it touches.  A node takes the state, and what others sent in the step
before; it gives the new state, and a message for every other rank.  No node waits for another one's message in a call,
so ranks need no start at the same moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import islpy as isl
import numpy as np

from polysched.dependence.questions.restarting import Restart, restartable
from polysched.distribute import Distributed
from polysched.emit_c.distributed.region import part_for_emission
from polysched.errors import UnsupportedScopError, UsageError
from polysched.records import dataclass
from polysched.runtime.dataflow.elements import place_of, rows_of
from polysched.runtime.dataflow.kernel_codes import kernel_code
from polysched.runtime.dataflow.nodes import Future
from polysched.runtime.dataflow.program import Program
from polysched.runtime.dataflow.rank_codes import CollectCode, DistributedCode, Pieces, Place, RankStep
from polysched.scop.construction.promotion import to_numpy
from polysched.scop.points import fix_parameters, points_of, value_at
from polysched.scop.scop import Array, Storage
from polysched.scop.shown import Shown


@dataclass(frozen=True, eq=False, kw_only=True)
class Shard:
    """Rows of an array on a worker.

    Parameters
    ----------
    rank : whose.
    rows : from the first to behind the last.
    written : places of what the rank wrote last, none where it wrote nothing.
    packed : the values at these places, on demand.
    """

    rank: int
    rows: tuple[int, int]
    written: Place | None
    packed: Future | None


@dataclass(frozen=True, eq=False, kw_only=True)
class ShardedRun(Shown):
    """A distributed program that was sent to workers; its values stay there until they are asked for.

    Parameters
    ----------
    distributed : what runs; `distributed.owners` says who computes what.
    shards : per array that ranks write, one per rank.
    nodes : sent.
    restart : whether a rank's step overwrites what it reads from before; where it does, its node works on a copy of
        these arrays, so that it may be run again.
    """

    distributed: Distributed
    shards: Mapping[str, tuple[Shard, ...]]
    nodes: int
    restart: Restart
    given: Mapping[str, np.ndarray]

    def headline(self) -> str:
        """Of which program, with how many nodes."""
        return f"{self.distributed.headline()}; {self.nodes} nodes"

    def result(self, array: str, seconds: float | None = None) -> np.ndarray:
        """A whole array: as it was given, and what each rank wrote last.

        Raises
        ------
        UsageError : the program has no such array.
        RunFailedError : as for `Future.result`.
        """
        if array not in self.given:
            raise UsageError("the program has no such array", witness=array, hint=", ".join(self.given))
        whole = self.given[array].copy()
        for shard in self.shards.get(array, ()):
            if shard.packed is not None and shard.written is not None:
                (values,) = shard.packed.result(seconds)
                whole[_moved(shard.written, shard.rows[0])] = values
        return whole


def _moved(place: Place, rows: int) -> Place:
    """A place in a shard as one in the whole array."""
    if not place:
        return place
    first = place[0]
    moved = slice(first.start + rows, first.stop + rows) if isinstance(first, slice) else first + rows
    return (moved, *place[1:])


def run_distributed(program: Program, distributed: Distributed, arrays: Mapping[str, np.ndarray],
                    sizes: Mapping[str, int], *, ranks: int | None = None, ahead: bool = True,
                    before_step: Callable[[int], None] | None = None) -> ShardedRun:
    """Send a program to workers, rank r to the program's worker r; every step at once, before any value exists.

    Parameters
    ----------
    arrays : by name, as they are before; they are not changed.
    sizes : a value per parameter.
    ranks : their number, one per worker of the program unless given.
    ahead : otherwise wait for each step before the next one is sent.
    before_step : told the number of each step before it is sent.

    Raises
    ------
    UsageError : an array is missing or does not fit, or there are fewer workers than ranks.
    UnsupportedScopError : an array inside of the region outlives a step.
    """
    ranks = ranks or len(program.workers)
    if ranks > len(program.workers):
        raise UsageError(f"{ranks} ranks need as many workers", where=program.name, witness=str(len(program.workers)))
    if distributed.partition.ranks not in (None, ranks):
        raise UsageError(f"the partition is made for {distributed.partition.ranks} ranks", where=program.name,
                         witness=str(ranks))
    given = _checked(distributed, arrays, sizes)
    return _Sender(program, distributed, given, sizes, ranks).send(ahead, before_step)


def _checked(distributed: Distributed, arrays: Mapping[str, np.ndarray], sizes: Mapping[str, int]
             ) -> dict[str, np.ndarray]:
    scop = distributed.scop
    outer = [a for a in scop.arrays if a.storage is not Storage.LOCAL]
    known = {p.name for p in scop.parameters}
    if set(sizes) != known:
        raise UsageError("a value per size is needed", where=scop.name, witness=", ".join(sorted(set(sizes) ^ known)))
    if set(arrays) != {a.name for a in outer}:
        raise UsageError("the program's arrays are needed, and no others", where=scop.name,
                         witness=", ".join(sorted(set(arrays) ^ {a.name for a in outer})))
    context = fix_parameters(isl.Set.from_params(scop.context), sizes)
    if context.is_empty():
        raise UsageError("the program is not made for these sizes", where=scop.name, witness=str(dict(sizes)))
    return {array.name: _fitting(array, np.asarray(arrays[array.name]), sizes, scop.name) for array in outer}


def _fitting(array: Array, value: np.ndarray, sizes: Mapping[str, int], program: str) -> np.ndarray:
    """A copy of a value that has the array's elements and extents."""
    extents = tuple(None if e is None else value_at(e, sizes) for e in array.extents)
    fits = value.ndim == len(extents) and all(e in (None, have) for e, have in zip(extents, value.shape, strict=True))
    if value.dtype != to_numpy(array.dtype) or not fits:
        raise UsageError(f"{array.name} has other elements or another shape", where=program,
                         witness=f"{value.dtype} {value.shape}", hint=f"{to_numpy(array.dtype)} {extents}")
    return np.array(value, order="C")


class _Sender:
    """Sends the nodes of a distributed program, step after step."""

    def __init__(self, program: Program, distributed: Distributed, given: Mapping[str, np.ndarray],
                 sizes: Mapping[str, int], ranks: int) -> None:
        self.program, self.distributed, self.given, self.ranks = program, distributed, given, ranks
        self.sizes = dict(sizes)
        self.part = part_for_emission(distributed)
        if longer := [a.name for a in self.part.arrays if a.storage is Storage.OUTER and a.name not in given]:
            raise UnsupportedScopError("an array inside of the region outlives a step", where=distributed.scop.name,
                                       witness=longer[0], hint="make it an argument")
        written = {a.array for s in distributed.scop.statements for a in s.writes}
        received = {m.array for m in distributed.messages}
        self.code = DistributedCode(kernel=kernel_code(replace(self.part, source=None)), arrays=tuple(given),
                                    changed=tuple(n for n in given if n in written | received), others=ranks - 1)
        self.known = [self._own(rank) for rank in range(ranks)]
        self.rows = [{name: rows_of(distributed, name, self.sizes | own) or (0, 0) for name in given} if own else
                     dict.fromkeys(given, (0, 0)) for own in self.known]
        self.context = isl.Set.from_params(self.part.context)

    def _own(self, rank: int) -> dict[str, int]:
        axis = fix_parameters(self.distributed.axis_set, self.sizes)
        if axis.is_empty():
            return {}
        ends = int(axis.dim_min_val(0).to_python()), int(axis.dim_max_val(0).to_python())
        partition = self.distributed.partition
        return partition.values(partition.own_names, rank, self.ranks, ends)

    def send(self, ahead: bool, before_step: Callable[[int], None] | None) -> ShardedRun:
        """Send all of it."""
        self.program.load(self.code, CollectCode())
        others = self.ranks - 1
        self.state: list[dict[str, Any]] = [
            {name: self.program.put(self._shard(name, rank)) for name in self.given} for rank in range(self.ranks)]
        self.inbox: list[list[Any]] = [[() for _ in range(others)] for _ in range(self.ranks)]
        self.takes: list[tuple[Pieces, ...]] = [((),) * others] * self.ranks
        steps = self._steps()
        for number, step in enumerate(steps):
            if before_step is not None:
                before_step(number)
            made = self._send_step({f"polysched_step{at}": value for at, value in enumerate(step)})
            if not ahead:
                for futures in made:
                    futures[0].result()
        return ShardedRun(distributed=self.distributed, shards=self._shards(self.state), given=self.given,
                          nodes=self.ranks * len(steps),
                          restart=restartable(self.distributed.dependences, self._instances()))

    def _send_step(self, here: Mapping[str, int]) -> list[tuple[Future, ...]]:
        """A node per rank; their values are the next step's state and messages."""
        sends = [tuple(self._pieces(rank, other, here) for other in self._others(rank)) for rank in range(self.ranks)]
        made = [self._node(rank, here, self.takes[rank], sends[rank], self.state[rank], self.inbox[rank])
                for rank in range(self.ranks)]
        changed = len(self.code.changed)
        for rank, futures in enumerate(made):
            self.state[rank] |= dict(zip(self.code.changed, futures[:changed], strict=True))
        self.takes = [tuple(self._global(sends[other][self._others(other).index(rank)], other, rank)
                            for other in self._others(rank)) for rank in range(self.ranks)]
        self.inbox = [[made[other][changed + self._others(other).index(rank)] for other in self._others(rank)]
                      for rank in range(self.ranks)]
        return made

    def _steps(self) -> list[tuple[int, ...]]:
        if not any(self.known):
            return []
        return sorted(points_of(fix_parameters(self.distributed.step_set, self.sizes))) \
            if self.distributed.steps else [()]

    def _instances(self) -> isl.UnionSet:
        found = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
        for statement in self.part.statements:
            found = found.union(isl.UnionSet.from_set(statement.domain))
        return found

    def _others(self, rank: int) -> list[int]:
        return [other for other in range(self.ranks) if other != rank]

    def _shard(self, name: str, rank: int) -> np.ndarray:
        array = self.given[name]
        low, high = self.rows[rank][name]
        return array[low:high] if array.ndim else array

    def _pieces(self, rank: int, other: int, here: Mapping[str, int]) -> Pieces:
        """What a rank sends to another one in a step, as places of its own shard."""
        partition = self.distributed.partition
        to = dict(zip(partition.other_names, self.known[other].values(), strict=True))
        known = {**self.sizes, **here, **self.known[rank], **to}
        found = ((m.array, place_of(m.elements, known, self.rows[rank][m.array][0]))
                 for m in self.distributed.messages)
        return tuple((array, place) for array, place in found if place is not None)

    def _global(self, pieces: Pieces, sender: int, receiver: int) -> Pieces:
        """The places of a sender's shard as those of the receiver's."""
        return tuple((name, _moved(place, self.rows[sender][name][0] - self.rows[receiver][name][0]))
                     for name, place in pieces)

    def _node(self, rank: int, here: Mapping[str, int], takes: tuple[Pieces, ...], sends: tuple[Pieces, ...],
              state: Mapping[str, Any], inbox: Sequence[Any]) -> tuple[Future, ...]:
        values = {**self.sizes, **here, **self.known[rank]}
        runs = not fix_parameters(self.context, values).is_empty()
        step = RankStep(values=values if runs else None, rows={n: low for n, (low, _) in self.rows[rank].items()},
                        takes=takes, sends=sends)
        made = self.program.call(self.code, step, *(state[name] for name in self.code.arrays), *inbox, worker=rank)
        return made if isinstance(made, tuple) else (made,)

    def _shards(self, state: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Shard, ...]]:
        found: dict[str, list[Shard]] = {}
        for part in self.distributed.gathered:
            for rank, own in enumerate(self.known):
                rows = self.rows[rank][part.array]
                written = place_of(part.elements, {**self.sizes, **own}, rows[0]) if own else None
                packed = None
                if written is not None:
                    packed = self.program.call(CollectCode(), (written,), state[rank][part.array], worker=rank,
                                               on_demand=True)
                found.setdefault(part.array, []).append(Shard(
                    rank=rank, rows=rows, written=written, packed=packed if isinstance(packed, Future) else None))
        return {name: tuple(shards) for name, shards in found.items()}
