"""Products on tensor cores: phases of a block that the warp-wide instruction of a match computes.

A match says which statement is a product of two matrices, and which loops are its rows, columns and sums.  Here rows
and columns have to be coordinates of the launch and the sum the step of a phase, and their values a box: then a block
copies both operands tile after tile to shared memory, zeros in the place of missing values, and each of its warps
computes a part of the block's results.

Rewrite:  launch(i, j): for k: C[i][j] += A[i][k] * B[k][j]
          ->  launch(i, j): for tiles of k: the block copies A and B; each warp: mma on its fragments of C

Source: PTX ISA, section "Warp Level Matrix Multiply-Accumulate Instructions".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polysched.gpu.coalescing import step_of, stride_along
from polysched.gpu.instances import fixed
from polysched.gpu.limits import LIMITS
from polysched.gpu.mapping import Launch, Phase, TensorOperand, TensorProduct
from polysched.gpu.options import BLOCKS, MMA, TENSOR_KINDS, WGMMA, WMMA, GpuOptions
from polysched.gpu.products import needs_more, product_groups
from polysched.gpu.staging import element_of, has_temporaries, names_of, parts_of, phases_of, shared_bytes, written
from polysched.gpu.wgmma import JOINED, WGMMA_BY_KIND
from polysched.records import dataclass
from polysched.scheduling.schedule import Schedule
from polysched.scop.body import Load
from polysched.scop.budget import with_budget
from polysched.scop.scop import Access, Scop, Statement
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.intrinsics.nvidia_mma import BY_KIND, WMMA_BY_KIND
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.match import MatchOptions, match


@dataclass(frozen=True, kw_only=True)
class _Instruction:
    """How a block uses an instruction of tensor cores.

    Parameters
    ----------
    by_kind : its descriptions by the type of the operands.
    edge : results along both sides of a block.
    padding : bytes between the rows of a tile in shared memory.
    together : warps that execute it.
    joined : descriptions side by side that one execution computes.
    by_loads : only its own loads and stores know which lane holds what.
    """

    by_kind: Mapping[str, tuple[Intrinsic, ...]]
    edge: int = LIMITS.tensor_edge
    padding: int
    together: int = 1
    joined: int = 1
    by_loads: bool = False


_INSTRUCTIONS = {
    MMA: _Instruction(by_kind=BY_KIND, padding=LIMITS.tensor_row_padding),
    WMMA: _Instruction(by_kind=WMMA_BY_KIND, padding=LIMITS.loaded_row_padding, by_loads=True),
    WGMMA: _Instruction(by_kind=WGMMA_BY_KIND, edge=LIMITS.warpgroup_edge, padding=0, together=LIMITS.warpgroup,
                        joined=JOINED)}


def with_tensor_cores(schedule: Schedule, launch: Launch, *, options: GpuOptions) -> Launch | None:
    """The launch whose products run on tensor cores; None where it has none that may."""
    if not options.tensor_cores or len(launch.coordinates) < 2 or has_temporaries(schedule.scop, launch):
        return None
    return with_budget(LIMITS.tensor_operations, lambda: _found(schedule, launch, options))


def _found(schedule: Schedule, launch: Launch, options: GpuOptions) -> Launch | None:
    sized = _sized(launch, options)
    if sized is None:
        return None
    finder = _Finder(schedule=schedule, launch=sized, options=options)
    parts = parts_of(schedule, sized)
    products = [finder.product(part) for part in parts]
    return _with_products(schedule, sized, parts, products, options) if any(products) else None


def resized(schedule: Schedule, launch: Launch, block: tuple[int, ...], points: tuple[int, ...], *,
            options: GpuOptions) -> Launch:
    """A launch whose products run on tensor cores with other sizes; without phases where these do not fit them."""
    sized, own = replace(launch, block=block, points=points, phases=()), _INSTRUCTIONS[options.tensor_instruction]
    products: list[TensorProduct | None] = []
    for phase in launch.phases:
        product = phase.tensor
        warps = None if product is None else warps_of(sized, product.rows, product.columns * own.joined, own.together)
        if product is not None and (warps is None or sized.items % (LIMITS.warp_items * own.together)
                                    or not set(sized.edges[2:]) <= {1}):
            return sized
        products.append(product if product is None or warps is None else replace(product, warps=warps))
    return _with_products(schedule, sized, parts_of(schedule, sized), products, options) or sized


def _with_products(schedule: Schedule, sized: Launch, parts: Sequence[Phase],
                   products: Sequence[TensorProduct | None], options: GpuOptions) -> Launch | None:
    """The launch with a phase for each part, of which some are products; None where they take too much memory."""
    others = phases_of(schedule, sized, shared=options.shared) or parts
    phases: list[Phase] = []
    for part, other, product in zip(parts, others, products, strict=True):
        own = other if product is None else replace(
            part, edge=product.step, staged=tuple(dict.fromkeys((product.left.array, product.right.array))),
            kept=(product.result.array,), tensor=product)
        phases.append(replace(own, waits=any(_hands_on(schedule.scop, sized, before, own) for before in phases)))
    fits = shared_bytes(schedule.scop, sized, phases) <= LIMITS.shared_bytes
    return replace(sized, phases=tuple(phases)) if fits else None


def _sized(launch: Launch, options: GpuOptions) -> Launch | None:
    """The launch with a block of eight warps and points enough for fragments; None where those asked for do not do."""
    more = (1,) * (len(launch.coordinates) - 2)
    block = options.block_of(len(launch.coordinates)) if options.block else (*BLOCKS[2], *more)
    own = _INSTRUCTIONS[options.tensor_instruction]
    points = options.points_of(len(launch.coordinates)) if options.points else (
        own.edge // block[0] or 1, own.edge // block[1] or 1, *more)
    sized = replace(launch, block=block, points=points, phases=())
    whole = LIMITS.warp_items * own.together
    return sized if sized.items % whole == 0 and set(sized.edges[2:]) <= {1} else None


def warps_of(launch: Launch, rows: int, columns: int, together: int = 1) -> tuple[int, int] | None:
    """Warps of a block along rows and columns of fragments, as square as their parts can be; None where none fits.

    Parameters
    ----------
    rows, columns : of an instruction.
    together : warps that execute it; what is returned are groups of as many.
    """
    warps = launch.items // (LIMITS.warp_items * together)
    down, across = launch.edges[1] // rows, launch.edges[0] // columns
    if launch.edges[1] % rows or launch.edges[0] % columns:
        return None
    fitting = [(own, warps // own) for own in range(1, warps + 1)
               if warps % own == 0 and down % own == 0 and across % (warps // own) == 0]
    return min(fitting, key=lambda own: abs(down // own[0] * rows - across // own[1] * columns), default=None)


def _hands_on(scop: Scop, launch: Launch, before: Phase, phase: Phase) -> bool:
    """Whether work items of a block touch what others touched in an earlier phase, where one of them writes.

    Work items of a product touch what is not their own; all others keep to their coordinates.
    """
    if before.tensor is None and phase.tensor is None:
        return False
    earlier, later = list(_accesses(scop, launch, before)), list(_accesses(scop, launch, phase))
    both = {own.array for own in earlier} & {own.array for own in later}
    return any(own.is_write and own.array in both for own in (*earlier, *later))


def _accesses(scop: Scop, launch: Launch, phase: Phase) -> Iterator[Access]:
    for statement in scop.statements:
        if launch.runs_any_of(statement, phase.domain):
            yield from statement.accesses


@dataclass(frozen=True, eq=False, kw_only=True)
class _Finder:
    schedule: Schedule
    launch: Launch
    options: GpuOptions

    def product(self, part: Phase) -> TensorProduct | None:
        """The product that a part is, on the first instruction that may compute it."""
        scop = self.schedule.scop
        own = [statement for statement in scop.statements if self.launch.runs_any_of(statement, part.domain)]
        if part.step is None or len(own) != 1 or not self._is_box(part):
            return None
        return next((found for intrinsic in self._intrinsics() for candidate in self._matches(own[0], intrinsic)
                     if (found := self._of_match(part, own[0], candidate)) is not None), None)

    def _intrinsics(self) -> Iterator[Intrinsic]:
        for kind in TENSOR_KINDS:
            if kind in self.options.tensor_cores:
                yield from _INSTRUCTIONS[self.options.tensor_instruction].by_kind[kind]

    def _matches(self, statement: Statement, intrinsic: Intrinsic) -> Iterator[Match]:
        """The checked matches of a statement that are products and need nothing around the instruction."""
        options = MatchOptions(numerics=Numerics(narrow=True))
        found = match(self.schedule.scop, intrinsic, options, dependences=self.schedule.dependences,
                      compared=True).matches   # `tests/gpu/test_wgmma.py` compares those that no registry has
        yield from (own for own in found if own.fragment.statement.name == statement.name
                    and product_groups(own) and not needs_more(own))

    def _of_match(self, part: Phase, statement: Statement, candidate: Match) -> TensorProduct | None:
        """The product of a match whose rows and columns are coordinates, and whose sum is the step."""
        held = (candidate.result, *candidate.assignment.held.values())
        accesses = [statement.access(own.reference) for own in held if isinstance(own, Load)]
        if len(accesses) != len(held):
            return None
        names = names_of(self.launch)
        column, row, step = names.coordinates[0], names.coordinates[1], names.tile
        if not all(self._is_element(part, own, free) for own, free in zip(accesses, (step, column, row), strict=True)):
            return None
        if any(written(self.schedule.scop, self.launch, own.array) for own in accesses[1:]):
            return None
        extents = {group.indexes: candidate.extent(k) for k, group in enumerate(candidate.groups)}
        rows, columns, sums = (extents[own] for own in product_groups(candidate))
        instruction = _INSTRUCTIONS[self.options.tensor_instruction]
        warps = warps_of(self.launch, rows, columns * instruction.joined, instruction.together)
        step_values = LIMITS.tensor_row_bytes // self.schedule.scop.array(accesses[1].array).dtype.bytes
        if warps is None or step_values % sums:
            return None
        result, left, right = (TensorOperand(array=own.array, reference=own.reference,
                                             along_step=self._lies_along_step(part, statement, own))
                               for own in accesses)
        piece = columns * self.schedule.scop.array(result.array).dtype.bytes + instruction.padding
        return TensorProduct(intrinsic=candidate.intrinsic, rows=rows, columns=columns, sums=sums, step=step_values,
                             row_bytes=LIMITS.tensor_row_bytes + instruction.padding, warps=warps, result=result,
                             left=left, right=right, piece_bytes=piece if instruction.by_loads else 0,
                             together=instruction.together)

    def _is_box(self, part: Phase) -> bool:
        """Whether the values of coordinates and step are intervals, each with all values of the others."""
        assert part.step is not None, "a product has steps"
        inside = fixed(part.domain, dict(zip(names_of(self.launch).host, self.launch.host, strict=True)))
        relation = isl.Map.from_domain(isl.Set.from_union_set(inside))
        for function in (*self.launch.coordinates, part.step):
            own = isl.UnionMap.from_union_pw_aff(function).intersect_domain(inside)
            relation = relation.flat_range_product(isl.Map.from_union_map(own))
        values = relation.range()
        return bool(relation.is_injective()) and bool(_box_of(values).is_equal(values))

    def _is_element(self, part: Phase, access: Access, free: str) -> bool:
        """Whether an access is one expression of the coordinates and the step, without one of them."""
        found = element_of(self.launch, part, access, names_of(self.launch))
        if found is None or len(access.subscripts) != len(self.schedule.scop.array(access.array).extents):
            return False
        return all(_is_without(found.get_pw_aff(k), free) for k in range(found.dim(isl.dim_type.out)))

    def _lies_along_step(self, part: Phase, statement: Statement, access: Access) -> bool:
        """Whether neighbours in memory are neighbours along the step."""
        assert part.step is not None, "a product has steps"
        functions = (part.step, *self.launch.coordinates)
        step = step_of(statement, functions, 0)
        return step is not None and stride_along(access, step) == 1


def _box_of(values: isl.Set) -> isl.Set:
    """The least box of intervals around some values."""
    kinds, count = isl.dim_type.set, values.dim(isl.dim_type.set)
    box = isl.Set.universe(values.get_space())
    for k in range(count):
        own = values.project_out(kinds, k + 1, count - k - 1).project_out(kinds, 0, k)
        hull = isl.Set.from_basic_set(own.simple_hull().remove_divs())
        box = box.intersect(hull.insert_dims(kinds, 0, k).insert_dims(kinds, k + 1, count - k - 1))
    return box


def _is_without(function: isl.PwAff, parameter: str) -> bool:
    """Whether a function is one expression that does not depend on a parameter."""
    pieces, kinds = function.get_pieces(), isl.dim_type.param
    if len(pieces) != 1:
        return False
    form = pieces[0][1]
    position = form.find_dim_by_name(kinds, parameter)
    return position < 0 or not form.involves_dims(kinds, position, 1)
