"""Whether generated loops visit exactly the instances of the schedule: by isl for all sizes, or by running them.

isl's code generator has been seen to drop instances of tiled strided loops (a loop inside a tile was taken
for one of a single iteration), so loops over strided statements are turned back into sets and compared.
Where that is too hard they are run at a few small sizes, which is a test and no proof; where even that says
nothing, a warning does.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import partial

import islpy as isl

from polysched.emit_c.generation.loop_run import InstancesRun, compile_instances
from polysched.emit_c.generation.piece_loops import is_over_pieces
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import (
    Atom,
    Choice,
    Comparison,
    Condition,
    Extreme,
    Linear,
    Product,
    Quotient,
    Remainder,
    SourceOperation,
    ToBoundary,
    Variable,
)
from polysched.emit_c.loop_ir.loops import Block, For, If, Let, Node, StatementInstance
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.errors import SourceLocation
from polysched.scop.budget import with_budget
from polysched.scop.points import fix_parameters, points_of
from polysched.scop.scop import Scop, Statement

_LOG = logging.getLogger(__name__)
CHECK_OPERATIONS = LIMITS.check_operations
MOST_INSTANCES = LIMITS.most_instances
MOST_IN_PIECES = LIMITS.most_instances_in_pieces
TRIED_SIZES = (45, 23, 14, 9, 6)


class _NoText(Exception):
    """A form that isl's notation cannot say."""


def visits_every_instance(node: Node, scop: Scop) -> bool:
    """Whether the instances of statements are visited, within the context, and no others.

    Looked at are strided statements.  Decided for all parameter values where isl can within its budget; else by running
    the loops at a few small ones.  All statements are looked at where loops go over pieces whose width only the running
    program knows, and those are run at once: no budget was enough for the ends of pieces.
    """
    if any(is_over_pieces(n) for n in walk_nodes(node)):
        runs = _Runs(node, MOST_IN_PIECES)
        return all(_is_exact_where_tried(statement, scop, runs) for statement in scop.statements)
    runs = _Runs(node, MOST_INSTANCES)
    return all(_is_exact(node, statement, scop, runs) for statement in scop.statements if _is_strided(statement))


class _Runs:
    """The visited instances per size and statement; the loops run once per size, for all statements.

    Attributes
    ----------
    most : instances of a statement for which the loops are run.
    """

    def __init__(self, node: Node, most: int) -> None:
        self.most = most
        self._node = node
        self._run: InstancesRun | None = None
        self._found: dict[tuple[int, ...], dict[str, list[tuple[int, ...]]]] = {}

    def at(self, values: Mapping[str, int], statement: str) -> list[tuple[int, ...]]:
        """The instances of a statement at these parameter values."""
        size = tuple(values.values())
        if size not in self._found:
            self._run = self._run or compile_instances(self._node)
            self._found[size] = self._run(values)
        return self._found[size].get(statement, [])


def _is_exact(node: Node, statement: Statement, scop: Scop, runs: _Runs) -> bool:
    try:
        exact = with_budget(CHECK_OPERATIONS, partial(_is_proved, node, statement, scop))
    except (isl.Error, _NoText):
        exact = None
    return _is_exact_where_tried(statement, scop, runs) if exact is None else exact


def _is_exact_where_tried(statement: Statement, scop: Scop, runs: _Runs) -> bool:
    """Whether the loops visit each instance once at a few sizes; a warning where none of them says anything."""
    tried = [_visits_at(runs, statement, values) for values in small_values(scop)]
    if all(found is None for found in tried):
        tried = [_visits_at(runs, statement, values) for values in nearest_values(scop, statement)]
    if all(found is None for found in tried):
        _LOG.warning("%s: whether the new loops run every iteration of this statement exactly once was not checked: "
                     "the proof took isl too long, and at the sizes that are tried there are none or more than %d; "
                     "`polysched run` compares the results", _place(statement, scop), runs.most)
    return False not in tried


def _place(statement: Statement, scop: Scop) -> str:
    """Where a user finds the statement: file and line, or its name where there is no file."""
    if scop.source is None:
        return f"{scop.name}, statement {statement.name}"
    return str(SourceLocation(scop.source.path, statement.line))


def _is_proved(node: Node, statement: Statement, scop: Scop) -> bool:
    wanted = statement.domain.intersect_params(scop.context)
    return bool(_visited(node, statement, scop).is_equal(wanted))


def small_values(scop: Scop) -> Iterator[dict[str, int]]:
    """Parameter values of the context, near the sizes that are tried."""
    for size in TRIED_SIZES:
        context, values = scop.context, {}
        for number, parameter in enumerate(scop.parameters):
            at = context.find_dim_by_name(isl.dim_type.param, parameter.name)
            values[parameter.name] = size + number
            if at >= 0:
                context = context.fix_val(isl.dim_type.param, at, isl.Val(size + number))
        if not context.is_empty():
            yield values


