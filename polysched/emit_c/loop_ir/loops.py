"""The loop IR: what the emitted region consists of, between isl's AST and text.

isl's AST is read into these frozen values once (`ast_reader`); naming, vectorisation and printing are
functions from these values to these values or to text.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from polysched.emit_c.loop_ir.index import Condition, Linear, variable
from polysched.records import dataclass
from polysched.scheduling.marks import LoopMark
from polysched.scop.body import Binary, Expr, Select


@dataclass(frozen=True)
class Temporary:
    """A temporary array of the program while one execution of a node lasts: a variable or a small buffer.

    Parameters
    ----------
    array : the array of the program.
    name : the C name.
    kept : the dimensions of the array that the buffer has; the others have one value inside.
    bases : per kept dimension, the first subscript that occurs.
    extents : per kept dimension, the number of elements; empty for a buffer in `memory`.
    memory : C name of memory from the heap with one part per thread, for kept dimensions in their full extent or as
        `spans` says; empty for a buffer on the stack.
    spans : per kept dimension of a buffer in `memory`, the number of elements, or 0 for the full extent; empty where
        all have that.
    """

    array: str
    name: str
    kept: tuple[int, ...] = ()
    bases: tuple[Linear, ...] = ()
    extents: tuple[int, ...] = ()
    memory: str = ""
    spans: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the buffer has every element of the array, in its place."""
        return self.kept == tuple(range(len(self.kept))) and all(b.is_constant and b.constant == 0 for b in self.bases)

    def subscripts(self, forms: tuple[Linear, ...]) -> tuple[Linear, ...]:
        """Where in the buffer the element with these subscripts in the array is."""
        return tuple(forms[k] - base for k, base in zip(self.kept, self.bases, strict=True))


@dataclass(frozen=True)
class Settled:
    """A part of the subscripts of a statement that has a few cases, of which one is known at a place.

    Parameters
    ----------
    part : `e % p` of positive p and e that is not negative, or `a < b ? then : otherwise`; over the iterators of the
        statement, once those before it are settled.
    value : the quotient of e by p; 1 where the condition holds, else 0; None where comparisons tell the quotient.
    rounds : in that case, the number of quotients, from 0 on.
    """

    part: Binary | Select
    value: int | None
    rounds: int = 2


@dataclass(frozen=True)
class StatementInstance:
    """One instance of a statement of the Scop.

    Parameters
    ----------
    statement : the statement's name.
    iterators : the value of each of its iterators, in terms of loop variables and parameters.
    temporaries : what the surroundings declare in the place of temporary arrays.
    settled : parts of its subscripts of which the case is known here (`subscript_cases.statement_at`).
    """

    statement: str
    iterators: tuple[Linear, ...]
    temporaries: tuple[Temporary, ...] = ()
    settled: tuple[Settled, ...] = ()


@dataclass(frozen=True)
class Block:
    """Nodes one after the other."""

    children: tuple[Node, ...]


@dataclass(frozen=True)
class For:
    """`for (variable = lower; variable < upper; variable += step)`.

    Parameters
    ----------
    variable : the loop variable; unique on the path from the root.
    lower : first value.
    upper : one past the last value that can occur.
    step : positive.
    body : what is repeated.
    mark : what the schedule says about the loop.
    depth : schedule dimension that the loop enumerates.
    guard : a further condition on continuing that is no upper bound; such a loop is not canonical.
    forgets : compilers keep no element of memory in a register from one iteration to the next.
    behind : iterations that the last of several rows in step is behind the first; 0 where it is none of that kind.
    fences : an iteration ends when all its stores past the caches are in memory.
    yields : an iteration is a tile of code that can be stopped behind it (`nests.tile_boundaries`).
    """

    variable: str
    lower: Linear
    upper: Linear
    step: int
    body: Node
    mark: LoopMark = field(default_factory=LoopMark)
    depth: int = 0
    guard: Condition | None = None
    forgets: bool = False
    behind: int = 0
    fences: bool = False
    yields: bool = False

    @property
    def is_canonical(self) -> bool:
        """Whether OpenMP accepts the loop (OpenMP 4.5, section 2.6)."""
        return self.guard is None


