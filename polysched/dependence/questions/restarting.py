"""Whether work may be thrown away and done again: it must not overwrite what it still has to read from before.

A part of a program can be stopped anywhere and started anew when no element that it reads as it was before the part is
written by the part: then its inputs are still there.  `C += A * B` overwrites its input C; a step from one array of a
stencil to the other does not.

Source: idempotent regions, de Kruijf, Sankaralingam, Jha, "Static analysis and compiler design for idempotent
processing", PLDI 2012; here decided exactly, element by element.
"""

from __future__ import annotations

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.records import dataclass
from polysched.scop.scop import Access, AccessKind, Statement

SMALL = 16
"""Of parameters in a witness, where there is one so small."""


@dataclass(frozen=True, kw_only=True)
class Overwritten:
    """An element that a part reads as it was before it, and writes.

    Parameters
    ----------
    array : its name.
    element : one such element, at some parameter values, as isl writes it: `[n] -> { C[0, 3] : n = 4 }`.
    reader, writer : the statements.
    """

    array: str
    element: str
    reader: str
    writer: str

    def __str__(self) -> str:
        return f"{self.reader} reads {self.element} as it was before, and {self.writer} overwrites it"


@dataclass(frozen=True, kw_only=True)
class Restart:
    """Whether a part may be done again; true where it may.

    Parameters
    ----------
    overwritten : what stands against it, one entry per pair of accesses.
    exact : elements and writers are known exactly; otherwise a part may be refused that could be done again.
    """

    overwritten: tuple[Overwritten, ...]
    exact: bool

    def __bool__(self) -> bool:
        return not self.overwritten

    def __str__(self) -> str:
        if not self.overwritten:
            return "may be done again: it overwrites nothing that it reads from before"
        return f"may not be done again: {self.overwritten[0]}"


def restartable(dependences: Dependences, instances: isl.UnionSet) -> Restart:
    """Decide whether some instances may be stopped at any place, thrown away, and run anew in the same order.

    Parameters
    ----------
    instances : `[n] -> { S0[i, j] : ...; S1[i] : ... }`, for instance those of a tile; parameters may tell which.
    """
    scop = dependences.scop
    own = {s.name: _own(s, instances) for s in scop.statements}
    found = []
    for reader in scop.statements:
        for read in reader.accesses:
            if read.kind is not AccessKind.READ:
                continue
            before = read.relation.intersect_domain(_live_in(dependences, reader, read, own)).range()
            for writer in scop.statements:
                for write in writer.writes:
                    if write.array != read.array:
                        continue
                    both = write.relation.intersect_domain(own[writer.name]).range().intersect(before)
                    both = both.intersect_params(scop.context)
                    if not both.is_empty():
                        found.append(Overwritten(array=read.array, element=str(_small(both).sample()),
                                                 reader=reader.name, writer=writer.name))
    uncertain = [a for s in scop.statements for a in s.accesses
                 if not own[s.name].is_empty() and (not a.exact or a.kind is AccessKind.MAY_WRITE)]
    return Restart(overwritten=tuple(found), exact=not dependences.by_memory and not uncertain)


def _small(elements: isl.Set) -> isl.Set:
    """Those at small sizes, where there are some: a sample at the largest sizes says less to a reader."""
    names = [str(elements.get_dim_name(isl.dim_type.param, n)) for n in range(elements.dim(isl.dim_type.param))]
    if not names:
        return elements
    small = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{', '.join(names)}] -> {{ : "
                                  + " and ".join(f"0 <= {name} <= {SMALL}" for name in names) + " }")
    found = elements.intersect_params(small)
    return elements if found.is_empty() else found


def _own(statement: Statement, instances: isl.UnionSet) -> isl.Set:
    space = statement.domain.get_space()
    return instances.extract_set(space).intersect(statement.domain) if instances.contains(space) \
        else isl.Set.empty(space)


def _live_in(dependences: Dependences, reader: Statement, read: Access, own: dict[str, isl.Set]) -> isl.Set:
    """The instances of the part that read a value from before it, or may."""
    left = own[reader.name]
    if read.array in dependences.by_memory:   # the last writer is not known
        return left
    if not read.relation.is_single_valued():   # a writer of one element says nothing of the others
        return left
    for pair in dependences.pairs:
        if pair.kind is not DependenceKind.FLOW or pair.sink_reference != read.reference or pair.sink != reader.name:
            continue
        source = dependences.scop.statement(pair.source).access(pair.source_reference)
        if source.kind is AccessKind.MUST_WRITE:
            left = left.subtract(pair.relation.intersect_domain(own[pair.source]).range())
    return left
