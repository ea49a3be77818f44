"""Questions about instructions: what one computes, which program it computes, and how often it runs."""

from __future__ import annotations

import math

from polysched.notebook.tutorial.answers import Verdict, as_number, as_text, right, wrong
from polysched.records import dataclass
from polysched.scop import from_c_text
from polysched.scop.body import Binary, walk
from polysched.scop.scop import Scop
from polysched.tensorize import Intrinsic, Match, Matches, match
from polysched.tensorize.description.intrinsic import Cost, Isa, LoadMode, Operand, Register
from polysched.tensorize.description.reading import parse
from polysched.tensorize.software.fragment import fragments

DREAM = Isa(name="daydream", machine="daydream", manual="none: nobody has built it")
MEMORY = Register(c_type="void *", load="load({register}, {pointer});", store="store({pointer}, {register});")


def imaginary(semantics: str) -> Intrinsic:
    """An instruction that nobody has built, from the C of what it computes; its operands stand in memory.

    Raises
    ------
    SourceSyntaxError : the text is outside the language of descriptions.
    """
    read = parse(semantics)
    names = [p.name for p in read.operands]
    return Intrinsic(name=read.name, isa=DREAM, section="none", semantics=semantics,
                     cost=Cost(issue_cycles=1, latency_cycles=4, source="wished for"),
                     operands=tuple(Operand(name=n, register=MEMORY, mode=LoadMode.SCRATCHPAD) for n in names),
                     template=f"{read.name}({', '.join(f'{{{n}}}' for n in names)});")


@dataclass(frozen=True, eq=False, kw_only=True)
class ExecutionsOf:
    """How often does an instruction run, in the match with the fewest executions?  The answer is a number."""

    found: Matches

    expects = "a whole number"

    def judge(self, answer: object) -> Verdict:
        """By all matches."""
        given, best = as_number(answer), fewest_executions(self.found)
        if given == best.executions:
            return right(f"{best.executions} executions, and {best.utilisation:.0%} of their work is needed")
        return wrong(f"{given} is too {'many' if given > best.executions else 'few'}",
                     f"the match is {best}: a loop that does not fill its dimension is padded")


@dataclass(frozen=True, eq=False, kw_only=True)
class InstructionFor:
    """Which instruction computes a program in so many executions?  The answer is the C of what it computes.

    Parameters
    ----------
    executions : as often as it may run at most.
    most_work : updates in one execution at most.
    """

    scop: Scop
    executions: int
    most_work: int

    expects = "the text of a C function with constant sizes"

    def judge(self, answer: object) -> Verdict:
        """By matching it with the program, every mapping proved by isl."""
        instruction = imaginary(as_text(answer, '"void unit(int32_t C[4], ...) { ... }"'))
        found = match(self.scop, instruction)
        if not found.count:
            return wrong("it computes nothing of the program", conflicts(found))
        best = fewest_executions(found)
        work = math.prod(best.extent(group) for group in range(len(best.groups)))
        if work > self.most_work:
            return wrong(f"one execution makes {work} updates", f"{self.most_work} at most are wanted")
        if best.executions > self.executions:
            return wrong(f"it matches, and runs {best.executions} times", f"{best}; {best.utilisation:.0%} of its work "
                         f"is needed, and {self.executions} executions would do")
        return right(f"{best.executions} executions: {best}")


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgramFor:
    """Which program does an instruction compute?  The answer is the text of a C function.

    Parameters
    ----------
    without : operators that it may not contain.
    """

    instruction: Intrinsic
    without: tuple[str, ...] = ()

    expects = "the text of a C function"

    def judge(self, answer: object) -> Verdict:
        """By a proof that both are the same function, for all values of their operands."""
        scop = from_c_text(as_text(answer, '"void f(...) { ... }"'))
        if used := sorted(_operators(scop) & set(self.without)):
            return wrong(f"it contains the operator {used[0]}", f"write it without {' and '.join(self.without)}")
        found = match(scop, self.instruction)
        if not found.count:
            return wrong("the instruction does not compute it", conflicts(found))
        return right(f"proved: {found.matches[0]}")


def fewest_executions(found: Matches) -> Match:
    """The match that executes the instruction least often; there is one at least."""
    return min(found.matches, key=lambda m: m.executions)


def conflicts(found: Matches) -> str:
    """Why nothing matches, in a line."""
    return "; ".join(conflict for explanation in found.explanations for conflict in explanation.conflicts) or (
        "; ".join(found.refused))


def _operators(scop: Scop) -> set[str]:
    """The binary operators in what the statements compute; those in subscripts do not count."""
    return {e.op for fragment in fragments(scop) for e in walk(fragment.update) if isinstance(e, Binary)}