@dataclass(frozen=True)
class If:
    """`if (condition) then else otherwise`."""

    condition: Condition
    then: Node
    otherwise: Node | None = None


@dataclass(frozen=True)
class Let:
    """A loop of exactly one iteration: the variable has one value in the body.

    Parameters
    ----------
    name : what the variable shall be called, where it stands for no iterator.
    """

    variable: str
    value: Linear
    body: Node
    depth: int = 0
    name: str = ""


@dataclass(frozen=True)
class Edge:
    """One dimension of a full register tile.

    Parameters
    ----------
    variable : the loop variable; in emitted code it stays at the tile's first point.
    base : that first point.
    count : number of points, a constant.
    simd : the points are independent and become lanes of vectors.
    """

    variable: str
    base: Linear
    count: int
    simd: bool

    @property
    def is_own_variable(self) -> bool:
        """Whether a loop around the tile already gives the variable its only value."""
        return self.base == variable(self.variable)


@dataclass(frozen=True)
class Panel:
    """A contiguous copy of what one operand is in a block of register tiles.

    Parameters
    ----------
    name : the buffer's C name.
    statement, value : the expression that is computed ahead, usually a load.
    subscripts : where the operand is in the panel, in terms of loop variables.
    extents : elements per dimension of the panel.
    loops : the loops that fill the panel, outermost first; their bodies are empty.
    in_lanes : lanes read neighbours along the last dimension; otherwise they share one element.
    shared : how many of the loops, from the outermost, the threads share to fill it together; 0 where it belongs to
        one thread.
    outer : C texts of the extents in front of the others of a shared panel, for the loops around its tiles.
    """

    name: str
    statement: str
    value: Expr
    subscripts: tuple[Linear, ...]
    extents: tuple[int, ...]
    loops: tuple[For, ...]
    in_lanes: bool
    shared: int = 0
    outer: tuple[str, ...] = ()

    @property
    def bytes_text(self) -> str:
        """C text of all its bytes."""
        return " * ".join([f"{self.bytes}ul", *self.outer])

    @property
    def bytes(self) -> int:
        """For one value of the loops around the tiles."""
        size = self.value.dtype.bytes
        for extent in self.extents:
            size *= extent
        return size


@dataclass(frozen=True)
class PackedOperand:
    """Where an operand is found in a panel at one point of a tile."""

    name: str
    subscripts: tuple[Linear, ...]
    in_lanes: bool


@dataclass(frozen=True)
class Packed:
    """Declare and fill a panel, then run the body that reads it.

    Parameters
    ----------
    panel : what is copied.
    source : the statement instance whose operand is copied.
    body : reads the panel.
    """

    panel: Panel
    source: StatementInstance
    body: Node


@dataclass(frozen=True)
class Local:
    """Declare temporaries, then run the body; no value of theirs comes from before or is used after."""

    temporaries: tuple[Temporary, ...]
    body: Node


@dataclass(frozen=True)
class Partial:
    """An element into which the iterations of a loop are reduced.

    Parameters
    ----------
    array : its array.
    operator : as `dependence.reductions.Reduction` has it; `place` for what `argmin` or `argmax` keeps beside.
    subscripts : the element.
    ties : which of equal values counts, for `argmin` and `argmax`.
    start : for what loop counters overwrite, a number before that of the first iteration.
    grows : later iterations have larger numbers there; otherwise smaller ones.
    leader : for a `place`, the array of the extremum.
    nan_first : the first value that is no number is the extremum.
    in_order : there is one result, to which the lanes are added one after the other.
    """

    array: str
    operator: str
    subscripts: tuple[Linear, ...]
    ties: str = ""
    start: Linear | None = None
    grows: bool = True
    leader: str = ""
    nan_first: bool = False
    in_order: bool = False


