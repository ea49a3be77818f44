"""CLooG's input files, as Pluto writes them (`.pluto.cloog`): domains and scattering functions as matrices.

    c | context | names | domains, in textual order | scattering functions, in the same order | names

A set or a relation may stand in isl's notation instead of its matrix, as CLooG's tests have it.

Tiles of Pluto's are further iterators in front of a statement's own; the domain says what they are.

Source: C. Bastoul, "CLooG, a loop generator for scanning Z-polyhedra", user's manual, "Writing the input file"; Pluto,
tool/pluto_codegen_if.c, `pluto_gen_cloog_file`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import islpy as isl

from polysched.errors import UsageError
from polysched.scheduling.interchange.dates import dates_of
from polysched.scheduling.interchange.isl_text import read_relation
from polysched.scheduling.interchange.openscop import require_same_iterations
from polysched.scop.openscop.matrices import Matrix, matrices_of, parameter_space, relation_of
from polysched.scop.openscop.reading import Lines
from polysched.scop.scop import Scop, Statement

_FORM = "CLooG input"
_BEGIN = re.compile(r"(\s*(#.*)?\n)*\s*[cCfF]\s*(#.*)?\n")
_HEAD_IN_SHORT, _HEAD = 2, 6
"""Numbers in the first line of a matrix: rows and columns; or these, outputs, inputs, locals and parameters."""


def has_matrices(text: str) -> bool:
    """Whether a text begins as CLooG's input does: with a language."""
    return _BEGIN.match(text) is not None


def read_matrices(text: str, scop: Scop) -> isl.UnionMap:
    """The dates that the scattering functions give.

    Raises
    ------
    UsageError : the text is no input of CLooG's, or of another program: other parameters, statements or iterations.
    """
    lines = Lines(text, scop.name, _FORM)
    lines.word("a language")
    context, named = _context(lines)
    parameters = _parameters(lines, scop, context[0].parameters, named)
    count = lines.number("the number of statements")
    if count != len(scop.statements):
        raise UsageError(f"the {_FORM} is of another program", where=scop.name,
                         witness=f"it has {count} statements, the program {len(scop.statements)}")
    domains = [_domain(lines, own, parameters, named, scop) for own in scop.statements]
    if lines.number("whether iterators have names"):
        lines.next("the names of the iterators")
    if (given := lines.number("the number of scattering functions")) != count:
        raise UsageError(f"the {_FORM} says no order", where=scop.name,
                         witness=f"{given} scattering functions for {count} statements")
    known = scop.context.intersect(relation_of(context, parameters).range().params())
    dates = isl.UnionMap.empty(scop.domain.get_space())
    for own, domain in zip(scop.statements, domains, strict=True):
        scattering = _union(lines, domain[0].outputs, named or parameters, f"the scattering function of {own.name}")
        if any(part.outputs > len(part.rows) for part in scattering):
            lines.refuse(f"the scattering function of {own.name} has dimensions without values")
        dates = dates.union(isl.UnionMap.from_map(_dates(
            relation_of(scattering, parameters), relation_of(domain, parameters).range(), own, scop, known)))
    return dates


def write_matrices(tree: isl.Schedule, scop: Scop) -> str:
    """The region as CLooG's input, with the order of a tree.

    Raises
    ------
    UsageError : a statement has no single matrix of dates, or a domain has none.
    """
    names = tuple(p.name for p in scop.parameters)
    context = isl.Map.from_range(isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0))).intersect_params(
        scop.context)
    parts = ["# language: C\nc\n", f"# context\n{_written(context, names, scop)}", _named(names),
             f"# number of statements\n{len(scop.statements)}\n"]
    parts += [f"# S{number} ({s.name}, line {s.line})\n{_written(isl.Map.from_range(s.domain), names, scop)}0 0 0\n"
              for number, s in enumerate(scop.statements, start=1)]
    parts += ["# names of iterators\n0\n", f"# number of scattering functions\n{len(scop.statements)}\n"]
    dates, length = dates_of(tree), 0
    for number, statement in enumerate(scop.statements, start=1):
        own = _function(dates, statement, scop)
        parts.append(f"# T(S{number})\n{_written(own, names, scop)}")
        length = own.dim(isl.dim_type.out)
    parts.append(_named(tuple(f"t{k}" for k in range(1, length + 1))))
    return "\n".join(parts)


