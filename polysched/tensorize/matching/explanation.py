"""Why there is no match: the conflicting facts, the nearest miss, and the rewrite that would help."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import islpy as isl

from polysched.records import dataclass
from polysched.scop.body import (
    Assign,
    Binary,
    Call,
    Cast,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Perform,
    Select,
    Unary,
    While,
    assignments,
    walk,
)
from polysched.scop.scop import Scop, Statement
from polysched.scop.serialise import expression_text
from polysched.tensorize.description.contraction import Kind
from polysched.tensorize.description.intrinsic import Intrinsic, LoadMode
from polysched.tensorize.description.semantics import is_table_read, table_of
from polysched.tensorize.equality.float_terms import Polynomial
from polysched.tensorize.equality.normal_form import Form
from polysched.tensorize.limits import LIMITS
from polysched.tensorize.matching.encoding import Encoding, Extents
from polysched.tensorize.matching.facts import Fact
from polysched.tensorize.matching.tables import other_tables
from polysched.tensorize.proofs.ideal import ideal_form, multiplies
from polysched.tensorize.software.conditional_reads import may_always_be_written
from polysched.tensorize.software.elements import scattered
from polysched.tensorize.software.fragment import Fragment, is_complex

MOST_MAPPINGS = LIMITS.most_explained_mappings


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why one statement cannot be computed by the instruction.

    Parameters
    ----------
    conflicts : facts that together exclude every mapping (an unsatisfiable core).
    nearest : the fewest facts that would have to be otherwise (a minimum correction set); empty when none would do.
    """

    statement: str
    intrinsic: str
    conflicts: tuple[str, ...]
    nearest: tuple[Fact, ...] = ()

    def because(self, words: str) -> Explanation:
        """With one conflict more, where that is not said already."""
        return self if any(words in c for c in self.conflicts) else replace(self, conflicts=(*self.conflicts, words))

    def to_json(self) -> dict[str, Any]:
        """The explanation as plain values."""
        return {"statement": self.statement, "conflicts": list(self.conflicts),
                "nearest_miss": [f.text for f in self.nearest],
                "rewrites": [f.rewrite for f in self.nearest if f.rewrite]}

    def __str__(self) -> str:
        lines = [f"{self.statement}: no match with {self.intrinsic}", *(f"  because {c}" for c in self.conflicts)]
        if self.nearest:
            lines.append(f"  nearest miss: {len(self.nearest)} fact{'s' * (len(self.nearest) > 1)} away")
            lines += [f"  would help: {f.rewrite} ({f.text})" for f in self.nearest if f.rewrite]
        return "\n".join(lines)


def not_handled(statement: str, intrinsic: Intrinsic, kinds: Iterable[Kind]) -> Explanation:
    """The instruction is of a kind that no program is compared with."""
    contraction, found = intrinsic.contraction, frozenset(kinds)
    words = {k.value for k in found}
    if found == {Kind.OVERWRITES} and contraction.reductions:
        words -= {Kind.OVERWRITES.value}
        words.add(f"replaces its result by something else than a sum over {' and '.join(contraction.reductions)}; "
                  "described as an update of the old value, it would be compared")
    if Kind.SEVERAL_RESULTS in found and contraction.tables:
        words = words - {Kind.SEVERAL_RESULTS.value} | {"writes several operands at once from tables"}
    return Explanation(statement=statement, intrinsic=intrinsic.name, conflicts=(
        f"no statement of the program is compared with {intrinsic.name}, which {' and '.join(sorted(words))}",))


def explain(encoding: Encoding, *, impossible: str = "", refused: tuple[str, ...] = ()) -> Explanation:
    """The explanation of an encoding without a solution.

    Parameters
    ----------
    impossible : what dependences forbid altogether.
    refused : mappings that isl refused.
    """
    statement, name = encoding.fragment.statement.name, encoding.intrinsic.name
    if not encoding.assignments:
        return _other_results(encoding) if encoding.fragment.others else _other_form(encoding)
    if impossible:
        return Explanation(statement=statement, intrinsic=name, conflicts=(impossible,))
    if refused:
        return Explanation(statement=statement, intrinsic=name, conflicts=refused)
    if short := _too_short(encoding):
        return Explanation(statement=statement, intrinsic=name, conflicts=tuple(f.text for f in short), nearest=short)
    core = encoding.core()
    if not core:
        return Explanation(statement=statement, intrinsic=name, conflicts=_structure(encoding))
    return Explanation(statement=statement, intrinsic=name, conflicts=tuple(f.text for f in core),
                       nearest=nearest_miss(encoding))


def nearest_miss(encoding: Encoding) -> tuple[Fact, ...]:
    """The fewest facts to change so that a mapping exists (MaxSAT; Ignatiev, Morgado, Marques-Silva, RC2, 2019)."""
    from pysat.examples.rc2 import RC2  # when a solver is asked, not with the package
    from pysat.formula import WCNF

    formula = WCNF()
    formula.extend(encoding.clauses)
    for variable in encoding.hindrance.values():
        formula.append([-variable], weight=1)
    with RC2(formula) as solver:
        model = solver.compute()
    if model is None:
        return ()
    true = set(model)
    return tuple(f for f, v in encoding.hindrance.items() if v in true)


