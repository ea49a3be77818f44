"""Loops over the rows of a set, as plain C ahead of a region: for tests that look at each row once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import islpy as isl

from polysched.emit_c.limits import LIMITS
from polysched.emit_c.scalar_code.size_text import spelled
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.scop.plain_c import expression_in_c
from polysched.scop.scop import Scop

_KIND: Any = isl.ast_node_type
Visit = Callable[[list[str]], list[str]]

SLACK = LIMITS.row_slack


def row_loops(scop: Scop, rows: isl.Set, variables: list[str], visit: Visit) -> list[str]:
    """C lines that visit every row of a set.

    Parameters
    ----------
    rows : its last dimension goes along a row, those before it name the row; where the ends of the rows are no one
        function of these, a row may seem a little longer, but none is visited that is not there.
    variables : the names of the loops, one per dimension before the last.
    visit : the lines of one row, from its indices, and the first and the last element of it, as C.
    """
    leading = len(variables)
    there = rows.project_out(isl.dim_type.set, leading, 1).insert_dims(isl.dim_type.set, leading, 1)
    convex = isl.Set.from_basic_set(rows.coalesce().simple_hull()).reset_tuple_id().intersect(there.reset_tuple_id())
    exact, along = (isl.Map.from_range(given).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, leading)
                    for given in (rows.reset_tuple_id(), convex))
    if not along.is_subset(exact) and not _is_close(along, exact):
        along = exact
    ends = along.lexmin().flat_range_product(along.lexmax()).wrap().flatten().coalesce()
    ends = spelled(scop, ends.set_tuple_name("row"))
    names = isl.IdList.alloc(ends.get_ctx(), leading)
    for name in variables:
        names = names.add(isl.Id(name))
    build = isl.AstBuild.from_context(spelled(scop, scop.context)).set_iterators(names)
    schedule = isl.Map.identity(ends.get_space().map_from_set()).reset_tuple_id(isl.dim_type.out)
    return _lines(build.node_from_schedule_map(isl.UnionMap.from_map(schedule.intersect_domain(ends))), visit)


def point_loops(scop: Scop, points: isl.Set, names: list[str], body: list[str]) -> list[str]:
    """C lines that run a body for every point of a set.

    Parameters
    ----------
    names : of the coordinates, one per dimension; the body uses them.
    """
    if not names:
        inside = spelled(scop, points.params().gist(scop.context))
        condition = isl.AstBuild.from_context(isl.Set.universe(inside.get_space())).expr_from_set(inside)
        return _around(f"if ({expression_in_c(condition)})", body)
    points = spelled(scop, points.set_tuple_name("point"))
    iterators = isl.IdList.alloc(points.get_ctx(), len(names))
    for name in names:
        iterators = iterators.add(isl.Id(f"polysched_{name}"))   # isl has no loop, and no such name, for one iteration
    build = isl.AstBuild.from_context(spelled(scop, scop.context)).set_iterators(iterators)
    schedule = isl.Map.identity(points.get_space().map_from_set()).reset_tuple_id(isl.dim_type.out)
    return _lines(build.node_from_schedule_map(isl.UnionMap.from_map(schedule.intersect_domain(points))),
                  lambda indices: _around("", [
                      *(f"const long {name} = {index};" for name, index in zip(names, indices, strict=True)), *body]))


def _is_close(hull: isl.Map, rows: isl.Map) -> bool:
    """Whether no row ends more than `SLACK` elements before its hull does.

    The faces of a simple hull are those of the parts, moved outwards: where parameters have bounds, by as much as these
    are apart.
    """
    slack = isl.PwAff.read_from_str(hull.get_ctx(), f"{{ [{SLACK}] }}")
    ends = [(m.lexmin_pw_multi_aff().get_at(0), m.lexmax_pw_multi_aff().get_at(0)) for m in (hull, rows)]
    (first, last), (least, greatest) = ends
    moved = slack.insert_domain(first.get_space().domain())
    return bool(first.add(moved).lt_set(least).is_empty() and last.sub(moved).gt_set(greatest).is_empty())


def _lines(node: isl.AstNode, visit: Visit) -> list[str]:
    kind: Any = node.get_type()
    if kind == _KIND.block:
        children = node.block_get_children()
        return [line for k in range(children.n_ast_node()) for line in _lines(children.get_at(k), visit)]
    if kind == _KIND.if_:
        then = _around(f"if ({expression_in_c(node.if_get_cond())})", _lines(node.if_get_then(), visit))
        return [*then, *_around("else", _lines(node.if_get_else(), visit))] if node.if_has_else() else then
    if kind == _KIND.for_:
        return _around(_head(node), _lines(node.for_get_body(), visit))
    call = node.user_get_expr()
    return visit([expression_in_c(call.get_op_arg(k)) for k in range(1, call.get_op_n_arg())])


def _head(node: isl.AstNode) -> str:
    name = node.for_get_iterator().get_id().get_name()
    start = expression_in_c(node.for_get_init())
    if node.for_is_degenerate():
        return f"for (long {name} = {start}, {name}_once = 1; {name}_once; {name}_once = 0)"
    step = expression_in_c(node.for_get_inc())
    return (f"for (long {name} = {start}; {expression_in_c(node.for_get_cond())}; "
            f"{name}{'++' if step == '1' else f' += {step}'})")


def _around(head: str, lines: list[str]) -> list[str]:
    return [f"{head} {{".lstrip(), *(INDENT + line for line in lines), "}"]
