"""What a register tile is, before it is printed: whether vectors of it pay, and how wide they may be."""

from __future__ import annotations

from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.register_tiles.tile_accesses import Lanes, Point
from polysched.emit_c.scalar_code.vector_dtypes import computed_dtypes
from polysched.emit_c.scalar_code.vector_types import has_vectors
from polysched.emit_c.vector_code.conversion_steps import FAR
from polysched.emit_c.vector_code.tile_code import TileCode
from polysched.emit_c.vector_code.vector_expressions import NotVectorised
from polysched.scop.body import Cast, Select, assignments, walk


def holds_elements(code: TileCode) -> bool:
    """Whether some element that is not a variable already lives in a register around all loops of the tile."""
    return any(level == 0 and not code.scop.array(array).c_element.isidentifier()
               for array, level in code.levels(code.lanes).items())


def scatters(code: TileCode) -> bool:
    """Whether vectors are written to elements that lie apart."""
    apart = (Lanes.SPREAD, Lanes.STRIDED)
    return code.edge is not None and any(
        a.writes and a.generic.lanes in apart for a in code.accesses(2) if not code.is_own(a))


def converts_far(code: TileCode) -> bool:
    """Whether a statement computes with values so much wider than elements that move along the lanes.

    Compilers read such elements in whole vectors and widen them part by part, and compute with short integers where
    no value is longer; vectors with one number of lanes for all types are two to eight times slower.
    """
    statements = ((instance, statement_at(code.scop, instance)) for instance in instances(code.tile.body))
    return any(max(d.bits for d in computed_dtypes(statement)) >= FAR * code.scop.array(access.array).dtype.bits
               for instance, statement in statements for access in statement.accesses
               if code.reach_of(code.printer_for(instance, Point(())), access, 2).lanes is Lanes.UNIT)


def chooses_across_types(code: TileCode) -> bool:
    """Whether floats are chosen that become integers, of elements that lie apart in buffers at most.

    Compilers branch on such a choice, whose sides are numbers of the other type.  What lies apart in a buffer of
    the caches is gathered at the cost of two instructions per lane.
    """
    statements = [statement_at(code.scop, instance) for instance in instances(code.tile.body)]
    chosen = any(isinstance(e, Cast) and e.dtype.is_integer and e.operand.dtype.is_float
                 and any(isinstance(part, Select) for part in walk(e.operand))
                 for statement in statements for item in assignments(statement.body) for e in walk(item.value))
    kept = {name for name, temporary in code.temporaries.items() if temporary.kept}
    return chosen and all(not a.writes and a.generic.array in kept for a in code.accesses(2)
                          if a.generic.lanes is Lanes.SPREAD)


def computes_integers(code: TileCode) -> bool:
    """Whether no value is a float."""
    return all(dtype.is_integer for dtype in code.dtypes())


def widest_vector(code: TileCode, *, also: frozenset[Lanes] = frozenset()) -> int:
    """Lanes for the body's widest element type; 0 when an access does not move by one element or none does.

    Parameters
    ----------
    also : other ways to move that are accepted.
    """
    try:
        dtypes = set(code.dtypes())
    except NotVectorised:
        return 0
    kinds = {a.generic.lanes for a in code.accesses(2)}
    if not dtypes or not all(has_vectors(d) for d in dtypes) or not kinds <= {Lanes.UNIT, Lanes.UNIFORM} | also:
        return 0
    return code.vector_bits // max(dtype.bits for dtype in dtypes) if kinds - {Lanes.UNIFORM} else 0
