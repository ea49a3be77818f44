"""Diamond tiling: hyperplanes whose tiles along a whole face can start at once.

A permutable band (f, h1, h2, ...) without a parallel row is a pipeline: its wavefronts of tiles begin with
one tile.  When f is strictly inside the cone of the hyperplanes that replace it, all tiles along the face
that f is normal to start together.  The first row is therefore replaced by

    h0 = a f - h1 - ... - hk            so that  f = (h0 + h1 + ... + hk) / a

with the least a for which h0 carries no dependence backward, up to a shift per statement.  With k = 1 the
tiles along one dimension start at once, with larger k those along k dimensions.  The sum of the first rows
is the wavefront, as for any permutable band.

Source: Bandishti, Pananilath, Bondhugula, "Tiling stencil computations to maximize parallelism", SC 2012;
Bondhugula, Bandishti, Pananilath, "Diamond tiling", TPDS 28(5), 2017 (the case of fewer dimensions).
"""

from __future__ import annotations

from collections.abc import Mapping

from polysched.dependence.legality import Active
from polysched.scheduling.solving.integer_program import IntegerProgram, Solved, solve
from polysched.scheduling.solving.rows import Edge, Row, StatementRow
from polysched.scheduling.solving.search import Band, Search


def with_concurrent_start(search: Search, band: Band, active: list[Active]) -> Band:
    """The band with its first row replaced, where the options ask for it and the dependences allow it."""
    degrees = min(search.options.concurrent_start, len(band.rows) - 1)
    if degrees < 1 or any(_carries_nothing(row) for row in band.rows):
        return band
    edges = tuple(e for e in search.edges(active) if e.ordered)
    for scale in range(1, 2 * degrees * search.options.max_coefficient + 1):
        rows = {name: _opposite(scale, [row.of[name] for row in band.rows[:degrees + 1]]) for name in band.names}
        if any(not any(row.iterators) and any(band.rows[0].of[n].iterators) for n, row in rows.items()):
            continue
        shifted = _shifted(search, rows, edges)
        if shifted is not None:
            along = f"{degrees} dimension{'' if degrees == 1 else 's'}"
            search.note(f"concurrent start along {along}: {scale} times the first row")
            first = Row(of=shifted, costs=band.rows[0].costs)
            return Band(components=band.components, rows=(first, *band.rows[1:]))
    return band


def _carries_nothing(row: Row) -> bool:
    return all(u == w == 0 for u, w in row.costs)


def _opposite(scale: int, rows: list[StatementRow]) -> StatementRow:
    """scale * first - the others, without the constants: these are found anew."""
    first, *others = rows
    return StatementRow(
        tuple(scale * v - sum(o.iterators[k] for o in others) for k, v in enumerate(first.iterators)),
        tuple(scale * v - sum(o.parameters[k] for o in others) for k, v in enumerate(first.parameters)), 0)


def _shifted(search: Search, rows: Mapping[str, StatementRow], edges: tuple[Edge, ...]
             ) -> dict[str, StatementRow] | None:
    """The rows with the least shifts that make them legal; None when no shifts do."""
    program = IntegerProgram()
    unit = program.variable(1, 1)
    limit = search.options.shift_limit
    shift = {name: program.variable(0, limit) for name in rows}
    for edge in edges:
        source, sink = rows[edge.source], rows[edge.sink]
        for cone in edge.cones:
            for r in cone:
                parameters = sum(c * (b - a) for c, a, b in zip(r.parameters, source.parameters, sink.parameters,
                                                                strict=True))
                value = parameters + sum(c * v for c, v in zip(r.sink, sink.iterators, strict=True)) \
                    - sum(c * v for c, v in zip(r.source, source.iterators, strict=True))
                terms = {unit: value}
                if edge.source != edge.sink:
                    terms |= {shift[edge.sink]: r.constant, shift[edge.source]: -r.constant}
                program.add_row(terms, equal=r.equal)
    program.tiers = [dict.fromkeys(shift.values(), 1)]
    outcome = solve(program, deterministic_seconds=search.options.solver_seconds, count=search.count,
                    in_all=search.options.all_solver_seconds)
    if not isinstance(outcome, Solved):
        return None
    return {name: StatementRow(row.iterators, row.parameters, outcome.values[shift[name]])
            for name, row in rows.items()}
