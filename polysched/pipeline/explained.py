"""What was done to each loop of a region, and why not more: gathered from the values of all stages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import islpy as isl

from polysched.dependence.legality import Active, witness_of
from polysched.dependence.questions.preventing import across
from polysched.dependence.questions.program_loops import ProgramLoop, loops_of
from polysched.emit_c.loop_ir.loops import For, RegisterTile
from polysched.emit_c.loop_ir.traversal import instances, walk_nodes
from polysched.emit_c.packed_buffers import buffer_text
from polysched.emit_c.teams import Team, team_lines, teams
from polysched.pipeline.device_figures import told_choices, told_figures
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.unchanged import told_coarse, told_unchanged
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark
from polysched.scop.shown import Shown
from polysched.tiling.tiled_schedule import BandTiling


@dataclass(frozen=True, kw_only=True)
class ExplainedLoop:
    """One loop of the program as written.

    Parameters
    ----------
    loop : its counter.
    statements : those inside.
    line : the first source line of a statement inside; 0 when there is none.
    done : what was done to it, a few words each.
    not_more : why it is not on threads or has no tiles, a sentence each.
    """

    loop: str
    statements: tuple[str, ...]
    line: int
    done: tuple[str, ...]
    not_more: tuple[str, ...]

    def __str__(self) -> str:
        where = f", line {self.line}" if self.line else ""
        head = f"loop {self.loop} around {', '.join(self.statements)}{where}: {'; '.join(self.done) or 'as written'}"
        return "\n".join([head, *(f"  {line}" for line in self.not_more)])

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"loop": self.loop, "statements": list(self.statements), "line": self.line or None,
                "done": list(self.done), "not_more": list(self.not_more)}


_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, kw_only=True)
class Explained(Shown):
    """A region and its loops.

    Parameters
    ----------
    name : the function around it.
    unchanged : why the region stays as it was written, in one line; empty where it does not.
    steps : how the schedule and what is around it came about.
    loops : those of the program as written, in pre-order.
    packed : contiguous copies of operands, one line each.
    notes : what was not transformed, or known less exactly, with file and line.
    figures : of an accelerator, as plain values; None for others.
    """

    name: str
    unchanged: str
    steps: tuple[str, ...]
    loops: tuple[ExplainedLoop, ...]
    packed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    figures: Mapping[str, Any] | None = None

    def headline(self) -> str:
        """For instance `of product: 3 loops`."""
        return f"of {self.name}: {len(self.loops)} loops"

    def __str__(self) -> str:
        lines = [f"function {self.name}", *([f"  {self.unchanged}"] if self.unchanged else []),
                 *(f"  {line}" for line in self.steps),
                 *(f"  {line}" for loop in self.loops for line in str(loop).split("\n")),
                 *(f"  packed: {line}" for line in self.packed), *(f"  note: {line}" for line in self.notes)]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "unchanged": self.unchanged or None, "steps": list(self.steps),
                "loops": [loop.to_json() for loop in self.loops], "packed": list(self.packed),
                "notes": list(self.notes), **({} if self.figures is None else {"accelerator": dict(self.figures)})}


def explained(made: Optimized) -> Explained:
    """Gather what the stages of a region say of its loops.

    The loops are those of the program that was scheduled: with expanded temporaries, and without the statements that
    instructions compute.
    """
    steps = [line for line in made.steps() if not line.startswith("band ")]
    if made.accelerator is not None:
        return Explained(name=made.scop.name, unchanged="", loops=(), notes=made.scop.notes, steps=tuple(steps),
                         figures=made.accelerator.to_json())
    if made.on_device is not None:   # its loops are coordinates of work items, and what a work item runs
        return Explained(name=made.scop.name, unchanged="", loops=(), notes=made.scop.notes,
                         steps=(*steps, *told_choices(made.on_device),
                                *told_figures(made.on_device, dict(made.options.assumed))))
    facts = _Facts(made)
    return Explained(
        name=made.scop.name, unchanged=told_unchanged(made) or "", steps=tuple(steps),
        loops=tuple(map(facts.of_loop, facts.loops)),
        packed=tuple(buffer_text(buffer) for buffer in made.source.packed),
        notes=(*made.scop.notes, *told_coarse(made)))


Told = Iterator[tuple[str, Iterable[str]]]
"""Words about a loop, each with the statements that they hold for."""


class _Facts:
    """What was decided, by band and member."""

    def __init__(self, made: Optimized) -> None:
        self.made = made
        self.scop = made.tiled.schedule.scop
        self.bands = {band.band: band for band in made.tiled.bands}
        self.teams = teams(made.source, threads=made.options.parallel)
        nodes = list(walk_nodes(made.source.loops))
        self.blocks = any(isinstance(n, RegisterTile) for n in nodes)
        self.loops = loops_of(self.scop)
        self.told_untiled: set[int] = set()
        members = list(_numbered(loops_of(self.scop, made.tiled.schedule.tree)))
        self.counted = _counted(self.loops, members)
        first = frozenset(_WORD.findall(members[0][1].name)) if members else frozenset()
        self.lanes: dict[tuple[int, int], dict[str, set[str]]] = {}
        for node in nodes:
            if isinstance(node, For) and _is_marked(node, first):
                for words, found in _in_lanes(node).items():
                    told = self.lanes.setdefault((node.mark.band, node.mark.member), {})
                    told.setdefault(words, set()).update(found)

    def of_loop(self, loop: ProgramLoop) -> ExplainedLoop:
        if len(loop.statements) > 1 and not any(map(_counts, loop.values.values())):
            return ExplainedLoop(loop=loop.name, statements=loop.statements, line=loop.line, not_more=(),
                                 done=() if self.made.as_written else ("written out, a statement per iteration",))
        counted = self.counted[loop.number]
        done = _by_statements(loop, (told for band, member in counted for told in self._done(band, member)))
        return ExplainedLoop(
            loop=loop.name, statements=loop.statements, line=loop.line,
            done=() if self.made.as_written else tuple(done) or ("a loop as scheduled",),
            not_more=tuple(dict.fromkeys([*self._not_on_threads(loop, counted),
                                          *_by_statements(loop, self._not_tiled(counted), reason=True)])))

    def _done(self, band: int, member: ProgramLoop) -> Told:
        """What became of one loop of the schedule."""
        decided = self.bands.get(band, BandTiling(band=band))
        at = member.member
        for words in self._decided(decided, member):
            yield words, member.statements
        for team in self.teams:
            if (team.band, team.member) == (band, at):
                how = "a part of the reduction per thread" if team.in_parts else "on threads"
                yield f"{how} ({team.variable})", team.statements
        yield from self._lanes(decided, member)

    def _decided(self, decided: BandTiling, member: ProgramLoop) -> Iterator[str]:
        """What holds for all statements of a loop of the schedule."""
        at = member.member
        if " " in member.name:
            yield f"runs as {member.counts}"
        if decided.sizes:
            yield f"tiles of {decided.sizes[at]}" if at < len(decided.sizes) else "inside tiles"
        elif at in decided.tile_members:
            yield "in strips for threads"
        if decided.wavefront:
            yield "wavefronts of tiles"
        if decided.pieces:
            yield f"split into {decided.pieces} pieces"
        if decided.strip:
            yield f"in strips of {decided.strip}"

    def _lanes(self, decided: BandTiling, member: ProgramLoop) -> Told:
        """What registers or lanes hold of a loop of a band."""
        at = member.member
        shape = decided.plan.shape if decided.plan is not None and self.blocks and decided.register else None
        if shape is not None and at in (shape.rows, shape.columns):
            yield (f"{shape.column_count} at once in lanes of registers" if at == shape.columns
                   else f"{shape.row_count} at once in registers"), member.statements
        else:
            yield from self.lanes.get((decided.band, at), {}).items()

    def _not_tiled(self, counted: list[tuple[int, ProgramLoop]]) -> Told:
        """Why the loops have no tiles; of a nest, its outermost loop says so."""
        for band, member in counted:
            decided = self.bands.get(band)
            if decided is None or decided.untiled is None or band in self.told_untiled:
                continue
            self.told_untiled.add(band)
            if member.member not in decided.tile_members:
                yield f"no tiles: {decided.untiled.reason}", member.statements

    def _not_on_threads(self, loop: ProgramLoop, counted: list[tuple[int, ProgramLoop]]) -> Iterator[str]:
        """Why no threads share the loop, or the part of it around some statements."""
        members = {(band, member.member) for band, member in counted}
        shared = {name for team in self.teams if (team.band, team.member) in members for name in team.statements}
        alone = [name for name in loop.statements if name not in shared]
        whose = "" if not shared.intersection(loop.statements) else f" for {', '.join(alone)}"
        parts = [part for part in across(self.made.tiled.schedule.dependences, loop)
                 if {part.dependence.source, part.dependence.sink}.intersection(alone)] if alone else []
        if parts:
            yield f"not on threads{whose}: {_carried(parts)}"
            return
        for band, member in counted:
            if set(member.statements).intersection(alone):
                yield from (f"not on threads itself{whose}: {reason}" for reason in self._of_teams(band))

    def _of_teams(self, band: int) -> Iterator[str]:
        """What the emission says of a band that no team shares."""
        decided = self.bands.get(band)
        marked = decided is not None and decided.parallel_member is not None
        for line in team_lines(band, self.teams, wanted=self.made.options.parallel, marked=marked):
            yield _reason(line, band, self.teams)


def _is_marked(loop: For, first: frozenset[str]) -> bool:
    """Whether the mark of a loop tells where it is from; one without a mark looks like the first loop of the region.

    Parameters
    ----------
    first : the iterators that that loop counts, several where it is skewed.
    """
    return loop.mark != LoopMark(role=loop.mark.role) or loop.variable.partition("_")[0] in first


def _in_lanes(loop: For) -> dict[str, set[str]]:
    """The statements of which lanes run several iterations of a loop at once: its own, or the compiler's."""
    vectors = [tile.body for tile in walk_nodes(loop) if isinstance(tile, RegisterTile)
               and any(edge.simd and edge.variable == loop.variable for edge in tile.edges)]
    found = {"in lanes": {instance.statement for vector in vectors for instance in instances(vector)}}
    if loop.mark.simd:
        found["for the compiler's lanes (omp simd)"] = {
            instance.statement for instance in instances(loop)} - found["in lanes"]
    return found