def unread(scop: Scop, statement: Statement, intrinsic: Intrinsic) -> Explanation:
    """Why a statement is no single assignment of known elements."""
    body, rewrite = statement.body, ""
    if len(body) == 1 and isinstance(body[0], If):
        condition = expression_text(scop, statement, body[0].condition)
        why = f"whether it runs depends on data ({condition}), and an instruction runs always"
        why += _unwritten(scop, statement)
        if _adds(statement, body[0]):
            rewrite = f"let the condition choose an operand: multiply by ({condition}) ? factor : 0"
    elif len(body) == 1 and isinstance(body[0], While):
        why = "it is a loop that ends by data"
    elif len(body) == 1 and isinstance(body[0], Perform):
        why = f"it calls {body[0].call.function}, which reaches memory through pointers"
    elif len(body) != 1:
        why = f"it consists of {len(body)} assignments that stay together"
    elif isinstance(body[0], Assign) and is_complex(body[0]):
        why = "it computes with complex numbers, which no instruction has"
    else:
        why, rewrite = _unknown_element(scop, statement)
    nearest = (Fact("statement", why, rewrite),) if rewrite else ()
    return Explanation(statement=statement.name, intrinsic=intrinsic.name, conflicts=(why,), nearest=nearest)


def _unwritten(scop: Scop, statement: Statement) -> str:
    """What else keeps a branch from being a choice of values: an array that only it writes; "" where there is none."""
    targets = dict.fromkeys(statement.access(item.target) for item in assignments(statement.body))
    alone = next((a.array for a in targets if not may_always_be_written(scop, statement, a)), None)
    return f"; nothing else writes {alone}, which may be read-only or another thread's where it does not run" \
        if alone else ""


def _unknown_element(scop: Scop, statement: Statement) -> tuple[str, str]:
    """Why it is not known which element a statement accesses or where it lies, and a rewrite."""
    for access in sorted(statement.accesses, key=lambda a: a.is_write):
        array, moved = access.array, "" if access.is_write else f"copy {access.array} into the order of the loops first"
        where = f"{array}[{']['.join(expression_text(scop, statement, s) for s in access.subscripts)}]"
        if not access.exact and any(isinstance(x, Load) for s in access.subscripts for x in walk(s)):
            return f"which element {where} is depends on data", moved
        if not access.exact:
            return f"which element {where} is cannot be said by multiples of the loops for all sizes", moved
        if apart := scattered(scop.array(array), statement.accesses):
            return apart, f"use an array of its own for {array}"
        if len(access.subscripts) != access.relation.dim(isl.dim_type.out):
            return f"which element {where} is cannot be said by multiples of the loops, or it has no iteration", moved
    return "it has no iteration at these sizes", ""


def _adds(statement: Statement, branch: If) -> bool:
    """The branch only adds to one element, and its condition does not look at the result."""
    if branch.otherwise or len(branch.then) != 1 or not isinstance(item := branch.then[0], Assign):
        return False
    read = {statement.access(x.reference).array for x in walk(branch.condition) if isinstance(x, Load)}
    return item.op in ("+", "-") and statement.access(item.target).array not in read


def _other_form(encoding: Encoding) -> Explanation:
    """The update is another polynomial (or none) of its operands than the instruction's."""
    fragment, intrinsic = encoding.fragment, encoding.intrinsic
    contraction = intrinsic.contraction
    if contraction.tables and (why := other_tables(fragment, intrinsic)):
        return Explanation(statement=fragment.statement.name, intrinsic=intrinsic.name, conflicts=(why,))
    ideal = ideal_form(contraction.update, {})
    own = ideal.terms if ideal is not None else ()
    words = sorted((_term(m, c) for m, c in own), key=len)
    theirs = f"{contraction.output} = {' + '.join(words)}".replace("+ -", "- ")
    if not multiplies(intrinsic):
        theirs = f"{contraction.output} = {_plain_text(contraction.update)}"
    text = (f"the statement's update does not have the form that {intrinsic.name} computes: "
            f"{fragment.text(fragment.result)} = {fragment.text(fragment.update)} against {theirs}")
    form = ideal_form(fragment.update, {})
    rewrite = _rewrite_of_form(fragment, form, intrinsic, own) if form is not None and multiplies(intrinsic) else ""
    fact = (Fact("form", text, rewrite),) if rewrite else ()
    return Explanation(statement=fragment.statement.name, intrinsic=intrinsic.name, conflicts=(text,), nearest=fact)


