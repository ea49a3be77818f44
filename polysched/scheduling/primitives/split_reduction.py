"""`SplitReduction`: the iterations of a sum are dealt out to parts, which are added up behind the loop (rfactor)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.dependence.questions.same_sums import Parts, check_same_sums
from polysched.dependence.reductions import Reduction, find_reductions
from polysched.dependence.reductions.reduction import EXTREMA, NAN_WINS
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.limits import LIMITS
from polysched.scheduling.marks import LoopMark
from polysched.scheduling.primitives.loops import Loop, LoopRef, find_loop, loops
from polysched.scheduling.primitives.step import ProgramStep
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
    Leaf,
    LoopTree,
    Mark,
    Node,
    Sequence,
    from_isl,
    split_bands,
    to_isl,
)
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    Select,
    rebuild,
    walk,
)
from polysched.scop.construction.values import float_literal, integer_literal
from polysched.scop.dtypes import BY_NAME, INT32, INT64, DType, Kind
from polysched.scop.scop import Access, AccessKind, Array, Scop, Statement, Storage

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
COMBINED_BY = {"sum": "+", "product": "*", "and": "&", "or": "|", "xor": "^"}
LARGEST = LIMITS.most_parts


@dataclass(frozen=True, kw_only=True)
class SplitReduction(ProgramStep):
    """Deal the iterations of a reduction's loop out to parts, so that parts may be computed at the same time.

    Rewrite:  for k: x += f(k)
              ->  for l < parts: x_parts[l] = 0;
                  for t, l: x_parts[l] += f(parts * t + l);                        (run = 1: parts in lanes)
                  for l < parts: x += x_parts[l]                                   (TVM, Halide: rfactor)

    With `run` > 1, that many iterations in a row belong to one part, and the loop over the parts is the outer one:
    parts on threads.  Floating-point sums and products are rounded differently, which the caller has to allow;
    integers, minimum and maximum come out the same, but for the sign of a zero, and for NaN in `m > x ? m : x`.  Sums
    of signed integers wrap around on the way.

    Parameters
    ----------
    loop : over one iterator of one statement, which updates an element that neither this loop nor one inside moves.
    parts : partial results; >= 2.
    run : iterations in a row that one part gets; >= 1.

    Source: P. Suriana, A. Adams, S. Kamil, "Parallel associative reductions in Halide", CGO 2017.
    """

    NAME: ClassVar[str] = "split_reduction"
    loop: LoopRef
    parts: int
    run: int = 1

    def rewrite_program(self, dependences: Dependences, tree: LoopTree) -> tuple[Scop, LoopTree]:
        made = self._split(dependences, tree)
        return made.scop, made.tree

    def check_values(self, before: Dependences, after: Dependences, tree: LoopTree) -> None:
        check_same_sums(before, after, self._split(before, tree).how)

    def rounds_differently(self, dependences: Dependences, tree: LoopTree) -> str:
        reduction = _reduction(dependences.scop, find_loop(tree, self.loop))
        return "" if reduction.exact else str(reduction)

    def _split(self, dependences: Dependences, tree: LoopTree) -> _Split:
        if not (2 <= self.parts <= LARGEST and 1 <= self.run <= LARGEST):
            raise UsageError("a reduction is split into two or more parts, of one or more iterations in a row",
                             witness=f"parts={self.parts}, run={self.run}")
        scop, loop = dependences.scop, find_loop(tree, self.loop)
        reduction = _reduction(scop, loop)
        place = _place(scop, loop, reduction)
        return _Splitting(scop=scop, reduction=reduction, place=place, parts=self.parts, run=self.run).made(tree, loop)


@dataclass(frozen=True, eq=False)
class _Split:
    """The changed program, its tree, and what stands for what."""

    scop: Scop
    tree: LoopTree
    how: Parts


@dataclass(frozen=True, eq=False)
class _Place:
    """Where a reduction's statement stands: the position of the split iterator, and of those of the loops outside."""

    split: int
    outside: tuple[int, ...]


