"""From what was read to the Scop: parameters settled, iterators in tuples, the schedule as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

import islpy as isl

from polysched.scop.c_frontend.extraction import Extraction
from polysched.scop.c_frontend.order import Leaf, LoopTree, OpenAccess, OpenStatement, Sequence, Tree
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.delinearise import delinearise
from polysched.scop.c_frontend.subscripts.polyhedra import PARAM
from polysched.scop.scop import (
    Access,
    AccessKind,
    Array,
    Assumption,
    Parameter,
    Scop,
    SourceRegion,
    Statement,
    union_set,
)


def build_scop(x: Extraction, tree: Tree | None, *, name: str, source: SourceRegion,
               assumptions: tuple[Assumption, ...], dead_after: frozenset[str] = frozenset()) -> Scop:
    """The finished value; every isl object has the same parameters in the same order.

    Parameters
    ----------
    tree : the order as written; None for a region in which nothing runs.
    dead_after : names of the arrays that nothing reads after the region.
    """
    delinearise(x)
    parameters = tuple(x.parameters.values())
    model = parameter_space(parameters)
    types = x.context_of_types().params().align_params(model)
    statements = {s.name: _statement(s, model, types) for s in x.open_statements}
    schedule, scheduled = (_nothing(model), []) if tree is None else _schedule(tree, statements)
    assert {s.name for s in scheduled} == set(statements), "every statement has its place in the order as written"
    context = x.context.params().align_params(model).coalesce()
    running = {n: s for n, s in statements.items() if not s.domain.intersect_params(context).is_empty()}
    if len(running) < len(statements):   # what was assumed behind them excludes the others
        statements = running
        schedule = (schedule.intersect_domain(union_set(s.domain for s in running.values())) if running
                    else _nothing(model))
    used = {a.array for s in statements.values() for a in s.accesses}
    return Scop(
        name=name,
        context=context,
        parameters=parameters,
        arrays=tuple(replace(_array(a, model), dead_after=a.name in dead_after)
                     for a in x.arrays.values() if a.name in used),
        statements=tuple(statements.values()),
        schedule=schedule,
        assumptions=tuple(_assumption(a, model) for a in (*x.assumptions, *_about(assumptions, used, parameters))),
        notes=tuple(x.notes),
        source=source,
    )


def _about(assumptions: tuple[Assumption, ...], arrays: set[str],
           parameters: tuple[Parameter, ...]) -> Iterator[Assumption]:
    """The assumptions on overlap as far as they are about arrays that are left."""
    left = {*arrays, *(p.name for p in parameters)}
    for assumption in assumptions:
        apart = tuple(pair for pair in assumption.apart if left.issuperset(pair))
        if apart or not assumption.apart:
            yield replace(assumption, apart=apart)


def parameter_space(parameters: tuple[Parameter, ...]) -> isl.Space:
    """The parameter space with these parameters in this order."""
    space = isl.Space.params_alloc(polyhedra.CONTEXT, len(parameters))
    for at, parameter in enumerate(parameters):
        space = space.set_dim_name(PARAM, at, parameter.name)
    return space


def _statement(open_statement: OpenStatement, model: isl.Space, types: isl.Set) -> Statement:
    """The statement without constraints that only repeat the range of a parameter's type."""
    domain = polyhedra.to_set(open_statement.domain, open_statement.iterators, open_statement.name)
    if domain.n_basic_set() == 1:
        domain = domain.gist_params(types).remove_redundancies()
    return Statement(
        name=open_statement.name, line=open_statement.line, domain=domain.align_params(model),
        body=open_statement.body,
        accesses=tuple(_access(a, open_statement, model, types) for a in open_statement.accesses))


def _access(access: OpenAccess, statement: OpenStatement, model: isl.Space, types: isl.Set) -> Access:
    relation = polyhedra.to_map(access.relation, statement.iterators, statement.name, access.array)
    if relation.n_basic_map() == 1:
        relation = relation.gist_params(types)
    relation = relation.align_params(model)
    kind = access.kind
    if kind is AccessKind.MUST_WRITE and not access.exact:
        kind = AccessKind.MAY_WRITE
    return Access(reference=access.reference, array=access.array, kind=kind, relation=relation,
                  subscripts=access.subscripts, exact=access.exact)


def _array(array: Array, model: isl.Space) -> Array:
    extents = tuple(None if e is None else _over_parameters(e, model) for e in array.extents)
    return replace(array, extents=extents)


def _over_parameters(value: isl.PwAff, model: isl.Space) -> isl.PwAff:
    return value.project_domain_on_params().align_params(model)


def _assumption(assumption: Assumption, model: isl.Space) -> Assumption:
    parameters = assumption.parameters
    otherwise = assumption.otherwise
    return replace(assumption, parameters=None if parameters is None else parameters.align_params(model),
                   otherwise=None if otherwise is None else otherwise.align_params(model))


def _schedule(tree: Tree, statements: dict[str, Statement]) -> tuple[isl.Schedule, list[Statement]]:
    """The order as written, one band with one member per loop and sequences in between, and the statements in it."""
    match tree:
        case Leaf():
            statement = statements[tree.statement.name]
            return isl.Schedule.from_domain(isl.UnionSet.from_set(statement.domain)), [statement]
        case Sequence():
            parts = [_schedule(child, statements) for child in tree.children]
            return (reduce(lambda a, b: a.sequence(b), (p[0] for p in parts)),
                    [s for p in parts for s in p[1]])
        case LoopTree():
            schedule, inside = _schedule(tree.child, statements)
            band = reduce(lambda a, b: a.union_add(b), (_counter(s, tree) for s in inside))
            return schedule.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(band)), inside


def _nothing(model: isl.Space) -> isl.Schedule:
    """The order of no instances."""
    return isl.Schedule.from_domain(isl.UnionSet.empty(model))


def _counter(statement: Statement, loop: LoopTree) -> isl.UnionPwAff:
    space = isl.LocalSpace.from_space(statement.domain.get_space())
    value = isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, loop.depth))
    return isl.UnionPwAff.from_pw_aff(value if loop.forward else value.neg())
