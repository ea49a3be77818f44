"""The statements of a tile as stages: what the cube computes, by a match, and what the vector unit does.

Statements in a circle of dependences are one stage, which keeps the order of the schedule.  All others run one after
the other, each for its whole tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.gpu.instances import fixed
from polysched.gpu.mapping import Launch
from polysched.gpu.products import needs_more, product_groups
from polysched.gpu.scratchpad.groups import active_inside
from polysched.records import dataclass
from polysched.scop.body import Assign, Binary, Call, Expr, Literal, Load, Select, Unary, statement_expressions, walk
from polysched.scop.points import fix_parameters, isl_value, with_sizes
from polysched.scop.scop import Access, Scop, Statement
from polysched.tensorize.matching.mapping import Match


@dataclass(frozen=True, kw_only=True)
class Loop:
    """A loop of a statement of the cube.

    Parameters
    ----------
    name : the iterator.
    first, extent : its constant range.
    coordinate : the coordinate of the group that moves it; None where a tile has all of it.
    host : the loop of the host that runs it, one iteration around all tiles; None for others.
    offset : the coordinate, or the loop of the host, is the iterator plus this.
    """

    name: str
    first: int
    extent: int
    coordinate: int | None = None
    host: int | None = None
    offset: int = 0

    def edge(self, edges: tuple[int, ...]) -> int:
        """Iterations in a tile, those in front of the first and behind the last among them."""
        if self.host is not None:
            return 1
        return self.extent if self.coordinate is None else edges[self.coordinate]


@dataclass(frozen=True, kw_only=True)
class Subscript:
    """A subscript as a sum: factors of iterators, and a constant."""

    factors: tuple[tuple[str, int], ...]
    constant: int


@dataclass(frozen=True, eq=False, kw_only=True)
class CubeOperand:
    """An operand of the cube.

    Parameters
    ----------
    name : in the description of the intrinsic.
    array : of the program.
    subscripts : of its element.
    rows, columns : the loops that move along the rows and columns of its matrix.
    """

    name: str
    array: str
    subscripts: tuple[Subscript, ...]
    rows: tuple[Loop, ...]
    columns: tuple[Loop, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class CubeStage:
    """A statement that the cube computes.

    Parameters
    ----------
    statement : its name.
    match : the checked match behind it.
    rows, columns, sums, outer : its loops by the dimension of the cube; `outer` runs around it.
    units : iterations of one instruction along rows, columns and sums.
    result, left, right : the operands.
    cleared : the statement that sets the result to zero in front of it, which the accumulator does; "" for none.
    """

    statement: str
    match: Match
    rows: tuple[Loop, ...]
    columns: tuple[Loop, ...]
    sums: tuple[Loop, ...]
    outer: tuple[Loop, ...]
    result: CubeOperand
    left: CubeOperand
    right: CubeOperand
    units: tuple[int, int, int]
    cleared: str = ""

    @property
    def statements(self) -> tuple[str, ...]:
        return (self.cleared, self.statement) if self.cleared else (self.statement,)

    @property
    def loops(self) -> tuple[Loop, ...]:
        return (*self.outer, *self.rows, *self.columns, *self.sums)

    @property
    def work(self) -> int:
        """Multiply-adds in all."""
        return prod(loop.extent for loop in self.loops)

    def __str__(self) -> str:
        cleared = f", from zero in place of {self.cleared}" if self.cleared else ""
        words = [f"{name} {' '.join(loop.name for loop in loops)}" for name, loops in (
            ("rows", self.rows), ("columns", self.columns), ("sums", self.sums), ("around", self.outer)) if loops]
        return f"{self.statement} by {self.match.intrinsic.name}: {', '.join(words)}{cleared}"


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorStage:
    """Statements of the vector unit.

    Parameters
    ----------
    statements : their names; several keep the order of the schedule.
    operations : of one instance of each, functions of math.h counted as one and told apart by `calls`.
    calls : of functions, of one instance of each.
    bytes : of the widest element that each touches.
    reason : why the cube does not compute it; "" where that is plain.
    """

    statements: tuple[str, ...]
    operations: tuple[int, ...]
    calls: tuple[int, ...]
    bytes: tuple[int, ...]
    reason: str = ""

    def __str__(self) -> str:
        return f"{', '.join(self.statements)} by the vector unit" + (f": {self.reason}" if self.reason else "")


Stage = CubeStage | VectorStage


def stages_of(dependences: Dependences, launch: Launch, sizes: Mapping[str, int],
              matches: Mapping[str, tuple[Match, ...]]) -> tuple[Stage, ...]:
    """The stages of a group, in an order that its dependences at one iteration of the host allow."""
    scop = dependences.scop
    order = ordered(dependences, launch)
    found: list[Stage] = []
    for names in order:
        cube = None if len(names) > 1 else _cube(scop, launch, sizes, names[0], matches.get(names[0], ()))
        found.append(cube if isinstance(cube, CubeStage) else _vector(scop, names, cube or ""))
    return _with_cleared(scop, launch, found, sizes)


def ordered(dependences: Dependences, launch: Launch) -> tuple[tuple[str, ...], ...]:
    """The statements of a launch in circles of dependences, each behind what it depends on, else as in the program."""
    names = [s.name for s in dependences.scop.statements if s.name in set(launch.statements())]
    behind = _sources(dependences, launch, names)
    reach = {name: _before(name, behind) for name in names}
    circles = {name: tuple(n for n in names if n == name or (n in reach[name] and name in reach[n]))
               for name in names}
    left = list(dict.fromkeys(circles[name] for name in names))
    done: set[str] = set()
    found = []
    while left:
        ready = next(c for c in left if all(behind[n] - set(c) <= done for n in c))
        left.remove(ready)
        done.update(ready)
        found.append(ready)
    return tuple(found)


def _sources(dependences: Dependences, launch: Launch, names: list[str]) -> dict[str, set[str]]:
    """What each statement depends on directly at one iteration of the host, itself not among it."""
    behind: dict[str, set[str]] = {name: set() for name in names}
    for part in active_inside(dependences, launch.domain, launch.host):
        source, sink = part.dependence.source, part.dependence.sink
        if source != sink and not part.relation.is_empty():
            behind[sink].add(source)
    return behind


def _before(name: str, behind: Mapping[str, set[str]]) -> set[str]:
    """All that a statement depends on, over any number of others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for other in behind[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def _vector(scop: Scop, names: tuple[str, ...], reason: str) -> VectorStage:
    counted = [_operations(scop.statement(name)) for name in names]
    wide = tuple(max((scop.array(a.array).dtype.bytes for a in scop.statement(name).accesses), default=1)
                 for name in names)
    return VectorStage(statements=names, operations=tuple(own for own, _ in counted), bytes=wide,
                       calls=tuple(own for _, own in counted), reason=reason)


def _operations(statement: Statement) -> tuple[int, int]:
    """Operations of an instance, at least one, and calls of functions."""
    found = [e for top in statement_expressions(statement.body) for e in walk(top)]
    plain = sum(isinstance(e, Binary | Unary | Select) for e in found)
    return max(1, plain), sum(isinstance(e, Call) for e in found)


def _cube(scop: Scop, launch: Launch, sizes: Mapping[str, int], name: str,
          matches: tuple[Match, ...]) -> CubeStage | str | None:
    """The first match that fits the group; why none does; None where there is none."""
    refused: str | None = None
    for match in matches:
        found = _of_match(scop, launch, sizes, scop.statement(name), match)
        if isinstance(found, CubeStage):
            return found
        refused = refused or found
    return refused


def _of_match(scop: Scop, launch: Launch, sizes: Mapping[str, int], statement: Statement,
              match: Match) -> CubeStage | str:
    loops = _loops(launch, sizes, statement)
    if isinstance(loops, str):
        return loops
    wanted = product_groups(match)
    hosted = _hosted(loops)
    if needs_more(match, hosted):
        return "the match needs code around the cube"
    if not wanted:
        return f"{match.intrinsic.name} is no product of two matrices"
    by_group = {group.indexes: tuple(loops[name] for name in members)
                for group, members in zip(match.groups, match.loops, strict=True)}
    left, right = match.assignment.held
    result = match.intrinsic.output.name
    rows, columns, sums = (by_group[own] for own in wanted)
    extents = {group.indexes: group.extent or 1 for group in match.groups}
    operands = [_operand(scop, statement, operand, held, place) for operand, held, place in (
        (result, match.result, (rows, columns)), (left, match.assignment.held[left], (rows, sums)),
        (right, match.assignment.held[right], (sums, columns)))]
    known = [own for own in operands if own is not None]
    if len(known) != len(operands):
        return "an operand of the cube is no element of an array"
    if not _once(statement, match, (*sums, *hosted.values())):
        return "several iterations around the cube add to one element"
    return CubeStage(statement=statement.name, match=match, rows=rows, columns=columns, sums=sums,
                     units=(extents[wanted[0]], extents[wanted[1]], extents[wanted[2]]),
                     outer=tuple(loops[name] for name in match.outer), result=known[0], left=known[1], right=known[2])


def _loops(launch: Launch, sizes: Mapping[str, int], statement: Statement) -> dict[str, Loop] | str:
    """The loops of a statement by name; in words why it has not a box of them that tiles of the group cut."""
    domain = fix_parameters(statement.domain, sizes)
    kinds = isl.dim_type.set
    ends = [(domain.dim_min_val(k).to_python(), domain.dim_max_val(k).to_python()) for k in range(statement.depth)]
    box = isl.Set.universe(domain.get_space())
    for k, (first, last) in enumerate(ends):
        box = box.lower_bound_val(kinds, k, first).upper_bound_val(kinds, k, last)
    if not box.is_equal(domain):
        return "its iterations are no box"
    found = {name: Loop(name=name, first=first, extent=last - first + 1)
             for name, (first, last) in zip(statement.iterators, ends, strict=True)}
    for kind, functions in (("host", launch.host), ("coordinate", launch.coordinates)):
        for number, function in enumerate(functions):
            own = function.intersect_domain(isl.UnionSet.from_set(statement.domain)).get_pw_aff_list()
            form = _form(own.get_at(0), sizes, statement.iterators) if own.n_pw_aff() == 1 else None
            if form is None or len(form.factors) != 1 or form.factors[0][1] != 1:
                return "tiles cut across its loops"
            loop = found[form.factors[0][0]]
            if loop.coordinate is not None or loop.host is not None:
                return "tiles cut one loop twice"
            loop = replace(loop, offset=form.constant)
            found[loop.name] = replace(loop, host=number) if kind == "host" else replace(loop, coordinate=number)
    return found


def _hosted(loops: Mapping[str, Loop]) -> dict[str, Loop]:
    """The loops that the host runs, one iteration around all tiles."""
    return {name: loop for name, loop in loops.items() if loop.host is not None}


def _once(statement: Statement, match: Match, apart: tuple[Loop, ...]) -> bool:
    """Whether iterations that differ in more than loops of the sum, and of the host, write different elements."""
    relation = statement.access(match.result.reference).relation.intersect_domain(statement.domain)
    for loop in apart:
        at = statement.iterators.index(loop.name)
        relation = relation.fix_val(isl.dim_type.in_, at, isl_value(loop.first))
    return bool(relation.is_injective())


def _operand(scop: Scop, statement: Statement, name: str, held: Expr,
             place: tuple[tuple[Loop, ...], tuple[Loop, ...]]) -> CubeOperand | None:
    if not isinstance(held, Load):
        return None
    access = statement.access(held.reference)
    subscripts = subscripts_of(access, statement.iterators)
    if subscripts is None or len(access.subscripts) != len(scop.array(access.array).extents):
        return None
    return CubeOperand(name=name, array=access.array, subscripts=subscripts, rows=place[0], columns=place[1])


def subscripts_of(access: Access, iterators: tuple[str, ...]) -> tuple[Subscript, ...] | None:
    """The subscripts of an access as sums; None where one is not, or depends on a parameter."""
    if not access.exact or not access.relation.is_single_valued():
        return None
    functions = access.relation.as_pw_multi_aff()
    found = [_form(functions.get_pw_aff(k), {}, iterators) for k in range(access.relation.dim(isl.dim_type.out))]
    known = tuple(own for own in found if own is not None)
    return known if len(known) == len(found) else None


def _form(function: isl.PwAff, sizes: Mapping[str, int], iterators: tuple[str, ...]) -> Subscript | None:
    """A function of iterators as a sum; parameters have their sizes."""
    pieces = function.get_pieces()
    if len(pieces) != 1:
        return None
    form = pieces[0][1]
    if form.dim(isl.dim_type.div) or not form.get_denominator_val().is_one():
        return None
    constant = form.get_constant_val().to_python()
    for k in range(form.dim(isl.dim_type.param)):
        factor = form.get_coefficient_val(isl.dim_type.param, k).to_python()
        name = str(form.get_dim_name(isl.dim_type.param, k))
        if factor and name not in sizes:
            return None
        constant += factor * sizes.get(name, 0)
    factors = [(name, form.get_coefficient_val(isl.dim_type.in_, k).to_python()) for k, name in enumerate(iterators)]
    return Subscript(factors=tuple((name, factor) for name, factor in factors if factor), constant=constant)


def _with_cleared(scop: Scop, launch: Launch, stages: list[Stage], sizes: Mapping[str, int]) -> tuple[Stage, ...]:
    """The stages without those that set the result of a cube to zero, which starts from zero instead."""
    found = list(stages)
    for stage in stages:
        if not isinstance(stage, CubeStage):
            continue
        cleared = _clearing(scop, launch, found[:found.index(stage)], stage, sizes)
        if cleared is not None:
            found[found.index(stage)] = CubeStage(**{**vars(stage), "cleared": cleared.statements[0]})
            found.remove(cleared)
    return tuple(found)


def _clearing(scop: Scop, launch: Launch, before: list[Stage], cube: CubeStage, sizes: Mapping[str, int]
              ) -> VectorStage | None:
    """The last stage in front that touches the result, where it sets exactly these elements to zero every time."""
    touching = [stage for stage in before if any(cube.result.array == access.array for name in stage.statements
                                                 for access in scop.statement(name).accesses)]
    if not touching or not isinstance(touching[-1], VectorStage) or len(touching[-1].statements) != 1:
        return None
    statement = scop.statement(touching[-1].statements[0])
    writes = [access for access in statement.accesses if access.array == cube.result.array]
    if len(writes) != 1 or not writes[0].exact or not _is_zero(statement):
        return None
    own = scop.statement(cube.statement)
    written = next(access for access in own.writes)
    same = _reached(writes[0], statement, launch, sizes).is_equal(_reached(written, own, launch, sizes))
    return touching[-1] if same else None


def _reached(access: Access, statement: Statement, launch: Launch, sizes: Mapping[str, int]) -> isl.Set:
    """The elements of an access, at iterations of the host that are parameters."""
    names = {f"polysched_at{k}": function for k, function in enumerate(launch.host)}
    inside = fixed(isl.UnionSet.from_set(statement.domain), names)
    reached = isl.UnionMap.from_map(access.relation).intersect_domain(inside).range()
    if reached.is_empty():
        return isl.Set.empty(access.relation.get_space().range())
    return with_sizes(isl.Set.from_union_set(reached), sizes)


def _is_zero(statement: Statement) -> bool:
    """Whether a statement is `x = 0`; a negative zero is another number."""
    match statement.body:
        case (Assign(op=None | "", value=Literal(text=text, value=value)),):
            return value == 0 and not text.lstrip().startswith("-")
    return False


def covered(stages: tuple[Stage, ...]) -> Iterator[str]:
    """The statements of some stages."""
    for stage in stages:
        yield from stage.statements