def _reduction(scop: Scop, loop: Loop) -> Reduction:
    """What the only statement of a loop accumulates."""
    if len(loop.statements) != 1:
        raise UsageError(f"loop {loop.name!r} has {len(loop.statements)} statements",
                         witness=", ".join(loop.statements),
                         hint="distribute it first, so that the reduction has a loop of its own")
    statement = scop.statement(loop.statements[0])
    found = next((r for r in find_reductions(scop) if r.statement == statement.name), None)
    if found is None or not found.any_order:
        raise UsageError(f"{statement.name} is no reduction whose updates may run in any order",
                         hint="sums, products, minimum, maximum and bits of one element are")
    item = statement.body[0]
    write = statement.access(found.write)
    own = [a.reference for a in statement.accesses if a.array == write.array]
    simple = len(statement.body) == 1 and isinstance(item, Assign) and write.kind is AccessKind.MUST_WRITE
    if not simple or found.also or found.beside or set(own) != found.own or found.dtype.kind is Kind.BOOL:
        raise UsageError(f"{statement.name} accumulates in a way that is not split", witness=str(found),
                         hint="one assignment of one element, which nothing else in the statement reads")
    return found


def _place(scop: Scop, loop: Loop, reduction: Reduction) -> _Place:
    statement = scop.statement(reduction.statement)
    split = _moving(loop.band, statement)
    outside = sorted({p for band in loop.outer_bands for p in _moving(band, statement)})
    if len(split) != 1 or split[0] in outside:
        raise UsageError(f"loop {loop.name!r} does not enumerate one iterator of {statement.name}",
                         hint="split the reduction before the loop is tiled or skewed")
    write = statement.access(reduction.write)
    array = scop.array(write.array)
    if len(write.subscripts) != len(array.extents) or not write.exact:
        raise UsageError(f"the elements of {array.name!r} have no subscripts of their own")
    moves = {statement.iterators.index(e.name) for s in write.subscripts for e in walk(s) if isinstance(e, IteratorRef)}
    if inside := moves - set(outside):
        raise UsageError(f"{statement.iterators[min(inside)]!r} moves the element that {statement.name} updates",
                         hint="choose a loop inside of all that do, or reorder them first")
    return _Place(split[0], tuple(outside))


def _moving(band: Band, statement: Statement) -> list[int]:
    """Positions of the iterators on which a loop's value depends."""
    function = band.members[0].extract_pw_aff(statement.domain.get_space().from_domain().add_dims(_OUT, 1))
    affs = [aff for _, aff in function.get_pieces()]
    return [p for p in range(statement.depth) if any(aff.involves_dims(_IN, p, 1) for aff in affs)]


