"""Sets and relations as OpenScop's matrices, and back.

A row is a constraint: 0 for an equality or 1 for `>= 0`, the output dimensions, the input dimensions, the local
(existentially quantified) ones, the parameters, the constant.
"""

from __future__ import annotations

import islpy as isl

from polysched.records import dataclass
from polysched.scop.points import isl_value

_OUT, _IN = isl.dim_type.out, isl.dim_type.in_
_DIV, _PARAM, _CST = isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst
COLUMNS = (_OUT, _IN, _DIV, _PARAM, _CST)


@dataclass(frozen=True)
class Matrix:
    """A conjunction of constraints.

    Parameters
    ----------
    rows : the kind of each constraint and its coefficients.
    outputs, inputs, locals_, parameters : dimensions of each sort.
    """

    rows: tuple[tuple[int, ...], ...]
    outputs: int
    inputs: int
    locals_: int
    parameters: int

    @property
    def columns(self) -> int:
        """Numbers in a row."""
        return 2 + self.outputs + self.inputs + self.locals_ + self.parameters

    def __str__(self) -> str:
        head = (f"{len(self.rows)} {self.columns} {self.outputs} {self.inputs} {self.locals_} {self.parameters}")
        return "\n".join([head, *(" ".join(f"{number:4}" for number in row) for row in self.rows)])


def matrices_of(relation: isl.Map) -> tuple[Matrix, ...]:
    """One matrix per convex part of a relation."""
    parts = relation.compute_divs().coalesce().get_basic_maps()
    return tuple(_matrix(part) for part in parts)


def relation_of(parts: tuple[Matrix, ...], parameters: tuple[str, ...]) -> isl.Map:
    """The relation that matrices say."""
    first = parts[0]
    space = isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, first.inputs, first.outputs).align_params(
        parameter_space(parameters))
    whole = isl.Map.empty(space)
    for part in parts:
        rows = {kind: [row[1:] for row in part.rows if row[0] == kind] for kind in (0, 1)}
        whole = whole.union(isl.Map.from_basic_map(isl.BasicMap.from_constraint_matrices(
            space, _mat(rows[0], part.columns - 1), _mat(rows[1], part.columns - 1), *COLUMNS)))
    return whole


def parameter_space(names: tuple[str, ...]) -> isl.Space:
    """Parameters of these names, in this order."""
    space = isl.Space.params_alloc(isl.DEFAULT_CONTEXT, len(names))
    for position, name in enumerate(names):
        space = space.set_dim_name(_PARAM, position, name)
    return space


def _matrix(part: isl.BasicMap) -> Matrix:
    equalities, inequalities = part.equalities_matrix(*COLUMNS), part.inequalities_matrix(*COLUMNS)
    solved = sorted(map(_solved, _rows(0, equalities)), key=_first)
    return Matrix(rows=(*solved, *_rows(1, inequalities)), outputs=part.dim(_OUT), inputs=part.dim(_IN),
                  locals_=part.dim(_DIV), parameters=part.dim(_PARAM))


def _first(row: tuple[int, ...]) -> int:
    """The position of the first coefficient."""
    return next((position for position, number in enumerate(row) if number), len(row))


def _solved(row: tuple[int, ...]) -> tuple[int, ...]:
    """An equality with -1 times its first dimension, as other tools write `s1 = i`."""
    first = _first(row)
    return tuple(-number for number in row) if first < len(row) and row[first] > 0 else row


def _rows(kind: int, matrix: isl.Mat) -> list[tuple[int, ...]]:
    return [(kind, *(int(matrix.get_element_val(row, column).to_python()) for column in range(matrix.cols())))
            for row in range(matrix.rows())]


def _mat(rows: list[tuple[int, ...]], columns: int) -> isl.Mat:
    matrix = isl.Mat.alloc(isl.DEFAULT_CONTEXT, len(rows), columns)
    for row, numbers in enumerate(rows):
        for column, number in enumerate(numbers):
            matrix = matrix.set_element_val(row, column, isl_value(number))
    return matrix
