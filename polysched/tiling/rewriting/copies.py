"""Which operands of register blocks are copied into contiguous buffers, how large these are, and where they are filled.

Rewrite:  k0: [copy B] i0: jj: ii: k: block of i, j    reading B(k, j)

A loop that does not move an operand reads it again in every iteration.  The copy stands around the outermost loop of
which that is so and inside of which the operand is a box of known size: the loops of the sum, and along rows or columns
the blocks of the tile.  In columns, an operand's blocks lie behind each other.  The schedule tree has the copy as part
of the mark of that loop (`LoopMark.copies`); `copy_statements` makes statements of them.

Source: K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", TOMS 34(3), 2008, section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import islpy as isl
import numpy as np

from polysched.records import dataclass
from polysched.scheduling.marks import Copy, LoopMark, Role
from polysched.scheduling.tree.loop_tree import (
    Band,
    Node,
    children,
    from_isl,
    multi_union_pw_aff,
    walk,
    with_children,
)
from polysched.scop.scop import Access, Scop, Statement
from polysched.tiling.footprints.nest import assumed_parameters
from polysched.tiling.footprints.references import Reference, reference_of
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.limits import LIMITS
from polysched.tiling.options import TilingOptions
from polysched.tiling.planning.read_in_place import FEWEST_PANEL_READS
from polysched.tiling.rewriting.block_path import Block, register_blocks
from polysched.tiling.tree.distribute import statement_names

LARGEST_COPY_BYTES = LIMITS.largest_copy_bytes
BESIDE = LIMITS.beside_share


@dataclass(frozen=True, eq=False, kw_only=True)
class _Operand:
    """What a block reads, and the loops on the way that move it, by their places."""

    access: Access
    reference: Reference
    moves: frozenset[int]


def with_copies(root: Node, domain: isl.UnionSet, scop: Scop, options: TilingOptions) -> Node:
    """The tree with the copies of operands in the marks of its loops.

    Parameters
    ----------
    root : the tree with all other marks.
    domain : the instances of the program.
    """
    found: dict[int, list[Copy]] = {}
    parameters = assumed_parameters(scop, options.parameters)
    for block in register_blocks(root, domain, (), parameters):
        mark = block.path[-1].band.mark
        packed = (options if mark is None else options.for_band(mark.band)).packed
        for name in statement_names(block.domain):
            statement = scop.statement(name)
            for access in statement.accesses:
                if packed is not None and access.array not in packed:
                    continue
                operand = None if access.is_write else _operand(block, scop, statement, access)
                place = None if operand is None else _place(block, operand, scop, options)
                if place is not None:
                    loop, copy = place
                    _add(found.setdefault(id(block.path[loop].band), []), copy)
    return _marked(root, found) if found else root


def copies_of(tree: isl.Schedule) -> tuple[tuple[LoopMark, Copy], ...]:
    """The copies of a tree with the marks of their loops, in pre-order."""
    marks = (n.mark for n in walk(from_isl(tree).root) if isinstance(n, Band) and n.mark is not None)
    return tuple((mark, copy) for mark in marks for copy in mark.copies)


def _add(copies: list[Copy], new: Copy) -> None:
    """Put a copy to those of a loop, together with one that has the same form."""
    for at, old in enumerate(copies):
        if replace(old, references=new.references) == new:
            copies[at] = replace(old, references=tuple(dict.fromkeys((*old.references, *new.references))))
            return
    copies.append(new)


def _operand(block: Block, scop: Scop, statement: Statement, access: Access) -> _Operand | None:
    """An access that some loop of a block moves; None for others, and for what moves in no known way."""
    array = scop.array(access.array)
    if array.is_scalar:
        return None
    reference = reference_of(array, statement, access, block.functions, block.parameters)
    if reference.whole:
        return None
    moves = frozenset(block.carrier(at) for k, at in enumerate(block.points) if reference.moves_with(k))
    edges = frozenset(range(block.first_edge, len(block.path)))
    lanes = len(block.path) - 1
    loops = frozenset(range(block.nest, block.first_edge))
    if not moves & loops or not moves & edges or (lanes in moves and moves & edges - {lanes}):
        return None
    if lanes in moves:
        mark = block.path[-1].band.mark
        if mark is not None and mark.in_place and reference.stride(block.points.index(lanes)) is Stride.UNIT:
            return None
    elif _repeats(reference, [k for k, at in enumerate(block.points)
                              if at >= block.nest and block.carrier(at) in moves]):
        return None
    return _Operand(access=access, reference=reference, moves=moves)


def _repeats(reference: Reference, loops: list[int]) -> bool:
    """Whether a copy along these loops would hold elements several times: `A[i + k]` along both."""
    steps = np.array([[row[loop] for loop in loops] for row in reference.linear])
    return int(np.linalg.matrix_rank(steps)) < len(loops)


def _place(block: Block, operand: _Operand, scop: Scop, options: TilingOptions) -> tuple[int, Copy] | None:
    """The loop that a copy stands around, and the copy; None where there is none."""
    lanes = len(block.path) - 1
    fewest = _fewest_reads(block, operand)
    for at in range(block.nest):
        if block.path[at].role is Role.WAVEFRONT or any(loop.parallel for loop in block.path[at:]):
            continue
        reuses = block.extent(at) if block.is_even(at) else None
        if block.extent(at) == 1 or (reuses is not None and reuses < fewest):
            continue
        if operand.moves & frozenset(range(at, block.nest)):
            continue
        extents = _extents(block, operand, at)
        if extents is None or _is_written(block, operand, at, scop):
            continue
        copy = Copy(array=operand.access.array, in_lanes=lanes in operand.moves, extents=extents,
                    references=(operand.access.reference,))
        if copy.elements * operand.reference.element_bytes <= LARGEST_COPY_BYTES:
            return None if _stays_beside(block, operand, copy, options) else (at, copy)
    return None


def _stays_beside(block: Block, operand: _Operand, copy: Copy, options: TilingOptions) -> bool:
    """Whether what few blocks read by rows, beside an operand that they read in place, stays in the first cache so."""
    mark, lanes = block.path[-1].band.mark, len(block.path) - 1
    if mark is None or not mark.in_place or lanes in operand.moves:
        return False
    blocks = [block.extent(tile) for tile in block.tile_loops(block.path[block.first_edge].key, 0)]
    few = prod(count or FEWEST_PANEL_READS for count in blocks) < FEWEST_PANEL_READS
    return few and copy.elements * operand.reference.element_bytes <= BESIDE * options.target.caches[0].size_bytes


def _fewest_reads(block: Block, operand: _Operand) -> int:
    """Blocks that read a copy, or it is not made."""
    lanes = len(block.path) - 1
    mark = block.path[lanes].band.mark
    return 2 if mark is not None and mark.packs_few and lanes in operand.moves else FEWEST_PANEL_READS


def _extents(block: Block, operand: _Operand, at: int) -> tuple[int, ...] | None:
    """Elements of a copy around a loop along the blocks of its tile, the loops of the sum and the edge of the block."""
    lanes = len(block.path) - 1
    blocks: list[int] = []
    sums = _sums(block, operand, at)
    edge = 0
    if sums is None:
        return None
    for moved in sorted(operand.moves):
        if moved < block.first_edge:
            continue
        tiles = block.moving_tiles(moved, at)
        if moved == lanes:
            if len(tiles) > 1 or (tiles and block.nest - at < 2):
                return None   # nothing reads it again
            blocks += [extent for tile in tiles if (extent := block.extent(tile)) is not None]
            if len(blocks) < len(tiles):
                return None
            edge = block.register_edge(moved)
            continue
        if at in tiles:
            return None
        counts = [block.extent(tile) for tile in tiles]
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            return None
        edge = block.register_edge(moved)
        for count in known:
            edge *= count
    return (*blocks, *sums, edge) if lanes in operand.moves else (edge, *sums)


def _sums(block: Block, operand: _Operand, at: int) -> list[int] | None:
    """Elements of a copy along the loops of the sum; None where some have no known number of iterations."""
    loops = [moved for moved in sorted(operand.moves) if block.nest <= moved < block.first_edge]
    if any(block.moving_tiles(loop, at) for loop in loops):
        return None
    extents = [block.extent(loop) for loop in loops]
    known = [extent for extent in extents if extent is not None]
    if len(known) == len(extents):
        return known
    together = block.count_coupled(loops)
    return None if together is None else [together]


def _is_written(block: Block, operand: _Operand, at: int, scop: Scop) -> bool:
    """Whether the iterations of a loop write all that an operand reads in them, those of the loops outside being given.

    What a factorisation reads of the matrix that it updates is mostly written before, and beside the diagonal not.
    """
    domain = block.path[at].domain
    writes = [write for name in statement_names(domain) for write in scop.statement(name).writes
              if write.array == operand.access.array]
    if not writes:
        return False
    outside = tuple(loop.band.members[0] for loop in block.path[:at])
    read = _elements(outside, block.domain, operand.access)
    return any(bool(read.is_subset(_elements(outside, domain, write))) for write in writes)


def _elements(loops: tuple[isl.UnionPwAff, ...], domain: isl.UnionSet, access: Access) -> isl.UnionMap:
    """`{ [c1, ..., cn] -> A[...] }`: what an access touches while the loops have these values."""
    own = domain.intersect(isl.UnionSet.from_set(isl.Set.universe(access.relation.get_space().domain())))
    relation = isl.UnionMap.from_map(access.relation).intersect_domain(own)
    if not loops:
        return isl.UnionMap.from_range(relation.range())
    values = isl.UnionMap.from_multi_union_pw_aff(multi_union_pw_aff(loops)).intersect_domain(own)
    return values.reverse().apply_range(relation)


def _marked(node: Node, found: Mapping[int, list[Copy]]) -> Node:
    below = tuple(_marked(child, found) for child in children(node))
    new = with_children(node, below)
    if isinstance(new, Band) and id(node) in found and new.mark is not None:
        return replace(new, mark=replace(new.mark, copies=tuple(found[id(node)])))
    return new
