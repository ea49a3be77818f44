"""What separates a program's update from an instruction's, one sentence each, with the rewrite that would remove it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

import islpy as isl

from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, Load
from polysched.scop.dtypes import DType, Kind
from polysched.tensorize.description.contraction import Limit
from polysched.tensorize.description.exact_arithmetic import FUSED
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.equality.normal_form import Normaliser
from polysched.tensorize.proofs.ideal import multiplies, overwrites
from polysched.tensorize.proofs.isl_check import padding_counts
from polysched.tensorize.proofs.sum_order import runs_in_order
from polysched.tensorize.software.clamps import Clamp
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.zero_points import reduction_loops

FINITE = "what is multiplied by zero is finite"   # zero times an infinity or NaN is NaN


@dataclass(frozen=True)
class Numerics:
    """What a match may change in floating-point results; integers are always exact.

    Parameters
    ----------
    reassociate : float additions in another order.
    contract : a product and an addition with one rounding.
    flush : denormals count as zero; intermediate roundings that the instruction does differently.
    finite : what is multiplied by zero is finite: BLAS reads no operand whose factor is 0, and padding is zero.
    narrow : operands cut to fewer bits than the program has (tf32).
    """

    reassociate: bool = True
    contract: bool = True
    flush: bool = True
    finite: bool = True
    narrow: bool = False


@dataclass(frozen=True)
class Fact:
    """One thing that separates program and instruction, and the rewrite of the program that would remove it."""

    kind: str
    text: str
    rewrite: str = ""


def dtype_fact(fragment: Fragment, intrinsic: Intrinsic, operand: str, e: Expr, wanted: DType) -> Fact:
    """An operand of another type than the instruction's, and what the program could do about it."""
    have, words = e.dtype, fragment.text(e)
    text = f"operand {operand}: the program has {have}, {intrinsic.name} wants {wanted}: {words}"
    if {have.kind, wanted.kind} == {Kind.SIGNED, Kind.UNSIGNED} and have.bits == wanted.bits:
        half = 1 << (wanted.bits - 1)
        if not multiplies(intrinsic):
            return Fact("type", text, f"cast the operand to {wanted} if its values are known to fit")
        sign, back, to = ("-", "add", "to") if wanted.kind is Kind.SIGNED else ("+", "subtract", "from")
        return Fact("type", text, f"offset the operand: use (x {sign} {half}) and {back} {half} times the sum of the "
                    f"other operand {to} the result")
    if have.is_float and wanted.is_float:
        return Fact("type", text, f"cast the operand to {wanted}, which changes the rounding")
    if (found := _zero_point(e, wanted)) is not None:
        offset, zero = found
        if inside := sorted(fragment.loops_of(zero) & reduction_loops(fragment)):
            return Fact("type", text, f"store x {offset} z in an array of int16 ahead of the product, for an "
                        f"instruction that reads int16: z changes with {', '.join(inside)}, so it stays in the sum")
        return Fact("type", text, f"take the zero point out of the product: (x {offset} z) * y = x * y {offset} z * y, "
                    "where the sums of y over the reduction are computed once, outside of the product")
    if have.is_integer and wanted.is_integer:
        return Fact("type", text, f"cast the operand to {wanted} if its values are known to fit")
    return Fact("type", text, f"convert the operand to {wanted} outside the loops")


def memory_fact(fragment: Fragment, intrinsic: Intrinsic, operand: str, e: Expr, wanted: DType) -> Fact:
    """An operand that a library function would have to find in memory, where the program has something else."""
    words = fragment.text(e)
    if isinstance(e, Load):
        text = f"operand {operand}: the program has {e.dtype}, {intrinsic.name} wants {wanted}: {words}"
    else:
        text = f"operand {operand}: {intrinsic.name} reads an array of {wanted}, and the program computes {words}"
    return Fact("memory", text, f"store the operand in an array of {wanted} first")


def _zero_point(e: Expr, wanted: DType) -> tuple[str, Expr] | None:
    """The operator and the rest when an operand is a value of its width, minus or plus something else."""
    while isinstance(e, Cast):
        e = e.operand
    if isinstance(e, Binary) and e.op in ("+", "-") and e.dtype.is_integer and wanted.is_integer:
        inner = e.left
        while isinstance(inner, Cast) and inner.dtype.is_integer:
            inner = inner.operand
        if isinstance(inner, Load) and inner.dtype.is_integer and inner.dtype.bits <= wanted.bits:
            return e.op, e.right
    return None


def clamp_facts(intrinsic: Intrinsic, clamp: Clamp | None) -> list[Fact]:
    """Saturation on one side only, or to other bounds."""
    saturates = intrinsic.contraction.finish is not None
    if saturates and clamp is None:
        return [Fact("saturation", f"{intrinsic.name} saturates its result, the program wraps",
                     "clamp the sum to the range of the accumulator in a wider type, if that is meant")]
    if clamp is None:
        return []
    dtype = intrinsic.contraction.output_dtype
    whole = dtype.is_integer and (clamp.low, clamp.high) == dtype.value_range()
    if not saturates:
        return [Fact("saturation", f"the program clamps every sum to {clamp}, {intrinsic.name} "
                     + ("wraps" if dtype.is_integer else "does not"),
                     "use the saturating form of the instruction" if whole else
                     "clamp in a statement of its own, behind the loop that adds, if only the whole sum is meant")]
    if not whole:
        return [Fact("saturation", f"the program clamps to {clamp}, {intrinsic.name} to the range of "
                     f"{intrinsic.contraction.output_dtype}",
                     "clamp to the range of the accumulator")]
    return []


