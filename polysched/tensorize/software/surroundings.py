"""The loops that a statement shares with others: which stay outside of the instruction, and the program inside.

A loop that carries a dependence between a statement and others cannot be distributed.  It stays as it is: in each of
its iterations the instruction computes the statement's nest, between what is written before it and what is written
behind it (distribution inside the loops that carry, Allen and Kennedy 2001, section 5.2).  To the code inside, its
iterator is a parameter.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import islpy as isl

from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import (
    Band,
    Filter,
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
    BodyStatement,
    Call,
    Expr,
    If,
    IteratorRef,
    ParameterRef,
    Perform,
    While,
    rebuild,
    statement_expressions,
    walk,
)
from polysched.scop.dtypes import INT32, DType
from polysched.scop.plain_c import expression_in_c
from polysched.scop.points import fix_parameters, isl_value
from polysched.scop.scop import Parameter, Scop, Statement, union_map, union_set
from polysched.tensorize.software.polynomials import affine_text, of_affine
from polysched.tensorize.software.renaming import named_set


@dataclass(frozen=True, kw_only=True)
class KeptLoop:
    """A loop of the program that runs around an instruction.

    Parameters
    ----------
    iterator : its name in the statements.
    name : its variable in the emitted C, which hides nothing that is used inside.
    dtype : of the variable.
    lower, upper : least and greatest value at the program's sizes.
    descending : it runs from `upper` to `lower`.
    written : the arrays that something inside writes.
    """

    iterator: str
    name: str
    dtype: DType
    lower: int
    upper: int
    descending: bool
    written: frozenset[str]


@dataclass(frozen=True)
class Around:
    """One place on the way from the root of the schedule tree to a statement.

    Parameters
    ----------
    statements : those that run here, in one iteration of the loops outside, in textual order.
    descending : the loop that follows runs downwards.
    """

    statements: tuple[str, ...]
    descending: bool = False


def surroundings(scop: Scop, name: str) -> tuple[Around, ...]:
    """With no loop outside, one, two, ...: what shares the next nest with a statement.

    The last one stands where the next loop is none of the statement's own iterators for everything inside.
    """
    tree = from_isl(scop.schedule)
    node, here, found = split_bands(tree.root), tuple(s.name for s in scop.statements), list[Around]()
    own = isl.UnionSet.from_set(scop.statement(name).domain)
    while True:
        match node:
            case Sequence():
                mine = [(keep, child) for keep, child in node.branches if not keep.intersect(own).is_empty()]
                if len(mine) != 1:   # its instances are spread over several nests
                    return (*found, Around(here))
                keep, node = mine[0]
                here = tuple(n for n in here if not keep.intersect(scop.statement(n).domain).is_empty())
            case Filter() | Mark():
                node = node.child
            case Band():
                direction = _direction(scop, node, here, len(found))
                found.append(Around(here, direction < 0))
                if not direction:
                    return tuple(found)
                node = node.child
            case _:
                return (*found, Around(here))


def _direction(scop: Scop, band: Band, names: Iterable[str], at: int) -> int:
    """1 where the loop counts iterator number `at` of all these statements upwards, -1 downwards, 0 for any other."""
    statements = [scop.statement(n) for n in names]
    if any(s.depth <= at for s in statements) or len({s.iterators[at] for s in statements}) != 1:
        return 0
    value = isl.UnionMap.from_union_pw_aff(band.members[0]).intersect_domain(union_set(s.domain for s in statements))
    for sign in (1, -1):
        counted = union_map(_iterator_map(s, at, sign).intersect_domain(s.domain) for s in statements)
        if value.is_equal(counted):
            return sign
    return 0


def _iterator_map(statement: Statement, at: int, sign: int) -> isl.Map:
    names = ", ".join(f"i{i}" for i in range(statement.depth))
    return isl.Map.read_from_str(statement.domain.get_ctx(), f"{{ {statement.name}[{names}] -> [{sign} * i{at}] }}")


def kept_loop(scop: Scop, inside: Iterable[str], at: int, *, descending: bool, sizes: Mapping[str, int],
              taken: Iterable[str]) -> KeptLoop:
    """Iterator number `at` of some statements as a loop around an instruction.

    Parameters
    ----------
    taken : names of the variables of loops around this one.
    """
    statements = [scop.statement(n) for n in inside]
    iterator = statements[0].iterators[at]
    ends = [(d.dim_min_val(at), d.dim_max_val(at)) for s in statements
            if not (d := fix_parameters(s.domain, sizes)).is_empty()]
    lower = min(int(low.get_num_si()) for low, _ in ends)
    upper = max(int(high.get_num_si()) for _, high in ends)
    types = [e.dtype for s in statements for top in _expressions(s) for e in walk(top)
             if isinstance(e, IteratorRef) and e.name == iterator]
    return KeptLoop(iterator=iterator, name=_unhidden(scop, iterator, taken), dtype=types[0] if types else INT32,
                    lower=lower, upper=upper, descending=descending,
                    written=frozenset(a.array for s in statements for a in s.writes))


def _expressions(statement: Statement) -> Iterable[Expr]:
    yield from statement_expressions(statement.body)
    for access in statement.accesses:
        yield from access.subscripts


def _unhidden(scop: Scop, iterator: str, outside: Iterable[str]) -> str:
    """A name of a loop variable that is no other name of the program."""
    taken = {*outside} | {p.name for p in scop.parameters} | {p.spelling for p in scop.parameters} | {
        a.name for a in scop.arrays} | {n for s in scop.statements for n in s.iterators if n != iterator}
    twice = any(s.iterators.count(iterator) > 1 for s in scop.statements)
    name = f"{iterator}_outside" if twice or iterator in taken else iterator
    while name in taken:
        name += "_"
    return name


def inside_loops(scop: Scop, loops: tuple[KeptLoop, ...], sizes: Mapping[str, int]) -> Scop:
    """The program of one iteration of the loops around all of it, whose iterators are parameters, at these sizes.

    Rewrite:  S[t, i] : 0 <= t < T and i < t  ->  [t] -> S[i] : i < t,  context 0 <= t < T
    """
    if not loops:
        return scop
    at, first = len(loops), len(scop.parameters)
    context = scop.context
    for parameter in scop.parameters:
        place = context.find_dim_by_name(isl.dim_type.param, parameter.name)
        context = context.fix_val(isl.dim_type.param, place, isl_value(sizes[parameter.name]))
    context = context.add_dims(isl.dim_type.param, at)
    for i, loop in enumerate(loops):
        context = context.set_dim_name(isl.dim_type.param, first + i, loop.name)
        context = context.lower_bound_val(isl.dim_type.param, first + i, isl_value(loop.lower))
        context = context.upper_bound_val(isl.dim_type.param, first + i, isl_value(loop.upper))
    return _inside(scop, loops, context)


def _inside(scop: Scop, loops: tuple[KeptLoop, ...], context: isl.Set) -> Scop:
    """The program of one iteration of the loops around all of it.

    Parameters
    ----------
    context : with the iterators of these behind the program's parameters.
    """
    statements = tuple(_one_iteration(s, loops) for s in scop.statements)
    back = union_map(_placed(s, loops) for s in scop.statements)
    pulled = scop.schedule.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(back))
    tree = from_isl(pulled)
    domain = union_set(s.domain for s in statements)
    schedule = to_isl(LoopTree(domain=domain, root=_without_loops(split_bands(tree.root), len(loops))))
    parameters = tuple(Parameter(name=loop.name, dtype=loop.dtype) for loop in loops)
    return replace(scop, statements=statements, context=context, schedule=schedule,
                   parameters=(*scop.parameters, *parameters))


def _placed(statement: Statement, loops: tuple[KeptLoop, ...]) -> isl.Map:
    """`[t] -> { S[i] -> S[t, i] }`."""
    inner = [f"i{i}" for i in range(statement.depth - len(loops))]
    outer = [loop.name for loop in loops]
    text = (f"[{', '.join(outer)}] -> {{ {statement.name}[{', '.join(inner)}] -> "
            f"{statement.name}[{', '.join([*outer, *inner])}] }}")
    return isl.Map.read_from_str(statement.domain.get_ctx(), text)


def _one_iteration(statement: Statement, loops: tuple[KeptLoop, ...]) -> Statement:
    names = {loop.iterator: loop.name for loop in loops}
    outer, iterators = statement.iterators[:len(loops)], statement.iterators[len(loops):]

    def change(e: Expr) -> Expr:
        return ParameterRef(names[e.name], e.dtype) if isinstance(e, IteratorRef) and e.name in outer else e

    place = _placed(statement, loops)
    domain = named_set(isl.Map.from_domain(statement.domain).apply_domain(place.reverse()).domain(), iterators)
    accesses = tuple(replace(a, relation=place.apply_range(a.relation),
                             subscripts=tuple(rebuild(x, change) for x in a.subscripts)) for a in statement.accesses)
    return replace(statement, domain=domain, accesses=accesses,
                   body=tuple(_rebuilt(b, change) for b in statement.body))


def _rebuilt(item: BodyStatement, change: Callable[[Expr], Expr]) -> BodyStatement:
    match item:
        case Assign():
            return replace(item, value=rebuild(item.value, change))
        case If():
            return replace(item, condition=rebuild(item.condition, change),
                           then=tuple(_rebuilt(b, change) for b in item.then),
                           otherwise=tuple(_rebuilt(b, change) for b in item.otherwise))
        case While():
            return replace(item, condition=rebuild(item.condition, change),
                           body=tuple(_rebuilt(b, change) for b in item.body))
        case Perform():
            call = rebuild(item.call, change)
            assert isinstance(call, Call)
            return replace(item, call=call)


def _without_loops(node: Node, count: int) -> Node:
    """The tree without the outermost loops of every branch."""
    if not count:
        return node
    match node:
        case Band():
            return _without_loops(node.child, count - 1)
        case Sequence():
            branches = tuple((keep, _without_loops(child, count)) for keep, child in node.branches)
            return replace(node, branches=branches)
        case Filter() | Mark():
            return replace(node, child=_without_loops(node.child, count))
        case _:
            return node


def as_part(scop: Scop) -> Scop:
    """A part of a region, in whose place the region's own code must not run."""
    return scop if scop.source is None else replace(scop, source=replace(scop.source, whole=False))


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedLoop:
    """The outermost loop of a whole program, for all sizes, and the program of one of its iterations.

    Parameters
    ----------
    name : of its variable.
    head : `for` of C, over the program's parameters.
    inside : whose parameters are those of the program and the iterator.
    """

    name: str
    head: str
    inside: Scop


