"""Whether a region of a file stays as it was written for want of anything better, and why, in one line."""

from __future__ import annotations

import islpy as isl

from polysched.emit_c.loop_ir.loops import For, Packed, RegisterTile, ThreadReduction
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.errors import SourceLocation
from polysched.pipeline.optimized import Optimized
from polysched.scop.schedule_nodes import NodeKind, kind_of


def reason_for_original(made: Optimized) -> str:
    """Why a region of a file is better off as it was written; empty where it is not.

    Where no loop runs in lanes, on threads or in tiles, other loops of the same statements are no gain.  Nor are they
    where arrays of constant extents leave less to do than rows, teams and memory cost.
    """
    if made.scop.source is None or not made.options.is_by_model:
        return ""
    if not _has_gain(made):
        return _reason(made)
    if made.pays is not None and made.pays.never:
        return "there is too little to do at the largest sizes that its arrays and types allow"
    return ""


def told_unchanged(made: Optimized) -> str | None:
    """The line for a region none of whose loops runs in lanes, on threads or in tiles; None for others.

    Loops that are kept whole have a note already (`Scop.notes`).
    """
    scop = made.scop
    loops = [node for node in walk_nodes(made.source.loops) if isinstance(node, For)]
    if scop.source is None or scop.notes or not loops or (not made.as_written and _has_gain(made)):
        return None
    line = min(statement.line for statement in scop.statements)
    return (f"{SourceLocation(scop.source.path, line)}: the loops stay as they are: "
            f"{made.as_written or _reason(made)}")


def told_coarse(made: Optimized) -> tuple[str, ...]:
    """The lines for what the dependence analysis of a region of a file ran out of time for."""
    scop = made.scop
    if scop.source is None or not scop.statements:
        return ()
    where = SourceLocation(scop.source.path, min(statement.line for statement in scop.statements))
    return tuple(f"{where}: {line}; simpler subscripts or a smaller region are analysed faster"
                 for line in made.dependences.fallbacks)


def _has_gain(made: Optimized) -> bool:
    if made.mapped or made.source.preamble or any(band.sizes for band in made.tiled.bands):
        return True
    return any(isinstance(node, RegisterTile | ThreadReduction | Packed)
               or (isinstance(node, For) and (node.mark.parallel or node.mark.simd))
               for node in walk_nodes(made.source.loops))


def _reason(made: Optimized) -> str:
    dependences = made.dependences
    if _is_parallel(made.schedule.tree.get_root()):
        return "there is too little to do for lanes, threads or tiles"
    ordered = {pair.array for pair in dependences.pairs if not pair.reduction}
    for statement in dependences.scop.statements:
        for access in statement.accesses:
            if not access.exact and access.array in ordered:
                where = f"`{access.array}` in line {statement.line}"
                return f"a subscript of {where} is not affine: it may name any element"
    for pair in dependences.pairs:
        if pair.source == pair.sink and not pair.reduction:
            line = dependences.scop.statement(pair.sink).line
            return f"every iteration of line {line} needs `{pair.array}` of earlier ones"
    for pair in dependences.pairs:
        if pair.reduction and dependences.scop.array(pair.array).dtype.is_float:
            line = dependences.scop.statement(pair.sink).line
            return f"the sum in line {line} is rounded in its order; --reassociate allows others"
    return "every loop has a dependence between its iterations"


def _is_parallel(node: isl.ScheduleNode) -> bool:
    """Whether a schedule has a loop whose iterations depend on nothing of each other."""
    if kind_of(node) == NodeKind.band:
        members = node.band_get_space().dim(isl.dim_type.set)
        if any(node.band_member_get_coincident(member) for member in range(members)):
            return True
    return any(_is_parallel(node.child(k)) for k in range(node.n_children()))