def _function(dates: isl.UnionMap, statement: Statement, scop: Scop) -> isl.Map:
    """The dates of a statement as one matrix, whatever the parts of its domain."""
    own = isl.Map.from_union_map(dates.intersect_domain(isl.UnionSet.from_set(
        isl.Set.universe(statement.domain.get_space()))))
    if len(matrices_of(own)) == 1:
        return own
    within = own.intersect_domain(statement.domain)
    hull = isl.Map.from_basic_map(within.affine_hull())
    if not hull.intersect_domain(statement.domain).is_equal(within):
        raise UsageError(f"the dates of {statement.name} are not one matrix", where=scop.name, witness=str(own),
                         hint="write the tree or the map instead")
    return hull


def _named(names: tuple[str, ...]) -> str:
    return f"# names\n1\n{' '.join(names)}\n" if names else "# no names\n0\n"


def _written(relation: isl.Map, names: tuple[str, ...], scop: Scop) -> str:
    """The matrices of a relation, which are read back and compared before they are believed."""
    plain = relation.align_params(parameter_space(names))
    for side in (isl.dim_type.in_, isl.dim_type.out):
        plain = plain.reset_tuple_id(side) if plain.has_tuple_id(side) else plain
    parts = matrices_of(plain)
    if not parts or not relation_of(parts, names).is_equal(plain):
        raise UsageError(f"{_FORM} has no matrix for a relation", where=scop.name, witness=str(relation))
    texts = [str(part) if part.locals_ else _in_short(part) for part in parts]
    return "\n".join([*([str(len(parts))] if len(parts) > 1 else []), *texts]) + "\n"


def _in_short(part: Matrix) -> str:
    """A matrix as Pluto writes it: the numbers of dimensions follow from what the matrix is of."""
    return "\n".join([f"{len(part.rows)} {part.columns}", *str(part).split("\n")[1:]])


def _context(lines: Lines) -> tuple[tuple[Matrix, ...], tuple[str, ...]]:
    """The context, and the names of its parameters where it is in isl's notation."""
    if not _is_spoken(lines):
        found = _union(lines, 0, None, "the context")
        if found[0].outputs:
            lines.refuse("the context before this line has dimensions that are no parameters")
        return found, ()
    at, spoken = lines.at, _spoken(lines, "the context")
    if spoken.dim(isl.dim_type.out) or spoken.dim(isl.dim_type.in_) or spoken.is_empty():
        lines.at = at
        lines.refuse("the context has dimensions that are no parameters, or no values at all")
    return matrices_of(spoken), _names(spoken)


def _parameters(lines: Lines, scop: Scop, count: int, named: Sequence[str]) -> tuple[str, ...]:
    """The program's names of the parameters: by the names of the file, or by their order where it has none."""
    own = {p.spelling: p.name for p in scop.parameters} | {p.name: p.name for p in scop.parameters}
    written = list(named) or [p.name for p in scop.parameters]
    if lines.number("whether parameters have names") and count:
        written = lines.next("the names of the parameters").split()
    unknown = [f"{name} is none of the program's" for name in written if name not in own]
    names = tuple(own[name] for name in written if name in own)
    if unknown or len(written) != count or len(set(names)) != count:
        raise UsageError(f"the {_FORM} has other parameters", where=scop.name,
                         witness=(*unknown, f"{count} columns for {' '.join(written) or 'no names'}")[0],
                         hint=f"the program has {_spelled(scop)}")
    return names


def _spelled(scop: Scop) -> str:
    return ", ".join(p.spelling for p in scop.parameters) or "none"


def _domain(lines: Lines, own: Statement, parameters: Sequence[str], named: Sequence[str],
            scop: Scop) -> tuple[Matrix, ...]:
    found = _union(lines, 0, named or parameters, f"the domain of {own.name}")
    if found[0].outputs < own.depth:
        raise UsageError(f"the {_FORM} has other loops around {own.name}", where=scop.name,
                         witness=f"{found[0].outputs} instead of {own.depth}")
    if any(part.outputs - own.depth > len(part.rows) for part in found):
        lines.refuse(f"the domain of {own.name} has iterators without constraints")
    if lines.integers("three zeros behind a domain") != [0, 0, 0]:
        lines.refuse("three zeros stand behind a domain")
    return found


