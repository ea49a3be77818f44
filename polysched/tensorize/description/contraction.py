"""What an instruction computes, as the value that the matcher reads.

    Contraction
      dimensions, bounds        the loops, a box or (Kind.TRIANGLE) a part of one
      output, update            what one iteration does to one element; `results` lists it with `others`
      inputs                    every distinct element read: several may be of one operand (Kind.READ_TWICE)
      accumulates               False: the old value of the output does not count (Kind.OVERWRITES); the update does
                                not read it (`O[i] = (A[i] + B[i] + 1) >> 1`), or its sum starts from zero
      finish, limits, traits    what was taken out of the exact text so that one update is left, with proof
      others                    further operands that every iteration writes, all from the values before it
      tables                    operands read at computed subscripts: `Call("T[]", (subscript, ...), dtype)`
      stages                    the exact text: nests one behind the other, over operands and expanded locals
      whole                     True: dimensions, output, update, finish and limits say the same as `stages` do;
                                False (Kind.STAGES): only `stages` does, and `update` is the last stage's

The type of an update is that of the accumulator: the output's own, or a wider one when there is a finish.  Every
conversion is a `Cast`: nothing wraps or rounds that the update does not show, beside limits, finish and traits.
A limit says that a part of the sum is cut (`wraps` False) or wraps (True) to a narrower type on its way; where no such
part leaves the range, which is to be proved of the operands, the update is what is computed.

`kinds` are the properties that a reader has to know about; one that does not handle a kind has to refuse it.

A stage is one perfect nest around assignments that happen at once: all values are computed before any is written.
Locals of the text are expanded: a local declared inside loops i and j is an array with the subscripts [i][j] in front
of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from functools import cached_property

from polysched.records import dataclass
from polysched.scop.body import Expr, Load, walk
from polysched.scop.dtypes import DType
from polysched.tensorize.description.semantics import ZERO, Affine, Element, Variable, table_of, table_reads


class Kind(Enum):
    """What makes a contraction more than one sum of products of one element per operand, in words."""

    OVERWRITES = "replaces its result instead of adding to it"
    SEVERAL_RESULTS = "writes several operands at once"
    READ_TWICE = "reads several elements of one operand for one result"
    TABLE = "reads a table at computed subscripts"
    TRIANGLE = "has loops whose bounds are no box"
    STAGES = "computes in several stages"


@dataclass(frozen=True)
class Dimension:
    """One loop of an instruction; the extent is a parameter's name where the caller of a library chooses it.

    Parameters
    ----------
    lower, upper : `lower <= name < upper` in terms of the dimensions before it, within `0 <= name < extent`; `upper` is
        None for the extent itself.
    """

    name: str
    extent: int | str
    lower: Affine = ZERO
    upper: Affine | None = None

    @property
    def is_box(self) -> bool:
        return self.lower == ZERO and self.upper is None

    def values(self, before: Mapping[str, int], sizes: Mapping[str, int]) -> range:
        """The iterations, in order."""
        extent = sizes[self.extent] if isinstance(self.extent, str) else self.extent
        end = extent if self.upper is None else min(extent, self.upper.evaluate(before))
        return range(self.lower.evaluate(before), end)


@dataclass(frozen=True)
class Limit:
    """A part of the sum that is cut to a range on its way: so many addends, each the update's without the old value.

    Where no such part leaves the range the update is what is computed; that is to be proved of the operands.

    Parameters
    ----------
    dimensions : the loops whose iterations make up one part.
    wraps : what leaves the range comes back at its other end; otherwise it becomes the nearest end.
    dtype : the type that the part is added up in.
    """

    addends: int
    addend: Expr
    low: int
    high: int
    dimensions: tuple[str, ...]
    wraps: bool
    dtype: DType


@dataclass(frozen=True)
class Result:
    """One written element and its new value, which is of its type; `reads` are the elements that the value loads."""

    output: Element
    output_dtype: DType
    update: Expr
    reads: tuple[Element, ...]

    @property
    def reads_itself(self) -> bool:
        return self.output in self.reads


@dataclass(frozen=True)
class Stage:
    """`for all dimensions: results`, all of them computed from the values before."""

    dimensions: tuple[Dimension, ...]
    results: tuple[Result, ...]


@dataclass(frozen=True, kw_only=True)
class Contraction:
    """`for all dimensions: output = update`, and `output = finish(output)` at the end when there is a finish.

    Parameters
    ----------
    dimensions : outermost first.
    output : the written element, in terms of the dimensions.
    inputs : the elements read besides the output itself, each once, in order of appearance.
    update : new value of the output; reads the output by `Load(str(output))`.
    accumulates : the old value of the output counts, for itself or another result; otherwise no update reads it, or it
        is a sum from zero.
    finish : name of the function that ends the sum (saturation), or None.
    limits : the parts of the sum that are cut on their way.
    scale : name of the operand that the old value of the output is multiplied by ahead of the sum (BLAS's beta), or "".
    traits : what somebody who expects the ideal update accepts, in words.
    others : further results of every iteration, from the values before it.
    stages : the exact text; `locals` are its expanded locals.
    whole : see the module.
    rounds_anew : the update computes floats in another order, or with other roundings, than the text.
    in_order : the text is this one nest, so each element gets its updates in the order of the dimensions, of which
        those named in `descending` run from the top down.
    """

    dimensions: tuple[Dimension, ...]
    output: Element
    output_dtype: DType
    inputs: tuple[Element, ...]
    input_dtypes: tuple[DType, ...]
    update: Expr
    accumulates: bool
    finish: str | None = None
    traits: tuple[str, ...] = ()
    scale: str = ""
    limits: tuple[Limit, ...] = ()
    others: tuple[Result, ...] = ()
    stages: tuple[Stage, ...] = ()
    locals: tuple[Variable, ...] = ()
    whole: bool = True
    rounds_anew: bool = False
    in_order: bool = False
    descending: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.input_dtypes) or len(set(self.inputs)) != len(self.inputs):
            raise ValueError(f"{self.output}: every distinct element read has one entry, and one type")
        if self.finish is None and self.update.dtype != self.output_dtype:
            raise ValueError(f"{self.output}: the update is {self.update.dtype}, the output {self.output_dtype}")
        known = {str(e) for e in (self.output, *self.inputs, *(r.output for r in self.others))}
        loads = {e.reference for r in self.results for e in walk(r.update) if isinstance(e, Load)}
        if self.whole and not loads <= known:
            raise ValueError(f"{self.output}: the update reads {sorted(loads - known)}, which is no input")

    def indexes(self, dimension: str) -> frozenset[str]:
        """Names of the operands that a dimension indexes."""
        written = (self.output, *(r.output for r in self.others))
        return frozenset(e.array for e in (*written, *self.inputs) if dimension in e.names)

    @property
    def reductions(self) -> tuple[str, ...]:
        """Dimensions that the output does not know."""
        return tuple(d.name for d in self.dimensions if d.name not in self.output.names)

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """All that one iteration writes, the output first."""
        own = (self.output, *self.inputs, *(r.output for r in self.others))
        loaded = {e.reference for e in walk(self.update) if isinstance(e, Load)}
        reads = tuple(e for e in own if str(e) in loaded)
        return (Result(self.output, self.output_dtype, self.update, reads), *self.others)

    def alone(self, number: int) -> Contraction:
        """One of the results, which reads the elements that others write as inputs."""
        mine = self.results[number]
        types = dict(zip(self.inputs, self.input_dtypes, strict=True)) | {
            r.output: r.output_dtype for r in self.results}
        inputs = tuple(e for e in mine.reads if e != mine.output)
        return replace(self, output=mine.output, output_dtype=mine.output_dtype, update=mine.update, inputs=inputs,
                       input_dtypes=tuple(types[e] for e in inputs), accumulates=mine.reads_itself, others=())

    @property
    def written(self) -> dict[str, Element]:
        """Per written operand one of the elements."""
        return {r.output.array: r.output for r in self.results}

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """Names of the operands that are read at computed subscripts."""
        updates = [r.update for s in self.stages for r in s.results] + [r.update for r in self.results]
        return tuple(dict.fromkeys(table_of(e) for u in updates for e in table_reads(u)))

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """What a reader of this value has to handle, or refuse."""
        arrays = [e.array for e in (self.output, *(r.output for r in self.others), *self.inputs)]
        old = {e for r in self.results for e in r.reads}
        overwrites = not self.accumulates or not all(r.output in old for r in self.others)
        found = {Kind.OVERWRITES: overwrites, Kind.SEVERAL_RESULTS: bool(self.others), Kind.TABLE: bool(self.tables),
                 Kind.READ_TWICE: len(set(arrays)) < len(arrays), Kind.STAGES: not self.whole,
                 Kind.TRIANGLE: not all(d.is_box for s in self.stages for d in (*s.dimensions, *self.dimensions))}
        return frozenset(kind for kind, holds in found.items() if holds)
