"""The GpuMapping value: which instances each launch of a kernel runs, and what the host does around the launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isinf, prod
from typing import TypeAlias

import islpy as isl

from polysched.dependence.reductions import Reduction
from polysched.dependence.source_loops import statement_names
from polysched.gpu.options import GpuOptions
from polysched.gpu.transfers import DeviceArray
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scop.scop import Scop, Statement
from polysched.scop.shown import Shown
from polysched.target.gpus import Gpu
from polysched.tensorize.description.intrinsic import Intrinsic


@dataclass(frozen=True, kw_only=True)
class TensorOperand:
    """A matrix of a product.

    Parameters
    ----------
    array, reference : of the access that it is.
    along_step : whether its neighbours in memory are neighbours along the step.
    """

    array: str
    reference: str
    along_step: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorProduct:
    """A product of two matrices that the warps of a block compute by one instruction.

    Columns are along the first coordinate of the launch, rows along the second, and the step is what is summed over.

    Parameters
    ----------
    intrinsic : the described instruction.
    result, left, right : the matrices; `left` has the rows of the result, `right` its columns.
    rows, columns, sums : of the instruction.
    step : values of the sum in a tile in shared memory; a multiple of `sums`.
    row_bytes : of a row of a tile, those included that keep rows apart in banks.
    warps : of a block along rows and columns; groups of warps where several execute an instruction together.
    together : warps that do.
    piece_bytes : of a row in the shared memory through which a warp brings results to fragments and back, where
        only the instruction's loads and stores know which lane holds what; 0 where it is documented.
    """

    intrinsic: Intrinsic
    result: TensorOperand
    left: TensorOperand
    right: TensorOperand
    rows: int
    columns: int
    sums: int
    step: int
    row_bytes: int
    warps: tuple[int, int]
    piece_bytes: int = 0
    together: int = 1

    @property
    def is_loaded(self) -> bool:
        """Whether the instruction's own loads and stores fill fragments."""
        return self.piece_bytes > 0

    @property
    def shared_bytes_of_warps(self) -> int:
        """Bytes of shared memory of all warps for results."""
        return self.warps[0] * self.warps[1] * self.rows * self.piece_bytes


@dataclass(frozen=True, eq=False, kw_only=True)
class Phase:
    """Instances of every work item of a launch that follow one another, and what a block shares meanwhile.

    Parameters
    ----------
    domain : the instances of all work items.
    step : ascends along the phase in every work item; None for a phase without tiles.
    edge : values of the step in a tile.
    staged : arrays that the block copies to shared memory in front of each tile; nothing in the launch writes them.
    kept : arrays of which a work item touches one element alone, which a variable holds.
    reduces : what a team accumulates, in a launch that has teams; the values of the step are dealt out to it.
    waits : whether items of the block touch what other items wrote in an earlier phase, or write what they read.
    tensor : the product that the warps of the block compute together.
    """

    domain: isl.UnionSet
    step: isl.UnionPwAff | None = None
    edge: int = 0
    staged: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    reduces: Reduction | None = None
    waits: bool = False
    tensor: TensorProduct | None = None

    def __str__(self) -> str:
        if self.tensor is not None:
            return (f"tiles of {self.edge} steps of {', '.join(self.staged)} in shared memory, "
                    f"{self.tensor.result.array} in fragments of {self.tensor.intrinsic.name}")
        if self.reduces is not None:
            return f"{self.reduces.operator} of {self.kept[0]} by a tree"
        kept = f"{', '.join(self.kept)} in registers" if self.kept else ""
        shared = f"tiles of {self.edge} steps of {', '.join(self.staged)} in shared memory" if self.staged else ""
        return ", ".join(part for part in (shared, kept) if part)


@dataclass(frozen=True, eq=False, kw_only=True)
class TimeTiles:
    """What a block of a launch runs one after the other, where the launch has several steps of a loop of the host.

    Parameters
    ----------
    steps : loops of the block, outermost first; its work items wait for one another behind each value of the last.
    dealt : coordinates whose values the work items of a block share at one value of all steps, fastest first.
    iterations : of the loop of the host that a block runs at most.
    """

    steps: tuple[isl.UnionPwAff, ...]
    dealt: tuple[isl.UnionPwAff, ...]
    iterations: int


