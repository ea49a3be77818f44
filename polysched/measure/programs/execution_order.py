"""Does emitted code run its instances in an order that keeps every dataflow?  A witness beside the legality check.

The emitted code reports each instance as it runs; nothing of the dependence analysis, of the scheduler or of isl's
code generation is used.  From the original order and the access relations a plain simulation finds every
pair of conflicting accesses that follow each other directly on an element: write then read, read then next write,
write then next write.  An execution is right when it runs every instance once, the earlier of each pair before the
later, and not in two iterations of one parallel or simd loop.  In the manner of PolyCheck (Bao, Krishnamoorthy,
Pouchet, Rastello, Sadayappan: "PolyCheck: dynamic verification of iteration space transformations on affine
programs", POPL 2016).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from polysched.dependence.reductions import find_reductions
from polysched.errors import IllegalScheduleError
from polysched.records import dataclass
from polysched.scop.points import fix_parameters, instances_in_order, pairs_of
from polysched.scop.scop import AccessKind, Scop

Instance: TypeAlias = tuple[str, tuple[int, ...]]
Element: TypeAlias = tuple[str, tuple[int, ...]]
LoopPath: TypeAlias = tuple[tuple[int, int], ...]

BEGIN, ITERATION, END = -1, -2, -3
LOOP_KINDS = {1: "parallel", 2: "simd", 3: "partly reduced"}


@dataclass(frozen=True)
class Conflict:
    """Two instances that touch one element, at least one of them writing; the earlier one comes first as written."""

    earlier: Instance
    later: Instance
    element: Element


@dataclass
class _ElementState:
    writers: list[Instance] = field(default_factory=list)
    readers: list[Instance] = field(default_factory=list)


def conflicts(scop: Scop, parameters: Mapping[str, int]) -> set[Conflict]:
    """Every direct conflict of the program as written, by simulation of the accesses."""
    touched = _touched_elements(scop, parameters)
    states: dict[Element, _ElementState] = {}
    found: set[Conflict] = set()
    order = instances_in_order(scop.domain, scop.schedule, parameters, [s.name for s in scop.statements])
    for instance in order:
        for kind, element in touched.get(instance, ()):
            state = states.setdefault(element, _ElementState())
            before = state.writers if kind is AccessKind.READ else [*state.writers, *state.readers]
            found |= {Conflict(b, instance, element) for b in before if b != instance}
            if kind is AccessKind.READ:
                state.readers.append(instance)
            elif kind is AccessKind.MUST_WRITE:
                state.writers, state.readers = [instance], []
            else:
                state.writers.append(instance)
    return found


def _touched_elements(scop: Scop, parameters: Mapping[str, int]) -> dict[Instance, list[tuple[AccessKind, Element]]]:
    """Per instance, what it reads and then what it writes."""
    touched: dict[Instance, list[tuple[AccessKind, Element]]] = {}
    for statement in scop.statements:
        for access in (*statement.reads, *statement.writes):
            for point, element in pairs_of(fix_parameters(access.relation.intersect_domain(statement.domain),
                                                          parameters)):
                touched.setdefault((statement.name, point), []).append((access.kind, (access.array, element)))
    return touched


@dataclass(frozen=True)
class Execution:
    """What an instrumented run reported.

    Parameters
    ----------
    instances : in the order in which they ran.
    paths : per instance, the parallel and simd loops around it, as pairs (number of the loop's execution, iteration).
    kinds : per number of a loop's execution, what the loop was.
    """

    instances: tuple[Instance, ...]
    paths: tuple[LoopPath, ...]
    kinds: Mapping[int, str]


def execution_of(records: Sequence[int], statements: Sequence[str]) -> Execution:
    """Read the reports of an instrumented run: a flat list of `code, count, values...`.

    Parameters
    ----------
    records : a code >= 0 is the position of a statement and the values are its iterators; BEGIN and END stand
        around a parallel or simd loop, ITERATION at the start of each of its iterations, all with the kind of the loop;
        a loop that is both reports twice.
    statements : names, by position.
    """
    instances: list[Instance] = []
    paths: list[LoopPath] = []
    kinds: dict[int, str] = {}
    open_loops: list[tuple[int, int]] = []
    for code, values in _split(records):
        if code >= 0:
            instances.append((statements[code], values))
            paths.append(tuple(open_loops))
        elif code == BEGIN:
            open_loops.append((len(kinds), 0))
            kinds[len(kinds)] = LOOP_KINDS[values[0]]
        elif code == ITERATION:
            depth = max(d for d, (loop, _) in enumerate(open_loops) if kinds[loop] == LOOP_KINDS[values[0]])
            loop, iteration = open_loops[depth]
            open_loops[depth] = (loop, iteration + 1)
        else:
            open_loops.pop()
    return Execution(tuple(instances), tuple(paths), kinds)


def _split(records: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    position = 0
    while position < len(records):
        code, count = records[position], records[position + 1]
        yield code, tuple(records[position + 2:position + 2 + count])
        position += 2 + count


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpectedOrder:
    """What every right execution of a program at one size does; made once, it serves many executions.

    Parameters
    ----------
    scop, parameters : the program and its size.
    instances : how often each instance runs.
    conflicts : the pairs whose order has to be kept.
    relaxed : statements that update a reduction whose updates may run in any order, but not at the same time.
    reducing : statements that update a reduction: partial results of ranges may be computed apart and combined.
    """

    scop: Scop
    parameters: Mapping[str, int]
    instances: Counter[Instance]
    conflicts: tuple[Conflict, ...]
    relaxed: frozenset[str] = frozenset()
    reducing: frozenset[str] = frozenset()

    def any_order(self, conflict: Conflict) -> bool:
        """Whether the two are updates of one relaxed reduction."""
        return conflict.earlier[0] == conflict.later[0] and conflict.earlier[0] in self.relaxed

    def allows(self, conflict: Conflict, kind: str) -> bool:
        """Whether two iterations of such a loop may run the two: updates of a reduction that have partial results."""
        own = conflict.earlier[0] == conflict.later[0] and conflict.earlier[0] in self.reducing
        return (kind == LOOP_KINDS[2] and self.any_order(conflict)) or (kind == LOOP_KINDS[3] and own)


def expected_order(scop: Scop, parameters: Mapping[str, int], *, relaxed: Iterable[str] = ()) -> ExpectedOrder:
    """Enumerate the instances of a program and their conflicts.

    Parameters
    ----------
    relaxed : statements that update a relaxed reduction, see `Dependences.relaxed`.
    """
    instances = instances_in_order(scop.domain, scop.schedule, parameters, [s.name for s in scop.statements])
    return ExpectedOrder(scop=scop, parameters=parameters, instances=Counter(instances),
                         conflicts=tuple(conflicts(scop, parameters)), relaxed=frozenset(relaxed),
                         reducing=frozenset(r.statement for r in find_reductions(scop)))


def check_order(scop: Scop, parameters: Mapping[str, int], execution: Execution, *, what: str = "emitted code") -> None:
    """Refuse an execution that does not run the program's instances in an order that keeps its dataflow.

    Raises
    ------
    IllegalScheduleError : the witness is a missing or repeated instance, or one pair in the wrong order.
    """
    check_expected(expected_order(scop, parameters), execution, what=what)


def check_expected(expected: ExpectedOrder, execution: Execution, *, what: str = "emitted code") -> None:
    """`check_order` for a program that was enumerated before; raises as it does."""
    scop, parameters = expected.scop, expected.parameters
    ran = Counter(execution.instances)
    if (surplus := ran - expected.instances):
        raise _refusal(scop, what, parameters, "runs an instance too often or one that does not exist",
                       _name(next(iter(surplus))))
    if (missing := expected.instances - ran):
        raise _refusal(scop, what, parameters, "leaves an instance out", _name(next(iter(missing))))
    when = {instance: position for position, instance in enumerate(execution.instances)}
    for conflict in sorted(expected.conflicts, key=lambda c: when[c.later]):
        first, second = when[conflict.earlier], when[conflict.later]
        any_order = expected.any_order(conflict)
        if first > second and not any_order:
            raise _refusal(scop, what, parameters, "runs two dependent instances in the wrong order",
                           _pair(conflict))
        if (kind := _unordered(execution, first, second)) and not expected.allows(conflict, kind):
            raise _refusal(scop, what, parameters, f"runs two dependent instances in different iterations of a {kind} "
                           "loop", _pair(conflict))


def _pair(conflict: Conflict) -> str:
    return f"{_name(conflict.earlier)} before {_name(conflict.later)}, for {_name(conflict.element)}"


def _unordered(execution: Execution, first: int, second: int) -> str:
    """The kind of loop whose different iterations run the two; empty when they are ordered."""
    for (loop, iteration), (other_loop, other) in zip(execution.paths[first], execution.paths[second], strict=False):
        if loop != other_loop:
            return ""
        if iteration != other:
            return execution.kinds[loop]
    return ""


def _name(point: Instance | Element) -> str:
    return f"{point[0]}[{', '.join(map(str, point[1]))}]"


def _refusal(scop: Scop, what: str, parameters: Mapping[str, int], problem: str, witness: str) -> IllegalScheduleError:
    sizes = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return IllegalScheduleError(f"the {what} of {scop.name} {problem}", witness=f"{witness} (with {sizes})",
                                hint="this is a fault of polysched: please report it with the source file")
