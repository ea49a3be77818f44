"""Register tiles: which two loops are unrolled into vector registers, and by how much.

A block of MR rows by NR columns of accumulators stays in registers while the loops that do not move it
run.  Its size follows from the register file, the pipes and the loads that each step needs.

Source: T. M. Low, F. D. Igual, T. M. Smith, E. S. Quintana-Orti, "Analytical Modeling Is Enough for
High-Performance BLIS", ACM TOMS 43(2), 2016, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from math import inf, prod

from polysched.records import dataclass
from polysched.target.costs import Costs
from polysched.target.target import Target
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.footprints.references import Reference
from polysched.tiling.footprints.strides import Stride
from polysched.tiling.limits import LIMITS

MOST_ROWS = LIMITS.most_block_rows
MOST_VECTORS = LIMITS.most_block_vectors
UNEVEN_ROWS = LIMITS.uneven_rows_cost
UNEVEN_ROWS_BY_A_DIAGONAL = LIMITS.uneven_rows_by_a_diagonal_cost
MOST_FOLDED = LIMITS.most_folded_loads
MOST_KNOWN_ROWS = LIMITS.most_known_rows
"""Rows in all up to which a smaller last block of known rows counts as what it is, not as a whole one."""


@dataclass(frozen=True, kw_only=True)
class RegisterShape:
    """A block of accumulators.

    Parameters
    ----------
    statement : the statement that adds into the accumulators.
    rows, columns : the loops of the nest that become rows and (in vectors) columns of the block.
    row_count, column_count : the edges of the block, in elements.
    inner : the loops that run around the block without moving it, outermost first.
    outer : the other loops; they move the accumulators and stay outside the block loops.
    cycles : predicted cycles per operation of one vector.
    transposed : memory holds the sums along the rows, so they are transposed on their way into lanes and back.
    in_place : operands in lanes are read where they lie (`read_in_place`).
    packs_few : they are copied, however few blocks read the copy.
    packed : arrays of which panels may be made; None leaves that to the models.
    """

    statement: str
    rows: int
    columns: int
    row_count: int
    column_count: int
    inner: tuple[int, ...]
    outer: tuple[int, ...]
    cycles: float
    transposed: bool = False
    in_place: bool = False
    packs_few: bool = False
    packed: frozenset[str] | None = None


def register_shapes(nest: Nest, statement: str, target: Target) -> tuple[RegisterShape, ...]:
    """Every worthwhile block for a statement of the nest, the best one first; of equals, one with rows close together.

    Blocks with transposed sums come first where the best of them is predicted faster than all others.
    """
    own = [r for r in nest.references if statement in r.statements]
    if any(r.whole or r.cyclic for r in own) or target.vector_bits == 0:
        return ()
    found = []
    for columns in range(nest.depth):
        for rows in range(nest.depth):
            if rows != columns:
                found += _shapes(nest, statement, own, rows, columns, target)
    found.sort(key=lambda shape: -_nearness(own, shape.rows))
    plain = [shape for shape in found if not shape.transposed]
    turned = [shape for shape in found if shape.transposed]
    least = min((shape.cycles for shape in plain), default=inf)
    return (*sorted((shape for shape in turned if shape.cycles < least), key=lambda shape: shape.cycles),
            *sorted(plain, key=lambda shape: shape.cycles))


def _nearness(own: list[Reference], rows: int) -> int:
    """The last subscript of a sum that the rows move: those before it move over more memory."""
    return min(max(at for at, row in enumerate(r.coefficients) if row[rows]) for r in own if r.writes)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Roles:
    """What the loops and references of a nest are to the block of a statement.

    Parameters
    ----------
    rows, columns : the loops of the block.
    inner, outer : the other loops: those of the sum, and those around it.
    sums, operands : those that are written, and those that a loop of the sum moves.
    """

    nest: Nest
    rows: int
    columns: int
    inner: tuple[int, ...]
    outer: tuple[int, ...]
    sums: list[Reference]
    operands: list[Reference]

    @property
    def transposed(self) -> bool:
        """Whether the elements of a row of sums lie apart."""
        return any(r.stride(self.columns) is Stride.OTHER for r in self.sums)

    @property
    def reads_sums(self) -> bool:
        """Whether an operand is of an array that the block writes."""
        return not {r.array for r in self.operands}.isdisjoint(r.array for r in self.sums)


def _roles(nest: Nest, own: list[Reference], rows: int, columns: int) -> _Roles | None:
    """None where there is no loop of a sum, or a sum does not move with both loops."""
    sums = [r for r in own if r.writes]
    rest = [loop for loop in range(nest.depth) if loop not in (rows, columns)]
    inner = tuple(loop for loop in rest if not _moved(sums, (loop,)))
    if not sums or not inner or not sums == _moved(sums, (rows,)) == _moved(sums, (columns,)):
        return None
    return _Roles(nest=nest, rows=rows, columns=columns, inner=inner, sums=sums, operands=_moved(own, inner),
                  outer=tuple(loop for loop in rest if loop not in inner))


def _moved(references: list[Reference], loops: tuple[int, ...]) -> list[Reference]:
    """The references that move with one of the loops."""
    return [r for r in references if any(r.moves_with(loop) for loop in loops)]


def _suits_registers(roles: _Roles) -> bool:
    """Whether rows use a vector again, or keeping the sums pays by itself; transposed sums have to be whole columns."""
    rows, columns = roles.rows, roles.columns
    in_lanes = [r for r in roles.operands if r.moves_with(columns)]
    shared = any(not r.moves_with(rows) for r in in_lanes)
    if not roles.transposed:
        return shared or _streams(roles.sums, roles.operands, columns)
    return (shared and not any(r.moves_with(rows) for r in in_lanes) and not roles.reads_sums
            and roles.nest.is_straight(rows, columns) and all(_is_column(r, rows, columns) for r in roles.sums))


def _shapes(nest: Nest, statement: str, own: list[Reference], rows: int, columns: int,
            target: Target) -> list[RegisterShape]:
    roles = _roles(nest, own, rows, columns)
    if roles is None or not _suits_registers(roles):
        return []
    transposed, lanes = roles.transposed, target.lanes(8 * max(r.element_bytes for r in own))
    around = lanes * _around_the_sum(nest, roles.operands, columns, roles.inner, target) if transposed else 0.0
    shapes = []
    for vectors, row_count in product(range(1, MOST_VECTORS + 1), range(2, MOST_ROWS + 1)):
        cycles = _cycles(roles, row_count, vectors, lanes, target, packs_columns=transposed,
                         straight=nest.is_straight(rows, columns))
        if cycles is not None:
            shapes.append(RegisterShape(statement=statement, rows=rows, columns=columns, row_count=row_count,
                                        column_count=vectors * lanes, inner=roles.inner, outer=roles.outer,
                                        cycles=cycles + around, transposed=transposed))
    return shapes


def panel_operands(nest: Nest, shape: RegisterShape) -> tuple[Reference, ...]:
    """What a block reads from panels: operands along its inner loops, of arrays that the nest does not write.

    Without those that it reads where they lie, and those that the user wants no panel of.
    """
    written = {r.array for r in nest.references if r.writes}
    return tuple(r for r in nest.references if r.array not in written and not r.whole
                 and any(r.moves_with(loop) for loop in shape.inner)
                 and not (shape.in_place and r.moves_with(shape.columns))
                 and (shape.packed is None or r.array in shape.packed))


def block_parts(block: tuple[int, int], rows: int, columns: int, lanes: int) -> list[tuple[int, int]]:
    """The blocks of one tile, cut off at its end: rows and vectors of each.

    Parameters
    ----------
    block : rows and columns of a whole one.
    rows, columns : the edges of the tile.
    """
    def cut(edge: int, block: int) -> list[int]:
        return [block] * (edge // block) + ([edge % block] if edge % block else [])
    return [(r, -(-c // lanes)) for r in cut(rows, block[0]) for c in cut(columns, block[1])]


@lru_cache(maxsize=LIMITS.kept_tiles)
def start_cycles(block: tuple[int, int], rows: int, columns: int, lanes: int, *, row: float,
                 loads_per_cycle: float) -> float:
    """Starts of the blocks of one tile: of their rows, and loading and storing their sums.

    Parameters
    ----------
    row : cycles of the start of a row.
    """
    blocks = block_parts(block, rows, columns, lanes)
    of_block = {(r, v): row + 2 * r * v / loads_per_cycle for r, v in set(blocks)}
    return sum(of_block[block] for block in blocks)


def cut_share(shape: RegisterShape, rows: int, columns: int, lanes: int, target: Target) -> float:
    """How many times longer the blocks of one tile take than whole blocks for as many points would."""
    return _cut_share((shape.row_count, shape.column_count), rows, columns, lanes, _rates(target))


@lru_cache(maxsize=LIMITS.kept_tiles)
def _cut_share(block: tuple[int, int], rows: int, columns: int, lanes: int, rates: _Rates) -> float:
    whole = _step_by(rates, block[0], block[1] // lanes) / (block[0] * block[1])
    parts = block_parts(block, rows, columns, lanes)
    cycles = {part: _step_by(rates, *part) for part in set(parts)}
    taken = sum(cycles[part] for part in parts)
    return taken / (rows * columns) / whole


_Rates = tuple[float, float, float, float, float]


def _rates(target: Target) -> _Rates:
    """What the cycles of a block depend on."""
    ports, costs = target.ports, target.costs
    return (target.multiply_adds_per_cycle, ports.loads_per_cycle, ports.fma_latency_cycles, costs.step_cycles,
            costs.unhidden_loads_share)


def _step_by(rates: _Rates, rows: int, vectors: int) -> float:
    """As `_step_cycles`."""
    return _block_by(rates, vectors, rows, rows + vectors)


def _block_by(rates: _Rates, sums: int, rows: int, loads: int) -> float:
    """As `_block_cycles`."""
    multiply_adds, loads_per_cycle, latency, step, unhidden = rates
    return (max(rows * sums / multiply_adds, loads / loads_per_cycle, latency)
            + step + unhidden * loads / loads_per_cycle)


def _step_cycles(rows: int, vectors: int, target: Target) -> float:
    """Cycles of one step of the sum in a block that reads a column of one operand and a row of the other."""
    return _step_by(_rates(target), rows, vectors)


def _block_cycles(sums: int, rows: int, loads: int, *, target: Target) -> float:
    """Cycles of one step of the sum in a block of so many rows, each of so many vectors of sums."""
    return _block_by(_rates(target), sums, rows, loads)


def step_cycles(shape: RegisterShape, lanes: int, target: Target) -> float:
    """Cycles that the multiply-adds of one step of the sum take in a whole block."""
    return shape.row_count * (shape.column_count // lanes) / target.multiply_adds_per_cycle


def row_loss(vectors: int, target: Target) -> float:
    """How many times longer blocks take along rows of so many vectors than along rows without an end."""
    cycles = {count: min(_step_cycles(rows, count, target) / (rows * count) for rows in fits)
              for count in range(1, MOST_VECTORS + 1)
              if (fits := [rows for rows in range(MOST_FOLDED + 1, MOST_ROWS + 1)
                           if rows * count + count + 1 <= target.vector_registers])}
    if not cycles:
        return 1.0
    return min(-(-vectors // count) * count / vectors * each for count, each in cycles.items()) / min(cycles.values())


def short_row(target: Target) -> int:
    """The fewest vectors of a row along which blocks take hardly longer than along one without an end.

    Fewer vectors leave more rows to a block, which fit more numbers of rows.
    """
    counts = range(1, MOST_VECTORS + 1)
    return next((count for count in counts if row_loss(count, target) <= LIMITS.most_row_loss), 1)


def _is_column(reference: Reference, rows: int, columns: int) -> bool:
    """Whether rows are neighbours in memory, and columns move one subscript of their own by one."""
    moved = [row for row in reference.coefficients if row[columns]]
    return (not reference.whole and reference.stride(rows) is Stride.UNIT and len(moved) == 1
            and moved[0][columns] == 1 and not any(c for loop, c in enumerate(moved[0]) if loop != columns))


def _around_the_sum(nest: Nest, operands: list[Reference], columns: int, inner: tuple[int, ...],
                    target: Target) -> float:
    """Cycles per instance for transposing the sums, and for packing what lies apart in lanes."""
    costs = target.costs
    cycles = costs.transposed_cycles / max(1.0, nest.density * prod(nest.extents[loop] for loop in inner))
    return cycles + sum(costs.spread_cycles / prod(n for loop, n in enumerate(nest.extents) if not r.moves_with(loop))
                        for r in operands if r.stride(columns) is Stride.OTHER)


def _streams(sums: list[Reference], operands: list[Reference], columns: int) -> bool:
    """Whether keeping the sums in registers pays by itself: all operands come as whole vectors or single elements."""
    return all(r.reads for r in sums) and all(
        r.array not in {s.array for s in sums} and r.stride(columns) is not Stride.OTHER for r in operands) and any(
        r.moves_with(columns) for r in operands)


def _cycles(roles: _Roles, row_count: int, vectors: int, lanes: int, target: Target, *, straight: bool,
            packs_columns: bool = False) -> float | None:
    """Cycles per vector operation of the block, with the waste at the edges; None when registers do not suffice.

    Parameters
    ----------
    straight : blocks are whole but for the last ones.
    packs_columns : operands in lanes are read from panels, wherever their elements lie.
    """
    rows, columns, operands, sums = roles.rows, roles.columns, roles.operands, len(roles.sums)
    accumulators = sums * row_count * vectors
    kept = sum(vectors for r in operands if r.moves_with(columns) and not r.moves_with(rows))
    if accumulators + kept + 1 > target.vector_registers:
        return None
    # a vector whose elements lie apart is gathered element by element
    loads = partial(_loads, operands, rows, columns, vectors, 1 if packs_columns else lanes)
    again = _cycles_to_read_again(roles, vectors, lanes, target)

    def step(count: int, loads: int) -> float:
        return max(_block_cycles(sums * vectors, count, loads, target=target), again * count)
    whole_step = step(row_count, loads(row_count, row_count if row_count <= MOST_FOLDED else 1))
    operations = row_count * vectors * sums
    loaded = sum((row_count if r.moves_with(rows) else 1) * r.element_bytes
                 * (vectors * lanes if r.moves_with(columns) else 1) for r in operands)
    blocks = _Blocks(nest=roles.nest, packed=straight and not roles.reads_sums, costs=target.costs)
    if blocks.end_as_they_are(rows, most=None if packs_columns else MOST_KNOWN_ROWS):
        waste = blocks.of_known_rows(rows, row_count, lambda left: step(left, loads(left, 1)) / whole_step)
    else:
        waste = blocks.waste(rows, row_count, row_count)
    waste *= blocks.waste(columns, vectors * lanes, lanes)
    if row_count & (row_count - 1):
        waste *= UNEVEN_ROWS if straight else UNEVEN_ROWS_BY_A_DIAGONAL
    return waste * (whole_step / operations + target.costs.byte_cycles * loaded / (operations * lanes))


def _cycles_to_read_again(roles: _Roles, vectors: int, lanes: int, target: Target) -> float:
    """Cycles per row and step in which vectors arrive that no other row uses, but later blocks read again.

    They come from the cache that keeps the whole operand.
    """
    cycles = 0.0
    for r in roles.operands:
        if r.moves_with(roles.rows) and r.moves_with(roles.columns) and not all(map(r.moves_with, roles.outer)):
            kept = [c.level for c in target.caches if r.bytes_reached <= target.kept_bytes(c.level)]
            rate = target.bandwidth(min(kept, default=0)) / target.frequency_hz
            cycles += vectors * lanes * r.element_bytes / rate
    return cycles


@dataclass(frozen=True, eq=False, kw_only=True)
class _Blocks:
    """What blocks along a loop take beside whole ones, as a factor.

    Parameters
    ----------
    packed : blocks at an edge are computed as a whole, from panels.
    costs : of the machine.
    """

    nest: Nest
    packed: bool
    costs: Costs

    def waste(self, loop: int, edge: int, whole: int) -> float:
        """For blocks of `edge` iterations, of which a whole number of `whole` is computed."""
        extent = self.nest.extents[loop]
        if self.packed:
            copied = self.costs.cut_block_share * edge if extent % edge else 0
            return (-(-extent // whole) * whole + copied) / extent
        return 1 + self.costs.partial_block_slowdown * (extent % edge) / extent

    def end_as_they_are(self, loop: int, *, most: int | None) -> bool:
        """Whether the last block of rows is counted by `of_known_rows`: of a known number, at most so many."""
        known = self.packed and any(self.nest.constant[loop:loop + 1])
        return known and (most is None or self.nest.extents[loop] <= most)

    def of_known_rows(self, loop: int, edge: int, share: Callable[[int], float]) -> float:
        """For rows whose number is known, so that the last block has as many as are left.

        share : what a block of so many rows takes of a whole one.
        """
        extent = self.nest.extents[loop]
        rest = share(extent % edge) if extent % edge else 0.0
        return (extent // edge + rest) * edge / extent


def _loads(operands: list[Reference], rows: int, columns: int, vectors: int, apart: int, row_count: int,
           reads: int) -> int:
    """Loads of one step of the sum in a block of so many rows.

    Parameters
    ----------
    apart : loads for a vector whose elements lie apart; one where it is read from a panel.
    reads : how often a vector that rows share is read.
    """
    return sum((row_count if r.moves_with(rows) else reads if apart == 1 or r.stride(columns) is Stride.UNIT else 1)
               * {Stride.INVARIANT: 1, Stride.UNIT: vectors, Stride.OTHER: vectors * apart}[r.stride(columns)]
               for r in operands)
