"""What a tile of a group needs on the chip: which buffers, of which elements, from which stage to which."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod

import islpy as isl

from polysched.gpu.boxes import Edge
from polysched.gpu.instances import fixed, image_of, within
from polysched.gpu.mapping import Launch
from polysched.gpu.scratchpad.stages import CubeOperand, CubeStage, Loop, Stage
from polysched.records import dataclass
from polysched.target.scratchpads.description import Move


@dataclass(frozen=True, eq=False, kw_only=True)
class Buffer:
    """A buffer on the chip.

    Parameters
    ----------
    name : unique in the group; a C identifier.
    memory : that has it.
    array : whose elements it holds.
    extents : elements per dimension.
    box : the least subscripts of a box of an array; None for a matrix.
    element_bytes, c_type : of an element.
    first, last : the stages at which it is in use.
    slots : copies that tiles or steps take in turn.
    """

    name: str
    memory: str
    array: str
    extents: tuple[int, ...]
    element_bytes: int
    c_type: str
    first: int
    last: int
    slots: int
    box: tuple[Edge, ...] | None = None

    @property
    def bytes(self) -> int:
        """Of one slot."""
        return prod(self.extents) * self.element_bytes

    def __str__(self) -> str:
        shape = "x".join(map(str, self.extents)) or "1"
        return f"{self.name}: {shape} {self.c_type} in {self.memory}{f', {self.slots} slots' * (self.slots > 1)}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Home:
    """An array that the vector unit's memory holds while a tile runs.

    Parameters
    ----------
    buffer : its place.
    loaded : elements that come from the program's memory, by the parameters of the tile.
    stored : elements that go back.
    """

    buffer: Buffer
    loaded: isl.Set
    stored: isl.Set

    @property
    def is_loaded(self) -> bool:
        return not self.loaded.is_empty()

    @property
    def is_stored(self) -> bool:
        return not self.stored.is_empty()


@dataclass(frozen=True, eq=False, kw_only=True)
class Feed:
    """How an input of the cube gets to it.

    Parameters
    ----------
    operand : of the stage.
    place : where it comes from: the name of a home, or "" for the program's memory.
    box : the buffer of its elements on the way, and the move to it; None where the matrix is gathered at once.
    matrix : the buffer of the cube.
    moves : to the box (if any) and to the matrix.
    every : tiles after which it has to be moved again; 1 where each tile has elements of its own.
    """

    operand: CubeOperand
    place: str
    box: Buffer | None
    matrix: Buffer
    moves: tuple[Move, ...]
    every: int


@dataclass(frozen=True, eq=False, kw_only=True)
class CubePlan:
    """Blocks and buffers of a stage of the cube.

    Parameters
    ----------
    stage : of it.
    edges : iterations of each loop in a tile.
    steps : of the loops of the sum, iterations in a step, whose elements are on the way together.
    chunks : iterations of each loop in a block of the cube.
    left, right : how its inputs come.
    sums : the accumulator, a block behind the other.
    into, out_of : moves of the accumulator; `into` None where it starts from zero.
    """

    stage: CubeStage
    edges: dict[str, int]
    steps: dict[str, int]
    chunks: dict[str, int]
    left: Feed
    right: Feed
    sums: Buffer
    into: Move | None
    out_of: Move

    def blocks(self, loops: tuple[Loop, ...], inside: Mapping[str, int] | None = None) -> tuple[int, ...]:
        """Blocks along some loops, in a tile or in a step."""
        whole = inside or self.edges
        return tuple(ceil(whole[loop.name] / self.chunks[loop.name]) for loop in loops)

    @property
    def step_counts(self) -> tuple[int, ...]:
        """Steps along the loops of the sum."""
        return tuple(ceil(self.edges[loop.name] / self.steps[loop.name]) for loop in self.stage.sums)

    def size(self, loops: tuple[Loop, ...]) -> int:
        """Iterations of some loops in a block."""
        return prod(self.chunks[loop.name] for loop in loops)


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupPlan:
    """A group with its tiles.

    Parameters
    ----------
    launch : instances, loops of the host and coordinates.
    stages : of a tile, in order.
    names : the parameters of a tile: values of the host's loops, then the least value of each coordinate.
    ranges : of each coordinate, the first value and the number.
    edges : values of each coordinate in a tile.
    order : coordinates from the outermost loop of tiles to the innermost.
    homes : by array.
    cubes : by the number of their stage.
    slots : copies of the buffers that tiles take in turn.
    ends : per array the first and the last subscript that the program uses, per dimension.
    """

    launch: Launch
    stages: tuple[Stage, ...]
    names: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]
    edges: tuple[int, ...]
    order: tuple[int, ...]
    homes: dict[str, Home]
    cubes: dict[int, CubePlan]
    slots: int
    ends: dict[str, tuple[tuple[int, int], ...]]

    @property
    def tile_names(self) -> tuple[str, ...]:
        return self.names[len(self.launch.host):]

    def mover(self, loop: Loop) -> str:
        """The parameter that says where a loop of the cube is in a tile; "" where a tile has all of it."""
        if loop.host is not None:
            return self.names[loop.host]
        return "" if loop.coordinate is None else self.tile_names[loop.coordinate]

    @property
    def counts(self) -> tuple[int, ...]:
        """Tiles along each coordinate."""
        return tuple(ceil(count / edge) for (_, count), edge in zip(self.ranges, self.edges, strict=True))

    @property
    def tiles(self) -> int:
        return prod(self.counts)

    @property
    def domain(self) -> isl.UnionSet:
        """The instances of the tile that the parameters name."""
        return tile_domain(self.launch, self.names, self.edges)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Every buffer."""
        found = [home.buffer for home in self.homes.values()]
        for cube in self.cubes.values():
            for feed in (cube.left, cube.right):
                found += [feed.box] if feed.box is not None else []
                found.append(feed.matrix)
            found.append(cube.sums)
        return tuple(found)

    def __str__(self) -> str:
        tile = "x".join(map(str, self.edges)) or "everything"
        return f"{self.launch.name}: {self.tiles} tiles of {tile}; " + "; ".join(map(str, self.stages))


def tile_domain(launch: Launch, names: tuple[str, ...], edges: tuple[int, ...]) -> isl.UnionSet:
    """The instances of a tile, whose place is given by parameters."""
    hosts = len(launch.host)
    inside = fixed(launch.domain, dict(zip(names[:hosts], launch.host, strict=True)))
    for function, first, edge in zip(launch.coordinates, names[hosts:], edges, strict=True):
        inside = within(inside, function, first, edge)
    return inside


def coordinate_ranges(launch: Launch) -> tuple[tuple[int, int], ...]:
    """The first value and the number of values of each coordinate, over all iterations of the host."""
    found = []
    for coordinate in launch.coordinates:
        values = image_of(launch.domain, coordinate)
        first, last = values.dim_min_val(0).to_python(), values.dim_max_val(0).to_python()
        found.append((int(first), int(last - first + 1)))
    return tuple(found)