def _rewrite_of_form(fragment: Fragment, form: Form, intrinsic: Intrinsic, own: Polynomial) -> str:
    """What would make an update the sum of products that the instruction computes; "" where nothing is known.

    Parameters
    ----------
    form : the update.
    own : the instruction's polynomial.
    """
    target = fragment.target
    added = [m for m, _ in form.terms if target not in m]
    if not added or max(map(len, added)) < _degree(intrinsic, own):   # there is nothing that the instruction adds
        return ""
    old, kept = fragment.text(fragment.result), [(m, c) for m, c in form.terms if target in m]
    if any(len(m) > 1 or c != 1 for m, c in kept):
        return f"scale or combine {old} in a statement of its own, ahead of the loop that adds"
    if not kept and not any(target in atom for m in added for atom in m):
        return f"write the sum as {old} += ..., behind a statement that clears it"
    if len(added) > len(own) - 1:   # more than the instruction adds
        return f"one statement per product: the update adds {len(added)} terms"
    return ""


def _degree(intrinsic: Intrinsic, own: Polynomial) -> int:
    """How many factors the instruction's products have; numbers do not count, since any product has the factor one."""
    contraction = intrinsic.contraction
    numbers = sum(intrinsic.operand(e.array).mode is LoadMode.VALUE for e in contraction.inputs)
    return max((len(m) for m, _ in own if str(contraction.output) not in m), default=0) - numbers


def _other_results(encoding: Encoding) -> Explanation:
    """No expressions make all results at once."""
    fragment, intrinsic = encoding.fragment, encoding.intrinsic
    statement = fragment.statement
    have = "; ".join(f"{fragment.text(Load(r.target, r.update.dtype))} = "
                     f"{fragment.text(r.update)}" for r in fragment.results)
    theirs = "; ".join(f"{r.output} = {_plain_text(r.update)}" for r in intrinsic.contraction.results)
    return Explanation(statement=statement.name, intrinsic=intrinsic.name, conflicts=(
        f"the results are not those that {intrinsic.name} computes of one set of operands: {have} against {theirs}",))


def _plain_text(e: Expr) -> str:
    """An update of an instruction as C, without conversions."""
    match e:
        case Load():
            return e.reference
        case Literal():
            return e.text
        case Cast():
            return _plain_text(e.operand)
        case Unary():
            return e.op + _plain_text(e.operand)
        case Binary():
            compares = e.op in ("<", ">", "<=", ">=")
            sides = [f"({_plain_text(x)})" if isinstance(x, Binary) and x.op != e.op and not compares
                     else _plain_text(x) for x in (e.left, e.right)]
            return f"{sides[0]} {e.op} {sides[1]}"
        case Select():
            return f"({_plain_text(e.condition)} ? {_plain_text(e.then)} : {_plain_text(e.otherwise)})"
        case IteratorRef() | ParameterRef():
            return e.name
        case Call() if is_table_read(e):
            return table_of(e) + "".join(f"[{_plain_text(a)}]" for a in e.arguments)
        case Call():
            return f"{e.function}({', '.join(map(_plain_text, e.arguments))})"
    raise TypeError(f"no expression: {e}")


def _term(variables: tuple[str, ...], factor: Fraction) -> str:
    """`-2 * a * b`."""
    sign = "-" if factor < 0 else ""
    return sign + " * ".join([*([str(abs(factor))] if abs(factor) != 1 or not variables else []), *variables])


def _too_short(encoding: Encoding) -> tuple[Fact, ...]:
    """Where only the extents are to blame: the dimensions that the largest mapping does not fill, and the padding."""
    if encoding.extents is not Extents.REACH:
        return ()
    padded = replace(encoding, extents=Extents.ANY, learned=[])
    fragment = encoding.fragment
    mappings = sorted(padded.solutions(limit=MOST_MAPPINGS), key=lambda c: [
        -min(fragment.iterations(m), g.extent or 1) for g, m in zip(encoding.groups, c.loops, strict=True)])
    facts = []
    for group, loops in zip(encoding.groups, mappings[0].loops if mappings else (), strict=bool(mappings)):
        have = fragment.iterations(loops)
        if loops and group.extent is not None and have < group.extent:
            words = f"{' and '.join(loops)} {'have' if len(loops) > 1 else 'has'} {have}"
            facts.append(Fact("padding", f"dimension {group.name} takes {group.extent} iterations, and {words}",
                              f"pad {' and '.join(loops)} with zeros to {group.extent} iterations, as extents: any "
                              "does"))
    return tuple(facts)


def _structure(encoding: Encoding) -> tuple[str, ...]:
    """No fact is to blame: no loop fits any dimension."""
    lines = []
    output = encoding.intrinsic.contraction.output.array
    for loop in encoding.loops:
        if loop in encoding.fixed_outside:
            lines.append(encoding.fixed_outside[loop])
            continue
        assignment = encoding.assignments[0]
        names = [output, *(n for n, _ in assignment.operands)]
        mine = [n for n in names if loop in encoding.software_loops(assignment, n)]
        wanted = ", ".join(f"{g.name} indexes {' and '.join(sorted(g.indexes))}" for g in encoding.groups)
        lines.append(f"loop {loop} indexes {' and '.join(mine) or 'no operand'}; "
                     f"{wanted or f'{encoding.intrinsic.name} has no loop'}")
    if encoding.extents.value == "reach":
        lines.append("and the loops have to fill every dimension (extents: reach)")
    return tuple(lines) or ("the statement has no loop with more than one iteration",)
