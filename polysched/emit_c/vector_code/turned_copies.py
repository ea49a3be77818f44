"""What a register tile sums up, turned: rows as they lie in memory on one side, vectors across the rows on the other.

Rewrite:  Y_rows[column][row] = Y[o + column][x + row]     (done elsewhere, rows of memory)
          Y_cut[row][column] = Y_rows[column][row]         square blocks in registers, log2(lanes) rounds of shuffles

Source: as for `transposition`; here with buffers on both sides, so that a tile may have any number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from polysched.emit_c.scalar_code.statements import braced
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_code.transposition import halves
from polysched.records import dataclass
from polysched.scop.dtypes import DType

ALIGNED = " __attribute__((aligned(64)))"

Element = Callable[[str, str], str]


@dataclass(frozen=True, kw_only=True)
class TurnedCopy:
    """The two buffers of one array and the ways between them.

    Parameters
    ----------
    name, rows_name : the buffer in which vectors run across the rows, and the one in which they run along them.
    squares : the blocks between them; whole ones, so that the buffers have room for all that is moved.
    """

    name: str
    rows_name: str
    squares: Squares

    def declarations(self) -> list[str]:
        """The buffers."""
        return [f"{self.squares.dtype.c_name} {self.rows_name}[{self.squares.columns}][{self.squares.rows}]"
                f"{ALIGNED} = {{0}};", self.declaration()]

    def declaration(self) -> str:
        """The buffer in which vectors run across the rows."""
        return f"{self.squares.dtype.c_name} {self.name}[{self.squares.rows}][{self.squares.columns}]{ALIGNED};"

    def into_lanes(self, rows: Element | None = None) -> list[str]:
        """From rows to vectors across them.

        Parameters
        ----------
        rows : the rows by column and row, in place of their buffer.
        """
        return self.squares.lines(rows or self._row_element, self._element, into_lanes=True)

    def into_rows(self, rows: Element | None = None) -> list[str]:
        """Back again."""
        return self.squares.lines(self._element, rows or self._row_element, into_lanes=False)

    def _element(self, column: str, row: str) -> str:
        return f"{self.name}[{row}][{column}]"

    def _row_element(self, column: str, row: str) -> str:
        return f"{self.rows_name}[{column}][{row}]"


@dataclass(frozen=True, kw_only=True)
class Squares:
    """Square blocks of elements that are transposed in registers.

    Parameters
    ----------
    rows : that are written; whole blocks of them are read.
    columns : whole vectors.
    lanes : of a vector.
    fresh : makes a name that nothing here has.
    """

    dtype: DType
    rows: int
    columns: int
    lanes: int
    types: VectorTypes
    fresh: Callable[[str], str]

    def lines(self, read: Element, write: Element, *, into_lanes: bool) -> list[str]:
        """Every block, read along one side and written along the other.

        Parameters
        ----------
        read, write : the elements of a column and a row in the C text.
        into_lanes : vectors are read along the rows and written across them; else the other way round.
        """
        assert into_lanes or self.rows % self.lanes == 0, "rows are written in whole vectors"
        kind = self.types.name(self.dtype, self.lanes)
        column, row, n, square = (self.fresh(wish) for wish in ("column", "row", "n", "square"))
        along, across = (column, f"{row} + {n}"), (f"{column} + {n}", row)
        source, target = (across, along) if into_lanes else (along, across)
        rounds = tuple(self._rounds())
        lines = [f"{kind} {square}[2][{self.lanes}];",
                 *self._each(n, f"{square}[0][{n}] = *({kind} *)&{read(*source)};")]
        for number, (size, low, high) in enumerate(rounds):
            old = f"{square}[{number % 2}]"
            lines += self._each(
                n, f"{square}[{(number + 1) % 2}][{n}] = {n} & {size}"
                f" ? __builtin_shufflevector({old}[{n} - {size}], {old}[{n}], {high})"
                f" : __builtin_shufflevector({old}[{n}], {old}[{n} + {size}], {low});")
        inside = f"if ({row} + {n} < {self.rows}) " if self.rows % self.lanes else ""
        lines += self._each(n, f"{inside}*({kind} *)&{write(*target)} = {square}[{len(rounds) % 2}][{n}];")
        for name, end in ((row, self.rows), (column, self.columns)):
            lines = braced(f"for (long {name} = 0; {name} < {end}; {name} += {self.lanes})", lines)
        return lines

    def _each(self, name: str, line: str) -> list[str]:
        return [f"#pragma GCC unroll {self.lanes}",
                *braced(f"for (long {name} = 0; {name} < {self.lanes}; {name}++)", [line])]

    def _rounds(self) -> Iterator[tuple[int, str, str]]:
        """Per round: the distance of the vectors that exchange halves, and what the lower and the upper one take."""
        size = 1
        while size < self.lanes:
            low, high = (", ".join(map(str, halves(self.lanes, size, upper=upper))) for upper in (False, True))
            yield size, low, high
            size *= 2
