"""Whether a region of a file stays as it was written for want of anything better, and why, in one line."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

import islpy as isl

from polysched.emit_c.loop_ir.loops import For, Node, Packed, RegisterTile, ThreadReduction
from polysched.emit_c.loop_ir.traversal import child_nodes, instances, walk_nodes
from polysched.errors import SourceLocation
from polysched.pipeline.optimized import Optimized
from polysched.scheduling.marks import Role
from polysched.scop.body import While
from polysched.scop.schedule_nodes import NodeKind, kind_of
from polysched.scop.scop import Scop, Statement, Storage

_TEAM = re.compile(r"#\s*pragma\s+omp\s+parallel\b")


def reason_for_original(made: Optimized) -> str:
    """Why a region of a file is better off as it was written; empty where it is not.

    Where no loop runs in lanes, on threads or in tiles, other loops of the same statements are no gain.  Nor are they
    where arrays of constant extents leave less to do than rows, teams and memory cost, nor threads alone for loops
    that the file runs on threads.
    """
    if made.scop.source is None or not made.options.is_by_model:
        return ""
    if not _has_gain(made):
        return _reason(made)
    if made.pays is not None and made.pays.never:
        return "there is too little to do at the largest sizes that its arrays and types allow"
    if made.source.threads_pay and _has_team(made.scop):
        return "they run on threads as they are written, and nothing else gains"
    return ""


def _has_team(scop: Scop) -> bool:
    """Whether a region of a file starts threads itself."""
    region = scop.source
    return region is not None and _TEAM.search(region.text, region.start, region.end) is not None


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


def told_loops(made: Optimized) -> tuple[str, ...]:
    """The lines for loops that stay as they are in a region whose other loops do not, one for each nest.

    Such are loops of statements that run nowhere in lanes, on threads or in tiles.  A loop around one that does is
    none, and what is kept whole has a note already.
    """
    scop = made.scop
    if scop.source is None or made.as_written or made.mapped or made.source.preamble or not _has_gain(made):
        return ()
    left: dict[str, For] = {}
    gained: set[str] = set()
    _sort_out(made.source.loops, left, gained)
    nests: dict[int, list[Statement]] = {}
    for statement in made.dependences.scop.statements:
        loop = left.get(statement.name)
        if loop is not None and statement.name not in gained and not _is_whole(statement):
            nests.setdefault(id(loop), []).append(statement)
    lines = {min(s.line for s in nest): _reason_of(made, frozenset(s.name for s in nest)) for nest in nests.values()}
    return tuple(f"{SourceLocation(scop.source.path, line)}: the loops around this line stay as they are: {reason}"
                 for line, reason in sorted(lines.items()))


def _sort_out(node: Node, left: dict[str, For], gained: set[str]) -> None:
    """Enter the statements below a node: with the outermost loop around them in which nothing gains, or as gaining."""
    if _gains(node):
        gained |= {instance.statement for instance in instances(node)}
    elif isinstance(node, For) and not any(map(_gains, walk_nodes(node))):
        for instance in instances(node):
            left.setdefault(instance.statement, node)
    else:
        for child in child_nodes(node):
            _sort_out(child, left, gained)


def _is_whole(statement: Statement) -> bool:
    return any(isinstance(part, While) for part in statement.body)


def told_unmet(made: Optimized) -> tuple[str, ...]:
    """The lines for what was asked of a device and no kernel of a region of a file has."""
    if made.scop.source is None or made.on_device is None:
        return ()
    where = SourceLocation(made.scop.source.path, min(statement.line for statement in made.scop.statements))
    return tuple(f"{where}: {line}" for line in made.on_device.mapping.unmet())


def told_coarse(made: Optimized) -> tuple[str, ...]:
    """The lines for what the dependence analysis of a region of a file ran out of time for."""
    scop = made.scop
    if scop.source is None or not scop.statements:
        return ()
    where = SourceLocation(scop.source.path, min(statement.line for statement in scop.statements))
    return tuple(f"{where}: {line}; simpler subscripts or a smaller region are analysed faster"
                 for line in made.dependences.fallbacks)


def told_approximated(made: Optimized) -> str | None:
    """The line for functions of math.h whose results may differ from the C library's in the last places."""
    region, names = made.scop.source, made.source.approximated
    if region is None or not names:
        return None
    where = SourceLocation(region.path, min(statement.line for statement in made.scop.statements))
    are = "is" if len(names) == 1 else "are"
    return (f"{where}: {', '.join(names)} in vectors {are} within 4 units in the last place; --math libm has the bits "
            "of the C library")


