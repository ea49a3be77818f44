"""The text of a reduction across threads: a part per thread, and their combination in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from polysched.dependence.reductions import OVERWRITES
from polysched.emit_c.bodies.array_bounds import all_elements_are_written, inside_array
from polysched.emit_c.bodies.wrapping_sums import accumulator, can_overflow, unsigned
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.loop_ir.index import Linear, substitute, variable
from polysched.emit_c.loop_ir.loops import PartialElement, ThreadPart, ThreadReduction
from polysched.emit_c.loop_ir.subscript_cases import statement_at
from polysched.emit_c.nests.thread_reductions import WORK_PER_ELEMENT, is_worth_parts
from polysched.emit_c.scalar_code.c_text import CText, Level, binary
from polysched.emit_c.scalar_code.heap import PROTOTYPES, extent_texts
from polysched.emit_c.scalar_code.index_printer import IndexPrinter
from polysched.emit_c.scalar_code.openmp import work_varies
from polysched.emit_c.scalar_code.region_branches import MOST_LINES
from polysched.emit_c.scalar_code.statements import INDENT, braced, branches
from polysched.emit_c.scalar_code.work import is_worth, work
from polysched.emit_c.vector_code.partial_results import COMPARISONS, SYMBOLS, better, neutral, other_bits
from polysched.records import dataclass
from polysched.scop.dtypes import DType, promote
from polysched.scop.scop import Scop

PARTS_OF_A_THREAD = LIMITS.parts_of_a_thread


@dataclass(frozen=True, kw_only=True)
class ThreadParts:
    """Prints one reduction across threads.

    Parameters
    ----------
    node : what to print.
    scop : holds the arrays.
    index : prints bounds.
    element : the C text of an element.
    fresh : a name that nothing else has.
    local_names : C names of the region-local arrays.
    line_bytes : of the first cache; parts do not share one.
    least_work : iterations from which on a team pays.
    """

    node: ThreadReduction
    scop: Scop
    index: IndexPrinter
    element: Callable[[PartialElement], CText]
    fresh: Callable[[str], str]
    local_names: Mapping[str, str]
    line_bytes: int
    least_work: int

    def lines(self, body: list[str]) -> list[str]:
        """The block around the loop of one part, whose lines are the body."""
        count, part, arrays, scalars = self._count, self.node.part, self._arrays, self._scalars
        inner = [*self._bounds(), *_each(self._beginning, self.node.parts), *body]
        if scalars:
            inner += ["#pragma omp ordered", "{", *(INDENT + line for line in _each(self._ordered, scalars)), "}"]
        ordered = " ordered" if scalars else ""
        return [
            f"{'' if arrays else 'const '}int {count} = {self._wanted(several=not arrays)};",
            *(PROTOTYPES if arrays else ()), *_each(self._memory, arrays), *_each(self._before, scalars),
            *self._in_branches(ordered, braced(f"for (int {part} = 0; {part} < {count}; {part}++)", inner)),
            *_each(self._sum_of_parts, arrays),
            *(f"free({p.temporary.memory});" for p in arrays)]

    @property
    def _arrays(self) -> list[ThreadPart]:
        return [p for p in self.node.parts if p.element is None]

    @property
    def _scalars(self) -> list[ThreadPart]:
        return [p for p in self.node.parts if p.element is not None]

    def _in_branches(self, ordered: str, loop: list[str]) -> list[str]:
        """The loop over parts on threads, and where there is one part without a team; long loops get a clause."""
        pragma, several = f"#pragma omp parallel for{ordered} schedule(static, 1)", f"{self._count} > 1"
        if len(loop) > MOST_LINES:
            return [f"{pragma} if({several})", *loop]
        alone = [line for line in loop if line.strip() != "#pragma omp ordered"]
        return branches(several, (INDENT + line for line in (pragma, *loop)), (INDENT + line for line in alone))

    def _wanted(self, *, several: bool) -> str:
        """How many parts there are: one per thread, several where work varies and that is allowed, one of little.

        None of nothing, where the program may not even have the element then.
        """
        threads = self.index.macros.threads()
        if several and work_varies(self.node.whole):
            threads = f"{PARTS_OF_A_THREAD} * {threads}"
        condition = self._condition()
        length = self.index.bound(self.node.whole.upper - self.node.whole.lower).at(Level.RELATIONAL)
        one = f"{length} > 0" if self._may_lack_elements else "1"
        return threads if condition is None else f"{condition} ? {threads} : {one}"

    @property
    def _may_lack_elements(self) -> bool:
        """Whether an element lies behind a pointer that need not lead anywhere where the loop is empty."""
        elements = [p.element for p in self.node.parts if p.element is not None]
        if len(elements) < len(self.node.parts):   # whole arrays have at least one part, which is the array itself
            return False
        return not all(inside_array(self.scop, statement_at(self.scop, e.instance).access(e.reference))
                       for e in elements)

    @property
    def _count(self) -> str:
        return self.fresh(f"{self.node.part}s")

    def _condition(self) -> CText | None:
        """Whether there is enough to do for a team, and for the arrays that its threads would get; None: always."""
        total = work(self.node.whole, self.index)
        amount = CText(str(total)) if isinstance(total, int) else total
        arrays = self._arrays
        if is_worth_parts(self.node.whole, [self.scop.array(p.temporary.array) for p in arrays], self.least_work):
            return None
        worth = is_worth(self.node.whole, self.least_work, self.index)
        first = worth if isinstance(worth, CText) else binary(">=", amount, CText(str(self.least_work)))
        conditions = [first, *(binary(">=", amount, CText(
            f"(double){WORK_PER_ELEMENT} * {self._elements(p)}", Level.PRIMARY)) for p in arrays)]
        return CText(" && ".join(c.code for c in conditions))

    def _bounds(self) -> Iterator[str]:
        """The range of a part."""
        low, length = self.node.whole.lower, self.node.whole.upper - self.node.whole.lower
        part, count = self.node.part, self._count
        whole = self.index.bound(length).at(Level.PRIMARY)
        start = "" if low.is_constant and low.constant == 0 else f"{self.index.bound(low).at(Level.PRIMARY)} + "
        yield f"const long {self.node.first} = {start}(long){whole} * {part} / {count};"
        yield f"const long {self.node.end} = {start}(long){whole} * ({part} + 1) / {count};"

    def _before(self, part: ThreadPart) -> Iterator[str]:
        """The values that every part begins with, read before another part is combined."""
        if part.operator in SYMBOLS or part.start is not None:
            return
        for name, dtype, element in self._elements_of(part):
            value = f"{self._count} ? {element.at(Level.CONDITIONAL)} : 0" if self._may_lack_elements else element
            yield f"const {dtype.c_name} {self.fresh(f'{name}_before')} = {value};"

    def _beginning(self, part: ThreadPart) -> Iterator[str]:
        """The declaration of what one part reduces into."""
        number = self.node.part
        if part.element is None:
            yield from self._array(part)
            return
        for name, dtype, element in self._elements_of(part):
            if part.start is not None:
                yield f"const {dtype.c_name} {self.fresh(f'{name}_before')} = {self._start(part.start, dtype)};"
            before = self.fresh(f"{name}_before")
            if part.operator in SYMBOLS:
                yield f"const {dtype.c_name} {before} = {number} ? {neutral(part.operator, dtype)} : {element};"
            yield f"{dtype.c_name} {name} = {before};"

    def _start(self, start: Linear, dtype: DType) -> str:
        """A number that no iteration of the range has."""
        first = self.index.bound(substitute(start, {self.node.whole.variable: variable(self.node.first)}))
        return f"({dtype.c_name})({first})"

    def _ordered(self, part: ThreadPart) -> Iterator[str]:
        """A part's result, into what the parts before it gave."""
        (name, dtype, element), *places = self._elements_of(part)
        if part.operator in SYMBOLS:
            short = part.operator == "product" and dtype.is_integer and dtype.bits < 32    # products of ints overflow
            both = f"{element} {SYMBOLS[part.operator]} {'(unsigned int)' if short else ''}{name}"
            change = f"{element} = {self.node.part} ? {f'({dtype.c_name})({both})' if short else both} : {name};"
            yield from braced(f"if ({other_bits(name, self.fresh(f'{name}_before'), dtype)})", [change])
            return
        if part.operator in OVERWRITES:
            before = self.fresh(f"{name}_before")
            untouched = f" && {element.at(Level.RELATIONAL)} == {before}" if part.operator == "first" else ""
            yield from braced(f"if ({name} != {before}{untouched})", [f"{element} = {name};"])
            return
        operator = part.operator.removeprefix("arg")
        changes = [f"{element} = {name};", *(f"{place} = {own};" for own, _, place in places)]
        condition = better(operator, name, str(element))
        if part.nan_first:
            condition += f" || ({name} != {name} && {element} == {element})"
        yield from braced(f"if ({condition})", changes)

    def _elements_of(self, part: ThreadPart) -> Iterator[tuple[str, DType, CText]]:
        """Name, type and original of each variable of a part; the extremum before its places."""
        assert part.element is not None
        for temporary, element in ((part.temporary, part.element), *part.places):
            dtype = self.scop.array(temporary.array).dtype
            yield temporary.name, accumulator(part.operator, dtype), self.element(element)

    # -- arrays

    def _name(self, part: ThreadPart) -> str:
        """The array itself in C."""
        return self.local_names.get(part.temporary.array, part.temporary.array)

    def _elements(self, part: ThreadPart) -> str:
        extents = extent_texts(self.scop, self.scop.array(part.temporary.array))
        return " * ".join(f"(long)({extent})" for extent in extents)

    def _stride(self, part: ThreadPart) -> str:
        """Elements from one part to the next: in whole cache lines, and one line more."""
        line = self.line_bytes // self.scop.array(part.temporary.array).dtype.bytes
        return f"({self._elements(part)} + {2 * line - 1}) / {line} * {line}"

    def _memory(self, part: ThreadPart) -> Iterator[str]:
        """Memory for the parts but the first; where there is none, there is one part."""
        dtype, memory, count = self.scop.array(part.temporary.array).dtype, part.temporary.memory, self._count
        size = f"(unsigned long)({count} - 1) * ({self._stride(part)}) * {dtype.bytes}"
        yield f"{dtype.c_name} *{memory} = {count} > 1 ? aligned_alloc({self.line_bytes}, {size}) : 0;"
        yield f"{count} = {memory} ? {count} : 1;"

    def _array(self, part: ThreadPart) -> Iterator[str]:
        """The array of one part, set by its own thread: the first one is the array itself."""
        array, name = self.scop.array(part.temporary.array), part.temporary.name
        c_name, number = array.dtype.c_name, self.node.part
        extents = extent_texts(self.scop, array)
        rows = "".join(f"[{extent}]" for extent in extents[1:])
        own = f"{part.temporary.memory} + ({number} - 1) * ({self._stride(part)})"
        pointer = f"{c_name} (*{name}){rows}" if rows else f"{c_name} *{name}"
        cast = f"({c_name} (*){rows})" if rows else ""
        yield f"{pointer} = {number} ? {cast}({own}) : {self._name(part)};"
        element = self.fresh("element")
        head = f"for (long {element} = 0; {element} < {self._elements(part)}; {element}++)"
        target = f"(({c_name} *){name})[{element}]"
        yield from braced(f"if ({number})", [head, f"{INDENT}{target} = {neutral(part.operator, array.dtype)};"])

    def _sum_of_parts(self, part: ThreadPart) -> Iterator[str]:
        """The other parts into the array, one after the other; elements are independent."""
        array, number, element = self.scop.array(part.temporary.array), self.node.part, self.fresh("element")
        target = f"(({array.dtype.c_name} *){self._name(part)})[{element}]"
        source = f"{part.temporary.memory}[({number} - 1) * ({self._stride(part)}) + {element}]"
        known = all_elements_are_written(self.scop, array.name)
        if part.operator in COMPARISONS:
            is_better = better(part.operator, source, target)
            change = (f"{target} = {is_better} ? {source} : {target};" if known
                      else f"if ({is_better}) {target} = {source};")
        else:
            wraps = can_overflow(part.operator, array.dtype)
            cast = f"({unsigned(promote(array.dtype)).c_name})" if wraps else ""
            change = f"{target} {SYMBOLS[part.operator]}= {cast}{source};"
            if not known:
                change = f"if ({other_bits(source, neutral(part.operator, array.dtype), array.dtype)}) {change}"
        loop = ["#pragma omp parallel for simd",
                f"for (long {element} = 0; {element} < {self._elements(part)}; {element}++)", INDENT + change]
        yield from braced(f"for (int {number} = 1; {number} < {self._count}; {number}++)", loop)


def _each(lines: Callable[[ThreadPart], Iterator[str]], parts: list[ThreadPart] | tuple[ThreadPart, ...]
          ) -> Iterator[str]:
    """The lines of all parts, one part after the other."""
    for part in parts:
        yield from lines(part)
