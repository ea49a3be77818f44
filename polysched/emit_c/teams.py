"""Which loops of the emitted C run on threads, for people: read off the loops that were printed.

A mark of the schedule says that a loop may run on threads.  Whether it does is decided later: not where known sizes
leave too little to do for a team, nor inside another such loop; and a reduction runs in parts that no mark knows of.
"""

from __future__ import annotations

from collections.abc import Iterator

from polysched.emit_c.c_source import CSource
from polysched.emit_c.generation.parameter_guard import parameter_guard
from polysched.emit_c.loop_ir.loops import For, Node, ThreadReduction
from polysched.emit_c.loop_ir.names import taken_names
from polysched.emit_c.loop_ir.traversal import child_nodes, instances, walk_nodes
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter, parameter_ranges, parameter_spellings
from polysched.emit_c.scalar_code.openmp import pragmas, runs_on_threads
from polysched.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Team:
    """A loop whose iterations a team of threads shares.

    Parameters
    ----------
    band, member : where the loop is from.
    variable : its name in the emitted C.
    pragma : how OpenMP is told, without `#pragma omp`; for a reduction in parts, in words.
    inside : the bands of the loops inside, its own among them.
    statements : those inside; others of its band may run in loops of their own, which no team shares.
    in_parts : a reduction, of which each thread computes a part.
    """

    band: int
    member: int
    variable: str
    pragma: str
    inside: frozenset[int]
    statements: frozenset[str]
    in_parts: bool = False

    def to_json(self) -> dict[str, object]:
        """Plain values, for scripts."""
        return {"loop": self.variable, "band": self.band, "member": self.member, "pragma": self.pragma}


def teams(source: CSource, *, threads: bool = True) -> tuple[Team, ...]:
    """The loops on threads, in textual order.

    Parameters
    ----------
    threads : whether the text has pragmas for threads at all (`EmitOptions.openmp`).
    """
    if not threads:
        return ()
    scop = source.scop
    context = parameter_guard(scop, wanted=any(band.sizes for band in source.tiled.bands)).context
    index = IndexPrinter(parameters=parameter_ranges(scop, context), spellings=parameter_spellings(scop),
                         macros=HelperMacros(taken_names(scop)))
    return tuple(_teams(source.loops, (), index))


def _teams(node: Node, above: tuple[For, ...], index: IndexPrinter) -> Iterator[Team]:
    if isinstance(node, ThreadReduction):
        whole = node.whole
        yield Team(band=whole.mark.band, member=whole.mark.member, variable=whole.variable, inside=_bands(whole),
                   statements=_statements(whole), in_parts=True,
                   pragma="a part of the reduction per thread, combined in their order")
        return
    if isinstance(node, For):
        if not any(runs_on_threads(loop, ()) for loop in above) and (
                lines := pragmas(node, above=above, threads=True, simd=False, index=index)):
            yield Team(band=node.mark.band, member=node.mark.member, variable=node.variable, inside=_bands(node),
                       statements=_statements(node), pragma=lines[0].removeprefix("#pragma omp "))
        above = (*above, node)
    for child in child_nodes(node):
        yield from _teams(child, above, index)


def _bands(loop: For) -> frozenset[int]:
    return frozenset(node.mark.band for node in walk_nodes(loop) if isinstance(node, For))


def _statements(loop: For) -> frozenset[str]:
    return frozenset(instance.statement for instance in instances(loop))


def team_lines(band: int, found: tuple[Team, ...], *, wanted: bool, marked: bool) -> list[str]:
    """Where a band's loops run, for `--explain`.

    Parameters
    ----------
    found : the teams of the region.
    wanted : the user wants threads.
    marked : some loop of the band may run on threads by the schedule.
    """
    if not wanted:
        return ["  threads: none: --no-parallel"]
    own = [f"  threads: loop {team.variable}: {team.pragma}" for team in found if team.band == band]
    around = [f"  threads: inside loop {team.variable} of band {team.band}" for team in found
              if team.band != band and band in team.inside]
    if own or around:
        return list(dict.fromkeys((*own, *around)))
    return ["  threads: none: too little to do for a team" if marked else
            "  threads: none: no loop of it is independent with enough to do between two waits for each other"]