def _dates(scattering: isl.Map, domain: isl.Set, own: Statement, scop: Scop, context: isl.Set) -> isl.Map:
    """The dates over a statement's own iterators, which are the last ones."""
    tiles = domain.dim(isl.dim_type.set) - own.depth
    points = domain.project_out(isl.dim_type.set, 0, tiles)
    require_same_iterations(_FORM, points.set_tuple_name(own.name), own, scop, context)
    whole = scattering.intersect_domain(domain) if tiles else scattering
    return whole.project_out(isl.dim_type.in_, 0, tiles).set_tuple_name(isl.dim_type.in_, own.name)


def _is_spoken(lines: Lines) -> bool:
    return lines.peek().startswith(("[", "{"))


def _spoken(lines: Lines, what: str) -> isl.Map:
    """A set, or a relation, in isl's notation, which may go on for several lines; sets are relations from nothing.

    Raises
    ------
    UsageError : it is none.
    BudgetExceededError : isl cannot read it within the budget.
    """
    at, text = lines.at, lines.next(what)
    while text.count("{") > text.count("}") or "{" not in text:
        text += f" {lines.next(f'the end of {what}')}"
    found = read_relation(text, what)
    if found is None:
        lines.at = at
        lines.refuse(f"{what} is no set or relation in isl's notation")
    return found


def _names(spoken: isl.Map) -> tuple[str, ...]:
    """All parameters, those that no constraint mentions too."""
    return tuple(str(spoken.get_dim_name(isl.dim_type.param, at)) for at in range(spoken.dim(isl.dim_type.param)))


def _in_matrices(lines: Lines, inputs: int, parameters: Sequence[str], what: str) -> tuple[Matrix, ...]:
    at = lines.at
    spoken = _spoken(lines, what)
    own = _names(spoken)
    lines.at, after = at, lines.at
    if foreign := [name for name in own if name not in parameters]:
        lines.refuse(f"{what} has the parameter {foreign[0]}, which the context has not")
    if spoken.dim(isl.dim_type.in_) != inputs:
        lines.refuse(f"{what} is over {spoken.dim(isl.dim_type.in_)} iterators instead of {inputs}")
    if spoken.is_empty():
        lines.refuse(f"{what} is empty")
    lines.at = after
    return matrices_of(spoken.align_params(parameter_space(tuple(parameters))))


def _union(lines: Lines, inputs: int, parameters: Sequence[str] | None, what: str) -> tuple[Matrix, ...]:
    """The matrices of a union; a number of them stands in front where there are several.

    Parameters
    ----------
    parameters : the names of the file's; None in the context, whose matrix says how many there are.
    """
    if parameters is not None and _is_spoken(lines):
        return _in_matrices(lines, inputs, parameters, what)
    count = lines.number(f"the number of matrices of {what}") if lines.peek().isdecimal() else 1
    parts = tuple(_matrix(lines, inputs, None if parameters is None else len(parameters), what) for _ in range(count))
    if len({(part.outputs, part.parameters) for part in parts}) != 1:
        lines.refuse(f"{what} has no matrices, or they differ in their columns")
    return parts


def _matrix(lines: Lines, inputs: int, parameters: int | None, what: str) -> Matrix:
    head = lines.integers(f"rows and columns of {what}")
    columns = head[1] - 2 if len(head) in (_HEAD_IN_SHORT, _HEAD) else -1
    if parameters is None:
        parameters = head[-1] if len(head) == _HEAD else columns
    if len(head) == _HEAD_IN_SHORT:
        head = [*head, columns - inputs - parameters, inputs, 0, parameters]
    if columns < 0 or min(head) < 0 or columns != sum(head[2:]) or (head[3], head[5]) != (inputs, parameters):
        lines.at -= 1
        lines.refuse(f"{what} has other columns than one for the kind, one per dimension and one for the constant")
    rows = []
    for _ in range(head[0]):
        row = lines.integers(f"a constraint of {what}")
        if len(row) != head[1] or row[0] not in (0, 1):
            lines.at -= 1
            lines.refuse(f"a constraint has {head[1]} numbers, the first of which is 0 or 1")
        rows.append(tuple(row))
    return Matrix(rows=tuple(rows), outputs=head[2], inputs=head[3], locals_=head[4], parameters=head[5])
