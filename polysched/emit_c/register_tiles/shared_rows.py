"""Elements that several rows of a register tile read in several iterations of short loops of the sum.

A window of a convolution: row `x` reads in iteration `s + 1` what row `x + 1` read in iteration `s`.  Such loops are
unrolled, so that a compiler keeps the elements.  Where sums leave no registers for them, elements are read again in
every iteration: an empty instruction between the iterations forbids to keep them.

Source: D. Callahan, S. Carr, K. Kennedy, "Improving Register Allocation for Subscripted Variables", PLDI 1990.
"""

from __future__ import annotations

from collections.abc import Iterable

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import depends_on
from polysched.emit_c.loop_ir.index import Variable, variables
from polysched.emit_c.loop_ir.loops import RegisterTile
from polysched.emit_c.register_tiles.accumulators import TileAccess
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Reach
from polysched.records import dataclass
from polysched.target.target import CorePorts

STEP_INSTRUCTIONS = LIMITS.sum_step_instructions
MOST_SUMS_BESIDE_ROWS = LIMITS.most_sums_beside_rows_share


@dataclass(frozen=True, kw_only=True)
class SharedRows:
    """What a tile reads again from iteration to iteration.

    Parameters
    ----------
    reaches : the accesses; empty where nothing is read so.
    sums, rows : vectors of accumulators, and rows of them.
    registers : of vectors.
    ports : what a core does per cycle.
    apart : a row reads more than one element behind the row before it (a stride).
    """

    reaches: tuple[Reach, ...]
    sums: int
    rows: int
    registers: int
    ports: CorePorts
    apart: bool = False

    @property
    def are_left(self) -> bool:
        """Whether single elements are better read again than kept in registers, of which the sums need too many."""
        return bool(self.reaches) and self.sums > MOST_SUMS_BESIDE_ROWS * self.registers and all(
            reach.lanes is Lanes.UNIFORM for reach in self.reaches)

    @property
    def are_rolled(self) -> bool:
        """Whether the loops stay loops: elements are read again, and loops cost nothing beside full pipes.

        They cost something where a core takes longer to issue a step of the sum with its loop than to compute it.
        """
        instructions = self.sums + self.rows + self.sums // self.rows + STEP_INSTRUCTIONS
        return self.are_left and instructions * self.ports.fma_pipes <= self.sums * self.ports.issue_per_cycle

    @property
    def leave_no_register(self) -> bool:
        """Whether a compiler would read a vector again for each row that shares it, in all that is unrolled."""
        return self.are_left and not self.are_rolled

    @property
    def stand_apart(self) -> bool:
        """Whether rows need one pointer in every step: gcc makes the address of each anew of `2 * (x + 1)`."""
        return self.apart and self.are_left


def shared_rows(tile: RegisterTile, reached: Iterable[Reach], *, sums: int, rows: int, registers: int,
                ports: CorePorts) -> SharedRows:
    """The accesses of a tile that read an element at several points in several iterations.

    Parameters
    ----------
    reached : all accesses, the edge variables free.
    """
    moving = frozenset(loop.variable for loop in tile.loops)
    edges = frozenset(edge.variable for edge in tile.edges if not edge.simd)
    found = tuple(r for r in reached if any(depends_on(form, moving) and variables(form) & edges
                                            for form in r.subscripts or ()))
    apart = any(abs(form.coefficient(Variable(row))) > 1 for r in found for form in r.subscripts or () for row in edges)
    return SharedRows(reaches=found, sums=sums, rows=rows, registers=registers, ports=ports, apart=apart)


def shared_vectors(tile: RegisterTile, accesses: Iterable[TileAccess]) -> frozenset[Reach]:
    """The vectors that are only read, are the same in all rows of a tile, and others in every step of its sum."""
    rows = frozenset(edge.variable for edge in tile.edges if not edge.simd)
    step = frozenset(loop.variable for loop in tile.loops[-1:])

    def has(reach: Reach, names: frozenset[str]) -> bool:
        return any(depends_on(form, names) for form in reach.subscripts or ())
    return frozenset(key for a in accesses for key in a.keys if not a.writes and key.lanes is Lanes.UNIT
                     and has(a.generic, step) and not has(a.generic, rows))