def shared_loop(scop: Scop) -> SharedLoop | None:
    """The outermost loop where all statements share it; None where they do not, or its ends are no sums of parameters.

    A loop in steps begins with such a sum, and takes the same steps up to another one.  In some iterations there may be
    nothing to do: domains inside have the iterator as a parameter.

    Rewrite:  S[t, i] : 0 <= t < T and 0 <= i < n  ->  for (t = 0; t < T; t++)  [t, T, n] -> S[i] : 0 <= i < n
    """
    names = {s.name for s in scop.statements}
    around = surroundings(scop, scop.statements[0].name)
    if len(around) < 2 or {*around[0].statements} != names or any(p.spelling != p.name for p in scop.parameters):
        return None
    if scop.source is not None and (scop.source.declarations or scop.source.saved or scop.source.stepped):
        return None
    values = functools.reduce(isl.Set.union, map(_outermost, scop.statements)).coalesce()
    loop = _loop_of_all(scop, descending=around[0].descending)
    head = _head(loop, values, scop)
    if head is None:
        return None
    place = values.dim(isl.dim_type.param)
    moved = values.move_dims(isl.dim_type.param, place, isl.dim_type.set, 0, 1).set_dim_name(
        isl.dim_type.param, place, loop.name).params()
    return SharedLoop(name=loop.name, head=head, inside=as_part(
        _inside(scop, (loop,), scop.context.params().intersect(moved))))