def limit_facts(fragment: Fragment, intrinsic: Intrinsic, operands: Mapping[str, Expr]) -> list[Fact]:
    """Parts of the sum that the instruction cuts although the program's operands can get there, each with a witness."""
    contraction, facts = intrinsic.contraction, []
    ranges: dict[str, tuple[int, int]] = {}
    for element, wanted in zip(contraction.inputs, contraction.input_dtypes, strict=True):
        form, (low, high) = Normaliser(fragment.ranges).form(operands[str(element)]), wanted.value_range()
        if form.low is not None and form.high is not None:
            low, high = max(low, form.low), min(high, form.high)
        ranges[str(element)] = min(low, 0), max(high, 0)   # padding is zero
    held = [fragment.text(operands[str(e)]) for e in contraction.inputs]
    for limit in contraction.limits:
        form = Normaliser(ranges).form(limit.addend)
        if form.low is not None and form.high is not None and limit.low <= limit.addends * min(form.low, 0) \
                and limit.addends * max(form.high, 0) <= limit.high:
            continue
        does = "wraps" if limit.wraps else "cuts"
        facts.append(Fact(
            "saturation", f"{intrinsic.name} {does} the sum of {limit.addends} products to {limit.low} to "
            f"{limit.high}: " + (_outside(limit, ranges, held) or "no intervals of the operands exclude that"),
            "bound a factor where it is read, for instance by `& 127`, if its values are known to be smaller"))
    return facts


def _outside(limit: Limit, ranges: Mapping[str, tuple[int, int]], held: list[str]) -> str:
    """Values of the operands, among the ends of their ranges, whose sum leaves a limit; "" where none of these does."""
    corners = [(value, chosen) for chosen in itertools.product(*ranges.values()) if (value := _number(
        limit.addend, dict(zip(ranges, chosen, strict=True)))) is not None]
    for worst, chosen in (min(corners), max(corners)) if corners else ():
        if not limit.low <= worst * limit.addends <= limit.high:
            values = " and ".join(f"{text} = {v}" for text, v in zip(held, chosen, strict=True))
            return f"{values} make {worst * limit.addends}"
    return ""


def _number(e: Expr, values: Mapping[str, int]) -> int | None:
    form = Normaliser({n: (v, v) for n, v in values.items()}).form(e)
    return form.low if form.low == form.high else None


def takes_zeros(fragment: Fragment, intrinsic: Intrinsic, left_out: isl.Set | None = None) -> bool:
    """Whether padding of what is stored multiplies zeros by the program's floats; a function's own call has none.

    Parameters
    ----------
    left_out : iterations that the instruction does not compute.
    """
    contraction = intrinsic.contraction
    return (contraction.output_dtype.is_float and len(contraction.inputs) > 1 and not intrinsic.library
            and not fragment.is_box and not overwrites(intrinsic)
            and bool(padding_counts(fragment, [fragment.loops_of(fragment.result) | frozenset(fragment.kept)],
                                    left_out)))


def witness_text(fragment: Fragment, witness: str) -> str:
    """A counterexample with the program's elements in the place of references."""
    for access in fragment.statement.accesses:
        if access.reference in witness:
            element = fragment.text(Load(access.reference, fragment.update.dtype))
            witness = re.sub(rf"\b{access.reference}\b", element.replace("\\", ""), witness)
    return witness


def numeric_facts(intrinsic: Intrinsic, numerics: Numerics, *, fused: bool) -> list[Fact]:
    """What the instruction does to floats although it is not allowed here.

    Parameters
    ----------
    fused : the program itself rounds a product and its addition once (`fmaf`).
    """
    if not intrinsic.contraction.output_dtype.is_float:
        return []
    facts = []
    for trait in intrinsic.contraction.traits:
        allowed = (numerics.contract or fused if trait == FUSED else numerics.narrow if "mantissa" in trait
                   else numerics.flush)
        if not allowed:
            facts.append(Fact("numerics", f"{intrinsic.name}: {trait}, which is not allowed here",
                              "allow it with --allow"))
    if intrinsic.library and not (numerics.contract or fused):
        facts.append(Fact("numerics", f"{intrinsic.name} may round a product and its addition once, which is not "
                          "allowed here", "allow it with --allow contract"))
    if intrinsic.library and not numerics.finite:
        facts.append(Fact("numerics", f"{intrinsic.name} may leave out what is multiplied by zero, infinities and NaN "
                          "included, which is not allowed here", "allow it with --allow finite"))
    if not numerics.reassociate and intrinsic.contraction.reductions and not runs_in_order(intrinsic):
        facts.append(Fact("numerics", f"{intrinsic.name} reorders float additions, which is not allowed here",
                          "allow it with --allow reassociate"))
    return facts
