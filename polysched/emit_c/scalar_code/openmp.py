"""OpenMP pragmas of a loop, from its mark (OpenMP 4.5, sections 2.7.1 and 2.8.1).

Loop variables are declared in the loops themselves, so they are private without a clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import arms_of, depends_on
from polysched.emit_c.loop_ir.index import Comparison, Linear, Remainder, constant, substitute
from polysched.emit_c.loop_ir.loops import For, Let, Node, RegisterTile
from polysched.emit_c.loop_ir.traversal import child_nodes, is_innermost, walk_nodes
from polysched.emit_c.scalar_code.c_text import CText, binary
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.work import is_worth, whatever_the_alignment
from polysched.scheduling.marks import Role

CHUNK = LIMITS.chunk


def pragmas(loop: For, *, above: tuple[For, ...], threads: bool, simd: bool, index: IndexPrinter,
            tested: bool = False) -> list[str]:
    """The pragma lines in front of a loop.

    Parameters
    ----------
    above : the loops around it, outermost first; only the outermost parallel one starts a team of threads, which
        parallel loops directly inside it share when all of them form a box.
    threads, simd : which kinds of pragma are wanted.
    index : prints the condition under which a team is worth its start.
    tested : the condition holds where the loop stands, so that no clause has to say it.
    """
    reasons = _reasons_for_team(loop, index)
    team = threads and _starts_team(loop, above) and reasons is not None
    vector = simd and runs_in_lanes(loop)
    if not team and not vector:
        return []
    clause = ""
    if team:
        clause = (_collapse_clause(loop) + _schedule_clause(loop, once=not above)
                  + _if_clause(loop, [] if tested else reasons or []))
    return ["#pragma omp" + (" parallel for" if team else "") + (" simd" if vector else "") + clause]


def unrolling(loop: For) -> list[str]:
    """The pragma for a loop that the compiler shall unroll; it may not stand between a loop and one of OpenMP's."""
    return [f"#pragma GCC unroll {loop.mark.unroll}"] if loop.mark.unroll > 1 and not loop.mark.register else []


def team_condition(loop: For, *, above: tuple[For, ...], index: IndexPrinter) -> CText | None:
    """When a loop starts a team of threads; None where it never does or always does."""
    conditions = _reasons_for_team(loop, index) if _starts_team(loop, above) else None
    return reduce(lambda a, b: binary("&&", a, b), conditions) if conditions else None


def _collapse_clause(loop: For) -> str:
    count = len(_sharing_team(loop))
    return f" collapse({count})" if count > 1 else ""


def _sharing_team(loop: For) -> tuple[For, ...]:
    """A parallel loop and those directly inside it that are parallel too and form a box with it.

    OpenMP 4.5, section 2.7.1: nothing stands between collapsed loops, and their bounds do not depend on each other.
    """
    found = [loop]
    while isinstance(inner := found[-1].body, For):
        outer = frozenset(f.variable for f in found)
        if not _wants_team(inner) or runs_in_lanes(inner) or any(
                depends_on(bound, outer) for bound in (inner.lower, inner.upper)):
            break
        found.append(inner)
    return tuple(found)


def descends(loop: For, *, above: tuple[For, ...], index: IndexPrinter) -> bool:
    """Whether the loop runs from its last iteration to its first, so that threads begin with what takes longest."""
    return (loop.mark.growing and loop.step == 1 and loop.guard is None and _starts_team(loop, above)
            and _reasons_for_team(loop, index) is not None and "dynamic" in _schedule_clause(loop, once=not above))


def _schedule_clause(loop: For, *, once: bool) -> str:
    """Iterations are handed out one after the other where that evens out the work, else in equal parts.

    Some do more than others, or each is long: cores that share their machine are not equally fast.  Pieces of space
    stay with their threads, whose caches hold them.
    """
    if loop.mark.pieces:
        return " schedule(static)"
    if _is_long(loop) or (once and _is_cut_off(loop)):
        return " schedule(dynamic)"
    if not work_varies(loop):
        return ""
    return " schedule(dynamic)" if loop.mark.role is Role.TILE else f" schedule(dynamic, {CHUNK})"


def _is_cut_off(loop: For) -> bool:
    """Whether the loop goes over few tiles, the last of which is shorter: equal numbers are no equal parts."""
    return loop.mark.role is Role.TILE and loop.mark.least_iterations > 1


