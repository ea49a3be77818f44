"""What a rank runs, of what, and when: its own instances, and replicas of others' in time tiles."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polysched.distribute.owners import Partition
from polysched.distribute.steps import Step, step_names
from polysched.distribute.time_tiles import TimeTile, places
from polysched.records import dataclass
from polysched.scop.scop import Statement


@dataclass(frozen=True, eq=False, kw_only=True)
class Shares:
    """The instances of each rank and step.

    Parameters
    ----------
    partition : which rank owns which coordinates.
    owners : `{ S[i, j] -> [a] }` per statement.
    steps : the loops of steps, outermost first.
    tile : of steps between two exchanges; the parameter of the loop of steps then counts tiles.
    """

    partition: Partition
    owners: Mapping[str, isl.Map]
    steps: tuple[Step, ...]
    tile: TimeTile

    def owned(self, statement: Statement, names: tuple[str, ...]) -> isl.Set:
        """The instances that the rank with these parameters owns."""
        owner = self.owners[statement.name]
        return owner.intersect_range(self.partition.owned(names)).domain().intersect(statement.domain)

    def executed(self, statement: Statement, names: tuple[str, ...]) -> isl.Set:
        """The instances that the rank with these parameters runs, replicas included."""
        if self.tile.steps == 1:
            return self.owned(statement, names)
        return self._trapezoid(statement, names, "tile")

    def in_step(self, statement: Statement) -> isl.Set:
        """The instances in the step, or the tile of steps, that the parameters name."""
        domain = statement.domain
        for name, step in zip(step_names(self.steps), self.steps, strict=True):
            domain = domain.intersect(isl.Map.from_aff(step[statement.name]).intersect_range(self._values(name))
                                      .domain())
        return domain

    def executed_in_step(self, statement: Statement, names: tuple[str, ...]) -> isl.Set:
        """Both."""
        if self.tile.steps == 1:
            owned = self.owned(statement, names)
            return owned.intersect(self.in_step(statement)) if self.steps else owned
        return self._trapezoid(statement, names, step_names(self.steps)[0])

    def same_step(self, source: str, sink: str) -> isl.Map:
        """`{ S[i] -> T[j] }`: instances between which nothing is exchanged."""
        size, found = self.tile.steps, None
        for step in self.steps:
            one, other = (isl.Map.from_aff(step[name]) for name in (source, sink))
            same = isl.Map.read_from_str(
                isl.DEFAULT_CONTEXT, f"{{ [s] -> [t] : floor(s / {size}) = floor(t / {size}) }}")
            both = one.apply_range(same).apply_range(other.reverse())
            found = both if found is None else found.intersect(both)
        if found is None:
            return isl.Map.universe(self.owners[source].get_space().domain().map_from_domain_and_range(
                self.owners[sink].get_space().domain()))
        return found

    def step_values(self, domains: isl.Set) -> isl.Set:
        """The steps, or tiles of steps, of `{ [s] }`."""
        if self.tile.steps == 1:
            return domains
        tiles = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, f"{{ [s] -> [floor(s / {self.tile.steps})] }}")
        return domains.apply(tiles)

    def _values(self, name: str) -> isl.Set:
        size = self.tile.steps
        text = f"[{name}] -> {{ [{name}] }}" if size == 1 else (
            f"[{name}] -> {{ [s] : {size} * {name} <= s < {size} * {name} + {size} }}")
        return isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)

    def _trapezoid(self, statement: Statement, names: tuple[str, ...], tile: str) -> isl.Set:
        (first, end), size, tiles = names, self.tile.steps, self.tile
        last = f"({size} * {tile} + {size - 1} - s)"
        inside = (f"{first} < {end} and {size} * {tile} <= s < {size} * {tile} + {size} and "
                  f"{first} - {tiles.below} * {last} <= a < {end} + {tiles.above} * {last}")
        free = tile == "tile"
        wide = isl.Set.read_from_str(
            isl.DEFAULT_CONTEXT, f"[{first}, {end}{'' if free else ', ' + tile}] -> {{ [a, s] : "
            + (f"exists (tile : {inside})" if free else inside) + " }")
        at = places(self.owners[statement.name], self.steps[0][statement.name])
        return at.intersect_range(wide).domain().intersect(statement.domain)
