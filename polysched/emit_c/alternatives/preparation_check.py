"""What compares a prepared program with the region as the user wrote it where both take too long to run: their slices.

Of every array that the region leaves, some elements are wanted: at both ends and in the middle.  A slice keeps the
instances that their values need, found backwards along the flow of values; more than needed does no harm.

Source: M. Weiser, "Program slicing", IEEE Transactions on Software Engineering 10(4), 1984.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.dependence.statements import with_statements
from polysched.emit_c.alternatives.checked_values import CheckedArray, Equality, checked
from polysched.emit_c.alternatives.plain_arrays import (
    as_written,
    as_written_function,
    with_arrays_of,
    with_plain_arrays,
)
from polysched.emit_c.alternatives.replacement_check import EXPORTED, ReplacementCheck, free_entry
from polysched.emit_c.alternatives.smaller_programs import SAMPLED
from polysched.emit_c.function import CFunction, with_region
from polysched.scop.points import box_size, fix_parameters, isl_value
from polysched.scop.scop import Array, Scop, Storage
from polysched.tensorize.matching.mapping import Match

Box = tuple[tuple[int, int], ...]   # least and greatest subscript per dimension
ROUNDS_PER_STATEMENT = 3            # of the way backwards, which more statements make longer


def preparation_check(found: Match, given: Scop, *, entry: str, most_work: int) -> ReplacementCheck | None:
    """The check of a prepared program against the region; None where the slices take too long, too.

    Parameters
    ----------
    found : a match in the prepared program, at known sizes.
    given : the region before anything was rewritten.
    entry : a name that no other check in the same process has.

    Raises
    ------
    UnsupportedScopError : the region is no function of arrays (unknown extents, too much memory).
    """
    sizes, entry = found.fragment.sizes, free_entry(entry, given, found.fragment.scop)
    boxes = {a.name: _boxes(given, a.name, sizes) for a in given.arrays if not a.is_temporary}
    reference, prepared = (_slice(analyse(scop), boxes, sizes, most_work) for scop in (given, found.fragment.scop))
    flat = [a for a in given.arrays if a.c_element.count("{}") not in (0, len(a.extents))]
    if reference is None or prepared is None or flat:
        return None
    plain = with_plain_arrays(reference, sizes, temporaries=True)
    arrays = {a.name: a for a in plain.arrays if a.storage is not Storage.LOCAL}
    original, numbers = as_written_function(plain, f"original_{entry}"), with_plain_arrays(reference, sizes)
    made: list[CheckedArray] = [replace(checked(a, found, numbers, Equality.BITS), compared=bool(boxes.get(a.name)),
                                        boxes=tuple(boxes.get(a.name, ()))) for a in arrays.values()]
    return ReplacementCheck(
        statement=found.fragment.statement.name, instruction="prepared statements", entry=entry,
        sizes="prepared from what the user wrote", original_text=EXPORTED + original.text,
        replaced_text=_prepared_text(prepared, arrays, original, entry), arrays=tuple(made),
        parameters=tuple(sizes[p.name] for p in given.parameters), equality=Equality.BITS)


def _prepared_text(prepared: Scop, arrays: Mapping[str, Array], original: CFunction, entry: str) -> str:
    """The prepared program as a function of the region's arrays."""
    region = as_written(with_arrays_of(prepared, arrays))
    renamed = replace(original, signature=replace(original.signature, name=f"replaced_{entry}"))
    declared = ", ".join(p.c_declaration for p in original.signature.parameters) or "void"
    return (f"{EXPORTED}int skipped_{entry};\n{with_region(renamed, region).text}"
            f"void prepare_{entry}({declared}) {{ }}\n")


def _boxes(given: Scop, array: str, sizes: Mapping[str, int]) -> list[Box]:
    """Some elements of what a region writes into an array."""
    written = [fix_parameters(a.relation.intersect_domain(s.domain), sizes).range() for s in given.statements
               for a in s.writes if a.array == array]
    total = union_of([w for w in written if not w.is_empty()])
    if total is None:
        return []
    found = []
    for share in (0, 1, 2):
        box = []
        for at in range(total.dim(isl.dim_type.set)):
            least, most = (int(v.get_num_si()) for v in (total.dim_min_val(at), total.dim_max_val(at)))
            first = least + share * max(0, most - least + 1 - SAMPLED) // 2
            box.append((first, min(most, first + SAMPLED - 1)))
        found.append(tuple(box))
    return list(dict.fromkeys(found))