def _is_long(loop: For) -> bool:
    """Whether one iteration computes much with what it has packed first, or what was packed for all."""
    return any(isinstance(n, RegisterTile) and n.loops and n.panels and (
        loop.mark.role is Role.TILE or any(panel.shared for panel in n.panels)) for n in walk_nodes(loop.body))


def work_varies(loop: For) -> bool:
    """Whether some iterations do more than others.

    The work varies where the length of a loop further in depends on the loop's variable, or on one whose range it
    moves (a triangle); a point loop cut off at the end does not count, nor do the elements in front of the first
    aligned vector of a row, nor those behind the last one.
    """
    moved = frozenset({loop.variable})
    varies = False
    for variable, lower, upper in _bounds_inside(loop.body, {}):
        varies = varies or _length_varies(lower, upper, moved)
        if depends_on(lower, moved) or depends_on(upper, moved):
            moved |= {variable}
    return varies


def _length_varies(lower: Linear, upper: Linear, moved: frozenset[str]) -> bool:
    """Whether the length of a loop follows the variables, other than where ends of the iteration space cut it off.

    `min(8 * i + 8, n) - 8 * i` has bounds that move together; `min(i, n)` has one that stands and one that moves.
    """
    if not _follows(upper - lower, moved):
        return False
    pairs = [(low, high) for low in arms_of(lower, "max") for high in arms_of(upper, "min")]
    together = any(depends_on(low, moved) and not depends_on(high - low, moved) for low, high in pairs)
    return not together and any(_follows(high - low, moved) for low, high in pairs)


def _follows(length: Linear, moved: frozenset[str]) -> bool:
    return depends_on(length, moved) and not _is_rest(length)


def _bounds_inside(node: Node, known: Mapping[str, Linear]) -> Iterator[tuple[str, Linear, Linear]]:
    """The variable and the bounds of every loop from a node on, with values in the place of their names."""
    if isinstance(node, Let):
        known = {**known, node.variable: substitute(node.value, known)}
    loops = (node,) if isinstance(node, For) else node.loops if isinstance(node, RegisterTile) else ()
    for part in loops:
        yield (part.variable, whatever_the_alignment(substitute(part.lower, known)),
               whatever_the_alignment(substitute(part.upper, known)))
    for child in child_nodes(node):
        yield from _bounds_inside(child, known)


def _is_rest(length: Linear) -> bool:
    """Whether so many iterations are what whole vectors leave: fewer than a number."""
    return len(length.terms) == 1 and isinstance(length.terms[0][0], Remainder)


def _reasons_for_team(loop: For, index: IndexPrinter) -> list[CText] | None:
    """The conditions under which a team is worth its start, none where it always is; None where it never is."""
    length = loop.upper - loop.lower
    if length.is_constant and length.constant <= loop.step:
        return None         # the only iteration, for instance of rows that became the lanes of one vector
    least, conditions = loop.mark.least_iterations, []
    if least > 1:
        enough = Comparison(">=", length, constant(least * loop.step))
        if enough.value is False:
            return None
        conditions += [] if enough.value else [index.pays(length, least * loop.step)]
    if loop.mark.least_work > 1:
        worth = is_worth(loop, loop.mark.least_work, index)
        if worth is False:
            return None
        conditions += [] if worth is True else [worth]
    return conditions


def _if_clause(loop: For, conditions: list[CText]) -> str:
    if not conditions:
        return ""
    directive = "parallel: " if loop.mark.simd and is_innermost(loop) else ""
    return f" if({directive}{reduce(lambda a, b: binary('&&', a, b), conditions)})"


def runs_on_threads(loop: For, above: tuple[For, ...]) -> bool:
    """Whether iterations of the loop are handed to threads: the outermost parallel one, and what shares its team."""
    if _starts_team(loop, above):
        return True
    first = next((outer for outer in above if _wants_team(outer)), None)
    return first is not None and any(inner is loop for inner in _sharing_team(first))


def _starts_team(loop: For, above: tuple[For, ...]) -> bool:
    return _wants_team(loop) and not any(_wants_team(outer) for outer in above)


def runs_in_lanes(loop: For) -> bool:
    """Whether the loop is an innermost one whose iterations are independent."""
    return loop.mark.simd and loop.is_canonical and is_innermost(loop)


def _wants_team(loop: For) -> bool:
    return loop.mark.parallel and loop.is_canonical
