"""A Scop as OpenScop text, in the order as written or in another."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polysched.errors import UsageError
from polysched.scop.openscop.matrices import matrices_of, parameter_space, relation_of
from polysched.scop.openscop.region import KINDS
from polysched.scop.points import isl_value
from polysched.scop.scop import Access, Scop, Statement
from polysched.scop.serialise import body_text

_NAMES = {kind: name for name, kind in KINDS.items()}


def openscop_text(scop: Scop, dates: isl.UnionMap | None = None) -> str:
    """The region as OpenScop.

    Parameters
    ----------
    dates : the scattering `{ S0[i, j] -> [...] }`; the order as written where none is given.

    Raises
    ------
    UsageError : a statement has no single relation of dates.
    """
    names = tuple(p.name for p in scop.parameters)
    context = isl.Map.from_range(isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, 0))).intersect_params(
        scop.context)
    dates = scop.schedule.get_map() if dates is None else dates
    lines = ["<OpenScop>", "", "# Language", "C", "", "# Context", _relation("CONTEXT", context, names, ()),
             "# Parameters are provided", "1" if names else "0",
             *(["<strings>", " ".join(names), "</strings>"] if names else []), "", "# Number of statements",
             str(len(scop.statements)), ""]
    for number, statement in enumerate(scop.statements, start=1):
        lines += _statement(scop, statement, number, dates, names)
    lines += ["<arrays>", "# Number of arrays", str(len(scop.arrays)), "# Mapping array-identifiers/array-names",
              *(f"{number} {array.name}" for number, array in enumerate(scop.arrays, start=1)), "</arrays>", "",
              "</OpenScop>"]
    return "\n".join(lines) + "\n"


def _statement(scop: Scop, statement: Statement, number: int, dates: isl.UnionMap, names: tuple[str, ...]
               ) -> Iterator[str]:
    own = dates.intersect_domain(isl.UnionSet.from_set(statement.domain))
    if own.n_map() != 1:
        raise UsageError(f"{statement.name} has {own.n_map()} relations of dates", where=scop.name,
                         hint="give each statement dates of one length")
    scattering = isl.Map.from_union_map(own).gist_domain(statement.domain)
    columns = statement.iterators
    yield from (f"# ------ Statement {number}: {statement.name}, line {statement.line}", "# Number of relations",
                str(2 + len(statement.accesses)), "",
                _relation("DOMAIN", isl.Map.from_range(statement.domain), names, columns),
                _relation("SCATTERING", scattering, names, columns),
                *(_access(scop, access, statement, names) for access in statement.accesses),
                "# Number of statement extensions", "1", "<body>", "# Number of original iterators",
                str(len(columns)), *(["# List of original iterators", " ".join(columns)] if columns else []),
                "# Statement body expression", body_text(scop, statement).replace("\n", " ") or ";", "</body>", "")


def _access(scop: Scop, access: Access, statement: Statement, names: tuple[str, ...]) -> str:
    """An access, with the number of its array as first output dimension."""
    number = 1 + [array.name for array in scop.arrays].index(access.array)
    relation = access.relation.gist_domain(statement.domain).reset_tuple_id(isl.dim_type.out)
    relation = relation.insert_dims(isl.dim_type.out, 0, 1).fix_val(
        isl.dim_type.out, 0, isl_value(number))
    return _relation(_NAMES[access.kind], relation, names, statement.iterators)


def _relation(kind: str, relation: isl.Map, names: tuple[str, ...], columns: tuple[str, ...]) -> str:
    """A relation, whose matrices are read back and compared before they are believed."""
    plain = relation.align_params(parameter_space(names))
    for side in (isl.dim_type.in_, isl.dim_type.out):
        plain = plain.reset_tuple_id(side) if plain.has_tuple_id(side) else plain
    parts = matrices_of(plain)
    if not parts or not relation_of(parts, names).is_equal(plain):
        raise UsageError("OpenScop has no matrix for a relation", witness=str(relation))
    count = [f"# Union with {len(parts)} parts", str(len(parts))] if len(parts) > 1 else []
    head = f"# e/i, outputs, inputs {' '.join(columns)}, locals, parameters {' '.join(names)}, 1"
    return "\n".join([kind, *count, head, *map(str, parts), ""])
