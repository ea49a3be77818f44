"""What kernels are expected to take on a GPU: the largest of what its pipes, its memory and latency need.

Source: the throughput and latency models follow J. Sim et al., "A Performance Analysis Framework for Identifying
Potential Benefits in GPGPU Applications", PPoPP 2012, without its caches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import field
from functools import cached_property
from math import ceil, prod

import islpy as isl

from polysched.gpu.known import Known
from polysched.gpu.mapping import GpuMapping, Launch, Phase
from polysched.gpu.staging import Boxes, box_bytes, boxes_of, shared_bytes
from polysched.gpu.warps import Warp, known_extent, known_step, known_stride, warp_of
from polysched.records import dataclass
from polysched.scop.body import Binary, Call, Unary, assignments, statement_expressions, walk
from polysched.scop.dtypes import DType, Kind
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Access, Scop, Statement
from polysched.scop.shown import Shown
from polysched.target.gpus import Gpu
from polysched.tiling.footprints.nest import assumed_parameters
from polysched.tiling.footprints.point_count import point_count


@dataclass(frozen=True, kw_only=True)
class Figures(Shown):
    """What one kernel is expected to do in all its launches.

    Parameters
    ----------
    kernel : its name.
    gpu : the GPU.
    launches, blocks : launches, and blocks of each.
    occupancy : work items that a multiprocessor holds, over those that it can hold.
    held_by : what bounds them: `threads`, `blocks`, `shared memory` or `registers`.
    global_bytes : that go over the device's memory when no cache helps.
    least_bytes : of the elements that the kernel touches, each once.
    seconds : by pipe, memory and latency; what is largest is the limiter.
    """

    kernel: str
    gpu: Gpu
    launches: int
    blocks: int
    occupancy: float
    held_by: str
    global_bytes: float
    least_bytes: float
    seconds: Mapping[str, float]

    @property
    def limiter(self) -> str:
        """What takes longest."""
        return max(self.seconds, key=lambda name: self.seconds[name])

    def headline(self) -> str:
        """One line."""
        launches, blocks = _counted(self.launches, "launch", "launches"), _counted(self.blocks, "block", "blocks")
        return (f"{self.kernel} on {self.gpu.name} ({self.gpu.title}): {launches} of {blocks}, "
                f"occupancy {self.occupancy:.0%} by {self.held_by}, "
                f"{_bytes(self.global_bytes)} of global memory without caches, at least {_bytes(self.least_bytes)}; "
                f"{self.seconds[self.limiter] * 1e3:.3g} ms by {self.limiter}, at least {self.bound * 1e3:.3g} ms by "
                "memory")

    @property
    def bound(self) -> float:
        """Seconds that no schedule falls below: each element once."""
        return self.least_bytes / self.gpu.memory_bytes_per_second


def _counted(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _bytes(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def figures(mapping: GpuMapping, gpu: Gpu, sizes: Mapping[str, int],
            registers: Mapping[str, int] | None = None) -> tuple[Figures, ...]:
    """What each kernel that runs anything at the sizes is expected to take.

    Parameters
    ----------
    sizes : values of parameters; as for `assumed_parameters`.
    registers : of a work item, by kernel, where a compiler has told them.
    """
    assumed = assumed_parameters(mapping.scop, sizes)
    models = [LaunchModel(scop=mapping.scop, launch=launch, gpu=gpu, sizes=assumed,
                     registers=(registers or {}).get(launch.name, 0)) for launch in mapping.launches]
    return tuple(model.figures() for model in models if model.runs and not model.lacking)


def lacking(mapping: GpuMapping, gpu: Gpu, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The pipes, and the room, that kernels of a mapping need and a GPU does not have; it runs none of these kernels.

    Parameters
    ----------
    sizes : as for `figures`.
    """
    assumed = assumed_parameters(mapping.scop, sizes)
    models = (LaunchModel(scop=mapping.scop, launch=launch, gpu=gpu, sizes=assumed, registers=0)
              for launch in mapping.launches)
    return tuple(sorted({name for model in models if model.runs for name in model.lacking}))


