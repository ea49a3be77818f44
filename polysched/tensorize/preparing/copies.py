"""Converted copies of arrays: a statement that reads a copy reads what was copied.

Rewrite:  T[i][k] = (int)A[i][k];  ...  c += T[x][y] * b   ->   T[i][k] = (int)A[i][k];  ...  c += (int)A[x][y] * b
          t[r] = k + r < K ? A[k + r] : 0;  c += t[r] * b  ->   c += (k + r < K ? A[k + r] : 0) * b
          p = A[0];  for i: { q = A[i + 1];  O[i] = p + q;  p = q; }   ->   for i: O[i] = A[i] + A[i + 1]

Every instance that reads gets its value from an exact last writer, which computes it from one element without a call or
a division, or sets it to a number.  Several writers are seen through where their elements are one function of the
reader's iterators; what is a number, such as the zeros around an image, becomes a choice by position.  That the element
still has its value is not argued but checked: it comes from the same writer as when it was copied.  A temporary that
nobody reads any more goes away.
Source: copy propagation (Aho, Lam, Sethi, Ullman, "Compilers", 2nd ed., section 9.1) on exact array data flow
(Feautrier, IJPP 20(1), 1991).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependence, DependenceKind, Dependences
from polysched.dependence.idle_statements import without_idle_statements
from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Call,
    Cast,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Select,
    assignments,
    rebuild,
    walk,
)
from polysched.scop.points import SetOrMap
from polysched.scop.scop import Access, AccessKind, Scop, Statement
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.preparing.conditions import condition_of, sum_of
from polysched.tensorize.preparing.restating import sources, union_map_of
from polysched.tensorize.preparing.stepped_tiles import plain_relation

MOST_NODES = LIMITS.most_copied_nodes


def without_copies(dependences: Dependences) -> Dependences | None:
    """The program whose statements read one array less through a copy; None where none does."""
    if not dependences.value_based:
        return None
    refused: set[str] = set()
    while True:
        found = next((c for s in dependences.scop.statements for a in s.reads
                      if a.reference not in refused and (c := _copy(dependences, s, a)) is not None), None)
        if found is None:
            return None
        if (after := _through(dependences, found)) is not None:
            return after
        refused.add(found.read.reference)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Piece:
    """What some instances of a reader get from one statement.

    Parameters
    ----------
    where : these instances.
    writer, item : what they read is written by.
    instance : `{ reader[i, j, k] -> writer[i, k] }`: whose value is read.
    """

    where: isl.Set
    writer: Statement
    item: Assign
    instance: isl.Map

    @property
    def copied(self) -> Access | None:
        """The access whose element is copied; None where the value is a number."""
        return next((a for a in self.writer.accesses if a.reference != self.item.target), None)

    @property
    def value(self) -> Expr:
        """What is written, in the type of the copy."""
        return self.item.value if self.item.value.dtype == self.item.dtype else Cast(self.item.value, self.item.dtype)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Copy:
    """A read of an array that holds converted elements of another one.

    Parameters
    ----------
    reader, read : what reads it.
    pieces : where it is a copy of an element.
    number : what it is elsewhere.
    """

    reader: Statement
    read: Access
    pieces: tuple[_Piece, ...]
    number: Expr | None


def _copy(dependences: Dependences, reader: Statement, read: Access) -> _Copy | None:
    """What a read reads through, where that is a copy in all instances."""
    scop = dependences.scop
    pieces = _pieces(dependences, reader, read) if _may_be_put(reader, read) else ()
    numbers = {p.value for p in pieces if p.copied is None}
    copies = tuple(p for p in pieces if p.copied is not None)
    useful = copies and len(numbers) < 2 and _is_worth_it(scop, reader, read, copies, bool(numbers))
    if not useful or not _covers(scop, reader, pieces):
        return None
    return _Copy(reader=reader, read=read, pieces=copies, number=next(iter(numbers), None))


def _pieces(dependences: Dependences, reader: Statement, read: Access) -> tuple[_Piece, ...]:
    """The copies that a read has its values from; none where one of its sources is no copy."""
    pairs = [p for p in dependences.pairs if p.kind is DependenceKind.FLOW and p.sink_reference == read.reference]
    found = [_piece(dependences.scop, reader, pair) for pair in pairs]
    known = tuple(p for p in found if p is not None)
    return known if len(known) == len(found) else ()


def _may_be_put(reader: Statement, read: Access) -> bool:
    """Whether something else may be read in the place of a read: no subscript, no part of what is changed."""
    named = {e.reference for a in reader.accesses for s in a.subscripts for e in walk(s) if isinstance(e, Load)}
    return bool(reader.body) and _has_values(reader.body) and read.reference not in named and read.array not in {
        a.array for a in reader.writes}


def _has_values(body: tuple[BodyStatement, ...]) -> bool:
    """Whether a body is assignments and branches, whatever these are inside of: no loop, no call."""
    return all(isinstance(b, Assign) or (isinstance(b, If) and _has_values((*b.then, *b.otherwise))) for b in body)


def _is_worth_it(scop: Scop, reader: Statement, read: Access, copies: Sequence[_Piece], padded: bool) -> bool:
    """Whether an instruction may have use for what is copied: sums read it, or it is carried to later iterations.

    What is also changed in place, as by a compare-exchange, is read there.
    """
    if not all(_converts(s) for s in scop.statements if any(a.array == read.array for a in s.writes)):
        return False
    if _is_sum(reader):
        return not padded or all(a.dtype.is_integer for a in assignments(reader.body))
    carried = len(copies) > 1 and not padded and len(reader.body) == 1 and isinstance(reader.body[0], Assign)
    return carried and scop.array(read.array).is_temporary


def _is_sum(statement: Statement) -> bool:
    """A statement that adds to an element, be it under a condition."""
    items = list(assignments(statement.body))
    if len(items) != 1 or not all(isinstance(b, Assign | If) for b in statement.body):
        return False
    target = statement.access(items[0].target)
    return any(a.array == target.array for a in statement.reads)


def _piece(scop: Scop, reader: Statement, pair: Dependence) -> _Piece | None:
    """Where one statement is the source of a read; None where it does not copy."""
    writer, instance = scop.statement(pair.source), pair.relation.reverse()
    if writer.name == reader.name or not _converts(writer) or not instance.is_single_valued():
        return None
    item = writer.body[0]
    assert isinstance(item, Assign)
    return _Piece(where=instance.domain(), writer=writer, item=item, instance=instance)


def _converts(statement: Statement) -> bool:
    """A number or one element in, one element out, and little between them."""
    item = statement.body[0] if len(statement.body) == 1 else None
    if not isinstance(item, Assign) or item.op is not None:
        return False
    target = statement.access(item.target)
    if target.kind is not AccessKind.MUST_WRITE or not all(a.exact for a in statement.accesses):
        return False
    nodes = list(walk(item.value))
    return len(nodes) <= MOST_NODES and not any(map(_is_dear, nodes)) and (
        all(isinstance(e, Literal | Cast) for e in nodes) or _reads_another(statement, target, nodes))


def _is_dear(e: Expr) -> bool:
    return isinstance(e, Call) or (isinstance(e, Binary) and e.op in "/%")


def _reads_another(statement: Statement, target: Access, nodes: Sequence[Expr]) -> bool:
    """Whether a value is one of one element, of another array."""
    loads = [e for e in nodes if isinstance(e, Load)]
    return len(statement.accesses) == 2 and len(loads) == 1 and statement.access(
        loads[0].reference).array != target.array


def _covers(scop: Scop, reader: Statement, pieces: Sequence[_Piece]) -> bool:
    """Whether every instance of a reader is in one of the pieces."""
    left = reader.domain.intersect_params(scop.context)
    for piece in pieces:
        if len(pieces) > 1 and not piece.where.is_subset(left):
            return False
        left = left.subtract(piece.where)
    return bool(left.is_empty())


@dataclass(frozen=True, eq=False, kw_only=True)
class _Seen:
    """What a reader reads instead of a copy.

    Parameters
    ----------
    value, access : of the element that is copied.
    wanted : `{ writer -> reader }`: where its value has to come from.
    """

    value: Expr
    access: Access
    wanted: isl.UnionMap


def _through(dependences: Dependences, copy: _Copy) -> Dependences | None:
    """The program whose reader computes the value itself; None where the element has another value by then."""
    scop, reader = dependences.scop, copy.reader
    seen = _seen(dependences, copy, f"{copy.pieces[0].item.target}_in_{copy.read.reference}")
    value = None if seen is None else _padded(scop, copy, seen.value)
    if seen is None or value is None:
        return None

    def put(e: Expr) -> Expr:
        return value if isinstance(e, Load) and e.reference == copy.read.reference else e

    made = replace(reader, body=tuple(_with_values(b, put) for b in reader.body), accesses=tuple(
        seen.access if a is copy.read else a for a in reader.accesses))
    after = analyse(replace(scop, statements=tuple(made if s is reader else s for s in scop.statements)),
                    value_based=True, inputs=dependences.inputs)
    if not after.value_based or not seen.wanted.is_equal(
            sources(after).get(seen.access.reference, union_map_of([]))):
        return None
    rest = without_idle_statements(after.scop)
    return after if rest is after.scop else analyse(rest, value_based=True, inputs=dependences.inputs)


def _seen(dependences: Dependences, copy: _Copy, name: str) -> _Seen | None:
    """The elements of all pieces as one access; None where they are no function of the reader's iterators."""
    reader, first = copy.reader, copy.pieces[0]
    if len({p.copied.array for p in copy.pieces if p.copied is not None}) > 1:
        return None
    before, nothing = sources(dependences), union_map_of([])
    relations, wanted = [], []
    for piece in copy.pieces:
        copied = piece.copied
        assert copied is not None
        relations.append(piece.instance.apply_range(copied.relation))
        wanted.append(before.get(copied.reference, nothing).apply_range(isl.UnionMap.from_map(
            piece.instance.reverse())))
    one = _of_one_piece(dependences.scop, copy, name) if len(copy.pieces) == 1 else _of_several_pieces(
        dependences.scop, copy, name, _union(relations))
    if one is None or first.copied is None:
        return None
    value, subscripts = one
    where = _union([p.where for p in copy.pieces]).intersect(reader.domain)
    relation = _union(relations).intersect_domain(reader.domain).gist_domain(where).intersect_domain(where)
    access = replace(first.copied, reference=name, relation=relation, subscripts=subscripts)
    return _Seen(value=value, access=access, wanted=union_map_of(wanted))


