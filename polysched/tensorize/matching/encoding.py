"""The CNF of a match: which loop goes into which dimension, which expression into which operand.

Variables: `x[loop, group]` (at most one group per loop; instruction dimensions that index the same operands are one
group), one variable per operand assignment, and one per hindering fact, assumed false.  Soundness of an operand pair:
a loop that indexes the software expression forces its dimension to index the instruction operand, the result included;
and a dimension of the result takes no loop that the result of the program does not have.

Sources: Zheng et al., "AMOS: enabling automatic mapping for tensor computations on spatial accelerators with hardware
abstraction", ISCA 2022, section 5 (the mapping and its binary matrix check, `Rule.AMOS`); Een and Sorensson,
"Translating pseudo-Boolean constraints into SAT", JSAT 2006, section 5.2 (decision diagrams).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import Enum
from functools import cached_property

from polysched.records import dataclass
from polysched.scop.body import Load, walk
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.matching.assignment import Assignment
from polysched.tensorize.matching.facts import Fact
from polysched.tensorize.proofs.correspondence import Grouped, blurred, is_shared
from polysched.tensorize.software.fragment import Fragment, Index


class Rule(Enum):
    """EXACT: every sound mapping.  AMOS: only those that its operand-by-operand matching admits."""

    EXACT = "exact"
    AMOS = "amos"


class Extents(Enum):
    """ANY: short dimensions are padded.  REACH: the loops of a dimension fill it at least once."""

    ANY = "any"
    REACH = "reach"


@dataclass(frozen=True)
class Group:
    """Instruction dimensions that index the same operands, outermost first; one dimension to the matcher.

    Parameters
    ----------
    extent : the product; None where the caller of a library chooses.
    indexes : names of the operands, the result among them.
    """

    dimensions: tuple[str, ...]
    extent: int | None
    indexes: frozenset[str]

    @property
    def name(self) -> str:
        return "*".join(self.dimensions)


@dataclass(frozen=True)
class Choice:
    """One solution: position of the assignment, and per group its loops in program order."""

    assignment: int
    loops: tuple[tuple[str, ...], ...]


def groups(intrinsic: Intrinsic) -> tuple[Group, ...]:
    """The dimensions of an instruction, merged by what they index; those of a window (`X[i + k]`) stay apart."""
    contraction = intrinsic.contraction
    elements = (*(r.output for r in contraction.results), *contraction.inputs)
    apart = frozenset().union(*(blurred(intrinsic, e.array) for e in elements))
    found: dict[tuple[str, ...], list[tuple[str, int | str]]] = {}
    for dimension in contraction.dimensions:
        signature = tuple(str(e) for e in elements if dimension.name in e.names)
        if dimension.name in apart:   # it meets others in one subscript: no part of a longer loop
            signature = (*signature, dimension.name)
        found.setdefault(signature, []).append((dimension.name, dimension.extent))
    result = []
    for members in found.values():
        total: int | None = 1
        for _, extent in members:
            total = None if total is None or isinstance(extent, str) else total * extent
        result.append(Group(tuple(n for n, _ in members), total, contraction.indexes(members[0][0])))
    return tuple(result)


def grouped(intrinsic: Intrinsic, parts: Sequence[Group]) -> tuple[Grouped, ...]:
    """The groups of an instruction whose extents are numbers, as the correspondence of elements reads them."""
    extents = {d.name: int(d.extent) for d in intrinsic.contraction.dimensions}
    return tuple(Grouped(g.dimensions, tuple(extents[n] for n in g.dimensions)) for g in parts)


@dataclass
class Encoding:
    """One fragment, one instruction, one rule; `solutions` enumerates, `learn` adds what isl refused.

    Parameters
    ----------
    assignments : from `bodies`, those with facts included (they are switched off by assumptions).
    fixed_outside : loops that have to stay around the instruction, with the reason.
    partial_sums : a reduction may fill lanes of the result, which are added up at the end.
    halves : two halves of one loop, which have to go into different groups; alike they would be the loop unsplit.
    mirrored : positions of assignments that are left out, since each of their solutions is another's mirror image.
    """

    fragment: Fragment
    intrinsic: Intrinsic
    assignments: tuple[Assignment, ...]
    rule: Rule = Rule.EXACT
    extents: Extents = Extents.ANY
    fixed_outside: dict[str, str] = field(default_factory=dict)
    partial_sums: bool = False
    halves: tuple[str, str] | None = None
    mirrored: frozenset[int] = frozenset()
    learned: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.groups = groups(self.intrinsic)
        keep = self.rule is Rule.AMOS
        mine = self.fragment.loops[len(self.fragment.kept):]
        self.loops = tuple(loop.name for loop in mine if keep or loop.extent > 1)
        pairs = itertools.product(self.loops, range(len(self.groups)))
        self.x = {pair: i + 1 for i, pair in enumerate(pairs)}   # in this order, see `_place`
        top = len(self.x)
        self.chosen = [top + 1 + i for i in range(len(self.assignments))]
        facts = dict.fromkeys(f for a in self.assignments for f in a.facts)
        top += len(self.assignments)
        self.hindrance: dict[Fact, int] = {f: top + 1 + i for i, f in enumerate(facts)}
        self.top = top + len(facts)

    @cached_property
    def clauses(self) -> list[list[int]]:
        """The hard clauses; a fact's variable says that the fact does not hinder."""
        return list(self._clauses())

    @property
    def assumptions(self) -> list[int]:
        """Facts as they are: every one hinders."""
        return [-v for v in self.hindrance.values()]

    def software_loops(self, assignment: Assignment, operand: str) -> frozenset[str]:
        """The loops that index what an operand holds, the result included."""
        fragment, output = self.fragment, self.intrinsic.contraction.output.array
        if operand == output:
            return frozenset().union(*(i.loops for i in fragment.indices[fragment.target]))
        return fragment.loops_of(assignment.expression(operand))

    def admits(self, assignment: Assignment, loop: str, group: Group) -> bool:
        """Whether a loop may go into a group, by the operands that both index."""
        output = self.intrinsic.contraction.output.array
        operands = [name for name, _ in assignment.operands] + [output]
        indexed = {o for o in operands if loop in self.software_loops(assignment, o)}
        if self.rule is Rule.AMOS and (indexed != self._present(assignment, group)
                                       or self._reversed(assignment, loop)):
            return False
        if not indexed or not indexed <= group.indexes:
            return False
        if output in indexed:
            return True
        if self.intrinsic.contraction.finish is not None:   # what ends a sum would end each part of it
            return output not in group.indexes and self.fragment.loop(loop).extent == 1
        return output not in group.indexes or (self.partial_sums and not is_shared(self.intrinsic, output))

    def _present(self, assignment: Assignment, group: Group) -> set[str]:
        """The operands of a group that loops of the program index, and the result."""
        output = self.intrinsic.contraction.output.array
        operands = [name for name, _ in assignment.operands]
        return {o for o in group.indexes
                if o == output or (o in operands and self.software_loops(assignment, o))}

    def _reversed(self, assignment: Assignment, loop: str) -> bool:
        """A subscript runs against the loop (`R-1-r`), which AMOS does not read as this loop's index."""
        return any(dict(index.coefficients).get(loop, 0) < 0 for index in self._indices(assignment))

    def _indices(self, assignment: Assignment) -> Iterator[Index]:
        for _, e in assignment.operands:
            for node in walk(e):
                if isinstance(node, Load):
                    yield from self.fragment.indices[node.reference]
        yield from self.fragment.indices[self.fragment.target]

    def _clauses(self) -> Iterator[list[int]]:
        yield list(self.chosen)
        yield from ([-self.chosen[at]] for at in self.mirrored)
        yield from ([-a, -b] for a, b in itertools.combinations(self.chosen, 2))
        for loop in self.loops:
            mine = [self.x[loop, g] for g in range(len(self.groups))]
            yield from ([-a, -b] for a, b in itertools.combinations(mine, 2))
            if loop in self.fixed_outside:
                yield from ([-v] for v in mine)
        yield from self._used()
        for half in self.halves or ():
            yield [self.x[half, g] for g in range(len(self.groups))]
        if self.halves is not None:
            outer, inner = self.halves
            yield from ([-self.x[outer, g], -self.x[inner, g]] for g in range(len(self.groups)))
        for variable, assignment in zip(self.chosen, self.assignments, strict=True):
            yield from ([-variable, self.hindrance[f]] for f in assignment.facts)
            yield from self._clauses_of(variable, assignment)
        if self.extents is Extents.REACH:
            for position, group in enumerate(self.groups):
                if group.extent is not None:
                    yield from self._reach(position, group.extent)
        yield from self.learned

    def _used(self) -> Iterator[list[int]]:
        """Some loop is inside; a statement with one iteration is one execution, with padding everywhere."""
        if self.loops or self.intrinsic.library:
            yield list(self.x.values())

    def _clauses_of(self, variable: int, assignment: Assignment) -> Iterator[list[int]]:
        written = self.software_loops(assignment, self.intrinsic.contraction.output.array)
        for position, group in enumerate(self.groups):
            if self.partial_sums and self.intrinsic.contraction.output.array in group.indexes:
                yield from ([-self.x[a, position], -self.x[b, position]] for a in self.loops for b in self.loops
                            if a in written and b not in written)   # lanes are results or partial sums, not both
            fitting = [loop for loop in self.loops if self.admits(assignment, loop, group)]
            yield from ([-variable, -self.x[loop, position]] for loop in self.loops if loop not in fitting)
            usable = [loop for loop in fitting if loop not in self.fixed_outside]
            filled = [self.x[loop, position] for loop in usable]
            for loop in usable:   # a dimension stays empty only when every loop that could fill it is in another one
                yield [-variable, *filled, *(self.x[loop, g] for g in range(len(self.groups)) if g != position)]
        if self.rule is Rule.AMOS:
            yield from self._one_to_one(variable, assignment)

    def _one_to_one(self, variable: int, assignment: Assignment) -> Iterator[list[int]]:
        """A dimension fed by a single loop reads that loop's index; no other dimension may have a part of it.

        With `in[n][c][p+r][q+s]`, {p} for a row and a set with r for the depth would both claim the index p+r;
        {n, p} is a fused and packed row, which claims none.
        """
        for index in set(self._indices(assignment)):
            for single, other in itertools.permutations(sorted(index.loops & set(self.loops)), 2):
                for g, h in itertools.permutations(range(len(self.groups)), 2):
                    company = [self.x[loop, g] for loop in self.loops if loop != single]
                    yield [-variable, -self.x[single, g], -self.x[other, h], *company]

    def _reach(self, position: int, extent: int) -> Iterator[list[int]]:
        """Exact decision diagram of `product of extents >= extent`, or no loop at all."""
        members = [(self.x[loop, position], self.fragment.loop(loop).extent) for loop in self.loops]
        nodes: dict[tuple[int, int], int] = {}

        def node(level: int, product: int) -> tuple[int, list[list[int]]]:
            product = min(product, extent)
            if (level, product) in nodes:
                return nodes[level, product], []
            self.top += 1
            me = nodes[level, product] = self.top
            if level == len(members):
                return me, [] if product >= extent else [[-me]]
            variable, factor = members[level]
            taken, first = node(level + 1, product * factor)
            left, second = node(level + 1, product)
            return me, [[-me, -variable, taken], [-me, variable, left], *first, *second]

        root, found = node(0, 1)
        yield from found
        yield from ([-variable, root] for variable, _ in members)

    def solutions(self, *, limit: int | None = None) -> Iterator[Choice]:
        """Every solution under the facts; each one found is blocked, and `learn` takes effect at once."""
        from pysat.solvers import Solver  # when a solver is asked, not with the package

        with Solver("glucose4", bootstrap_with=self.clauses) as solver:
            known = 0
            count = 0
            decided = len(self.x) + len(self.chosen)   # the first variables
            assumptions = self.assumptions
            while limit is None or count < limit:
                for clause in self.learned[known:]:
                    solver.add_clause(clause)
                known = len(self.learned)
                if not solver.solve(assumptions=assumptions):
                    return
                model = solver.get_model()[:decided]
                solver.add_clause([-literal for literal in model])
                count += 1
                yield self._decoded(model)

    def _decoded(self, model: Sequence[int]) -> Choice:
        """The choice of a model: variables are numbered by loop and group, then come the assignments."""
        placed = len(self.x)
        *inside, assignment = [v for v in model if v > 0]   # one at least is true
        members: list[list[str]] = [[] for _ in self.groups]
        for literal in inside:
            loop, group = self._place[literal - 1]
            members[group].append(loop)
        return Choice(assignment - placed - 1, tuple(map(tuple, members)))

    @cached_property
    def _place(self) -> list[tuple[str, int]]:
        """Loop and group of every variable, from the first."""
        return list(self.x)

    def learn(self, choice: Choice, loops: frozenset[str], exactly: Sequence[int] = ()) -> None:
        """isl refused: these loops, in these groups, never again (supersets included).

        Parameters
        ----------
        exactly : groups whose loops are to blame as they are, for this assignment; one more could help.
        """
        if not exactly:
            self.learned.append([-self.x[loop, g] for g, members in enumerate(choice.loops) for loop in members
                                 if loop in loops])
            return
        self.learned.append([-self.chosen[choice.assignment], *(
            -self.x[loop, g] if loop in choice.loops[g] else self.x[loop, g] for g in exactly for loop in self.loops)])

    def core(self) -> tuple[Fact, ...]:
        """The facts that together exclude every solution; empty when there is one, or when none is needed."""
        from pysat.solvers import Solver

        with Solver("glucose4", bootstrap_with=self.clauses) as solver:
            if solver.solve(assumptions=self.assumptions):
                return ()
            failed = set(solver.get_core() or ())
        return tuple(f for f, v in self.hindrance.items() if -v in failed)
