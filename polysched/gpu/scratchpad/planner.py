"""Plans of a group for tiles of any edges: which arrays get buffers, and the chunks in which the cube is fed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, prod

import islpy as isl

from polysched.errors import UnsupportedScopError
from polysched.gpu.boxes import Edge, box_of
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import Launch
from polysched.gpu.scratchpad.flows import Flows
from polysched.gpu.scratchpad.plan import Buffer, CubePlan, Feed, GroupPlan, Home, coordinate_ranges, tile_domain
from polysched.gpu.scratchpad.stages import CubeOperand, CubeStage, Loop, Stage
from polysched.records import dataclass
from polysched.scop.scop import Access, Scop, Statement
from polysched.target.scratchpads.description import MEMORY, Move, ScratchpadTarget


@dataclass(frozen=True, eq=False, kw_only=True)
class Planner:
    """Makes plans of one group for tiles of any edges.

    Parameters
    ----------
    scop : of the sizes that the plan is for.
    target : the accelerator.
    launch, stages, names : as `GroupPlan` has them.
    flows : which values come from where.
    prefix : of the names of its buffers.
    """

    scop: Scop
    target: ScratchpadTarget
    launch: Launch
    stages: tuple[Stage, ...]
    names: tuple[str, ...]
    flows: Flows
    prefix: str

    def plan(self, edges: tuple[int, ...], *, slots: int) -> GroupPlan:
        """Buffers for tiles of these edges.

        Raises
        ------
        UnsupportedScopError : the elements of an array in a tile have no box of constant extents.
        """
        ranges = coordinate_ranges(self.launch)
        edges = tuple(min(edge, count) for edge, (_, count) in zip(edges, ranges, strict=True))
        order = tuple(reversed(range(len(edges))))
        counts = tuple(ceil(count / edge) for (_, count), edge in zip(ranges, edges, strict=True))
        domain = tile_domain(self.launch, self.names, edges)
        homes = self._homes(domain, slots if prod(counts) > 1 else 1)
        cubes = {k: self._cube(k, stage, edges, [counts[at] for at in order], order, homes, slots)
                 for k, stage in enumerate(self.stages) if isinstance(stage, CubeStage)}
        return GroupPlan(launch=self.launch, stages=self.stages, names=self.names, ranges=ranges, edges=edges,
                         order=order, homes=homes, cubes=cubes, slots=slots, ends=self._ends())

    def _ends(self) -> dict[str, tuple[tuple[int, int], ...]]:
        return {array.name: self.flows.ends(array.name) for array in self.scop.arrays if not array.is_scalar}

    # homes

    def _homes(self, domain: isl.UnionSet, slots: int) -> dict[str, Home]:
        if self.target.vector.memory == MEMORY:
            return {}
        found = {}
        for array in self._homed():
            users = [k for k, stage in enumerate(self.stages) for name in stage.statements
                     for access in self.scop.statement(name).accesses if access.array == array]
            box = self._box(domain, array)
            if box is None:
                raise UnsupportedScopError(
                    f"the elements of {array} in a tile have no box of constant extents", where=self.scop.name,
                    hint=f"{self.target.name} computes on boxes; leave --target {self.target.name} out")
            loaded = self.flows.loaded(self.stages, array, domain)
            stored = self.flows.stored(self.stages, array, domain)
            moved = not loaded.is_empty() or not stored.is_empty()
            whole = moved and slots > 1
            own = self.scop.array(array).dtype
            found[array] = Home(loaded=loaded, stored=stored, buffer=Buffer(
                name=self._name(self.target.vector.memory, array), memory=self.target.vector.memory, array=array,
                extents=tuple(edge.extent for edge in box), box=box, element_bytes=own.bytes, c_type=own.c_name,
                first=0 if whole else min(users), last=len(self.stages) - 1 if whole else max(users),
                slots=slots if moved else 1))
        return found

    def _homed(self) -> tuple[str, ...]:
        """The arrays that the vector unit touches, or the cube writes."""
        found: list[str] = []
        for stage in self.stages:
            if isinstance(stage, CubeStage):
                found.append(stage.result.array)
                continue
            found += [a.array for name in stage.statements for a in self.scop.statement(name).accesses]
        return tuple(name for name in dict.fromkeys(found) if not self.scop.array(name).is_scalar)

    def _box(self, domain: isl.UnionSet, array: str) -> tuple[Edge, ...] | None:
        reached = [isl.UnionMap.from_map(access.relation).intersect_domain(domain).range()
                   for _, access in self._accesses(array)]
        found = reached[0]
        for part in reached[1:]:
            found = found.union(part)
        return box_of(isl.Set.from_union_set(found).coalesce(), whole=True)

    def _accesses(self, array: str) -> Iterator[tuple[Statement, Access]]:
        for stage in self.stages:
            for name in stage.statements:
                statement = self.scop.statement(name)
                yield from ((statement, access) for access in statement.accesses if access.array == array)

    def _name(self, memory: str, array: str) -> str:
        plain = "".join(c if c.isalnum() else "_" for c in array)
        return f"{self.prefix}{memory}_{plain}"

    # the cube

    def _cube(self, number: int, stage: CubeStage, edges: tuple[int, ...], counts: list[int], order: tuple[int, ...],
              homes: dict[str, Home], slots: int) -> CubePlan:
        loops = {loop.name: loop.edge(edges) for loop in stage.loops}
        steps, chunks = self._blocks(stage, loops, slots)
        boxed = len(self._route(stage.left)) > 1
        turns = prod(loops[name] for name in _names(stage.outer)) * prod(
            ceil(loops[name] / steps[name]) for name in _names(stage.sums))
        feeds = []
        for operand in (stage.left, stage.right):
            place = operand.array if operand.array in homes else ""
            single = boxed or all(loops[n] == chunks[n] for n in _names((*operand.rows, *operand.columns)))
            again = turns > 1 or not single or place or self._is_written(operand.array)
            every = 1 if again else _every(stage, operand, counts, order)
            alone = turns == 1 and every == prod(counts)
            feeds.append(self._feed(number, operand, place, {**loops, **steps}, chunks, every,
                                    (1 if alone else slots, slots)))
        into, out_of = self._result_moves(stage)
        return CubePlan(stage=stage, edges=loops, steps=steps, chunks=chunks, left=feeds[0], right=feeds[1],
                        sums=self._sums(number, stage, loops, chunks), into=into, out_of=out_of)

    def _blocks(self, stage: CubeStage, loops: Mapping[str, int], slots: int) -> tuple[dict[str, int], dict[str, int]]:
        """Iterations of each loop of the sum in a step, and of each loop in a block."""
        sizes = self._chunks(stage, loops, slots)
        boxed = len(self._route(stage.left)) > 1
        steps = self._steps(stage, loops, sizes, slots) if boxed else {n: sizes[n] for n in _names(stage.sums)}
        return steps, {name: min(size, steps.get(name, size)) for name, size in sizes.items()}

    def _sums(self, number: int, stage: CubeStage, loops: Mapping[str, int], chunks: Mapping[str, int]) -> Buffer:
        """The accumulator: a block behind the other."""
        memory = self.target.cube.operands[self.target.cube.result]
        own = self.scop.array(stage.result.array).dtype
        blocks = prod(ceil(loops[n] / chunks[n]) for n in _names((*stage.rows, *stage.columns)))
        return Buffer(name=f"{self._name(memory, stage.result.array)}_{number}", memory=memory,
                      array=stage.result.array, element_bytes=own.bytes, c_type=own.c_name, first=number, last=number,
                      slots=1, extents=(blocks, self._padded(stage, 0, chunks), self._padded(stage, 1, chunks)))

    def _result_moves(self, stage: CubeStage) -> tuple[Move | None, Move]:
        """The moves of old sums to the accumulator, None where it starts from zero, and of sums out of it.

        Raises
        ------
        UnsupportedScopError : the accelerator has none.
        """
        memory, home = self.target.cube.operands[self.target.cube.result], self.target.vector.memory
        into, out_of = self.target.move(home, memory), self.target.move(memory, home)
        if out_of is None or (into is None and not stage.cleared):
            raise UnsupportedScopError(f"{self.target.name} has no move between {home} and {memory}",
                                       where=self.scop.name, hint="set the result to zero in front of the product")
        return None if stage.cleared else into, out_of

    def _is_written(self, array: str) -> bool:
        return any(access.is_write for _, access in self._accesses(array))

    def _route(self, operand: CubeOperand) -> tuple[Move, ...]:
        return self.target.route(MEMORY, self.target.cube.operands[operand.name])

    def _from(self, place: str, operand: CubeOperand) -> tuple[Move, ...]:
        if not place:
            return self._route(operand)
        return self.target.route(self.target.vector.memory, self.target.cube.operands[operand.name])

    def _padded(self, stage: CubeStage, which: int, chunks: Mapping[str, int]) -> int:
        """Rows, columns or sums of a block, in whole instructions."""
        unit = stage.units[which]
        loops = (stage.rows, stage.columns, stage.sums)[which]
        return ceil(prod(chunks[name] for name in _names(loops)) / unit) * unit

    def _chunks(self, stage: CubeStage, loops: Mapping[str, int], slots: int) -> dict[str, int]:
        """Blocks of the cube: what its buffers hold, a number of copies of the inputs; rows and columns first."""
        shares: dict[str, int] = {}
        for operand in (stage.left, stage.right):
            memory = self.target.cube.operands[operand.name]
            shares[memory] = shares.get(memory, 0) + 1
        room = min(self.target.memory(name).capacity_bytes // (count * slots) for name, count in shares.items())
        width = max(self.scop.array(o.array).dtype.bytes for o in (stage.left, stage.right))
        boxed = len(self._route(stage.left)) > 1
        unit = stage.units[2]
        across = 1 << 30 if not boxed else max(unit, LIMITS.widest_block)
        found = {**split(loops, stage.rows, across), **split(loops, stage.columns, across)}
        widest = max(self._padded(stage, 0, found), self._padded(stage, 1, found))
        deep = max(unit, room // (widest * width) // unit * unit)
        found.update(split(loops, stage.sums, deep))
        found.update(dict.fromkeys(_names(stage.outer), 1))
        return found

    def _steps(self, stage: CubeStage, loops: Mapping[str, int], chunks: Mapping[str, int], slots: int
               ) -> dict[str, int]:
        """Iterations of the sum whose elements fit on the way: half of that memory for each operand."""
        memory = self._route(stage.left)[0].destination
        cubes = sum(isinstance(own, CubeStage) for own in self.stages)
        room = self.target.memory(memory).capacity_bytes // (2 * slots * cubes)
        depth = prod(loops[name] for name in _names(stage.sums))
        while True:
            found = split(loops, stage.sums, depth)
            block = {**loops, **found, **dict.fromkeys(_names(stage.outer), 1)}
            needed = max(prod(box_extents(own, block)) * self.scop.array(own.array).dtype.bytes
                         for own in (stage.left, stage.right))
            smallest = prod(chunks[name] for name in _names(stage.sums))
            if needed <= room or depth <= smallest:
                return found
            depth = max(smallest, depth // 2 // smallest * smallest)

    def _feed(self, number: int, operand: CubeOperand, place: str, block: Mapping[str, int],
              chunks: Mapping[str, int], every: int, slots: tuple[int, int]) -> Feed:
        route = self._from(place, operand)
        if not route:
            raise UnsupportedScopError(f"{self.target.name} has no move within {self.target.vector.memory}",
                                       where=self.scop.name, hint="keep the nests apart: --no-shared-tiles")
        if len(route) > 2:
            raise UnsupportedScopError(f"{self.target.name} moves {operand.array} over {len(route)} memories",
                                       where=self.scop.name, hint="one memory in front of the cube's is supported")
        own = self.scop.array(operand.array).dtype
        memory = self.target.cube.operands[operand.name]
        last = len(self.stages) - 1
        kept = every > 1
        box = None
        one = {**block, **{loop.name: 1 for stage in self.stages if isinstance(stage, CubeStage)
                           for loop in stage.outer if loop.name in block}}
        if len(route) > 1:
            box = Buffer(name=f"{self._name(route[0].destination, operand.array)}_{operand.name}{number}",
                         memory=route[0].destination, array=operand.array, element_bytes=own.bytes, c_type=own.c_name,
                         extents=box_extents(operand, one), first=0 if kept else number,
                         last=last if kept else number, slots=slots[0])
        stage = self._stage(number)
        extents = (self._padded(stage, 0, chunks), self._padded(stage, 2, chunks)) if operand is stage.left else (
            self._padded(stage, 2, chunks), self._padded(stage, 1, chunks))
        alone = box is None and kept
        matrix = Buffer(name=f"{self._name(memory, operand.array)}_{operand.name}{number}", memory=memory,
                        array=operand.array, element_bytes=own.bytes, c_type=own.c_name, extents=extents,
                        first=0 if alone else number, last=last if alone else number,
                        slots=slots[0] if alone else slots[1])
        return Feed(operand=operand, place=place, box=box, matrix=matrix, moves=route, every=every)

    def _stage(self, number: int) -> CubeStage:
        stage = self.stages[number]
        assert isinstance(stage, CubeStage), "only the cube has feeds"
        return stage


def _names(loops: tuple[Loop, ...]) -> tuple[str, ...]:
    return tuple(loop.name for loop in loops)


def _every(stage: CubeStage, operand: CubeOperand, counts: list[int], order: tuple[int, ...]) -> int:
    """Tiles in a row with the same elements of an operand: those of the loops of tiles inside all that move it.

    Parameters
    ----------
    counts : tiles along the loops of tiles, outermost first; `order` says which coordinate each is.
    """
    moved = {loop.coordinate for loop in (*operand.rows, *operand.columns) if loop.coordinate is not None}
    moved |= {loop.coordinate for loop in stage.outer if loop.coordinate is not None}
    deepest = max((at for at, coordinate in enumerate(order) if coordinate in moved and counts[at] > 1), default=-1)
    return prod(counts[deepest + 1:])


def split(edges: Mapping[str, int], loops: tuple[Loop, ...], most: int) -> dict[str, int]:
    """Iterations of each loop in a chunk of at most so many, which runs the loops in their order.

    Inner loops are whole where the chunk has room for them, so chunk after chunk is the order of the loops.
    """
    found: dict[str, int] = {}
    room = most
    for loop in reversed(loops):
        edge = edges[loop.name]
        if room >= edge:
            found[loop.name], room = edge, room // edge
            continue
        count = ceil(edge / max(room, 1))
        found[loop.name], room = ceil(edge / count) if room > 1 else 1, 1
    return {loop.name: found[loop.name] for loop in loops}


def box_extents(operand: CubeOperand, edges: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of the box that an operand reaches while each loop has so many iterations."""
    return tuple(sum(abs(factor) * (edges[name] - 1) for name, factor in subscript.factors) + 1
                 for subscript in operand.subscripts)
