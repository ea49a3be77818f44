"""One assignment of expressions to operands, and what hinders it: types, ranges, rounding, and the proof of the bodies.

What is cheap is asked first; the bodies are compared, with every type and wrap, only where nothing else hinders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TypeGuard

from polysched.records import dataclass, whole
from polysched.scop.body import (
    Binary,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Unary,
    certain_loads,
    rebuild,
    unconditional_references,
    walk,
)
from polysched.scop.dtypes import DType
from polysched.tensorize.description.exact_arithmetic import FUSED
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.equality import Outcome, Verdict
from polysched.tensorize.matching.facts import (
    FINITE,
    Fact,
    Numerics,
    clamp_facts,
    dtype_fact,
    limit_facts,
    memory_fact,
    numeric_facts,
    witness_text,
)
from polysched.tensorize.proofs.body_proofs import fits, same_addend, same_clamped, same_of_values, substituted
from polysched.tensorize.proofs.contents import by_operand
from polysched.tensorize.proofs.ideal import accumulates_sum, ideal_text, multiplies
from polysched.tensorize.software.clamps import Clamp
from polysched.tensorize.software.conditional_reads import may_always_be_accessed
from polysched.tensorize.software.fragment import Fragment
from polysched.tensorize.software.fused_calls import Fusion
from polysched.tensorize.software.zero_points import Correction


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
        return {name: ideal_text(e, {}) or whole(e) for name, e in self.operands}

    @cached_property
    def held(self) -> dict[str, Expr]:
        """Per operand what the program puts into it."""
        return dict(self.operands)

    def without(self, operands: Collection[str]) -> dict[str, Expr]:
        """Per operand what the program puts into it, apart from some: tables are copied whole."""
        return {name: e for name, e in self.operands if name not in operands}

    def expression(self, operand: str) -> Expr:
        """What the program puts into an operand."""
        return self.held[operand]


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate:
    """Expressions for the elements that an instruction reads, ahead of all proofs.

    Parameters
    ----------
    fragment : its update has no fused calls.
    clamp : what the update cuts its sum to; None where it does not.
    update : the sum inside the clamp, or the whole update.
    chosen : per element read, spelt as its reference.
    fusion : how the program rounds a product and its addition.
    """

    fragment: Fragment
    intrinsic: Intrinsic
    numerics: Numerics
    clamp: Clamp | None
    update: Expr
    chosen: Mapping[str, Expr]
    fusion: Fusion

    @property
    def dtype(self) -> DType:
        return self.fragment.update.dtype

    @cached_property
    def held(self) -> dict[str, Expr]:
        """The expressions; a constant is one of the element's type."""
        contraction, found = self.intrinsic.contraction, {}
        for element, wanted in zip(contraction.inputs, contraction.input_dtypes, strict=True):
            e = self.chosen[str(element)]
            by_value = self.intrinsic.operand(element.array).mode is LoadMode.VALUE
            found[str(element)] = e if not isinstance(e, Literal) or by_value else Literal(e.text, e.value, wanted)
        return found

    def assignment(self) -> Assignment:
        """The assignment with all that hinders it."""
        contraction = self.intrinsic.contraction
        facts = [*self._operand_facts(), *self._accumulator_facts(), *clamp_facts(self.intrinsic, self.clamp)]
        if contraction.limits and not facts:
            facts += limit_facts(self.fragment, self.intrinsic, self.held)
        facts += numeric_facts(self.intrinsic, self.numerics, fused=self.fusion is Fusion.OWN)
        assumptions = self._roundings()
        facts += self._fusion_facts()
        if not facts:
            proved, taken = self._proof()
            facts, assumptions = [*facts, *proved], [*assumptions, *taken]
        if self.dtype.is_float and contraction.reductions and self.numerics.reassociate:
            assumptions.append("float additions may be reordered")
            numbers = [e for e in contraction.inputs if self.intrinsic.operand(e.array).mode is LoadMode.VALUE]
            assumptions += [f"the whole sum is multiplied by {e}" for e in numbers
                            if self.held[str(e)] != Literal("1", 1, self.dtype)]
        if self.dtype.is_float and self.intrinsic.library:
            assumptions.append(FINITE)
        return Assignment(tuple(by_operand(contraction, self.held).items()), tuple(facts),
                          tuple(dict.fromkeys(assumptions)))

    def _operand_facts(self) -> list[Fact]:
        """Operands with values that are none of their types, or that a library function does not find in memory."""
        contraction, facts = self.intrinsic.contraction, []
        for element, wanted in zip(contraction.inputs, contraction.input_dtypes, strict=True):
            e, by_value = self.chosen[str(element)], self.intrinsic.operand(element.array).mode is LoadMode.VALUE
            if self.intrinsic.library and not by_value and not (isinstance(e, Load) and e.dtype == wanted):
                facts.append(memory_fact(self.fragment, self.intrinsic, element.array, e, wanted))
            elif not isinstance(e, Literal) and not is_of(self.fragment, e, wanted):
                facts.append(dtype_fact(self.fragment, self.intrinsic, element.array, e, wanted))
        return [*facts, *self._conditional_reads()]

    def _conditional_reads(self) -> Iterator[Fact]:
        """Operands that the program reads where a condition on data holds, of which it may read no others."""
        statement, scop = self.fragment.statement, self.fragment.scop
        read = {*unconditional_references(statement.body), *certain_loads(self.fragment.update)}
        for element in self.intrinsic.contraction.inputs:
            for reference in dict.fromkeys(certain_loads(self.chosen[str(element)])):
                access = statement.access(reference)
                if reference not in read and not may_always_be_accessed(scop, statement, access):
                    words = self.fragment.text(Load(reference, self.dtype))
                    yield Fact("memory", f"operand {element.array}: {self.intrinsic.name} reads {words} in every "
                               "iteration, the program only where a condition on data holds, and nothing says that "
                               "the element exists elsewhere", f"declare the extents of {access.array}, or read it "
                               "ahead of the condition")

    def _accumulator_facts(self) -> list[Fact]:
        """A result of another type, unless its sums have the same bits."""
        contraction = self.intrinsic.contraction
        theirs = contraction.output_dtype
        same_bits = self.dtype.is_integer and theirs.is_integer and self.dtype.bits == theirs.bits \
            and accumulates_sum(self.intrinsic) and contraction.finish is None
        if self.dtype == theirs or same_bits:
            return []
        return [Fact("accumulator", f"operand {contraction.output.array}: the program accumulates in {self.dtype}, "
                     f"{self.intrinsic.name} in {theirs}", _other_accumulator(self.dtype, theirs))]

    def _roundings(self) -> list[str]:
        """What the instruction rounds and the program does not, as far as that is allowed."""
        fused = self.fusion is Fusion.OWN
        found = [t for t in self.intrinsic.contraction.traits if not (fused and t == FUSED)] \
            if self.dtype.is_float else []
        if self.numerics.contract and fused and FUSED not in self.intrinsic.contraction.traits:
            found.append("fused products are rounded on their own")
        if self.numerics.contract and self.fusion is Fusion.WIDER:
            found.append("sums are rounded to their own type at once, not to a wider one first")
        return found

    def _fusion_facts(self) -> list[Fact]:
        if self.numerics.contract:
            return []
        if self.fusion is Fusion.OWN and FUSED not in self.intrinsic.contraction.traits:
            return [Fact("numerics", f"the program rounds a product and its addition once, {self.intrinsic.name} twice",
                         "allow it (contract), or write the product and the addition")]
        if self.fusion is Fusion.WIDER:
            return [Fact("numerics", f"the program rounds every sum to a wider type and then to {self.dtype}, "
                         f"{self.intrinsic.name} to {self.dtype} alone",
                         "allow it (contract), or call the function of the type itself (fmaf)")]
        return []

    def _proof(self) -> tuple[list[Fact], list[str]]:
        """What comparing both bodies with all their types says: what hinders, and what is taken for granted."""
        mine, facts, assumptions = self._theirs(), [], []
        outcome = self._compared(mine)
        if outcome.reassociated and self.clamp is None and _commuted(self.update) != _commuted(mine):
            if self.numerics.reassociate and self.dtype.is_float:
                assumptions.append("factors of a product are multiplied in another order")
            else:
                facts.append(Fact("rounding", "the factors of the product would be multiplied in another order",
                                  "allow it (reassociate), or group the factors as the instruction does"))
        if outcome.verdict is not Verdict.EQUAL:
            facts.append(Fact("arithmetic", f"the program's update is not {self.intrinsic.name}'s in its own arithmetic"
                              f" ({witness_text(self.fragment, outcome.witness) or outcome.verdict.value})",
                              self._same_arithmetic(mine)))
        return facts, assumptions

    def _same_arithmetic(self, mine: Expr) -> str:
        """What would have the same bits: wider products, where these are too narrow, else the instruction's update."""
        narrow = [e for e in walk(self.update) if isinstance(e, Binary) and e.op == "*" and e.dtype.is_integer
                  and e.dtype.bits < self.dtype.bits]
        if multiplies(self.intrinsic) and narrow:
            return "compute the product in the accumulator's type"
        words = self.fragment.text(mine)
        return f"compute {words}, which is what {self.intrinsic.name} does, if that is meant"

    def _theirs(self) -> Expr:
        """The instruction's update with the program's expressions."""
        contraction = self.intrinsic.contraction
        old: Expr = Load(self.fragment.target, self.dtype)
        old = old if self.dtype == contraction.output_dtype else Cast(old, contraction.output_dtype)
        return substituted(contraction.update, self.held, old, str(contraction.output))

    def _compared(self, mine: Expr) -> Outcome:
        contraction = self.intrinsic.contraction
        if self.clamp is not None:
            return same_clamped(self.fragment.update, self.update, mine, self.clamp)
        if not multiplies(self.intrinsic):
            return same_addend(self.update, mine, self.fragment)
        types = dict(zip(self.held, contraction.input_dtypes, strict=True))
        return same_of_values(self.update, mine, self.dtype, self.held, types)


