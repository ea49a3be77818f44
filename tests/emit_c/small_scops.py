"""Scops made by hand from isl text, and schedules around them, for tests of emission alone."""

from __future__ import annotations

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.scheduling.schedule import Schedule
from polysched.scop.body import Assign, Binary, BodyStatement, Expr, IteratorRef, Literal, Load, ParameterRef
from polysched.scop.dtypes import FLOAT32, INT32, DType
from polysched.scop.scop import Access, AccessKind, Array, Parameter, Scop, SourceRegion, Statement
from polysched.tiling.tiled_schedule import BandTiling, TiledSchedule


def it(name: str, dtype: DType = INT32) -> IteratorRef:
    return IteratorRef(name, dtype)


def par(name: str, dtype: DType = INT32) -> ParameterRef:
    return ParameterRef(name, dtype)


def num(value: int) -> Literal:
    return Literal(str(value), value, INT32)


def op(sign: str, left: Expr, right: Expr, dtype: DType = INT32) -> Binary:
    return Binary(sign, left, right, dtype)


def access(reference: str, relation: str, *subscripts: Expr) -> Access:
    kind = AccessKind.MUST_WRITE if "_w" in reference else AccessKind.READ
    made = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, relation)
    return Access(reference=reference, array=made.get_tuple_name(isl.dim_type.out), kind=kind, relation=made,
                  subscripts=subscripts)


def statement(domain: str, body: tuple[BodyStatement, ...], *accesses: Access) -> Statement:
    instances = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, domain)
    return Statement(name=instances.get_tuple_name(), line=0, domain=instances, body=body, accesses=accesses)


def scop(statements: tuple[Statement, ...], arrays: tuple[Array, ...], *, parameters: tuple[Parameter, ...] = (),
         context: str = "{ : }", tree: str | None = None, source: SourceRegion | None = None) -> Scop:
    head = f"[{', '.join(p.name for p in parameters)}] -> "
    domains = isl.UnionSet.read_from_str(isl.DEFAULT_CONTEXT, "{ }")
    for made in statements:
        domains = domains.union(isl.UnionSet.from_set(made.domain))
    schedule = isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, tree) if tree else isl.Schedule.from_domain(domains)
    return Scop(name="f", context=isl.Set.read_from_str(isl.DEFAULT_CONTEXT, head + context), parameters=parameters,
                arrays=arrays, statements=statements, schedule=schedule, source=source)


def tiled(made: Scop, tree: str | None = None, bands: tuple[BandTiling, ...] = ()) -> TiledSchedule:
    schedule = Schedule(dependences=Dependences(scop=made, pairs=()), tree=made.schedule, algorithm="original")
    text = isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, tree) if tree else made.schedule
    return TiledSchedule(schedule=schedule, tree=text, bands=bands)


def copy_statement(domain: str, relation_to: str, target: Expr, relation_from: str, source: Expr,
                   dtype: DType = FLOAT32) -> Statement:
    """`A[target] = B[source]` over the domain."""
    name = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, domain).get_tuple_name()
    body = (Assign(target=f"{name}_w0", value=Load(f"{name}_r0", dtype), dtype=dtype),)
    return statement(domain, body, access(f"{name}_w0", relation_to, target),
                     access(f"{name}_r0", relation_from, source))
