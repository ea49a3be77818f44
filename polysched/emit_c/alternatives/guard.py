"""`guarded`: the emitted region runs when what the extraction assumes holds, else the original code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from polysched.emit_c.alternatives.crossover import Crossover
from polysched.emit_c.alternatives.memory_ranges import ALWAYS, MemoryRange, memory_of, memory_of_value
from polysched.emit_c.alternatives.row_starts import RowTest, rows_in_order
from polysched.emit_c.alternatives.safe import JOINED, original_when_small
from polysched.emit_c.c_source import CSource
from polysched.emit_c.scalar_code.original_code import inside, original_lines
from polysched.emit_c.scalar_code.statements import INDENT, branches
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.scop import READABLE, SOME_ELEMENTS, Assumption, Scop


def guarded(source: CSource, scop: Scop, *, team_iterations: int = 0, pays: Crossover | None = None) -> CSource:
    """Put the region behind a test of its assumptions, with the original code as the other branch.

    Rewrite:  NEW  ->  if (assumption && ... && the sizes are large enough) { NEW } else { ORIGINAL }

    Rows that stored pointers lead to are looked at by loops ahead of the test, where arrays have elements at all.
    There is no other branch where the region does nothing unless they have.  Assumptions that cannot be tested at run
    time stay assumptions; each is named in `fallbacks`.  A region without testable assumptions stays as it is.

    Parameters
    ----------
    scop : the region as it was extracted; its accesses tell which memory has to be apart.
    team_iterations : from so many rows on, threads pay, and so does looking whether rows lie in order.
    pays : the sizes for which the region pays; None for all.

    Raises
    ------
    UsageError : the region does not come from a C file.
    """
    if scop.source is None:
        raise UsageError("a guard needs the original code", where=scop.name,
                         hint="guards are for regions of C files")
    tests = _Tests(scop, team_iterations=team_iterations)
    untested = [f"not tested at run time: {a.text}" for a in scop.assumptions if not tests.add(a)]
    fallbacks = (*source.fallbacks, *untested)
    if not tests.conditions and not tests.elements:
        source = replace(source, fallbacks=fallbacks)
        return source if pays is None else original_when_small(source, pays)
    sizes = pays.conditions if pays is not None else ()
    lines = _tested(source.text, source.scop, tests, sizes)
    return replace(source, text="".join(f"{line}\n" for line in lines), fallbacks=fallbacks,
                   pays=JOINED.join(sizes) or source.pays)


def never_granted(text: str, scop: Scop) -> str:
    """Lines that stand for a region of a file, behind a test of what is never taken for granted, as in `guarded`."""
    tests = _Tests(scop)
    for assumption in scop.assumptions:
        if assumption.is_always_tested:
            tests.add(assumption)
    if not tests.conditions and not tests.elements:
        return text
    return "".join(f"{line}\n" for line in _tested(text, scop, tests, ()))


def _tested(text: str, scop: Scop, tests: _Tests, sizes: Sequence[str]) -> list[str]:
    """The region behind its tests; loops that these need run only for sizes where the region pays."""
    original, ours = original_lines(scop), text.splitlines()
    if not tests.before:
        conditions = (*tests.elements, *tests.conditions, *sizes)
        if not (tests.conditions or sizes) and tests.is_idle:
            return [f"if ({_all(conditions)}) {{", *map(inside, ours), "}"]
        return branches(_all(conditions), map(inside, ours), original)
    lines = branches(_all(tests.conditions), map(inside, ours), original)
    lines = ["{", *(INDENT + line for line in tests.before), *(inside(line) for line in lines), "}"]
    lines = _with_threads(JOINED.join(sizes), lines, original) if sizes else lines
    return branches(_all(tests.elements), map(inside, lines), original) if tests.elements else lines


def _all(conditions: Iterable[str]) -> str:
    """That all conditions hold."""
    found = tuple(conditions)
    return found[0] if len(found) == 1 else " && ".join(f"({condition})" for condition in found)


def _with_threads(sizes: str, lines: Sequence[str], original: Sequence[str]) -> list[str]:
    """Loops ahead of a region that look whether threads may run it, for sizes where these pay, if there are any."""
    chosen = branches(f"omp_get_max_threads() > 1 && ({sizes})", map(inside, lines), original)
    return ["{", "#ifdef _OPENMP", "  int omp_get_max_threads(void);", "#else", "#define omp_get_max_threads() 1",
            "#endif", *map(inside, chosen), "#ifndef _OPENMP", "#undef omp_get_max_threads", "#endif", "}"]


def untestable(scop: Scop) -> tuple[Assumption, ...]:
    """The assumptions that C cannot test at run time."""
    tests = _Tests(scop)
    return tuple(a for a in scop.assumptions if not tests.add(a))


@dataclass
class _Tests:
    """Conditions over names visible at the region, and the memory that they name.

    Those that arrays have elements are apart: others, and what runs ahead of them, may read parameters on them only.
    """

    scop: Scop
    team_iterations: int = 0
    conditions: dict[str, None] = field(default_factory=dict)
    elements: dict[str, None] = field(default_factory=dict)
    is_idle: bool = True
    rows: dict[frozenset[str], RowTest] = field(default_factory=dict)
    used: dict[str, MemoryRange] = field(default_factory=dict)
    known: dict[str, MemoryRange | None] = field(default_factory=dict)

    @property
    def before(self) -> list[str]:
        """The lines ahead of the test."""
        return [*(line for rows in self.rows.values() for line in rows.before),
                *(line for memory in self.used.values() for line in memory.before)]

    @property
    def _reads_conditionally(self) -> bool:
        """Whether an integer of memory that is read may not be there."""
        return any(a.kind == READABLE for a in self.scop.assumptions)

    def add(self, assumption: Assumption) -> bool:
        """Whether C can test an assumption; then its conditions are among those here."""
        if assumption.kind == SOME_ELEMENTS and assumption.condition is not None:
            self.elements[assumption.condition] = None
            self.is_idle &= assumption.idle
            return True
        if assumption.condition is not None:
            self.conditions[assumption.condition] = None
            return True
        if assumption.rows:
            return self._add_rows(assumption)
        return self._add_apart(assumption)

    def _add_apart(self, assumption: Assumption) -> bool:
        """Whether C can test which memory is apart."""
        conditions: list[str] = []
        for left, right in assumption.apart:
            condition = self._apart(left, right)
            if condition is None:   # then the others are of no use, and may take long
                return False
            conditions.append(condition)
        if not conditions:
            return False
        names = {name for pair in assumption.apart for name in pair}
        used = {name: memory for name, memory in self.known.items() if memory is not None and name in names}
        if self._reads_conditionally and any(memory.before for memory in used.values()):
            return False  # lines ahead of the test would read what the test has to allow first
        self.used.update(used)
        self.conditions.update(dict.fromkeys(c for c in conditions if c and c != ALWAYS))
        return True

    def _add_rows(self, assumption: Assumption) -> bool:
        """Whether C can test that rows lie in order, which takes a loop over their starts."""
        if self._reads_conditionally:
            return False
        starts = frozenset(low for _, low in assumption.rows)
        if starts not in self.rows:
            self.rows[starts] = rows_in_order(self.scop, assumption, f"polysched_rows_{len(self.rows)}",
                                              least_rows=self.team_iterations)
        self.conditions[self.rows[starts].condition] = None
        return True

    def _apart(self, left: str, right: str) -> str | None:
        """The condition that two arrays, an array and a parameter, or the rows of one array do not overlap."""
        first, second = self._memory(left), self._memory(right)
        if first is None or second is None:
            return None
        return first.rows_apart or None if left == right else first.apart_from(second)

    def _memory(self, name: str) -> MemoryRange | None:
        if name not in self.known:
            array = next((a for a in self.scop.arrays if a.name == name), None)
            self.known[name] = memory_of(self.scop, array) if array is not None else memory_of_value(
                next(p for p in self.scop.parameters if p.name == name).spelling)
        return self.known[name]
