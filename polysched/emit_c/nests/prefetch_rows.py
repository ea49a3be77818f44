"""The next row, fetched into the first cache while this one is computed.

Rewrite:  for i: { for j: m = max(m, x[i][j]);  for j: e[j] = exp(x[i][j] - m);  ... }
      ->  for i: { for j: m = max(m, x[i][j]);  for j: { fetch x[i + 1][j];  e[j] = exp(x[i][j] - m); }  ... }

An iteration that goes over a row several times waits for memory the first time and leaves it idle afterwards.  A later
loop over vectors that touches nothing but what the iteration has had before has time for the row of the next one;
of several such loops the one that computes most.  What is fetched behind the last row is fetched in vain.

So has it for a row that the iteration writes later, where vectors are narrower than a cache line.  Softmax, 4096 x 1024
floats, two threads, took 0.93 of the time on a Zen 4 with vectors of half a line (0.89 by hand); whole lines were not
tried.  A loop that only adds and multiplies has no time for a second row: layer norm took 1.03 of the time.

Source: T. C. Mowry, M. S. Lam, A. Gupta, "Design and Evaluation of a Compiler Algorithm for Prefetching", ASPLOS 1992,
section 2.2 (only what is not in the cache); there the distance is one of iterations, here of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from polysched.emit_c.bodies.operations import operations
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.facts import depends_on
from polysched.emit_c.loop_ir.index import Linear, ToBoundary, Variable, variable
from polysched.emit_c.loop_ir.loops import Block, FetchedRow, For, Local, Node, RegisterTile
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import instances, map_children, walk_nodes
from polysched.emit_c.scalar_code.heap import constant_elements, constant_extents
from polysched.records import dataclass
from polysched.scop.scop import Array, Scop
from polysched.target.target import Target

LEAST_ROW_LINES = LIMITS.least_fetched_row_lines
MOST_ROWS = LIMITS.most_fetched_rows
LONG_OPERATIONS = LIMITS.long_operations


_Forms = tuple[Linear, ...] | None


@dataclass(frozen=True)
class _Columns:
    """A loop with known bounds: its variable, the first value, and one past the last."""

    variable: str
    lower: int
    upper: int


@dataclass(frozen=True)
class _Touch:
    """An access below a loop; the subscripts where they are linear."""

    array: Array
    subscripts: _Forms
    writes: bool

    @property
    def row(self) -> tuple[str, _Forms]:
        """The array and all subscripts but the last."""
        return self.array.name, self.subscripts and self.subscripts[:-1]

    def moves(self, name: str) -> bool:
        """Whether it may go elsewhere when a variable changes."""
        return self.subscripts is None or any(depends_on(form, frozenset({name})) for form in self.subscripts)


@dataclass(frozen=True)
class _Row:
    """What one part of an iteration reads before any other part does.

    Parameters
    ----------
    part : the number of the part.
    touch : its access, as the loop over the columns spells it.
    columns : that loop.
    step_bytes : from the row of an iteration to that of the next.
    """

    part: int
    touch: _Touch
    columns: _Columns
    step_bytes: int

    @property
    def row_bytes(self) -> int:
        """Of its columns."""
        return (self.columns.upper - self.columns.lower) * self.touch.array.dtype.bytes

    def pays(self, target: Target) -> bool:
        """Whether the array may lie behind the second cache, and the row stays in the first."""
        elements = constant_elements(self.touch.array)
        large = elements is None or elements * self.touch.array.dtype.bytes >= target.kept_bytes(2)
        most = min(target.kept_bytes(1), abs(self.step_bytes))
        return large and LEAST_ROW_LINES * target.line_bytes <= self.row_bytes <= most

    def may_be_fetched(self, part: int, *, stores: bool) -> bool:
        """Whether the row is fetched in a part of the iteration; one that is stored only ahead of that, if at all."""
        return not self.touch.writes or (stores and self.part > part)

    def in_loop(self, columns: _Columns, part: int) -> FetchedRow:
        """What a loop over the same columns, in some part of the iteration, fetches at its variable."""
        assert self.touch.subscripts is not None, "rows are linear"
        *before, last = self.touch.subscripts
        moved = last - variable(self.columns.variable) + variable(columns.variable)
        return FetchedRow(array=self.touch.array.name, subscripts=(*before, moved),
                          bytes_ahead=self.step_bytes if part > self.part else 0)


def fetch_rows(node: Node, scop: Scop, *, target: Target, whole_lines: bool) -> Node:
    """Let loops over vectors fetch what the loop around them reads next, and what it writes.

    Parameters
    ----------
    target : the machine, for its caches.
    whole_lines : a vector register is as wide as a line, so that stores of it fetch nothing.
    """
    node = map_children(node, partial(fetch_rows, scop=scop, target=target, whole_lines=whole_lines))
    return _with_rows(node, scop, target, stores=not whole_lines) if isinstance(node, For) else node


def _with_rows(loop: For, scop: Scop, target: Target, *, stores: bool) -> Node:
    """The loop with the rows of its next iteration fetched, in the part that computes most beside them."""
    parts = [(part, list(_touches(part, scop))) for part in _parts(loop.body)]
    rows_of = Counter(name for name, _ in {touch.row for _, touches in parts for touch in touches})
    seen: set[tuple[str, _Forms]] = set()
    rows: list[_Row] = []
    hosts: list[tuple[int, RegisterTile, _Columns]] = []
    for number, (part, touches) in enumerate(parts):
        new = [touch for touch in touches if touch.row not in seen and touch.moves(loop.variable)]
        rows += _rows_of_part(number, part, [t for t in new if rows_of[t.array.name] == 1], loop, stores=stores)
        columns, vectors = _columns(part), _vectors(part)
        if columns is not None and vectors is not None and not new:
            hosts.append((number, vectors, columns))
        if _has_loops(part):
            seen |= {touch.row for touch in touches}   # more than a single element
    if not hosts:
        return loop
    return _fetching(loop, rows, *max(hosts, key=lambda found: _work(found[1], scop)), scop, target)


def _fetching(loop: For, rows: Sequence[_Row], place: int, host: RegisterTile, columns: _Columns, scop: Scop,
              target: Target) -> Node:
    """The loop whose part at some place fetches the rows with the same columns; as it was where they are too many."""
    long = _work(host, scop) >= LONG_OPERATIONS
    fetched = tuple(row.in_loop(columns, place) for row in rows if row.pays(target)
                    and _same(row.columns, columns, host.edges[0].count) and row.may_be_fetched(place, stores=long))
    return _put(loop, host, replace(host, fetched=fetched)) if 0 < len(fetched) <= MOST_ROWS else loop


def _rows_of_part(number: int, part: Node, touches: list[_Touch], loop: For, *, stores: bool) -> Iterator[_Row]:
    """The rows that a part stores, where that is wanted, and those that it reads."""
    if stores and not _stores_past_caches(part) and (written := _columns(part, aligned=True)) is not None:
        yield from (row for row in _rows(number, touches, loop, written) if row.touch.writes)
    if (columns := _columns(part)) is not None:
        yield from (row for row in _rows(number, touches, loop, columns) if not row.touch.writes)


def _has_loops(part: Node) -> bool:
    return any(isinstance(node, For) or (isinstance(node, RegisterTile) and node.loops) for node in walk_nodes(part))


def _stores_past_caches(part: Node) -> bool:
    return any(isinstance(node, RegisterTile) and node.past_caches for node in walk_nodes(part))


def _parts(node: Node) -> Iterator[Node]:
    """What an iteration does, one after the other."""
    match node:
        case Block():
            for child in node.children:
                yield from _parts(child)
        case Local():
            yield from _parts(node.body)
        case _:
            yield node


def _put(node: Node, old: RegisterTile, new: RegisterTile) -> Node:
    """The node with one tile of it, that very one, in another form."""
    return new if node is old else map_children(node, partial(_put, old=old, new=new))


def _touches(part: Node, scop: Scop) -> Iterator[_Touch]:
    """The accesses of a part that go to arrays which outlive an iteration of the loop around."""
    for instance in instances(part):
        statement = statement_at(scop, instance)
        iterators = dict(zip(statement.iterators, instance.iterators, strict=True))
        own = {temporary.array for temporary in instance.temporaries}
        for access in statement.accesses:
            forms = [linear_form(subscript, iterators) for subscript in access.subscripts]
            known = tuple(form for form in forms if form is not None)
            if access.array not in own:
                yield _Touch(scop.array(access.array), known if len(known) == len(forms) else None, access.is_write)


def _vectors(part: Node) -> RegisterTile | None:
    """The vector of a loop over vectors."""
    tile = part.body if isinstance(part, For) else part
    if not isinstance(tile, RegisterTile) or len(tile.edges) != 1 or tile.panels or tile.within:
        return None
    loops = (*([part] if isinstance(part, For) else []), *tile.loops)
    (edge,) = tile.edges
    over = len(loops) == 1 and loops[0].variable == edge.variable and loops[0].step == edge.count
    return tile if over and edge.simd and edge.is_own_variable else None


def _columns(part: Node, *, aligned: bool = False) -> _Columns | None:
    """The only loop of a part, where its bounds are known.

    Parameters
    ----------
    aligned : also a loop that begins at a boundary of vectors in memory, wherever that is.
    """
    loops = [part] if isinstance(part, For) else list(part.loops) if isinstance(part, RegisterTile) else []
    inner = part.body if isinstance(part, For) else None
    if len(loops) != 1 or (isinstance(inner, RegisterTile) and inner.loops):
        return None
    (loop,) = loops
    known = loop.lower.is_constant or (aligned and all(isinstance(atom, ToBoundary) for atom, _ in loop.lower.terms))
    if not (known and loop.upper.is_constant) or loop.mark.parallel:
        return None
    last = (loop.upper.constant - 1 - loop.lower.constant) // loop.step * loop.step + loop.lower.constant
    return _Columns(loop.variable, loop.lower.constant, last + loop.step)


def _same(columns: _Columns, others: _Columns, slack: int) -> bool:
    """Whether two loops go over the same columns, but for some."""
    return abs(columns.lower - others.lower) <= slack and abs(columns.upper - others.upper) <= slack


def _rows(number: int, new: list[_Touch], loop: For, columns: _Columns) -> Iterator[_Row]:
    """The rows that a part touches first, and that lie elsewhere in the next iteration."""
    for array in {touch.array.name: touch.array for touch in new}.values():
        touches = [touch for touch in new if touch.array is array]
        first = touches[0]
        if first.subscripts is None or not all(_one_row(first, other, columns) for other in touches):
            continue
        step = _step_bytes(first, loop)
        if step is not None:
            yield _Row(number, first, columns, step)


def _one_row(first: _Touch, other: _Touch, columns: _Columns) -> bool:
    """Whether two accesses go along the same row, one element per iteration of the loop over the columns."""
    if not first.subscripts or not other.subscripts or first.subscripts[:-1] != other.subscripts[:-1]:
        return False
    still = not any(depends_on(form, frozenset({columns.variable})) for form in first.subscripts[:-1])
    column = Variable(columns.variable)
    return still and first.subscripts[-1].coefficient(column) == other.subscripts[-1].coefficient(column) == 1


def _step_bytes(touch: _Touch, loop: For) -> int | None:
    """How far in memory the next iteration's element is; None where that is not a constant."""
    forms, extents = touch.subscripts or (), constant_extents(touch.array)
    inner = (1,) if len(forms) == 1 else (*extents[1:], 1)
    if len(forms) != 1 and len(forms) != len(extents):
        return None
    elements, size = 0, 1
    for form, extent in zip(reversed(forms), reversed(inner), strict=True):
        factor = form.coefficient(Variable(loop.variable))
        if extent is None or (not factor and depends_on(form, frozenset({loop.variable}))):
            return None
        size *= extent
        elements += factor * size
    return elements * loop.step * touch.array.dtype.bytes


def _work(part: Node, scop: Scop) -> int:
    """Operations per element."""
    found = operations(part, scop)
    return found.simple + (found.calls + len(found.divisors)) * LONG_OPERATIONS
