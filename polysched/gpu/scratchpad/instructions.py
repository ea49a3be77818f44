"""A plan as the instructions that a chip executes, in the order of the emitted C, with their cycles and bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import ceil, prod

import islpy as isl

from polysched.gpu.boxes import Edge, box_of
from polysched.gpu.instances import image_of
from polysched.gpu.scratchpad.plan import Buffer, CubePlan, Feed, GroupPlan, Home
from polysched.gpu.scratchpad.stages import CubeOperand, CubeStage, Loop, VectorStage
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.target.scratchpads.description import MEMORY, Move, ScratchpadTarget

Place = tuple[str, int]
"""A slot of a buffer; an array in the program's memory has the slot of its tile."""


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One instruction of one engine.

    Parameters
    ----------
    engine : that executes it.
    name : for people.
    cycles : that it takes.
    reads, writes : what it touches.
    source, destination : memories, for a move.
    bytes : that it moves.
    work : multiply-adds of the program that it does on the cube.
    tile : its number.
    """

    engine: str
    name: str
    cycles: int
    reads: tuple[Place, ...]
    writes: tuple[Place, ...]
    source: str = ""
    destination: str = ""
    bytes: int = 0
    work: int = 0
    tile: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Costing:
    """Instructions of a group.

    Parameters
    ----------
    scop, target, plan : of the group.
    boxes : per array and direction (`load`, `store`) the box that is moved, and per stage its instances.
    """

    scop: Scop
    target: ScratchpadTarget
    plan: GroupPlan
    boxes: Mapping[tuple[str, str], tuple[Edge, ...]]
    work: Mapping[str, tuple[tuple[Edge, ...], tuple[tuple[int, int], ...]]]

    @staticmethod
    def of(scop: Scop, target: ScratchpadTarget, plan: GroupPlan) -> Costing:
        """The boxes of a plan."""
        boxes = {}
        for array, home in plan.homes.items():
            for way, elements in (("load", home.loaded), ("store", home.stored)):
                if not elements.is_empty():
                    boxes[array, way] = box_of(elements) or home.buffer.box or ()
        work = {}
        for stage in plan.stages:
            for name in stage.statements if isinstance(stage, VectorStage) else ():
                own = isl.Set.from_union_set(plan.domain.intersect(isl.UnionSet.from_set(
                    scop.statement(name).domain)))
                box = box_of(own) if not own.is_empty() else None
                work[name] = (box or (), _ends(scop.statement(name).domain))
        return Costing(scop=scop, target=target, plan=plan, boxes=boxes, work=work)

    def all(self) -> Iterator[Instruction]:
        """Every instruction, iteration after iteration of the host."""
        for host in self._hosts():
            yield from self._tiles(host)

    def tile(self, number: int = 0) -> Iterator[Instruction]:
        """The instructions of one tile in the first iteration of the host, as if it were the first."""
        host = next(self._hosts())
        yield from self._loads(number, host, fresh=True)
        yield from self._stages(number, host, fresh=True)

    def _hosts(self) -> Iterator[dict[str, int]]:
        ranges = []
        for function in self.plan.launch.host:
            values = image_of(self.plan.launch.domain, function)
            first, last = int(values.dim_min_val(0).to_python()), int(values.dim_max_val(0).to_python())
            ranges.append(range(first, last + 1))
        for place in product(*ranges):
            yield dict(zip(self.plan.names, place, strict=False))

    def _tiles(self, host: Mapping[str, int]) -> Iterator[Instruction]:
        """The rotation of the emitted C: loads of the next tile stand in front of a tile's stages."""
        ahead = self.plan.slots > 1
        if ahead:
            yield from self._loads(0, host)
        for tile in range(self.plan.tiles):
            if not ahead:
                yield from self._loads(tile, host)
            elif tile + 1 < self.plan.tiles:
                yield from self._loads(tile + 1, host)
            yield from self._stages(tile, host)

    def at(self, tile: int, host: Mapping[str, int]) -> dict[str, int]:
        """The values of the parameters in a tile."""
        found = dict(host)
        rest = tile
        for coordinate in reversed(self.plan.order):
            count = self.plan.counts[coordinate]
            first, _ = self.plan.ranges[coordinate]
            found[self.plan.tile_names[coordinate]] = first + rest % count * self.plan.edges[coordinate]
            rest //= count
        return found

    # moves of homes

    def _loads(self, tile: int, host: Mapping[str, int], fresh: bool = False) -> Iterator[Instruction]:
        for array, home in self.plan.homes.items():
            if home.is_loaded:
                yield from self._home_move(MEMORY, home.buffer.memory, array, home, "load", tile, host)

    def _home_move(self, source: str, destination: str, array: str, home: Home, way: str, tile: int,
                   host: Mapping[str, int]) -> Iterator[Instruction]:
        move = self.target.move(source, destination)
        assert move is not None, "checked when the plan was made"
        extents = clipped(self.boxes[array, way], self.plan.ends[array], self.at(tile, host))
        place, memory = self._slot(home.buffer, tile), (f"{MEMORY}:{array}", tile)
        reads, writes = ((memory,), (place,)) if way == "load" else ((place,), (memory,))
        yield self._move(move, extents, home.buffer.element_bytes, f"{way} {array}", reads, writes, tile)

    def _move(self, move: Move, extents: tuple[int, ...], width: int, name: str, reads: tuple[Place, ...],
              writes: tuple[Place, ...], tile: int) -> Instruction:
        rows, row = prod(extents[:-1]), (extents[-1] if extents else 1) * width
        return Instruction(engine=move.engine, name=name, cycles=move.cycles(rows, row), reads=reads, writes=writes,
                           source=move.source, destination=move.destination, bytes=rows * row, tile=tile)

    def _slot(self, buffer: Buffer, turn: int) -> Place:
        return buffer.name, turn % buffer.slots

    # stages

    def _stages(self, tile: int, host: Mapping[str, int], fresh: bool = False) -> Iterator[Instruction]:
        for number, stage in enumerate(self.plan.stages):
            if isinstance(stage, CubeStage):
                yield from self._cube(self.plan.cubes[number], tile, host, fresh)
            else:
                yield from self._vector(stage, tile, host)
            for array, home in self.plan.homes.items():
                if home.is_stored and last_use(self.scop, self.plan, array) == number:
                    yield from self._home_move(home.buffer.memory, MEMORY, array, home, "store", tile, host)

    def _place(self, array: str, tile: int) -> Place:
        home = self.plan.homes.get(array)
        return (f"{MEMORY}:{array}", tile) if home is None else self._slot(home.buffer, tile)

    def _vector(self, stage: VectorStage, tile: int, host: Mapping[str, int]) -> Iterator[Instruction]:
        unit = self.target.vector
        values = self.at(tile, host)
        cycles = 0
        reads: list[Place] = []
        writes: list[Place] = []
        for name, operations, calls, width in zip(stage.statements, stage.operations, stage.calls, stage.bytes,
                                                  strict=True):
            box, ends = self.work[name]
            count = prod(clipped(box, ends, values)) if box or not ends else 0
            lanes = max(1, unit.bytes_per_cycle // width) if self.plan.launch.coordinates else 1
            each = ceil(count / lanes)
            steps = operations + calls * unit.call_operations
            cycles += steps * (each + ceil(each / unit.repeats) * unit.startup_cycles) if count else 0
            for access in self.scop.statement(name).accesses:
                if not self.scop.array(access.array).is_scalar:
                    (writes if access.is_write else reads).append(self._place(access.array, tile))
        yield Instruction(engine=unit.engine, name=", ".join(stage.statements), cycles=cycles, tile=tile,
                          reads=tuple(dict.fromkeys(reads)), writes=tuple(dict.fromkeys(writes)))

    def _cube(self, plan: CubePlan, tile: int, host: Mapping[str, int], fresh: bool) -> Iterator[Instruction]:
        stage = plan.stage
        values = self.at(tile, host)
        lengths = {loop.name: loop_range(loop, plan.edges[loop.name], self.plan, values) for loop in stage.loops}
        turn = tile * prod(plan.step_counts) * prod(plan.edges[loop.name] for loop in stage.outer)
        for _ in product(*(range(lengths[loop.name]) for loop in stage.outer)):
            result = self._place(stage.result.array, tile)
            block = (plan.sums.name, 0)
            moved = self._extents((stage.rows, stage.columns), lengths)
            if plan.into is not None:
                yield self._move(plan.into, moved, plan.sums.element_bytes, f"sums of {stage.statement}", (result,),
                                 (block,), tile)
            for step in product(*map(range, plan.step_counts)):
                yield from self._step(plan, step, turn, tile, lengths, fresh)
                turn += 1
            yield self._move(plan.out_of, moved, plan.sums.element_bytes, f"results of {stage.statement}", (block,),
                             (result,), tile)

    def _extents(self, dimensions: tuple[tuple[Loop, ...], tuple[Loop, ...]], lengths: Mapping[str, int]
                 ) -> tuple[int, int]:
        rows, columns = (prod(lengths[loop.name] for loop in loops) for loops in dimensions)
        return rows, columns

    def _step(self, plan: CubePlan, step: tuple[int, ...], turn: int, tile: int, lengths: Mapping[str, int],
              fresh: bool) -> Iterator[Instruction]:
        stage = plan.stage
        inside = {**{n: lengths[n] for n in lengths}, **{loop.name: 1 for loop in stage.outer}}
        for loop, at in zip(stage.sums, step, strict=True):
            inside[loop.name] = max(0, min(plan.steps[loop.name], lengths[loop.name] - at * plan.steps[loop.name]))
        for feed in (plan.left, plan.right):
            if feed.box is not None and (fresh or tile % feed.every == 0):
                extents = tuple(min(extent, last - first + 1) for extent, (first, last) in zip(
                    _reach(feed.operand, inside), self.plan.ends[feed.operand.array], strict=True))
                yield self._move(feed.moves[0], extents, feed.box.element_bytes, f"load {feed.operand.array}",
                                 (self._place(feed.operand.array, tile),), (self._box(feed, turn, tile),), tile)
        yield from self._blocks(plan, turn, tile, inside, fresh)

    def _box(self, feed: Feed, turn: int, tile: int) -> Place:
        assert feed.box is not None, "asked for only where there is one"
        return self._slot(feed.box, tile // feed.every if feed.every > 1 else turn)

    def _blocks(self, plan: CubePlan, turn: int, tile: int, inside: Mapping[str, int], fresh: bool
                ) -> Iterator[Instruction]:
        """Blocks of rows, of sums, of columns, innermost last; the left one stays for a row of columns."""
        stage = plan.stage
        rows, sums, columns = (list(_chunks(loops, plan, inside)) for loops in (stage.rows, stage.sums, stage.columns))
        lefts = turn * prod(plan.blocks(stage.rows)) * prod(plan.blocks(stage.sums, _whole(plan)))
        rights = lefts * prod(plan.blocks(stage.columns))
        for i, k in product(range(len(rows)), range(len(sums))):
            for j in range(len(columns)):
                if j == 0 and self._moves_matrix(plan.left, tile, fresh):
                    yield self._matrix(plan.left, (rows[i], sums[k]), lefts, turn, tile)
                if self._moves_matrix(plan.right, tile, fresh):
                    yield self._matrix(plan.right, (sums[k], columns[j]), rights, turn, tile)
                yield self._mad(plan, (rows[i], columns[j], sums[k]), lefts, rights, tile)
                rights += 1
            lefts += 1

    def _moves_matrix(self, feed: Feed, tile: int, fresh: bool) -> bool:
        return feed.box is not None or fresh or tile % feed.every == 0

    def _matrix_slot(self, feed: Feed, number: int, tile: int) -> Place:
        return self._slot(feed.matrix, tile // feed.every if feed.box is None and feed.every > 1 else number)

    def _matrix(self, feed: Feed, extents: tuple[int, int], number: int, turn: int, tile: int) -> Instruction:
        source = self._box(feed, turn, tile) if feed.box is not None else self._place(feed.operand.array, tile)
        return self._move(feed.moves[-1], extents, feed.matrix.element_bytes, f"{feed.operand.array} to the cube",
                          (source,), (self._matrix_slot(feed, number, tile),), tile)

    def _mad(self, plan: CubePlan, extents: tuple[int, int, int], left: int, right: int, tile: int) -> Instruction:
        match = plan.stage.match
        count = prod(ceil(extent / unit) for extent, unit in zip(extents, plan.stage.units, strict=True))
        cycles = self.target.cube.startup_cycles + count * ceil(match.intrinsic.cost.issue_cycles)
        sums = (plan.sums.name, 0)
        return Instruction(engine=self.target.cube.engine, name=plan.stage.statement, cycles=cycles, work=prod(extents),
                           reads=(self._matrix_slot(plan.left, left, tile),
                                  self._matrix_slot(plan.right, right, tile), sums), writes=(sums,), tile=tile)


def _whole(plan: CubePlan) -> dict[str, int]:
    return {**plan.edges, **plan.steps}


def _chunks(loops: tuple[Loop, ...], plan: CubePlan, inside: Mapping[str, int]) -> Iterator[int]:
    """Iterations of each block along some loops."""
    for at in product(*map(range, plan.blocks(loops, _whole(plan)))):
        yield prod(max(0, min(plan.chunks[loop.name], inside[loop.name] - k * plan.chunks[loop.name]))
                   for loop, k in zip(loops, at, strict=True))


def _reach(operand: CubeOperand, lengths: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of the box that an operand reaches."""
    return tuple(max(0, sum(abs(factor) * (lengths[name] - 1) for name, factor in own.factors) + 1)
                 for own in operand.subscripts)


def loop_range(loop: Loop, edge: int, plan: GroupPlan, values: Mapping[str, int]) -> int:
    """Iterations of a loop in a tile."""
    mover = plan.mover(loop)
    if not mover:
        return loop.extent
    first = values[mover] - loop.offset
    return max(0, min(first + edge, loop.first + loop.extent) - max(first, loop.first))


def clipped(box: tuple[Edge, ...], ends: tuple[tuple[int, int], ...], values: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of a box at values of its parameters, without what lies behind the ends."""
    found = []
    for edge, (first, last) in zip(box, ends, strict=True):
        low = edge.constant + sum(factor * values.get(name, 0) for name, factor in edge.factors)
        found.append(max(0, min(low + edge.extent, last + 1) - max(low, first)))
    return tuple(found)


def _ends(domain: isl.Set) -> tuple[tuple[int, int], ...]:
    return tuple((int(domain.dim_min_val(k).to_python()), int(domain.dim_max_val(k).to_python()))
                 for k in range(domain.dim(isl.dim_type.set)))


def last_use(scop: Scop, plan: GroupPlan, array: str) -> int:
    """The last stage of a tile that touches an array."""
    return max(number for number, stage in enumerate(plan.stages) for name in stage.statements
               for access in scop.statement(name).accesses if access.array == array)
