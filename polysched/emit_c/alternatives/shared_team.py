"""`shared_by_team`: code whose one parallel loop is shared by the team of threads that calls it, each of which does."""

from __future__ import annotations

from dataclasses import replace

from polysched.emit_c.c_source import CSource
from polysched.emit_c.loop_ir.loops import Block, For, Let, Local, Node, Packed, ThreadReduction
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.emit_c.scalar_code.openmp import runs_on_threads

TEAM = "#pragma omp parallel for"


def shared_by_team(source: CSource) -> CSource | None:
    """The region for a team of the caller's; None where it is more than one parallel loop that always has a team.

    Rewrite:  #pragma omp parallel for schedule(dynamic)  ->  #pragma omp for schedule(dynamic) nowait

    There is no barrier behind it: the caller's region has one at its end.  What stands around the loop is done by every
    thread, so that it may only declare what the thread has for itself.

    Source: OpenMP 4.5, section 2.7.1 (the loop construct binds to the innermost enclosing region of a team).
    """
    loop = _only_loop(source.loops)
    if loop is None or not runs_on_threads(loop, ()) or source.teams != 1:
        return None
    more = (source.tested_teams, source.kept, source.allocated, source.preamble, source.pays, source.prologue)
    if any(more) or _asks_for_memory(source.loops):
        return None
    return _with_shared_loop(source)


def _with_shared_loop(source: CSource) -> CSource | None:
    """The text with another pragma; None where a clause says more."""
    lines = source.text.splitlines()
    places = [k for k, line in enumerate(lines) if line.lstrip().startswith("#pragma omp parallel")]
    if len(places) != 1:
        return None
    pragma = lines[places[0]]
    if not pragma.lstrip().startswith(TEAM) or " if(" in pragma or " ordered" in pragma:
        return None
    lines[places[0]] = f"{pragma.replace(TEAM, '#pragma omp for')} nowait"
    return replace(source, text="".join(f"{line}\n" for line in lines), teams=0)


def _only_loop(node: Node) -> For | None:
    """The loop that is all of a region, beside constants that every thread computes for itself."""
    while not isinstance(node, For):
        if isinstance(node, Block) and len(node.children) == 1:
            node = node.children[0]
        elif isinstance(node, Let):
            node = node.body
        else:
            return None
    return node


def _asks_for_memory(loops: Node) -> bool:
    """Whether threads share memory of the region's own: panels, parts of an array, partial results."""
    return any((isinstance(n, Packed) and n.panel.shared) or isinstance(n, ThreadReduction)
               or (isinstance(n, Local) and any(t.memory for t in n.temporaries)) for n in walk_nodes(loops))