@dataclass(frozen=True, eq=False, kw_only=True)
class LaunchModel:
    """What one kernel is expected to do, step by step.

    Parameters
    ----------
    whole_waves : the busiest multiprocessor counts; where the sizes are only assumed, all have as much to do.
    known : of the launch at these sizes of parameters, whatever its block.
    """

    scop: Scop
    launch: Launch
    gpu: Gpu
    sizes: Mapping[str, int]
    registers: int
    whole_waves: bool = True
    known: Known = field(default_factory=Known)

    def figures(self) -> Figures:
        """All of it."""
        launches, blocks = self._counts
        held, held_by = self._held()
        return Figures(kernel=self.launch.name, gpu=self.gpu, launches=launches, blocks=blocks, held_by=held_by,
                       seconds=self.seconds(), occupancy=held * self._items / self.gpu.threads,
                       global_bytes=self._global_bytes(launches * blocks), least_bytes=self._least_bytes())

    def seconds(self) -> dict[str, float]:
        """By pipe, memory and latency."""
        gpu, (launches, blocks) = self.gpu, self._counts
        busy: float = min(gpu.multiprocessors, blocks)
        if self.whole_waves:
            busy = blocks / ceil(blocks / gpu.multiprocessors)
        rate = busy * gpu.gigahertz * 1e9
        seconds = {name: count / gpu.per_cycle[name] / rate for name, count in self._operations().items()}
        seconds["memory"] = self._global_bytes(launches * blocks) / gpu.memory_bytes_per_second
        seconds["latency"] = self._latency(launches, blocks, self._held()[0])
        return seconds

    @cached_property
    def _counts(self) -> tuple[int, int]:
        """Launches, and blocks of each."""
        launch = self.launch
        launches = prod(self._extent(launch.domain, own) for own in launch.host)
        extents = [self._extent(launch.domain, own) for own in launch.coordinates]
        blocks = prod(ceil(extent / edge) for extent, edge in zip(extents, launch.edges, strict=True))
        return launches, blocks * launch.shares

    @property
    def lacking(self) -> tuple[str, ...]:
        """The pipes that the kernel needs and the GPU does not have, and room for a block."""
        pipes = tuple(name for name in self._operations() if name not in self.gpu.per_cycle)
        held, by = self._held()
        return pipes if held else (*pipes, f"room for a block of {self._items} work items ({by})")

    @property
    def runs(self) -> bool:
        """Whether the kernel has an instance at the sizes."""
        return any(self._own(statement, self.launch.domain) for statement in self.scop.statements)

    @property
    def _items(self) -> int:
        """Work items of a block, whole warps."""
        return ceil(self.launch.items / self.gpu.warp) * self.gpu.warp

    def _held(self) -> tuple[int, str]:
        """Blocks that a multiprocessor holds at once, and what bounds them."""
        gpu, shared = self.gpu, shared_bytes(self.scop, self.launch, self.launch.phases, self._boxes)
        bounds = {"threads": gpu.threads // self._items, "blocks": gpu.blocks}
        if shared:
            bounds["shared memory"] = gpu.shared_bytes // (shared + gpu.reserved_bytes)
        if self.registers:
            bounds["registers"] = gpu.registers // (self.registers * self._items)
        name = min(bounds, key=lambda key: bounds[key])
        return bounds[name], name

    @cached_property
    def _boxes(self) -> Boxes:
        return boxes_of(self.scop, self.launch, self._phases, self.known)

    @cached_property
    def _sharing(self) -> dict[str, int]:
        """How many points of a work item share what an access reads, by its reference."""
        return {access.reference: points_that_share(self.launch, statement, access, self.known)
                for statement in self.scop.statements for access in statement.accesses}

    def _own(self, statement: Statement, domain: isl.UnionSet) -> float:
        """How many instances of a statement a domain has at the sizes."""
        def count() -> float:
            own = domain.intersect(isl.UnionSet.from_set(statement.domain))
            return 0.0 if own.is_empty() else point_count(fix_parameters(isl.Set.from_union_set(own), self.sizes))

        return self.known.once(("instances", statement, domain), count)

    def _extent(self, domain: isl.UnionSet, function: isl.UnionPwAff) -> int:
        return known_extent(self.known, domain, function, self.sizes)

    def _operations(self) -> dict[str, float]:
        """Results of each pipe, in all launches; lanes of a warp without an instance take their place too."""
        total: dict[str, float] = {}
        for phase in self._phases:
            taken = 1.0 if phase.tensor is not None else self._warp(phase).issued(phase.domain, self.sizes)
            for statement in self.scop.statements:
                instances = self._own(statement, phase.domain)
                if phase.tensor is not None:
                    kind = "warpgroup" if phase.tensor.together > 1 else "tensor"
                    pipe = f"{kind}{8 * self.scop.array(phase.tensor.left.array).dtype.bytes}"
                    total[pipe] = total.get(pipe, 0) + instances
                    total["load"] = total.get("load", 0) + self._fragment_words(phase) * bool(instances)
                    continue
                counts: dict[str, float] = {**statement_operations(statement, phase.kept)}
                counts["load"] = sum(self._conflicts(phase, statement, access) / self._sharing[access.reference]
                                     for access in statement.accesses if access.array not in phase.kept)
                for pipe, count in counts.items():
                    total[pipe] = total.get(pipe, 0) + instances * taken * count
        return {pipe: count for pipe, count in total.items() if count}

    def _fragment_words(self, phase: Phase) -> float:
        """Words that warps read from shared memory for a product; several together multiply them where they lie."""
        product = phase.tensor
        if product is None or phase.step is None or product.together > 1:
            return 0.0
        launches, blocks = self._counts
        edges = zip(product.warps, (self.launch.edges[1], self.launch.edges[0]), strict=True)
        each = sum(edge / warps for warps, edge in edges) * prod(product.warps)
        words = self.scop.array(product.left.array).dtype.bytes / self.gpu.bank_bytes
        return launches * blocks * each * self._extent(phase.domain, phase.step) * words

    @cached_property
    def _phases(self) -> tuple[Phase, ...]:
        return self.launch.phases or (Phase(domain=self.launch.domain),)

    def _global_bytes(self, blocks: int) -> float:
        """Bytes of global memory: boxes once a tile, what a variable holds once, all else at every access."""
        return sum(self._phase_bytes(phase, blocks) for phase in self._phases)

    def _phase_bytes(self, phase: Phase, blocks: int) -> float:
        total = 0.0
        if phase.step is not None and phase.staged:
            tiles = ceil(self._extent(phase.domain, phase.step) / phase.edge)
            total += blocks * tiles * sum(
                box_bytes(self.scop, array, self._boxes[phase, array]) for array in phase.staged)
        for statement in self.scop.statements:
            instances = self._own(statement, phase.domain)
            steps = 1 if phase.step is None else self._extent(phase.domain, phase.step)
            for access in statement.accesses:
                if access.array in phase.staged or self.scop.array(access.array).is_scalar:
                    continue
                times = instances / steps if access.array in phase.kept else instances
                total += times / self._sharing[access.reference] * self._access_bytes(statement, access, phase)
        return total

    def _access_bytes(self, statement: Statement, access: Access, phase: Phase) -> float:
        """Bytes of global memory that a work item takes for one access, with its neighbours in the warp."""
        warp = self._warp(phase)
        sectors = warp.sectors(statement, access, self.scop.array(access.array).dtype.bytes)
        return sectors * self.gpu.sector_bytes / warp.items

    def _warp(self, phase: Phase) -> Warp:
        return warp_of(self.launch, phase, self.gpu, self.known)

    def _conflicts(self, phase: Phase, statement: Statement, access: Access) -> float:
        """How often an access to a box in shared memory is served, over how often without conflicts of banks."""
        box = self._boxes.get((phase, access.array))
        if box is None:
            return 1.0
        return self._warp(phase).conflicts(statement, access, [edge.extent for edge in box],
                                           self.scop.array(access.array).dtype.bytes)

    def _least_bytes(self) -> float:
        """Each element that the kernel touches once, and once more if it is written."""
        total = 0.0
        for array in self.scop.arrays:
            for written in (False, True):
                reached = [isl.UnionMap.from_map(a.relation).intersect_domain(self.launch.domain).range()
                           for s in self.scop.statements for a in s.accesses
                           if a.array == array.name and a.is_write == written]
                sets = [own for own in reached if not own.is_empty()]
                if not sets:
                    continue
                whole = sets[0]
                for own in sets[1:]:
                    whole = whole.union(own)
                points = fix_parameters(isl.Set.from_union_set(whole), self.sizes)
                total += array.dtype.bytes * (point_count(points) if points.is_bounded() else 0)
        return total

    def _latency(self, launches: int, blocks: int, held: int) -> float:
        """Waves of blocks, each as long as one work item takes when nothing is in its way; its points overlap."""
        waves = ceil(blocks / (self.gpu.multiprocessors * max(held, 1)))
        products = [phase for phase in self._phases if phase.tensor is not None]
        instances = sum(self._own(s, phase.domain) for phase in self._phases if phase.tensor is None
                        for s in self.scop.statements)
        each = instances / (launches * blocks * (self.launch.team or prod(self.launch.edges)))
        staged = any(phase.staged for phase in self.launch.phases)
        latencies = self.gpu.latencies
        cycles = max(each, 0 if products else 1) * (
            latencies["operation"] + latencies["shared" if staged else "global"])
        return launches * waves * (cycles + sum(map(self._product_cycles, products))) / self.gpu.gigahertz / 1e9

    def _product_cycles(self, phase: Phase) -> float:
        """Of a warp that has tensor cores to itself: a copy per tile, then one instruction waits for the other."""
        assert phase.step is not None, "a product has steps"
        assert phase.tensor is not None, "asked for products alone"
        steps, latencies = self._extent(phase.domain, phase.step), self.gpu.latencies
        return (ceil(steps / phase.edge) * latencies["global"] + ceil(steps / phase.tensor.sums) * (
            latencies["shared"] + phase.tensor.intrinsic.cost.latency_cycles))


def points_that_share(launch: Launch, statement: Statement, access: Access, known: Known | None = None) -> int:
    """How many points of a work item find the same element at an access: it is read once for all of them."""
    known = known or Known()
    return prod(count for k, count in enumerate(launch.points) if count > 1 and (
        step := known_step(known, statement, launch.coordinates, k)) is not None
        and known_stride(known, access, step) == 0)


def statement_operations(statement: Statement, kept: Collection[str] = ()) -> Counter[str]:
    """Results that one instance needs of each pipe; an addition of a product is one, addresses are not counted.

    Parameters
    ----------
    kept : arrays whose elements are in variables.
    """
    found: Counter[str] = Counter()
    for top in statement_expressions(statement.body):
        for expr in walk(top):
            match expr:
                case Call() | Binary(op="/" | "%"):
                    found["special"] += 1
                case Binary(op="+" | "-") if _has_product(expr):
                    pass
                case Binary() | Unary():
                    found[_pipe(expr.dtype)] += 1
    for assignment in assignments(statement.body):
        if assignment.op is not None and not (assignment.op in ("+", "-") and _is_product(assignment.value)):
            found[_pipe(assignment.value.dtype)] += 1
    found["load"] += sum(access.array not in kept for access in statement.accesses)
    return found


def _has_product(expr: Binary) -> bool:
    return expr.dtype.kind is Kind.FLOAT and (_is_product(expr.left) or _is_product(expr.right))


def _is_product(expr: object) -> bool:
    return isinstance(expr, Binary) and expr.op == "*"


def _pipe(dtype: DType) -> str:
    if dtype.kind is not Kind.FLOAT:
        return "integer"
    return "float64" if dtype.bits > 32 else "float32"