@dataclass(frozen=True, kw_only=True)
class BlockChoice:
    """What the sizes of a block were chosen from.

    Parameters
    ----------
    gpus : whose models weighed them, and whose registers bound them.
    tried : sizes that were looked at.
    rejected : how many of them by what there is not enough of for them.
    seconds : that the models expect of the chosen ones, in the geometric mean, at the sizes that were assumed.
    usual, usual_points, usual_seconds : where the search began, and what is expected there.
    """

    gpus: tuple[str, ...]
    tried: int
    rejected: Mapping[str, int]
    seconds: float
    usual: tuple[int, ...]
    usual_points: tuple[int, ...]
    usual_seconds: float

    def __str__(self) -> str:
        refused = ", ".join(f"{count} without {reason}" for reason, count in sorted(self.rejected.items()))
        usual = "does not fit" if isinf(self.usual_seconds) else f"{self.usual_seconds * 1e3:.3g} ms"
        points = f" with {'x'.join(map(str, self.usual_points))} points" if prod(self.usual_points) > 1 else ""
        gain = "" if self.seconds >= self.usual_seconds else f"; {'x'.join(map(str, self.usual))}{points} {usual}"
        return (f"best of {self.tried} sizes on {' and '.join(self.gpus)}, {self.seconds * 1e3:.3g} ms"
                f"{f' ({refused})' if refused else ''}{gain}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Launch:
    """A kernel: what one work item runs, in the order of the schedule.

    A work item has the instances of the domain at one value of every loop of the host, and at its points.

    Parameters
    ----------
    name : unique in the mapping.
    domain : all instances that the kernel runs in all its launches.
    host : values of the loops of the host around the launch, outermost first.
    coordinates : values that tell the work items of one launch apart, fastest first; empty for a single work item.
        No dependence within a launch connects two values of one of them.
    block : work items of a block per coordinate.
    points : values of each coordinate that a work item has, `block` apart; empty for one of each.
    team : work items of a block that share one value of every coordinate and reduce together; 0 where each has its own.
    shares : blocks, each with a team, that reduce together for one value of every coordinate; a second kernel combines
        what they found.  Such a launch has one phase, a reduction.
    tiles : what a block runs in order, where it runs several steps; its team shares the values of one step.
    phases : the domain in the order of a work item, where a block shares something; empty where it shares nothing.
    choice : what its block and points were chosen from; None where they were given, or follow from its kind.
    """

    name: str
    domain: isl.UnionSet
    host: tuple[isl.UnionPwAff, ...] = ()
    coordinates: tuple[isl.UnionPwAff, ...] = ()
    block: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    team: int = 0
    shares: int = 1
    tiles: TimeTiles | None = None
    phases: tuple[Phase, ...] = ()
    choice: BlockChoice | None = None

    @property
    def edges(self) -> tuple[int, ...]:
        """Values of each coordinate that a block has."""
        points = self.points or (1,) * len(self.block)
        return tuple(own * count for own, count in zip(self.block, points, strict=True))

    @property
    def items(self) -> int:
        """Work items of a block."""
        return self.team or prod(self.block)

    @property
    def points_of_item(self) -> int:
        """Points of a work item in all."""
        return prod(self.points)

    def statements(self) -> tuple[str, ...]:
        """The names of the statements that it runs."""
        return tuple(sorted(statement_names(self.domain)))

    def runs_any_of(self, statement: Statement, domain: isl.UnionSet) -> bool:
        """Whether a part of the domain has instances of a statement."""
        return not domain.intersect(isl.UnionSet.from_set(statement.domain)).is_empty()

    def __str__(self) -> str:
        if self.tiles is not None:
            count = len(self.tiles.dealt)
            return (f"{self.name}: diamonds of {self.tiles.iterations} iterations, each a block of {self.team} work "
                    f"items that share a step, {count} dimension{'s' * (count != 1)}, run "
                    f"{', '.join(self.statements())}")
        if self.team:
            phases = "".join(f"; {text}" for text in map(str, self.phases) if text)
            count = len(self.coordinates)
            teams = f"{self.shares} teams" if self.shares > 1 else "a team"
            return (f"{self.name}: {count} dimension{'s' * (count != 1)}, {teams} of {self.team} work items for each "
                    f"value, run {', '.join(self.statements())}{phases}")
        if not self.coordinates:
            return f"{self.name}: one work item runs {', '.join(self.statements())}"
        points = f", {'x'.join(map(str, self.points))} points each," if self.points else ""
        return (f"{self.name}: {len(self.coordinates)} dimensions in blocks of {'x'.join(map(str, self.block))} work "
                f"items{points} run {', '.join(self.statements())}" + "".join(f"; {text}" for text in map(
                    str, self.phases) if text))


@dataclass(frozen=True, eq=False, kw_only=True)
class HostLoop:
    """A loop of the host: the values of `function`, ascending, and for each what is inside."""

    function: isl.UnionPwAff
    body: HostNode


@dataclass(frozen=True, eq=False, kw_only=True)
class HostSequence:
    """Parts one after the other."""

    parts: tuple[HostNode, ...]


HostNode: TypeAlias = Launch | HostLoop | HostSequence


def launches(node: HostNode) -> Iterator[Launch]:
    """The launches below a node, in textual order."""
    match node:
        case Launch():
            yield node
        case HostLoop():
            yield from launches(node.body)
        case HostSequence():
            for part in node.parts:
                yield from launches(part)


@dataclass(frozen=True, eq=False, kw_only=True)
class GpuMapping(Shown):
    """A legal mapping of a schedule to a device.

    Parameters
    ----------
    schedule : the order that work items keep; holds everything before it.
    host : what the host does.
    tree : the order of all instances as mapped, coordinates marked parallel; it has passed the legality check.
    arrays : what the device has of each array, and what is copied when.
    options : what was asked for.
    gpus : whose models chose what was not asked for.
    """

    schedule: Schedule
    host: HostNode
    tree: isl.Schedule
    arrays: tuple[DeviceArray, ...]
    options: GpuOptions
    gpus: tuple[Gpu, ...]

    @property
    def scop(self) -> Scop:
        return self.schedule.scop

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The kernels in textual order."""
        return tuple(launches(self.host))

    @property
    def is_parallel(self) -> bool:
        """Whether any kernel has more than one work item."""
        return any(launch.coordinates or launch.team for launch in self.launches)

    @property
    def has_warpgroups(self) -> bool:
        """Whether warps execute an instruction together, which one architecture alone has."""
        return any(phase.tensor is not None and phase.tensor.together > 1
                   for launch in self.launches for phase in launch.phases)

    def lines(self) -> tuple[str, ...]:
        """One line per kernel, per array that is copied, and per wish that no kernel has."""
        return (*map(str, self.launches), *(line for array in self.arrays if (line := str(array))), *self.unmet())

    def unmet(self) -> tuple[str, ...]:
        """One line per wish that no kernel has."""
        options, own = self.options, self.launches
        tiles = options.time_tile == 0 or any(launch.tiles for launch in own)
        products = not options.tensor_cores or any(phase.tensor for launch in own for phase in launch.phases)
        return (*(() if tiles else ("no loop of the host may run several iterations in a launch",)),
                *(() if products else (f"no product of {', '.join(options.tensor_cores)} may run on tensor cores",)))

    def headline(self) -> str:
        """For instance `of gemm: 2 kernels, 3 arrays`."""
        return f"of {self.scop.name}: {len(self.launches)} kernels, {len(self.arrays)} arrays"

    def __str__(self) -> str:
        return "\n".join((self.scop.name, *self.lines()))

    def _repr_html_(self) -> str:
        from polysched.scop.html import card, paragraph
        return card(f"{self.scop.name}, mapped to a device", *map(paragraph, self.lines()))