@dataclass(frozen=True, eq=False)
class _Splitting:
    """One reduction that is split."""

    scop: Scop
    reduction: Reduction
    place: _Place
    parts: int
    run: int

    def made(self, tree: LoopTree, loop: Loop) -> _Split:
        back = self.back
        others = [isl.Map.identity(s.domain.get_space().map_from_set()) for s in self.scop.statements
                  if s is not self.statement]
        moved = isl.UnionMap.from_map(back)
        for other in others:
            moved = moved.union(isl.UnionMap.from_map(other))
        pulled = from_isl(to_isl(tree).pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(moved)))
        pulled = replace(pulled, root=split_bands(pulled.root))
        target = loops(pulled)[loop.position]
        ends = (self.start, self.total)
        root = _Placing(target, self.update, self.part_position, self.run == 1, ends).rebuild(pulled.root)
        domain = pulled.domain
        for end in ends:
            domain = domain.union(isl.UnionSet.from_set(end.domain))
        made = LoopTree(domain=domain, root=root)
        statements = []
        for statement in self.scop.statements:
            statements += [self.start, self.update, self.total] if statement is self.statement else [statement]
        scop = replace(self.scop, arrays=(*self.scop.arrays, self.array), statements=tuple(statements),
                       schedule=to_isl(made))
        return _Split(scop, made, Parts(
            statement=self.statement.name, start=self.start.name, total=self.total.name, array=self.target.name,
            parts=self.array.name, group=self.place.outside, part=self.part_position, back=back))

    @property
    def statement(self) -> Statement:
        return self.scop.statement(self.reduction.statement)

    @property
    def write(self) -> Access:
        return self.statement.access(self.reduction.write)

    @property
    def target(self) -> Array:
        return self.scop.array(self.write.array)

    @property
    def words(self) -> tuple[str, ...]:
        return ("round", "part") if self.run == 1 else ("part", "round", "step")

    @property
    def split_names(self) -> tuple[str, ...]:
        """Of the iterators in place of the split one: round and part, or part, round and step."""
        name = self.statement.iterators[self.place.split]
        known = {*(p.name for p in self.scop.parameters), *self.statement.iterators}
        return tuple(_fresh(f"{name}_{word}", known) for word in self.words)

    @property
    def part_position(self) -> int:
        return self.place.split + (1 if self.run == 1 else 0)

    @property
    def part_name(self) -> str:
        return self.split_names[1 if self.run == 1 else 0]

    @property
    def back(self) -> isl.Map:
        """`{ S[i, t, l] -> S[i, parts * t + l] }`."""
        names, at = [f"i{p}" for p in range(self.statement.depth)], self.place.split
        new = ["t", "l"] if self.run == 1 else ["l", "t", "r"]
        old = f"{self.parts}t + l" if self.run == 1 else f"{self.run * self.parts}t + {self.run}l + r"
        within = f"0 <= l < {self.parts}" + (f" and 0 <= r < {self.run}" if self.run > 1 else "")
        name = self.statement.name
        relation = isl.Map.read_from_str(
            isl.DEFAULT_CONTEXT, f"{{ {name}[{', '.join([*names[:at], *new, *names[at + 1:]])}] -> "
                                 f"{name}[{', '.join([*names[:at], old, *names[at + 1:]])}] : {within} }}")
        return self._named(relation.intersect_range(self.statement.domain))

    def _named(self, relation: isl.Map) -> isl.Map:
        at = self.place.split
        for p, name in enumerate((*self.statement.iterators[:at], *self.split_names,
                                  *self.statement.iterators[at + 1:])):
            relation = relation.set_dim_name(_IN, p, name)
        return relation

    @property
    def array(self) -> Array:
        """One element per part, for each element of the array that is updated."""
        own = self.target
        known = {a.name for a in self.scop.arrays} | {p.name for p in self.scop.parameters}
        name = _fresh(f"{own.name.replace('.', '_')}_parts", known)
        extents = [e if e is not None else self._extent(d) for d, e in enumerate(own.extents)]
        count = isl.PwAff.from_aff(isl.Aff.zero_on_domain(isl.LocalSpace.from_space(
            self.scop.context.get_space()))).add_constant_val(isl.Val(self.parts))
        rank = len(extents) + 1
        return Array(name=name, dtype=self.dtype, extents=(*extents, count), storage=Storage.LOCAL,
                     c_extents=(None,) * rank, c_element=name + "[{}]" * rank)

    def _extent(self, dimension: int) -> isl.PwAff:
        elements = self.write.relation.intersect_params(self.scop.context).range()
        return elements.dim_max(dimension).add_constant_val(isl.Val.one(isl.DEFAULT_CONTEXT))

    @property
    def dtype(self) -> DType:
        """Of the parts: unsigned where sums of a signed type could leave its range on the way."""
        own = self.reduction.dtype
        return BY_NAME[f"u{own.name}"] if self.wraps else own

    @property
    def wraps(self) -> bool:
        own = self.reduction.dtype
        return self.reduction.operator in ("sum", "product") and own.kind is Kind.SIGNED and own.bits >= 32

    @property
    def update(self) -> Statement:
        """The statement as it was, into a part."""
        values = {self.statement.iterators[self.place.split]: self._old_value()}
        domain = self.back.domain()
        accesses = []
        for access in self.statement.accesses:
            relation = self._named(self.back.apply_range(access.relation))
            subscripts = tuple(rebuild(s, lambda e: _with_value(e, values, convert=False)) for s in access.subscripts)
            moved = replace(access, relation=relation, subscripts=subscripts)
            accesses.append(self._in_parts(moved, self.part_position) if access.reference in self.reduction.own
                            else moved)
        (item,) = self.statement.body
        assert isinstance(item, Assign)
        value = rebuild(item.value, lambda e: _with_value(e, values, convert=True))
        return replace(self.statement, domain=domain, accesses=tuple(accesses), body=(self._typed(item, value),))

    def _typed(self, item: Assign, value: Expr) -> BodyStatement:
        """The assignment, in the type of the parts."""
        if not self.wraps or item.op is not None:
            return replace(item, value=value, dtype=self.dtype)
        own = set(self.reduction.reads)
        match value:
            case Binary(op="+" | "*" as op, left=Load(reference=r), right=rest) if r in own:
                return Assign(item.target, rest, self.dtype, op, r)
            case Binary(op="+" | "*" as op, left=rest, right=Load(reference=r)) if r in own:
                return Assign(item.target, rest, self.dtype, op, r)
            case Binary(op="-", left=Load(reference=r), right=rest) if r in own:
                return Assign(item.target, rest, self.dtype, "-", r)
        raise UsageError(f"{self.statement.name} does not update its sum of signed integers at once",
                         hint="write it as x += value")

    def _old_value(self) -> Expr:
        """The split iterator."""
        def number(value: int) -> Literal:
            return Literal(str(value), value, INT64)

        by_word = {word: IteratorRef(name, INT64) for word, name in zip(self.words, self.split_names, strict=True)}
        value: Expr = Binary("+", Binary("*", number(self.run * self.parts), by_word["round"], INT64),
                             Binary("*", number(self.run), by_word["part"], INT64) if self.run > 1
                             else by_word["part"], INT64)
        return value if self.run == 1 else Binary("+", value, by_word["step"], INT64)

    def _in_parts(self, access: Access, position: int) -> Access:
        """The access to the same element of a part; its number is an iterator."""
        rank = access.relation.dim(_OUT)
        relation = access.relation.insert_dims(_OUT, rank, 1).equate(_IN, position, _OUT, rank)
        return replace(access, array=self.array.name, relation=relation.set_tuple_name(_OUT, self.array.name),
                       subscripts=(*access.subscripts, IteratorRef(self.part_name, INT64)))

    @property
    def start(self) -> Statement:
        """Every part begins with what changes nothing."""
        statement, (new,) = self._end("start", ("w0",))
        access = replace(self._end_access(statement, new), kind=AccessKind.MUST_WRITE)
        return replace(statement, accesses=(self._in_parts(access, statement.depth - 1),),
                       body=(Assign(new, neutral(self.reduction.operator, self.dtype), self.dtype),))

    @property
    def total(self) -> Statement:
        """The element is updated with every part."""
        statement, (part, old, new) = self._end("total", ("r0", "r1", "w0"))
        operator, dtype = self.reduction.operator, self.reduction.dtype
        element, value = Load(old, dtype), Load(part, self.dtype)
        if operator in COMBINED_BY:
            item = Assign(new, value, dtype, COMBINED_BY[operator], old)
        else:
            better = Binary("<" if operator in ("max", "maximum") else ">", element, value, INT32)
            if operator in NAN_WINS:
                better = Binary("||", better, Binary("!=", value, value, INT32), INT32)
            item = Assign(new, Select(better, value, element, dtype), dtype)
        accesses = (self._in_parts(self._end_access(statement, part), statement.depth - 1),
                    self._end_access(statement, old),
                    replace(self._end_access(statement, new), kind=AccessKind.MUST_WRITE))
        return replace(statement, accesses=accesses, body=(item,))

    def _end(self, word: str, references: tuple[str, ...]) -> tuple[Statement, tuple[str, ...]]:
        """A statement without accesses over all iterations outside and all parts; and its references."""
        own = self.statement
        name = _fresh(f"{own.name}_{word}", {s.name for s in self.scop.statements})
        domain = own.domain
        for p in reversed(range(own.depth)):
            if p not in self.place.outside:
                domain = domain.project_out(_SET, p, 1)
        width = len(self.place.outside)
        domain = domain.insert_dims(_SET, width, 1).set_tuple_name(name)
        domain = domain.lower_bound_val(_SET, width, isl.Val(0))
        domain = domain.upper_bound_val(_SET, width, isl.Val(self.parts - 1))
        for p, iterator in enumerate((*(own.iterators[p] for p in self.place.outside), self.part_name)):
            domain = domain.set_dim_name(_SET, p, iterator)
        return (Statement(name=name, line=own.line, domain=domain, accesses=(), body=()),
                tuple(f"{name}_{r}" for r in references))

    def _end_access(self, statement: Statement, reference: str) -> Access:
        """A read of the element, by a statement over the iterations outside and the parts."""
        relation = self.write.relation
        for p in reversed(range(self.statement.depth)):
            if p not in self.place.outside:
                relation = relation.project_out(_IN, p, 1)
        relation = relation.insert_dims(_IN, len(self.place.outside), 1).set_tuple_name(_IN, statement.name)
        return Access(reference=reference, array=self.target.name, kind=AccessKind.READ,
                      relation=relation.intersect_domain(statement.domain), subscripts=self.write.subscripts)