def _loop_of_all(scop: Scop, *, descending: bool) -> KeptLoop:
    """The outermost iterator of all statements as a loop, whose ends nobody asks for."""
    iterator = scop.statements[0].iterators[0]
    types = [e.dtype for s in scop.statements for top in _expressions(s) for e in walk(top)
             if isinstance(e, IteratorRef) and e.name == iterator]
    return KeptLoop(iterator=iterator, name=_unhidden(scop, iterator, ()), dtype=types[0] if types else INT32, lower=0,
                    upper=0, descending=descending, written=frozenset())


def _outermost(statement: Statement) -> isl.Set:
    """The values of the outermost iterator, over the parameters."""
    domain = statement.domain
    return domain.project_out(isl.dim_type.set, 1, domain.dim(isl.dim_type.set) - 1).reset_tuple_id()


def _head(loop: KeptLoop, values: isl.Set, scop: Scop) -> str | None:
    """The head of the loop over all values of the iterator; None where these are not steps between two sums."""
    context, step = scop.context.params(), int(values.get_stride(0).get_num_si())
    around = isl.Set.from_basic_set(values.remove_divs().polyhedral_hull()) if step > 1 else values
    ends = [end.gist(context).coalesce() for end in (around.dim_min(0), around.dim_max(0))]
    forms = [form for end in ends if (form := of_affine(end)) is not None]
    if len(forms) < len(ends):
        return None
    low, high = map(affine_text, forms)
    names = ", ".join(p.name for p in scop.parameters)
    counted = isl.Set.read_from_str(values.get_ctx(), f"[{names}] -> {{ [v] : ({low}) <= v <= ({high}) and "
                                    f"(v - ({high if loop.descending else low})) mod {step} = 0 }}")
    if not counted.intersect_params(context).is_equal(values.intersect_params(context)):
        return None
    least, most = (expression_in_c(isl.AstBuild.from_context(context).expr_from_pw_aff(end)) for end in ends)
    v, kind = loop.name, "int" if loop.dtype == INT32 else "long"
    first, test, sign = (most, f">= {least}", "-") if loop.descending else (least, f"<= {most}", "+")
    by = f"{v}{sign}{sign}" if step == 1 else f"{v} {sign}= {step}"
    return f"for ({kind} {v} = {first}; {v} {test}; {by}) {{"
