"""`MeshTarget`: a mesh of cores with a memory each, and links between neighbours."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import isfinite

import numpy as np

from polysched.errors import UsageError
from polysched.mesh.limits import LIMITS
from polysched.mesh.operators import whole
from polysched.records import dataclass
from polysched.scop.shown import Shown
from polysched.target.constant import constant
from polysched.target.json_record import place_of, read_json, read_record

_SIZE = re.compile(r"(\d+)x(\d+)")


@dataclass(frozen=True, kw_only=True)
class MeshTarget(Shown):
    """A mesh: every core has a link to and one from each of up to four neighbours.

    Parameters
    ----------
    rows, columns : of cores.
    memory : of one core, in bytes.
    compute : of one core, in operations per second.
    link : of one link in one direction, in bytes per second.
    hop : latency of one link with its router, in seconds.
    dead : cores that neither compute nor pass anything on, as (row, column).

    Raises
    ------
    UsageError : a number is out of its range, or a dead core is outside.
    """

    rows: int
    columns: int
    memory: int = constant(1 << 20, unit="B", source="round figure of a scratchpad beside a core, no product's")
    compute: float = constant(1e11, unit="operations/s", source="round figure of a small matrix unit, no product's")
    link: float = constant(1e10, unit="B/s", source="round figure: 10 bytes a cycle at 1 GHz, no product's")
    hop: float = constant(5e-9, unit="s", source="round figure: a router of five cycles at 1 GHz, no product's")
    dead: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        if not (whole(self.rows, self.columns) and self.rows >= 1 and self.columns >= 1
                and self.rows * self.columns <= LIMITS.most_cores):
            raise UsageError(f"a mesh has 1 to {LIMITS.most_cores} cores", witness=f"{self.rows}x{self.columns}")
        for name, value in (("memory", self.memory), ("compute", self.compute), ("link", self.link)):
            if not (value > 0 and isfinite(value)):
                raise UsageError(f"{name} of a mesh is a positive number", witness=str(value))
        if not (self.hop >= 0 and isfinite(self.hop)):
            raise UsageError("hop of a mesh is at least 0", witness=str(self.hop))
        self._check_dead()
        if self.live_cores == 0:
            raise UsageError("every core of the mesh is dead")

    def _check_dead(self) -> None:
        for core in self.dead:
            if not isinstance(core, tuple) or len(core) != 2 or not whole(*core):
                raise UsageError("a dead core is (row, column)", witness=repr(core))
            if not (0 <= core[0] < self.rows and 0 <= core[1] < self.columns):
                raise UsageError("a dead core is outside of the mesh", witness=str(core))

    @cached_property
    def alive(self) -> np.ndarray:
        """Whether each core lives, shape (rows, columns); not to be changed."""
        result = np.ones((self.rows, self.columns), dtype=bool)
        for row, column in self.dead:
            result[row, column] = False
        result.flags.writeable = False
        return result

    @property
    def live_cores(self) -> int:
        """How many cores live."""
        return self.rows * self.columns - len(set(self.dead))

    @cached_property
    def live_links(self) -> int:
        """How many links, by direction, join two cores that live."""
        a = self.alive
        return 2 * int((a[:, 1:] & a[:, :-1]).sum() + (a[1:] & a[:-1]).sum())

    @cached_property
    def connected(self) -> MeshTarget:
        """The mesh without the cores that dead ones cut off: those of its largest connected part live."""
        if not self.dead:
            return self
        parts = _parts(self.alive)
        if len(parts) == 1:
            return self
        largest = max(parts, key=len)
        kept = set(largest)
        return replace(self, dead=tuple(c for c in product(range(self.rows), range(self.columns)) if c not in kept))

    def headline(self) -> str:
        """Its size and its dead cores."""
        return f"{self.rows}x{self.columns}" + (f", {len(set(self.dead))} dead" if self.dead else "")

    def __str__(self) -> str:
        return (f"mesh {self.headline()}: {self.memory} B and {self.compute:g} operations/s a core, "
                f"{self.link:g} B/s a link, {self.hop:g} s a hop")


def cut_off(target: MeshTarget) -> str:
    """A sentence about the cores that dead ones cut off; empty where there are none."""
    apart = target.live_cores - target.connected.live_cores
    return f"dead cores cut off {apart} {'core' if apart == 1 else 'cores'}, used by nothing" if apart else ""


def cores_left(target: MeshTarget) -> str:
    """How many cores there are to use, as `8 live`, or `4 of the 8 that live can reach each other`."""
    live, left = target.live_cores, target.connected.live_cores
    return f"{live} live" if live == left else f"{left} of the {live} that live can reach each other"


def _parts(alive: np.ndarray) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The cores that live, by connected part."""
    left = {(int(row), int(column)) for row, column in zip(*np.nonzero(alive), strict=True)}
    found = []
    while left:
        part = [left.pop()]
        for row, column in part:   # grows behind where it is read
            near = {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)} & left
            left -= near
            part += near
        found.append(tuple(part))
    return tuple(found)


def read_target(text: str) -> MeshTarget:
    """The mesh that a word names: `16x16`, or a JSON file with the fields of `MeshTarget`; `-` is standard input.

    Raises
    ------
    UsageError : it is neither.
    """
    size = _SIZE.fullmatch(text)
    if size:
        return MeshTarget(rows=int(size[1]), columns=int(size[2]))
    try:
        return read_record(MeshTarget, read_json(text))
    except OSError as error:
        raise UsageError("a mesh is ROWSxCOLUMNS, or a JSON file that can be read", witness=f"{text}: {error.strerror}",
                         hint="--mesh 16x16") from None
    except (ValueError, RecursionError) as error:
        raise UsageError("the file is no mesh", where=place_of(text), witness=str(error)) from None
