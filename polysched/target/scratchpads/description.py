"""`ScratchpadTarget`: memories that a program fills itself, moves between them, and engines that run at once."""

from __future__ import annotations

from collections import deque
from math import ceil

from polysched.errors import UsageError
from polysched.records import dataclass

MEMORY = "DRAM"
"""The name of the memory that holds the program's arrays; it has no capacity here."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A memory on the chip.

    Parameters
    ----------
    name : a C identifier; the emitted C has an array of this name.
    capacity_bytes : of all its banks.
    banks : buffers never begin in the middle of a line over them; a buffer starts at a multiple of `line_bytes`.
    line_bytes : of one access to all banks.
    """

    name: str
    capacity_bytes: int
    banks: int
    line_bytes: int

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name == MEMORY:
            raise UsageError(f"{self.name!r} names no memory on a chip", hint="an identifier of C")
        if min(self.capacity_bytes, self.banks, self.line_bytes) < 1 or self.capacity_bytes % self.line_bytes:
            raise UsageError(f"the memory {self.name} has no whole number of lines",
                             witness=f"{self.capacity_bytes} bytes, lines of {self.line_bytes}")


@dataclass(frozen=True, kw_only=True)
class Move:
    """A move that the chip has.

    Parameters
    ----------
    source, destination : names of memories, `DRAM` for the program's.
    engine : that executes it.
    bytes_per_cycle : while it runs.
    startup_cycles : before its first byte.
    row_bytes : a row of the box that is moved takes a multiple of this.
    rows : most rows of one instruction.
    as_matrix : it gathers the rows of a matrix while it moves (im2col), else it moves boxes of arrays.
    instruction : of the chip, in words.
    """

    source: str
    destination: str
    engine: str
    bytes_per_cycle: int
    startup_cycles: int
    row_bytes: int
    rows: int
    as_matrix: bool
    instruction: str

    def cycles(self, rows: int, row_bytes: int) -> int:
        """Cycles for so many rows of so many bytes."""
        padded = ceil(row_bytes / self.row_bytes) * self.row_bytes
        return ceil(rows / self.rows) * self.startup_cycles + ceil(rows * padded / self.bytes_per_cycle)


@dataclass(frozen=True, kw_only=True)
class Cube:
    """The matrix unit.

    Parameters
    ----------
    intrinsic : the name of its description in `tensorize`.
    engine : that executes it.
    operands : the memory of each operand of the intrinsic.
    result : the operand that holds sums.
    startup_cycles : before the first block.
    """

    intrinsic: str
    engine: str
    operands: dict[str, str]
    result: str
    startup_cycles: int


@dataclass(frozen=True, kw_only=True)
class Vector:
    """What computes every statement that the cube does not.

    Parameters
    ----------
    engine : that executes it.
    memory : that holds its operands; `DRAM` for a core that computes in the program's memory.
    bytes_per_cycle : of the widest operand, of one operation.
    startup_cycles : of an instruction.
    repeats : most cycles that one instruction runs for; longer work is split.
    call_operations : operations that a function of math.h counts as.
    """

    engine: str
    memory: str
    bytes_per_cycle: int
    startup_cycles: int
    repeats: int
    call_operations: int


@dataclass(frozen=True, kw_only=True)
class ScratchpadTarget:
    """An accelerator whose buffers a program fills itself.

    Parameters
    ----------
    name : of `--target`.
    memories : on the chip.
    moves : all that it has.
    cube, vector : what computes.
    engines : in the order of a timeline; instructions of one engine run in order, those of several at the same time.
    slots : copies of a buffer that loads and computation take in turn; 2 is double buffering.
    source : where these numbers come from.
    """

    name: str
    memories: tuple[Memory, ...]
    moves: tuple[Move, ...]
    cube: Cube
    vector: Vector
    engines: tuple[str, ...]
    slots: int
    source: str

    def __post_init__(self) -> None:
        known = {MEMORY, *(memory.name for memory in self.memories)}
        used = {name for move in self.moves for name in (move.source, move.destination)}
        used |= {*self.cube.operands.values(), self.vector.memory}
        if unknown := sorted(used - known):
            raise UsageError(f"{self.name} has no memory {unknown[0]}", hint=f"it has {', '.join(sorted(known))}")
        engines = {move.engine for move in self.moves} | {self.cube.engine, self.vector.engine}
        if unknown := sorted(engines - {*self.engines}):
            raise UsageError(f"{self.name} has no engine {unknown[0]}", hint=f"it has {', '.join(self.engines)}")
        if self.slots not in (1, 2):
            raise UsageError(f"{self.name} has {self.slots} copies of a buffer", hint="1 or 2")
        for operand in self.cube.operands:
            self._check_cube(operand)

    def _check_cube(self, operand: str) -> None:
        """Refuse an operand of the cube that nothing brings to its memory, or a result that nothing takes away."""
        place = self.cube.operands[operand]
        if operand != self.cube.result:
            self.route(MEMORY, place)
        else:
            self.route(place, self.vector.memory)

    def memory(self, name: str) -> Memory:
        """The memory of a name; KeyError where there is none."""
        return {memory.name: memory for memory in self.memories}[name]

    def move(self, source: str, destination: str) -> Move | None:
        """The move between two memories; None where the chip has none."""
        return next((m for m in self.moves if (m.source, m.destination) == (source, destination)), None)

    def route(self, source: str, destination: str) -> tuple[Move, ...]:
        """The fewest moves from one memory to another.

        Raises
        ------
        UsageError : there are none.
        """
        paths: deque[tuple[str, tuple[Move, ...]]] = deque([(source, ())])
        seen = {source}
        while paths:
            place, path = paths.popleft()
            if place == destination:
                return path
            for move in self.moves:
                if move.source == place and move.destination not in seen:
                    seen.add(move.destination)
                    paths.append((move.destination, (*path, move)))
        raise UsageError(f"{self.name} has no moves from {source} to {destination}",
                         hint=f"its moves: {', '.join(f'{m.source} to {m.destination}' for m in self.moves)}")