@dataclass(frozen=True)
class PartialElement:
    """An element by one of its accesses, where a statement instance stood before it got a part of its own."""

    instance: StatementInstance
    reference: str


@dataclass(frozen=True)
class ThreadPart:
    """What every thread has to itself while it does its range of a loop that reduces.

    Parameters
    ----------
    temporary : stands for the reduced element or array.
    operator : as `dependence.reductions.Reduction` has it.
    element : an access of the reduced element, to print it; None for a whole array.
    places : for `argmin` and `argmax`, the temporaries and accesses of the place.
    start : for `last`, what an iteration overwrites the element with, less one; later iterations have larger numbers.
    nan_first : the first value that is no number is the extremum.
    """

    temporary: Temporary
    operator: str
    element: PartialElement | None = None
    places: tuple[tuple[Temporary, PartialElement], ...] = ()
    start: Linear | None = None
    nan_first: bool = False

    @property
    def temporaries(self) -> tuple[Temporary, ...]:
        return (self.temporary, *(temporary for temporary, _ in self.places))


@dataclass(frozen=True)
class ThreadReduction:
    """`for part of the range first .. end of a whole loop: loop`, parts combined in the order of the range.

    Parameters
    ----------
    whole : the loop as it was.
    loop : one part of it, from `first` to `end`; its instances reduce into `parts`.
    first, end, part : C names of the bounds of a part, and of its number.
    parts : what is reduced.
    """

    whole: For
    loop: Node
    first: str
    end: str
    part: str
    parts: tuple[ThreadPart, ...]


@dataclass(frozen=True)
class FetchedRow:
    """What a loop over vectors fetches into the cache for a later loop.

    Parameters
    ----------
    array, subscripts : an element, in terms of the loop's variable.
    bytes_ahead : how far behind that element the one that is fetched lies in memory.
    """

    array: str
    subscripts: tuple[Linear, ...]
    bytes_ahead: int


@dataclass(frozen=True)
class RegisterTile:
    """`loops { for every point of the edges: body }`, to be unrolled and held in registers.

    Parameters
    ----------
    loops : the loops around the points, outermost first; their own bodies are empty.
    edges : the dimensions of the tile, outermost first.
    body : statement instances only.
    panels : operands that are read from a panel.
    private : temporaries of which every point of the edges has one of its own, in every iteration of the loops.
    partials : elements that are reduced along the simd edge; every lane has a partial result of its own.
    ahead : the edge along which the next tile follows, whose registers are fetched into the cache meanwhile; None
        where that is not worth it.
    within : per edge, the first point that is an instance and one past the last; empty where all points are. A tile
        with such an edge is computed in full on a copy of what it sums up, and only instances are kept.
    fetched : rows that are fetched into the cache meanwhile, as many elements as the only edge has.
    past_caches : an array whose vectors are stored to memory past the caches; "" for none.
    copied_from : the first point along the first edge of a copy that several tiles share; None where a tile that is
        computed on a copy has it to itself.
    """

    loops: tuple[For, ...]
    edges: tuple[Edge, ...]
    body: Node
    panels: tuple[Panel, ...] = ()
    private: tuple[Temporary, ...] = ()
    partials: tuple[Partial, ...] = ()
    ahead: str | None = None
    within: tuple[tuple[Linear, Linear], ...] = ()
    fetched: tuple[FetchedRow, ...] = ()
    copied_from: Linear | None = None
    past_caches: str = ""


@dataclass(frozen=True)
class OnCopy:
    """Copy what tiles along a row sum up, transposed, run the body on the copy, and copy it back.

    Parameters
    ----------
    tile : one of the tiles, at the first of the rows; it says what is copied.
    count : of all rows.
    body : the tiles.
    """

    tile: RegisterTile
    count: int
    body: Node


Node: TypeAlias = Block | For | If | Let | Local | StatementInstance | RegisterTile | Packed | OnCopy | ThreadReduction