def _by_statements(loop: ProgramLoop, told: Told, *, reason: bool = False) -> Iterator[str]:
    """Words about a loop, each once; with the statements where they hold for some of its statements alone.

    Parameters
    ----------
    reason : a reason follows a colon in the words, and the statements stand before it.
    """
    found: dict[str, set[str]] = {}
    for words, statements in told:
        found.setdefault(words, set()).update(statements)
    for words, statements in found.items():
        own = [name for name in loop.statements if name in statements]
        if loop.statements and not own:   # a loop of the schedule that became several
            continue
        head, colon, rest = words.partition(":") if reason else (words, "", "")
        yield words if len(own) == len(loop.statements) else f"{head} for {', '.join(own)}{colon}{rest}"


def _carried(parts: Sequence[Active]) -> str:
    """What a loop carries: the first dependence by one pair, and how many more."""
    pair = parts[0].dependence
    found = witness_of(parts[0], "", least=True)
    where = ", ".join(f"{name} = {value}" for name, value in found.parameters.items())
    sizes = f" where {where}" * bool(where)
    others = f", and {len(parts) - 1} more" if len(parts) > 1 else ""
    return (f"it carries the {pair.kind.value} dependence of {pair.array} from "
            f"{pair.source}{list(found.source)} to {pair.sink}{list(found.sink)}{sizes}{others}")


