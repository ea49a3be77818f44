"""Whether an operand keeps its value while a loop runs: nothing that the loop writes is what its tiles read.

A factorisation updates the array that it reads: the block of `A` on the right of `A[i][j] -= A[i][k] * A[j][k]` lies
beside the one on the left, so it can be copied ahead like an operand that nobody writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from polysched.emit_c.loop_ir.facts import Facts
from polysched.emit_c.loop_ir.index import Comparison, Linear, substitute, substitute_condition, variable
from polysched.emit_c.loop_ir.loops import Block, For, If, Local, Node, StatementInstance
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.loop_ir.subscripts import linear_form, names_its_element
from polysched.emit_c.loop_ir.traversal import child_nodes, instances
from polysched.emit_c.register_tiles.register_nests import EdgeRange
from polysched.emit_c.register_tiles.tile_accesses import Point, iterators_at
from polysched.records import dataclass
from polysched.scop.scop import Access, Scop, Statement


@dataclass(frozen=True)
class _Write:
    """Elements that are written; the variables of the loops around them have names of their own.

    Parameters
    ----------
    subscripts : the element; None where it is not known.
    facts : what holds of the variables.
    """

    subscripts: tuple[Linear, ...] | None
    facts: Facts


def within_edges(facts: Facts, ranges: tuple[EdgeRange, ...]) -> Facts:
    """What holds at the points of a tile, given what holds in the loops around them."""
    for part in ranges:
        here = variable(part.edge.variable)
        facts = facts.given(
            *(Comparison(">=", here, low) for low in (*part.starts, *part.moving_lowers, *part.cross_lowers)),
            *(Comparison("<", here, high) for high in (*part.ends, *part.moving_uppers, *part.cross_uppers)))
    return facts


def keeps_value(scop: Scop, access: Access, iterators: Mapping[str, Linear], loop: For, *,
                reading: Facts, outside: Facts) -> bool:
    """Whether no iteration of a loop writes an element that an access in it reads; False when that cannot be proved.

    Parameters
    ----------
    iterators : those of the access's statement, in terms of the loops around it.
    reading : what holds where the element is read.
    outside : what holds around the loop.
    """
    forms = [linear_form(subscript, iterators) for subscript in access.subscripts]
    if any(form is None for form in forms):
        return False
    element = tuple(form for form in forms if form is not None)
    return all(write.subscripts is not None and len(write.subscripts) == len(element)
               and reading.given(*write.facts.constraints).exclude(
                   *(Comparison("==", ours, theirs) for ours, theirs in zip(element, write.subscripts, strict=True)))
               for write in _writes(scop, loop, access.array, {}, outside))


def _element(statement: Statement, access: Access, iterators: Mapping[str, Linear]) -> tuple[Linear, ...] | None:
    """The element that an access reaches; None where it is not known, or not the only one."""
    forms = [linear_form(subscript, iterators) for subscript in access.subscripts]
    known = tuple(form for form in forms if form is not None)
    return known if len(known) == len(forms) and names_its_element(statement, access) else None


def _writes(scop: Scop, node: Node, array: str, names: Mapping[str, Linear], facts: Facts) -> Iterator[_Write]:
    """The writes to an array below a node.

    Parameters
    ----------
    names : the own names of the loops' variables.
    """
    match node:
        case StatementInstance():
            iterators = {name: substitute(form, names)
                         for name, form in iterators_at(scop, node, Point(())).items()}
            statement = statement_at(scop, node)
            for access in statement.writes:
                if access.array == array:
                    yield _Write(_element(statement, access, iterators), facts)
        case For():
            own = replace(node, variable=f"{node.variable} of a write", lower=substitute(node.lower, names),
                          upper=substitute(node.upper, names))
            yield from _writes(scop, node.body, array, {**names, node.variable: variable(own.variable)},
                               facts.inside(own))
        case If():
            condition = substitute_condition(node.condition, names)
            yield from _writes(scop, node.then, array, names, facts.given(condition))
            if node.otherwise is not None:
                yield from _writes(scop, node.otherwise, array, names, facts)
        case Block() | Local():
            for child in child_nodes(node):
                yield from _writes(scop, child, array, names, facts)
        case _:
            if any(access.array == array for instance in instances(node)
                   for access in statement_at(scop, instance).writes):
                yield _Write(None, facts)