def _read_as(piece: _Piece, name: str) -> Expr:
    """The value of a piece with another name for what it reads."""
    return rebuild(piece.value, lambda e: Load(name, e.dtype) if isinstance(e, Load) else e)


def _of_one_piece(scop: Scop, copy: _Copy, name: str) -> tuple[Expr, tuple[Expr, ...]] | None:
    """The value and the subscripts of what is read, in terms of the reader's iterators."""
    (piece,) = copy.pieces
    iterators = _iterators(scop, piece.instance, copy.reader, piece.writer)
    if iterators is None or piece.copied is None:
        return None
    return _moved(_read_as(piece, name), iterators), tuple(_moved(s, iterators) for s in piece.copied.subscripts)


def _of_several_pieces(scop: Scop, copy: _Copy, name: str,
                       relation: isl.Map) -> tuple[Expr, tuple[Expr, ...]] | None:
    """The same where several statements copy elements of one array, in one way.

    An array that is written with fewer subscripts than it has dimensions (`A[i * m + j]`) stays: a relation does not
    say how these are put together.
    """
    if any(p.copied is not None and len(p.copied.subscripts) < relation.dim(isl.dim_type.out) for p in copy.pieces):
        return None
    values = {_read_as(p, name) for p in copy.pieces}
    value = values.pop()
    if values or any(isinstance(e, IteratorRef | ParameterRef) for e in walk(value)):
        return None
    subscripts = _subscripts(scop, relation, copy.reader)
    return None if subscripts is None else (value, subscripts)