def nearest_values(scop: Scop, statement: Statement) -> Iterator[dict[str, int]]:
    """Parameter values at which a statement has instances: those that are tried, or the least or greatest possible.

    A size that is bounded by others, such as the first row of a part, has none of its own.
    """
    for size in TRIED_SIZES:
        for least_first in (True, False):
            possible = statement.domain.params().intersect(scop.context.params())
            values, least = dict[str, int](), least_first
            for number, parameter in enumerate(scop.parameters):
                at = possible.find_dim_by_name(isl.dim_type.param, parameter.name)
                value = isl.Val(size + number)
                if at >= 0 and possible.fix_val(isl.dim_type.param, at, value).is_empty():
                    ends = _range_of(possible, at)
                    value, least = (ends.dim_min_val(0) if least else ends.dim_max_val(0)), not least
                    if not value.is_int():
                        break
                values[parameter.name] = int(value.to_python())
                possible = possible.fix_val(isl.dim_type.param, at, value) if at >= 0 else possible
            else:
                if not possible.is_empty():
                    yield values


def _range_of(possible: isl.Set, at: int) -> isl.Set:
    """`{ [v] }`: the values of one parameter."""
    as_set = isl.Set.from_params(possible).move_dims(isl.dim_type.set, 0, isl.dim_type.param, at, 1)
    return as_set.project_out(isl.dim_type.param, 0, as_set.dim(isl.dim_type.param))


def _visits_at(runs: _Runs, statement: Statement, values: dict[str, int]) -> bool | None:
    """Run the loops at one size; None when there are no instances or too many, so that nothing is learned."""
    domain = fix_parameters(statement.domain, values)
    count = with_budget(CHECK_OPERATIONS, lambda: int(domain.count_val().to_python()))
    if count is None or not 0 < count <= runs.most:
        return None
    visited, points = runs.at(values, statement.name), points_of(domain)   # of these each is there once
    return len(visited) == len(points) and set(visited) == set(points)


def _is_strided(statement: Statement) -> bool:
    return any(basic.dim(isl.dim_type.div) for basic in statement.domain.get_basic_sets())


def _visited(node: Node, statement: Statement, scop: Scop) -> isl.Set:
    """The instances that the loops visit."""
    names = {p.name: f"p{i}" for i, p in enumerate(scop.parameters)}
    head = f"[{', '.join(names.values())}] -> "
    found = isl.Set.empty(statement.domain.get_space())
    for variables, facts, instance in _paths(node, (), ()):
        if instance.statement != statement.name:
            continue
        known = {**names, **{v: f"v{i}" for i, v in enumerate(variables)}}
        at = [f"x{i} = {_text(value, known)}" for i, value in enumerate(instance.iterators)]
        told = [_condition(fact, known) if not isinstance(fact, str) else fact for fact in _facts(facts, known)]
        scanned = ", ".join(known[v] for v in variables)
        exists = f"exists {scanned} : " if variables else ""
        where = " and ".join([*told, *at]) or "1 = 1"
        tuple_ = ", ".join(f"x{i}" for i in range(statement.depth))
        points = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"{head}{{ S[{tuple_}] : {exists}{where} }}")
        for i, parameter in enumerate(scop.parameters):
            position = points.find_dim_by_name(isl.dim_type.param, f"p{i}")
            points = points.set_dim_name(isl.dim_type.param, position, parameter.name)
        found = found.union(points.set_tuple_name(statement.name))
    return found.intersect_params(scop.context)


def _paths(node: Node, variables: tuple[str, ...], facts: tuple[For | Let | Condition, ...]
           ) -> Iterator[tuple[tuple[str, ...], tuple[For | Let | Condition, ...], StatementInstance]]:
    """Every statement instance with the loop variables and conditions around it."""
    match node:
        case StatementInstance():
            yield variables, facts, node
        case Block():
            for child in node.children:
                yield from _paths(child, variables, facts)
        case For() | Let():
            yield from _paths(node.body, (*variables, node.variable), (*facts, node))
        case If():
            if node.otherwise is not None:
                raise _NoText
            yield from _paths(node.then, variables, (*facts, node.condition))
        case _:
            raise _NoText


def _facts(facts: tuple[For | Let | Condition, ...], known: dict[str, str]) -> Iterator[str | Condition]:
    for fact in facts:
        match fact:
            case For():
                name, lower = known[fact.variable], _text(fact.lower, known)
                yield f"{lower} <= {name} < {_text(fact.upper, known)}"
                if fact.step != 1:
                    yield f"({name} - ({lower})) mod {fact.step} = 0"
                if fact.guard is not None:
                    yield fact.guard
            case Let():
                yield f"{known[fact.variable]} = {_text(fact.value, known)}"
            case _:
                yield fact


def _condition(condition: Condition, known: dict[str, str]) -> str:
    if isinstance(condition, Comparison):
        op = "=" if condition.op == "==" else condition.op
        return f"{_text(condition.left, known)} {op} {_text(condition.right, known)}"
    word = " and " if condition.op == "&&" else " or "
    return f"({word.join(_condition(arm, known) for arm in condition.arms)})"


def _text(form: Linear, known: dict[str, str]) -> str:
    terms = [str(form.constant), *(f"{factor} * {_atom(atom, known)}" for atom, factor in form.terms)]
    return f"({' + '.join(f'({t})' for t in terms)})"


def _atom(atom: Atom, known: dict[str, str]) -> str:
    match atom:
        case Variable():
            return known[atom.name]
        case Quotient():
            return f"floor({_text(atom.numerator, known)}/{atom.divisor})"
        case Remainder():
            return f"({_text(atom.numerator, known)} mod {atom.divisor})"
        case Extreme():
            return f"{atom.kind}({', '.join(_text(arm, known) for arm in atom.arms)})"
        case Choice() | ToBoundary() | SourceOperation() | Product():
            raise _NoText