def neutral(operator: str, dtype: DType) -> Expr:
    """What changes nothing; -0.0 for a sum of floats, which keeps the sign of a sum of negative zeros."""
    if operator in EXTREMA:
        from_above = operator in ("min", "minimum")
        if dtype.is_float:
            return float_literal(float("inf") if from_above else float("-inf"), dtype)
        return _integer(dtype.value_range()[1 if from_above else 0], dtype)
    if dtype.is_float:
        return float_literal(-0.0 if operator == "sum" else 1.0, dtype)
    return _integer({"product": 1, "and": -1 if dtype.kind is Kind.SIGNED else dtype.value_range()[1]}.get(operator, 0),
                    dtype)


def _integer(value: int, dtype: DType) -> Expr:
    return Cast(integer_literal(value, INT32), dtype) if dtype.bits < 32 else integer_literal(value, dtype)


def _with_value(e: Expr, values: dict[str, Expr], *, convert: bool) -> Expr:
    """An iterator's value; of its own type where it is a number."""
    if not isinstance(e, IteratorRef) or e.name not in values:
        return e
    return Cast(values[e.name], e.dtype) if convert and e.dtype != INT64 else values[e.name]


def _fresh(name: str, known: set[str]) -> str:
    return next(n for n in (name, *(f"{name}_{k}" for k in range(2, len(known) + 3))) if n not in known)


