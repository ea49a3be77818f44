"""Which software expressions may be which operands: the table of operand assignments with their facts.

An assignment is kept when the bodies agree over numbers without rounding or width; whatever then still separates
program and instruction (a type, a width, saturation) is a `Fact`.  No facts: the assignment computes the same function,
which `equality.same_function` has proved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeGuard

from polysched.scop.body import (
    Binary,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Unary,
    rebuild,
    walk,
)
from polysched.scop.dtypes import INT32, DType
from polysched.tensorize.description.exact_arithmetic import FUSED
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.equality import Verdict
from polysched.tensorize.matching.candidates import candidate_operands, pools
from polysched.tensorize.matching.facts import (
    Fact,
    Numerics,
    clamp_facts,
    dtype_fact,
    limit_facts,
    memory_fact,
    numeric_facts,
    witness_text,
)
from polysched.tensorize.matching.functions import functions
from polysched.tensorize.matching.products import products
from polysched.tensorize.proofs.body_proofs import (
    fits,
    same_addend,
    same_clamped,
    same_of_values,
    substituted,
    wide,
)
from polysched.tensorize.proofs.contents import by_operand, is_one
from polysched.tensorize.proofs.ideal import accumulates_sum, ideal_form, ideal_text, multiplies
from polysched.tensorize.software.clamps import Clamp, without_clamp
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.fused_calls import Fusion, without_fusion
from polysched.tensorize.software.zero_points import Correction, factored, without_zero_points

MOST_HINDERED = 24   # assignments that fail their proof, after which no more are tried


@dataclass(frozen=True)
class Assignment:
    """Operand of the instruction -> expression of the program (loads, or the literal one), and what hinders it.

    Parameters
    ----------
    correction : zero points that were taken out of the product and are added behind it.
    """

    operands: tuple[tuple[str, Expr], ...]
    facts: tuple[Fact, ...]
    assumptions: tuple[str, ...]
    correction: Correction | None = None

    @cached_property
    def texts(self) -> dict[str, str]:
        """Per operand one spelling of what it holds, equal for equal expressions."""
        return {name: ideal_text(e, {}) or repr(e) for name, e in self.operands}

    @cached_property
    def held(self) -> dict[str, Expr]:
        """Per operand what the program puts into it."""
        return dict(self.operands)

    def expression(self, operand: str) -> Expr:
        """What the program puts into an operand."""
        return self.held[operand]


def assignments(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics) -> tuple[Assignment, ...]:
    """Every way to put expressions of the update into the inputs so that the ideal bodies agree."""
    found = _unfolded(fragment, intrinsic, numerics)
    if not multiplies(intrinsic):
        return found
    folded = _folded(fragment, intrinsic, numerics, found)
    several = any(is_one(e) for a in found for n, e in a.operands
                  if intrinsic.operand(n).mode is not LoadMode.VALUE)
    update, _ = without_clamp(without_fusion(fragment.update, fragment.target).update)
    several = several and _products_added(update, fragment.target) > 1
    return () if several and all(a.facts for a in folded) else folded   # the whole sum is no operand worth naming


def _unfolded(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics) -> tuple[Assignment, ...]:
    """The assignments with the product as it stands."""
    contraction = intrinsic.contraction
    unfused = without_fusion(fragment.update, fragment.target)
    update, clamp = without_clamp(unfused.update)
    names = [str(e) for e in contraction.inputs]
    candidates = candidate_operands(update, fragment.target)
    if ideal_text(contraction.update, {}) is None:
        return ()
    if not multiplies(intrinsic):
        return _assignments_by_function(fragment, intrinsic, numerics, candidates)
    found: list[tuple[Expr, ...]] = []
    for pool in pools(intrinsic, update, fragment.target, candidates):
        found = list(products(intrinsic, update, fragment.target, pool))
        if found:
            break
    found = _least_varying(fragment, intrinsic, found)
    plainly = replace(fragment, update=unfused.update)
    return _without_repeats(_assignment(plainly, intrinsic, numerics, clamp, update,
                                        dict(zip(names, chosen, strict=True)), fusion=unfused.fusion)
                            for chosen in found)


def _assignments_by_function(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics,
                            candidates: list[Expr]) -> tuple[Assignment, ...]:
    """Assignments for an instruction that chooses or shifts: the proof itself says which expressions fit.

    Where none fits exactly, those that agree over small numbers, with what hinders them.
    """
    if fragment.update.dtype.is_float != intrinsic.contraction.output_dtype.is_float:
        return ()
    names = [str(e) for e in intrinsic.contraction.inputs]
    loads: list[Expr] = [e for e in candidates if isinstance(e, Load)]
    numbers: list[Expr] = [e for e in walk(fragment.update) if isinstance(e, Literal) and e.dtype.is_integer]
    numbers.append(Literal("0", 0, INT32))   # a byte is its distance from zero
    hindered: list[Assignment] = []
    fitting: dict[tuple[Expr, DType], bool] = {}

    def fits_once(e: Expr, dtype: DType) -> bool:
        if (e, dtype) not in fitting:
            fitting[e, dtype] = _fits(fragment, e, dtype)
        return fitting[e, dtype]

    for pool in (loads, [*candidates, *dict.fromkeys(numbers)]):
        found: list[Assignment] = []
        for chosen in functions(intrinsic, fragment.update, fragment.target, pool):
            if pool is not loads and not all(map(fits_once, chosen, intrinsic.contraction.input_dtypes)):
                continue
            if len(hindered) >= MOST_HINDERED:
                break
            made = _assignment(fragment, intrinsic, numerics, None, fragment.update,
                               dict(zip(names, chosen, strict=True)), fusion=Fusion.NONE)
            (hindered if made.facts else found).append(made)
        if found:
            return _without_repeats(found)
    return _without_repeats(hindered)


def _least_varying(fragment: Fragment, intrinsic: Intrinsic, found: list[tuple[Expr, ...]]) -> list[tuple[Expr, ...]]:
    """The assignments whose numbers change with the fewest loops: each of these has to run around the calls."""
    by_value = [k for k, e in enumerate(intrinsic.contraction.inputs)
                if intrinsic.operand(e.array).mode is LoadMode.VALUE]
    loops = [len(frozenset().union(*(fragment.loops_of(chosen[k]) for k in by_value))) for chosen in found]
    return [chosen for chosen, count in zip(found, loops, strict=True) if count == min(loops)]


def _other_accumulator(have: DType, wanted: DType) -> str:
    """What a program could do that adds in another type."""
    narrower = have.is_integer and wanted.is_integer and wanted.bits < have.bits
    sure = " if no sum leaves its range" if narrower else ""
    return f"accumulate in {wanted}{sure}, and convert afterwards"


def _products_added(update: Expr, target: str) -> int:
    """Terms of the update besides the old value, multiplied out."""
    form = ideal_form(update, {})
    return sum(target not in m for m, _ in form.terms) if form is not None else 0


def _folded(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics,
            hindered: tuple[Assignment, ...]) -> tuple[Assignment, ...]:
    """Where nothing fits as it is: assignments of the product without its zero points, which are added behind it."""
    if intrinsic.library or intrinsic.contraction.finish is not None or any(not a.facts for a in hindered):
        return hindered
    if (together := factored(fragment)) is not None:
        again = assignments(replace(fragment, update=together), intrinsic, numerics)
        return again if any(not a.facts for a in again) else hindered
    for ways in without_zero_points(fragment):
        fitting = [replace(a, correction=correction) for core, correction in ways
                   for a in _unfolded(replace(fragment, update=core), intrinsic, numerics) if not a.facts]
        if fitting:
            return tuple(fitting)
    return hindered


def _assignment(fragment: Fragment, intrinsic: Intrinsic, numerics: Numerics, clamp: Clamp | None,
                update: Expr, chosen: Mapping[str, Expr], *, fusion: Fusion) -> Assignment:
    contraction, fused, facts = intrinsic.contraction, fusion is Fusion.OWN, []
    operands: dict[str, Expr] = {}   # by reference: the instruction may read one operand in several places
    for element, wanted in zip(contraction.inputs, contraction.input_dtypes, strict=True):
        e = chosen[str(element)]
        by_value = intrinsic.operand(element.array).mode is LoadMode.VALUE
        operands[str(element)] = e if not isinstance(e, Literal) or by_value else Literal(e.text, e.value, wanted)
        if intrinsic.library and not by_value and not (isinstance(e, Load) and e.dtype == wanted):
            facts.append(memory_fact(fragment, intrinsic, element.array, e, wanted))
        elif not isinstance(e, Literal) and not _fits(fragment, e, wanted):
            facts.append(dtype_fact(fragment, intrinsic, element.array, e, wanted))
    dtype = fragment.update.dtype
    if dtype != contraction.output_dtype and not _same_bits(dtype, intrinsic):
        facts.append(Fact("accumulator", f"operand {contraction.output.array}: the program accumulates in {dtype}, "
                          f"{intrinsic.name} in {contraction.output_dtype}",
                          _other_accumulator(dtype, contraction.output_dtype)))
    facts += clamp_facts(intrinsic, clamp)
    if contraction.limits and not facts:
        facts += limit_facts(fragment, intrinsic, operands)
    facts += numeric_facts(intrinsic, numerics, fused=fused)
    assumptions = [t for t in contraction.traits if not (fused and t == FUSED)] if dtype.is_float else []
    if fused and FUSED not in contraction.traits:
        if numerics.contract:
            assumptions.append("fused products are rounded on their own")
        else:
            facts.append(Fact("numerics", f"the program rounds a product and its addition once, {intrinsic.name} twice",
                              "allow it (contract), or write the product and the addition"))
    if fusion is Fusion.WIDER:
        if numerics.contract:
            assumptions.append("sums are rounded to their own type at once, not to a wider one first")
        else:
            facts.append(Fact("numerics", f"the program rounds every sum to a wider type and then to {dtype}, "
                              f"{intrinsic.name} to {dtype} alone",
                              "allow it (contract), or call the function of the type itself (fmaf)"))
    if not facts:
        given = operands
        old: Expr = Load(fragment.target, dtype)
        old = old if dtype == contraction.output_dtype else Cast(old, contraction.output_dtype)
        mine = substituted(contraction.update, given, old, str(contraction.output))
        if clamp is not None:
            outcome = same_clamped(fragment.update, update, wide(mine), clamp)
        elif not multiplies(intrinsic):
            outcome = same_addend(update, mine, fragment)
        else:
            outcome = same_of_values(update, mine, dtype, operands, dict(zip(
                operands, contraction.input_dtypes, strict=True)))
        regrouped = outcome.reassociated and clamp is None and _commuted(update) != _commuted(mine)
        if regrouped and numerics.reassociate:
            assumptions.append("factors of a product are multiplied in another order")
        elif regrouped:
            facts.append(Fact("rounding", "the factors of the product would be multiplied in another order",
                              "allow it (reassociate), or group the factors as the instruction does"))
        if outcome.verdict is not Verdict.EQUAL:
            facts.append(Fact("arithmetic", f"the program's update is not {intrinsic.name}'s in its own arithmetic"
                              f" ({witness_text(fragment, outcome.witness) or outcome.verdict.value})",
                              "compute the product in the accumulator's type"))
    if dtype.is_float and contraction.reductions:
        assumptions.append("float additions may be reordered")
        numbers = [e for e in contraction.inputs if intrinsic.operand(e.array).mode is LoadMode.VALUE]
        assumptions += [f"the whole sum is multiplied by {e}" for e in numbers
                        if operands[str(e)] != Literal("1", 1, dtype)]
    return Assignment(tuple(by_operand(contraction, operands).items()), tuple(facts), tuple(dict.fromkeys(assumptions)))


def _same_bits(dtype: DType, intrinsic: Intrinsic) -> bool:
    """An unsigned accumulator where the instruction has a signed one, or the other way: sums wrap to the same bits."""
    theirs = intrinsic.contraction.output_dtype
    return dtype.is_integer and theirs.is_integer and dtype.bits == theirs.bits and accumulates_sum(intrinsic) \
        and intrinsic.contraction.finish is None


def _fits(fragment: Fragment, e: Expr, wanted: DType) -> bool:
    """Whether every value that the expression has in the program is one of a type."""
    counted = any(isinstance(x, IteratorRef | ParameterRef) for x in walk(e))
    return fits(e, wanted, fragment.ranges if counted else {})


def _commuted(e: Expr) -> Expr:
    """The operands of sums and products in one order, signs outside of products: what changes no rounding."""
    def change(x: Expr) -> Expr:
        if isinstance(x, Binary) and x.op == "-":
            return change(Binary("+", x.left, _negated(x.right), x.dtype))
        if isinstance(x, Unary) and x.op == "-":
            return _negated(x.operand)
        if isinstance(x, Binary) and x.op == "*":
            factors = [f.operand if _is_negation(f) else f for f in (x.left, x.right)]
            kept = [f for f in factors if not (isinstance(f, Literal) and f.value == 1)] or factors[:1]
            kept.sort(key=repr)
            product = kept[0] if len(kept) == 1 else Binary("*", kept[0], kept[1], x.dtype)
            return _negated(product) if _is_negation(x.left) != _is_negation(x.right) else product
        if isinstance(x, Binary) and x.op == "+" and repr(x.right) < repr(x.left):
            return Binary(x.op, x.right, x.left, x.dtype)
        return x

    return rebuild(e, change)


def _is_negation(e: Expr) -> TypeGuard[Unary]:
    return isinstance(e, Unary) and e.op == "-"


def _negated(e: Expr) -> Expr:
    return e.operand if _is_negation(e) else Unary("-", e, e.dtype)


def _without_repeats(made: Iterable[Assignment]) -> tuple[Assignment, ...]:
    """Of assignments that only differ by conversions around an operand, the least hindered, then the smallest."""
    best: dict[tuple[str | None, ...], Assignment] = {}
    for assignment in sorted(made, key=lambda a: (len(a.facts), sum(sum(1 for _ in walk(e)) for _, e in a.operands))):
        best.setdefault(tuple(ideal_text(e, {}) for _, e in assignment.operands), assignment)
    return tuple(best.values())