def union_of(sets: list[isl.Set]) -> isl.Set | None:
    """All their elements; None for no set."""
    return functools.reduce(lambda a, b: a.union(b), sets) if sets else None


def _slice(dependences: Dependences, boxes: Mapping[str, list[Box]], sizes: Mapping[str, int],
           most_work: int) -> Scop | None:
    """The instances that the values of some elements need; None where these are too many, or no end is found."""
    scop = dependences.scop
    slicer = _Slicer(scop, dependences, sizes)
    slicer.start(boxes, sizes)
    kept = {n: d for n, d in slicer.needed.items() if not d.is_empty()} if slicer.closed() else {}
    if not kept or sum(map(_instances, kept.values())) > most_work:
        return None
    statements = tuple(replace(s, domain=s.domain.intersect(kept[s.name].align_params(s.domain.get_space())))
                       for s in scop.statements if s.name in kept)
    return with_statements(scop, statements)


def _instances(domain: isl.Set) -> int:
    """Points of the boxes around the convex pieces of a set."""
    return sum(box_size(isl.Set.from_basic_set(piece)) for piece in domain.make_disjoint().get_basic_sets())


class _Slicer:
    """The way backwards along the flow of values, at known sizes."""

    def __init__(self, scop: Scop, dependences: Dependences, sizes: Mapping[str, int]) -> None:
        self.scop = scop
        self.domains = {s.name: fix_parameters(s.domain, sizes) for s in scop.statements}
        self.flows = [(p.source, p.sink, fix_parameters(p.relation, sizes)) for p in dependences.pairs
                      if p.kind is DependenceKind.FLOW]
        self.carried = {s.name: _carried([f for a, b, f in self.flows if a == b == s.name], s.depth)
                        for s in scop.statements}
        self.needed: dict[str, isl.Set] = {}

    def start(self, boxes: Mapping[str, list[Box]], sizes: Mapping[str, int]) -> None:
        """Add what writes these elements."""
        for statement in self.scop.statements:
            for access in statement.writes:
                for box in boxes.get(access.array, ()):
                    relation = fix_parameters(access.relation, sizes)
                    self.add(statement.name, relation.intersect_range(_box_set(relation, box)).domain())

    def add(self, name: str, more: isl.Set) -> bool:
        """Instances that are needed, whole sums of them; whether there are more than before."""
        for at in self.carried[name]:
            more = more.eliminate(isl.dim_type.set, at, 1)
        more = more.intersect(self.domains[name])
        if name in self.needed and more.is_subset(self.needed[name]):
            return False
        self.needed[name] = (self.needed[name].union(more) if name in self.needed else more).coalesce()
        return True

    def closed(self) -> bool:
        """Add what the needed instances read from others; False where that does not come to an end."""
        for _ in range(ROUNDS_PER_STATEMENT * len(self.domains)):
            grown = [self.add(source, f.intersect_range(self.needed[sink]).domain())
                     for source, sink, f in self.flows if sink in self.needed]
            if not any(grown):
                return True
        return False


def _box_set(relation: isl.Map, box: Box) -> isl.Set:
    inside = isl.Set.universe(relation.get_space().range())
    for at, (low, high) in enumerate(box):
        inside = inside.lower_bound_val(isl.dim_type.set, at, isl_value(low))
        inside = inside.upper_bound_val(isl.dim_type.set, at, isl_value(high))
    return inside


def _carried(flows: list[isl.Map], depth: int) -> list[int]:
    """The loops along which a statement passes values to itself."""
    return [at for at in range(depth) if not all(
        f.is_subset(f.equate(isl.dim_type.in_, at, isl.dim_type.out, at)) for f in flows)]
