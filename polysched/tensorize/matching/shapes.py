"""Which shapes of iterations an instruction computes: boxes, its own triangle, and what padding leaves as it is."""

from __future__ import annotations

from polysched.tensorize.description.contraction import Kind
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.matching.facts import Numerics, takes_zeros
from polysched.tensorize.proofs.ideal import overwrites, sums_from_zero, vanishes
from polysched.tensorize.proofs.isl_check import IslCheck
from polysched.tensorize.software.fragment import Fragment

MATCHED_KINDS = frozenset({Kind.READ_TWICE, Kind.TABLE, Kind.TRIANGLE})
"""Kinds of contractions that are compared with programs beside one sum of products; the others are refused.

Assignments are compared where each element is assigned once, or is a sum that starts from zero; several results where
the same loops choose their elements.
"""


def unhandled_kinds(intrinsic: Intrinsic) -> frozenset[Kind]:
    """What an instruction does that no program is compared with."""
    results = intrinsic.contraction.results
    found = set(MATCHED_KINDS)
    if overwrites(intrinsic) or (sums_from_zero(intrinsic) and len(results) == 1):
        found.add(Kind.OVERWRITES)
    if all(r.output.names == results[0].output.names for r in results) and not intrinsic.contraction.tables:
        found.add(Kind.SEVERAL_RESULTS)
    return intrinsic.contraction.kinds - found


def _shape_forbids(fragment: Fragment, intrinsic: Intrinsic, checker: IslCheck) -> str:
    """Why the shape of the statement's iterations, or of the operands, suits no mapping; "" where it may."""
    contraction = intrinsic.contraction
    if own := next((e for e in contraction.inputs if e.array in contraction.written), None):
        return (f"{intrinsic.name} reads {own} while it writes {contraction.written[own.array]}, and no program is "
                "compared with that")
    if intrinsic.library and checker.shared:
        return (f"several iterations of {intrinsic.name} read one element of its operand {min(checker.shared)}, and "
                "functions read arrays in place")
    return _padding_forbids(fragment, intrinsic, checker)


def _padding_forbids(fragment: Fragment, intrinsic: Intrinsic, checker: IslCheck) -> str:
    """Why each element would be assigned several times, or padding would count; "" where neither is so."""
    name = fragment.statement.name
    if overwrites(intrinsic) and (again := [p.name for p in fragment.loops[len(fragment.kept):]
                                            if p.extent > 1 and p.name not in checker.written]):
        return (f"{name} assigns each element again in every iteration of {again[0]}, and {intrinsic.name} assigns it "
                "once")
    if fragment.is_box or overwrites(intrinsic):   # what padding computes is not stored
        return ""
    if intrinsic.library:
        return f"{intrinsic.name} computes whole rectangles of iterations, and those of {name} have another shape"
    if is_cut(intrinsic) or all(vanishes(intrinsic, frozenset({e.array})) for e in intrinsic.contraction.inputs):
        return ""   # of the former isl decides what is computed of padding
    return (f"the iterations of {name} are no box, and one operand of {intrinsic.name} that is zero does not hide "
            "what padding would add")


def is_cut(intrinsic: Intrinsic) -> bool:
    """Whether an instruction leaves out instances of the box of its dimensions."""
    return Kind.TRIANGLE in intrinsic.contraction.kinds


def not_hiding(intrinsic: Intrinsic) -> frozenset[str]:
    """The operands whose zeros count; `_shape_forbids` refuses them where the instruction leaves out nothing."""
    if not is_cut(intrinsic) or overwrites(intrinsic):
        return frozenset()
    return frozenset(e.array for e in intrinsic.contraction.inputs if not vanishes(intrinsic, frozenset({e.array})))


def shape_or_padding_forbids(fragment: Fragment, intrinsic: Intrinsic, checker: IslCheck, numerics: Numerics) -> str:
    """As `_shape_forbids`; also where zeros of padding would meet values that need not be finite."""
    why = _shape_forbids(fragment, intrinsic, checker)
    if why or numerics.finite or is_cut(intrinsic) or not takes_zeros(fragment, intrinsic):
        return why
    return meets_zeros(fragment)


def meets_zeros(fragment: Fragment) -> str:
    """Why floats are not padded unless they may be taken for finite."""
    return (f"the iterations of {fragment.statement.name} are no box, and padding multiplies zeros by values that may "
            "be infinite or NaN, which is not allowed here: allow it with --allow finite")