@dataclass(frozen=True, eq=False)
class _Placing:
    """Rebuilds a tree with start and total beside the split loop."""

    loop: Loop
    update: Statement
    part: int
    lanes: bool
    ends: tuple[Statement, Statement]

    def rebuild(self, node: Node) -> Node:
        if node is self.loop.band:
            return self._parts(node)
        if not any(node is a for a in self.loop.ancestors):
            return node
        match node:
            case Band():
                member = node.members[0]
                for end in self.ends:
                    member = member.union_add(isl.UnionPwAff.from_pw_aff(self._outside(member, end)))
                return replace(node, members=(member,), child=self.rebuild(node.child))
            case Sequence():
                return replace(node, branches=tuple(
                    (self._with_ends(keep) if self._is_above(child) else keep, self.rebuild(child))
                    for keep, child in node.branches))
            case Filter():
                return replace(node, keep=self._with_ends(node.keep), child=self.rebuild(node.child))
            case Mark():
                return replace(node, child=self.rebuild(node.child))
            case Leaf():
                return node

    def _is_above(self, node: Node) -> bool:
        return node is self.loop.band or any(node is a for a in self.loop.ancestors)

    def _with_ends(self, keep: isl.UnionSet) -> isl.UnionSet:
        for end in self.ends:
            keep = keep.union(isl.UnionSet.from_set(end.domain))
        return keep

    def _outside(self, member: isl.UnionPwAff, end: Statement) -> isl.PwAff:
        """The value of a loop around, for the iterations outside that an end belongs to."""
        space = self.update.domain.get_space().from_domain().add_dims(_OUT, 1)
        values = isl.Map.from_pw_aff(member.extract_pw_aff(space)).intersect_domain(self.update.domain)
        for p in reversed(range(self.update.depth)):
            if self.update.iterators[p] not in end.iterators[:-1]:
                values = values.project_out(_IN, p, 1)
        values = values.insert_dims(_IN, end.depth - 1, 1).set_tuple_name(_IN, end.name).intersect_domain(end.domain)
        return isl.PwMultiAff.from_map(values).get_pw_aff(0)

    def _parts(self, band: Band) -> Node:
        own = isl.UnionSet.from_set(self.update.domain)
        first = self.part - (1 if self.lanes else 0)
        inner = band.child
        for p in reversed(range(first, first + (2 if self.lanes else 3))):
            inner = _over(self.update, p, inner)
        start, total = (_over(end, end.depth - 1, Leaf()) for end in self.ends)
        sets = [isl.UnionSet.from_set(end.domain) for end in self.ends]
        return Sequence(branches=((sets[0], start), (own, inner), (sets[1], total)))


def _over(statement: Statement, position: int, child: Node) -> Band:
    """A loop over one iterator of a statement."""
    function = isl.Aff.var_on_domain(isl.LocalSpace.from_space(statement.domain.get_space()), _SET, position)
    member = isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(function).intersect_domain(statement.domain))
    return Band(members=(member,), coincident=(False,), permutable=True, child=child, mark=LoopMark())