def _moved(e: Expr, iterators: Mapping[str, Expr]) -> Expr:
    """An expression of the writer in terms of the reader's iterators."""
    def change(x: Expr) -> Expr:
        if not isinstance(x, IteratorRef):
            return x
        found = iterators[x.name]
        return found if found.dtype == x.dtype else Cast(found, x.dtype)

    return rebuild(e, change)


def _padded(scop: Scop, copy: _Copy, value: Expr) -> Expr | None:
    """The value where an element is copied, and the number elsewhere; None where no condition tells them apart."""
    if copy.number is None:
        return value
    where = _union([p.where for p in copy.pieces])
    condition = condition_of(scop, copy.reader, where)
    if condition is not None:
        return Select(condition, value, copy.number, value.dtype)
    condition = condition_of(scop, copy.reader, copy.reader.domain.subtract(where))
    return None if condition is None else Select(condition, copy.number, value, value.dtype)


def _union(parts: Sequence[SetOrMap]) -> SetOrMap:
    """All of some sets or maps."""
    total = parts[0]
    for part in parts[1:]:
        total = total.union(part)
    return total.coalesce()


def _iterators(scop: Scop, instance: isl.Map, reader: Statement, writer: Statement) -> dict[str, Expr] | None:
    """The writer's iterators as sums of the reader's; None where they are none."""
    found = _subscripts(scop, instance, reader)
    return None if found is None else dict(zip(writer.iterators, found, strict=True))


def _subscripts(scop: Scop, relation: isl.Map, reader: Statement) -> tuple[Expr, ...] | None:
    """What a relation reaches as sums of the reader's iterators; None where it is no such function."""
    if not relation.is_single_valued():
        return None
    relation = plain_relation(relation, relation.domain())
    function = isl.PwMultiAff.from_map(relation).coalesce().gist(relation.domain())
    if not function.isa_multi_aff():
        return None
    elements = function.as_multi_aff()
    made = [sum_of(scop, elements.get_aff(at), reader) for at in range(elements.dim(isl.dim_type.out))]
    return None if any(e is None for e in made) else tuple(e for e in made if e is not None)


def _with_values(item: BodyStatement, put: Callable[[Expr], Expr]) -> BodyStatement:
    match item:
        case Assign():
            return replace(item, value=rebuild(item.value, put))
        case If():
            return replace(item, condition=rebuild(item.condition, put),
                           then=tuple(_with_values(b, put) for b in item.then),
                           otherwise=tuple(_with_values(b, put) for b in item.otherwise))
        case _:
            return item