def _reason(line: str, band: int, found: tuple[Team, ...]) -> str:
    """What `team_lines` says, as half a sentence about one loop."""
    words = line.strip().removeprefix("threads: ").removeprefix("none: ")
    own = next((team for team in found if team.band == band), None)
    return words if own is None else f"loop {own.variable} of the same nest is, and teams do not nest"


def _numbered(members: tuple[ProgramLoop, ...]) -> Iterator[tuple[int, ProgramLoop]]:
    """The members of the bands of a tree with the numbers of their bands, in pre-order."""
    band = -1
    for member in members:
        band += member.member == 0
        yield band, member


def _counted(loops: tuple[ProgramLoop, ...], members: list[tuple[int, ProgramLoop]]
             ) -> dict[int, list[tuple[int, ProgramLoop]]]:
    """Per loop as written the loops of the schedule in its place, with their bands.

    For a statement that is the first one that counts its iterator, and that no loop around it has already: i + j
    inside a loop of i is in the place of j.
    """
    found: dict[int, list[tuple[int, ProgramLoop]]] = {loop.number: [] for loop in loops}
    for name in dict.fromkeys(name for loop in loops for name in loop.statements):
        own = [(band, member) for band, member in members if name in member.statements]
        for loop in loops:
            if name not in loop.statements:
                continue
            fitting = [entry for entry in own if _share(loop.values[name], entry[1].values[name])]
            if fitting:
                own.remove(fitting[0])
                if fitting[0] not in found[loop.number]:
                    found[loop.number].append(fitting[0])
    return found


def _counts(values: isl.PwAff) -> bool:
    """Whether the iterations of a loop are those of an iterator of a statement."""
    return bool(values.involves_dims(isl.dim_type.in_, 0, values.dim(isl.dim_type.in_)))


def _share(first: isl.PwAff, second: isl.PwAff) -> bool:
    """Whether two functions of the iterators of a statement have one in common."""
    return any(first.involves_dims(isl.dim_type.in_, k, 1) and second.involves_dims(isl.dim_type.in_, k, 1)
               for k in range(first.dim(isl.dim_type.in_)))