def is_of(fragment: Fragment, e: Expr, wanted: DType) -> bool:
    """Whether every value that the expression has in the program is one of a type."""
    counted = any(isinstance(x, IteratorRef | ParameterRef) for x in walk(e))
    return fits(e, wanted, fragment.ranges if counted else {})


def _other_accumulator(have: DType, wanted: DType) -> str:
    """What a program could do that adds in another type."""
    narrower = have.is_integer and wanted.is_integer and wanted.bits < have.bits
    sure = " if no sum leaves its range" if narrower else ""
    return f"accumulate in {wanted}{sure}, and convert afterwards"


def _commuted(e: Expr) -> Expr:
    """The operands of sums and products in one order, signs outside of products: what changes no rounding."""
    def change(x: Expr) -> Expr:
        if isinstance(x, Binary) and x.op == "-":
            return change(Binary("+", x.left, _negated(x.right), x.dtype))
        if isinstance(x, Unary) and x.op == "-":
            return _negated(x.operand)
        if isinstance(x, Binary) and x.op == "*":
            return _commuted_product(x)
        if isinstance(x, Binary) and x.op == "+" and whole(x.right) < whole(x.left):
            return Binary(x.op, x.right, x.left, x.dtype)
        return x

    return rebuild(e, change)


def _commuted_product(x: Binary) -> Expr:
    factors = [f.operand if _is_negation(f) else f for f in (x.left, x.right)]
    kept = [f for f in factors if not (isinstance(f, Literal) and f.value == 1)] or factors[:1]
    kept.sort(key=whole)
    product = kept[0] if len(kept) == 1 else Binary("*", kept[0], kept[1], x.dtype)
    return _negated(product) if _is_negation(x.left) != _is_negation(x.right) else product


def _is_negation(e: Expr) -> TypeGuard[Unary]:
    return isinstance(e, Unary) and e.op == "-"


def _negated(e: Expr) -> Expr:
    return e.operand if _is_negation(e) else Unary("-", e, e.dtype)
