"""Reductions across threads: every thread reduces a range of the loop by itself, and the results are combined in order.

Rewrite:  for (i = a; i < b; i++) s += x[i]
      ->  for part of the threads: { s_part = part ? 0 : s;  for (i = first; i < end; i++) s_part += x[i];
                                     in the order of the parts: s = part ? s + s_part : s_part }

Which loops qualify is decided as for lanes: the loop carries pairs of updates of reductions and nothing else.  Taken is
the outermost such loop of a nest in which nothing runs on threads yet.  The part of an element is a variable; that of
an array whose element changes while the loop runs (a histogram, a sum of rows) is an array on the heap, cache lines
apart from the next one, which its thread touches first; the first part is the array itself.

A range belongs to a part by its number, and parts are combined by their number, so with one number of
threads every run gives the same bits.  Where iterations do not all do the same, threads get several parts each.
`argmax` and `argmin` whose first place counts keep it: parts are ranges in order, each begins with the old extremum,
and the combination takes a later place for a better value only.
What conditions let one number overwrite, or the counter of the loop, is combined where a part ended with another value
than it began with; a part begins with the old value, or with a number before its own.

Source: as for `lane_reductions`; Rauchwerger and Padua, "The LRPD test", PLDI 1995, for privatised arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from polysched.dependence.dependences import Dependences
from polysched.dependence.reductions import OVERWRITES, Reduction
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.carried import carried_pairs
from polysched.emit_c.loop_ir.facts import Facts, depends_on, map_inside
from polysched.emit_c.loop_ir.index import Linear, constant, direction, substitute, variable
from polysched.emit_c.loop_ir.loops import (
    For,
    Let,
    Node,
    PartialElement,
    StatementInstance,
    Temporary,
    ThreadPart,
    ThreadReduction,
)
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of
from polysched.emit_c.loop_ir.statement_instances import leaves_of
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form
from polysched.emit_c.loop_ir.traversal import (
    child_nodes,
    instances,
    is_innermost,
    loop_names,
    map_children,
    variables_set_by,
    walk_nodes,
)
from polysched.emit_c.scalar_code.heap import constant_elements
from polysched.emit_c.scalar_code.work import constant_work
from polysched.records import dataclass
from polysched.scheduling.marks import Role
from polysched.scop.body import IteratorRef, walk
from polysched.scop.scop import Array, Scop, Statement

PLACES = frozenset({"argmin", "argmax"})


@dataclass(frozen=True, eq=False, kw_only=True)
class ThreadReductions:
    """What the rewriting asks of others.

    Parameters
    ----------
    dependences : of the program.
    reductions : those that may be computed in parts, by statement.
    taken : names that must not be made up.
    least_work : iterations from which on a team pays.
    """

    dependences: Dependences
    reductions: Mapping[str, Reduction]
    taken: TakenNames
    least_work: int

    @property
    def scop(self) -> Scop:
        return self.dependences.scop


def reduce_on_threads(node: Node, facts: Facts, how: ThreadReductions) -> Node:
    """Rewrite the outermost loops that do nothing but reductions across their iterations."""
    return _rewritten(node, facts, how, ()) if how.reductions else node


def _rewritten(node: Node, facts: Facts, how: ThreadReductions, around: tuple[str, ...]) -> Node:
    if isinstance(node, For) and node.mark.parallel:
        return node
    found = _in_parts(node, facts, how, around) if isinstance(node, For) else None
    below = (*around, *variables_set_by(node))
    return found or map_inside(node, facts, lambda child, inside: _rewritten(child, inside, how, below))


def _in_parts(loop: For, facts: Facts, how: ThreadReductions, around: tuple[str, ...]) -> ThreadReduction | None:
    """The loop in parts; None when it does not qualify."""
    if not _is_candidate(loop, around):
        return None
    own = tuple(leaves_of(loop, around, facts))
    if len(own) != len(list(instances(loop))):
        return None
    depth = len(around)
    reducing = [x.instance for x in own if x.instance.statement in how.reductions
                and _carries(carried_pairs((x,), depth, how.dependences))]
    names = loop_names(loop) | frozenset(around)
    known = _parts(reducing, loop, how, names)
    if not known or _carries(carried_pairs(
            own, depth, how.dependences, updates_of={i.statement for i in reducing})):
        return None
    whole_arrays = [how.scop.array(p.temporary.array) for p in known if p.element is None]
    if is_worth_parts(loop, whole_arrays, how.least_work) is False:
        return None
    first, end, part = (how.taken.fresh(f"{loop.variable}_{word}", names) for word in ("first", "end", "part"))
    inner = replace(_with_temporaries(loop, tuple(t for p in known for t in p.temporaries)),
                    lower=variable(first), upper=variable(end))
    return ThreadReduction(whole=loop, loop=inner, first=first, end=end, part=part, parts=known)


def _is_candidate(loop: For, around: tuple[str, ...]) -> bool:
    """Whether the loop stands where a team may start: nothing inside does, and there is enough to do."""
    if loop.mark.role is Role.POINT or not loop.is_canonical or loop.step != 1 or (around and is_innermost(loop)):
        return False
    return not any(isinstance(n, For) and n.mark.parallel for n in walk_nodes(loop))


def _carries(pairs: Iterator[object]) -> bool:
    """Whether there is a pair, or may be one."""
    return any(True for _ in pairs)


def _parts(reducing: Sequence[StatementInstance], loop: For, how: ThreadReductions, names: frozenset[str]
           ) -> tuple[ThreadPart, ...]:
    """What a thread has to itself for all reductions; none where one of them has nothing, or two share an array."""
    parts = [_part(reduction, instance, loop, how, names) for instance in reducing
             for reduction in how.reductions[instance.statement].accumulators]
    known = tuple(part for part in parts if part is not None)
    arrays = [t.array for part in known for t in part.temporaries]
    return known if len(known) == len(parts) and len(set(arrays)) == len(arrays) else ()


def _part(reduction: Reduction, instance: StatementInstance, loop: For, how: ThreadReductions, names: frozenset[str]
          ) -> ThreadPart | None:
    """What a thread has to itself for one reduction; None where others use the array, or its size is unknown."""
    scop, own = how.scop, reduction.own
    statement = statement_at(scop, instance)
    arrays = {statement.access(reference).array for reference in own}
    if not _is_alone(arrays, own, instance, loop, scop):
        return None
    elements = {(statement.access(r).array, _forms(instance, r, scop)): r for r in sorted(own - {reduction.write})}
    first = (statement.access(reduction.write).array, _forms(instance, reduction.write, scop))
    elements.pop(first, None)
    targets = [reduction.write, *elements.values()]
    if len(targets) > len(arrays) and reduction.operator in PLACES:
        return None
    moving = loop_names(loop)
    stay = [all(form is not None and not depends_on(form, moving) for form in _forms(instance, target, scop))
            for target in targets]
    start = _start(reduction, instance, loop, statement)
    if _has_order(reduction) and not (all(stay) and _keeps_ties(reduction, start)):
        return None
    if not stay[0]:
        temporary = _array_part(scop.array(statement.access(reduction.write).array), instance, how, names)
        return None if temporary is None else ThreadPart(temporary, reduction.operator)
    if reduction.operator not in PLACES:
        targets = targets[:1]
    made = [(Temporary(array := statement.access(target).array, how.taken.fresh(f"{identifier_of(array)}_part", names)),
             PartialElement(instance, target)) for target in targets]
    (temporary, element), *places = made
    return ThreadPart(temporary, reduction.operator, element, tuple(places), start, reduction.nan_first)


def _has_order(reduction: Reduction) -> bool:
    """Whether the parts of a reduction are combined by what each of them found, rather than by an operator."""
    return bool(reduction.ties) or reduction.operator in OVERWRITES


def _keeps_ties(reduction: Reduction, start: Linear | None) -> bool:
    """Whether the order of the parts tells which of several updates counts."""
    return reduction.ties == "first" or reduction.operator == "any" or (
        reduction.operator == "last" and start is not None)


def _start(reduction: Reduction, instance: StatementInstance, loop: For, statement: Statement) -> Linear | None:
    """Less than what any iteration of a loop overwrites an element with, over the loop's own variable.

    The least value is that at the first iterations of the loops inside, where it does not shrink along any.
    """
    counter = next((e for e in walk(reduction.value) if isinstance(e, IteratorRef)), None) \
        if reduction.value is not None else None
    if counter is None or reduction.operator != "last":
        return None
    value = instance.iterators[statement.iterators.index(counter.name)]
    for node in reversed(_path(loop, instance)[1:]):
        if isinstance(node, Let):
            value = substitute(value, {node.variable: node.value})
        elif isinstance(node, For):
            if direction(value, node.variable) not in (0, 1):
                return None
            value = substitute(value, {node.variable: node.lower})
    grows = direction(value, loop.variable) in (0, 1) and not depends_on(value, loop_names(loop) - {loop.variable})
    return value - constant(1) if grows else None


def _path(node: Node, instance: StatementInstance) -> tuple[Node, ...]:
    """The nodes from one down to an instance; none where it does not stand there."""
    if node is instance:
        return (node,)
    below = next(filter(None, (_path(child, instance) for child in child_nodes(node))), ())
    return (node, *below) if below else ()


def _is_alone(arrays: Collection[str], own: Collection[str], instance: StatementInstance, loop: For,
              scop: Scop) -> bool:
    """Whether arrays are used in a loop by the references of one reduction only, which stands there once."""
    inside = list(instances(loop))
    users = {a.reference for i in inside for a in statement_at(scop, i).accesses if a.array in arrays}
    return users == own and sum(i.statement == instance.statement for i in inside) == 1


def _forms(instance: StatementInstance, reference: str, scop: Scop) -> tuple[Linear | None, ...]:
    """The subscripts of an access, over the loop variables; None for one that is not linear."""
    statement = statement_at(scop, instance)
    values = dict(zip(statement.iterators, instance.iterators, strict=True))
    return tuple(linear_form(s, values) for s in statement.access(reference).subscripts)


def _array_part(array: Array, instance: StatementInstance, how: ThreadReductions, names: frozenset[str]
                ) -> Temporary | None:
    """A copy of a whole array whose extents are known, and which nothing stands for already."""
    plain = ("", array.name + "[{}]" * len(array.extents))
    if array.is_scalar or array.c_element not in plain or any(extent is None for extent in array.extents) or any(
            t.array == array.name for t in instance.temporaries):
        return None
    name = identifier_of(array.name)
    dimensions = tuple(range(len(array.extents)))
    return Temporary(array.name, how.taken.fresh(f"{name}_part", names), dimensions,
                     tuple(constant(0) for _ in dimensions), (), how.taken.fresh(f"{name}_parts", names))


def _with_temporaries(loop: For, made: tuple[Temporary, ...]) -> For:
    """The loop whose instances use these temporaries; new instances, for the old ones stay in the loop as it was."""
    taken = {t.array for t in made}

    def changed(node: Node) -> Node:
        match node:
            case StatementInstance():
                return replace(node, temporaries=(*made, *(t for t in node.temporaries if t.array not in taken)))
            case _:
                return map_children(node, changed)

    inner = changed(loop)
    assert isinstance(inner, For)
    return inner


WORK_PER_ELEMENT = LIMITS.work_per_element


def is_worth_parts(loop: For, arrays: Sequence[Array], least_work: int) -> bool | None:
    """Whether a loop has enough to do for parts, of these arrays too; None where that is known only when it runs.

    Parameters
    ----------
    least_work : iterations from which on a team pays.
    """
    amount, elements = constant_work(loop), [constant_elements(array) for array in arrays]
    if amount is None:
        return None
    known = [least_work, *(WORK_PER_ELEMENT * count for count in elements if count is not None)]
    if amount < max(known):
        return False
    return None if None in elements else True