def _has_gain(made: Optimized) -> bool:
    """Whether a loop runs in lanes, on threads or in tiles that does more than begin sums or hold them in registers.

    Temporaries with a copy per iteration may have been in registers as written.
    """
    if made.mapped or made.source.preamble or any(band.sizes for band in made.tiled.bands):
        return True
    scop = made.dependences.scop
    of_no_gain = {True: _about_temporaries(scop, reads=True), False: _about_temporaries(scop, reads=False)}
    return any(_gains(node) and any(i.statement not in of_no_gain[_is_in_lanes(node)] for i in instances(node))
               for node in walk_nodes(made.source.loops))


def _about_temporaries(scop: Scop, *, reads: bool) -> frozenset[str]:
    """The statements that write temporaries alone, and read nothing else where told so: `s = 0`, and also `s += x`."""
    return frozenset(s.name for s in scop.statements if all(
        scop.array(a.array).is_temporary for a in s.accesses if reads or a.is_write))


def _is_in_lanes(node: Node) -> bool:
    """Whether what gains is more than elements in registers."""
    return not isinstance(node, RegisterTile) or bool(node.edges)


def _gains(node: Node) -> bool:
    return isinstance(node, RegisterTile | ThreadReduction | Packed) or (isinstance(node, For) and (
        node.mark.parallel or node.mark.simd or node.mark.role is not Role.LOOP or node.behind > 0))


def _reason(made: Optimized) -> str:
    if _is_parallel(made.schedule.tree.get_root()):
        return "there is too little to do for lanes, threads or tiles"
    return _order_of(made, frozenset(s.name for s in made.dependences.scop.statements)) or (
        "every loop has a dependence between its iterations")


def _reason_of(made: Optimized, names: frozenset[str]) -> str:
    """Why some statements of a region run in loops that gain nothing."""
    return _order_of(made, names) or "there is too little to do for lanes, threads or tiles, or they wait for others"


def _order_of(made: Optimized, names: frozenset[str]) -> str | None:
    """The dependence that keeps some statements in their order, in words."""
    scop = made.dependences.scop
    pairs = [pair for pair in made.dependences.pairs if {pair.source, pair.sink} & names]
    if unknown := _unknown_subscript([scop.statement(name) for name in sorted(names)],
                                     {pair.array for pair in pairs if not pair.reduction}):
        return unknown
    for pair in pairs:
        if pair.source == pair.sink and not pair.reduction:
            line = scop.statement(pair.sink).line
            if _is_flag(scop, pair.array):
                return f"whether line {line} runs depends on earlier iterations, which may leave the loop or go on"
            return f"every iteration of line {line} needs `{pair.array}` of earlier ones"
    for pair in pairs:
        if pair.reduction and pair.sink in names and scop.array(pair.array).dtype.is_float:
            line = scop.statement(pair.sink).line
            return f"the sum in line {line} is rounded in its order; --reassociate allows others"
    return None


def _is_flag(scop: Scop, array: str) -> bool:
    """Whether it is no name of the file: `break`, `continue` and early returns are read as flags."""
    return (scop.source is not None and scop.array(array).storage is Storage.LOCAL
            and re.search(rf"\b{re.escape(array)}\b", scop.source.text) is None)


def _unknown_subscript(statements: Sequence[Statement], ordered: Set[str]) -> str | None:
    """The first subscript of an array with ordered accesses that is not affine, in words."""
    for statement in sorted(statements, key=lambda s: s.line):
        for access in statement.accesses:
            if not access.exact and access.array in ordered:
                where = f"`{access.array}` in line {statement.line}"
                return f"a subscript of {where} is not affine: it may name any element"
    return None


def _is_parallel(node: isl.ScheduleNode) -> bool:
    """Whether a schedule has a loop whose iterations depend on nothing of each other."""
    if kind_of(node) == NodeKind.band:
        members = node.band_get_space().dim(isl.dim_type.set)
        if any(node.band_member_get_coincident(member) for member in range(members)):
            return True
    return any(_is_parallel(node.child(k)) for k in range(node.n_children()))
