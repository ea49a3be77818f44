"""Why there is no match: the conflicting facts, the nearest miss, and the rewrite that would help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

from polysched.tensorize.bodies import Fact
from polysched.tensorize.encoding import Encoding


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


def explain(encoding: Encoding, *, impossible: str = "", refused: tuple[str, ...] = ()) -> Explanation:
    """The explanation of an encoding without a solution.

    Parameters
    ----------
    impossible : what dependences forbid altogether.
    refused : mappings that isl refused.
    """
    statement, name = encoding.fragment.statement.name, encoding.intrinsic.name
    if not encoding.assignments:
        return Explanation(statement=statement, intrinsic=name, conflicts=(
            f"the statement's update has not the form that {name} computes",))
    if impossible:
        return Explanation(statement=statement, intrinsic=name, conflicts=(impossible,))
    if refused:
        return Explanation(statement=statement, intrinsic=name, conflicts=refused)
    core = encoding.core()
    if not core:
        return Explanation(statement=statement, intrinsic=name, conflicts=_structure(encoding))
    return Explanation(statement=statement, intrinsic=name, conflicts=tuple(f.text for f in core),
                       nearest=nearest_miss(encoding))


def nearest_miss(encoding: Encoding) -> tuple[Fact, ...]:
    """The fewest facts to change so that a mapping exists (MaxSAT; Ignatiev, Morgado, Marques-Silva, RC2, 2019)."""
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
        lines.append(f"loop {loop} indexes {' and '.join(mine) or 'no operand'}; {wanted}")
    if encoding.extents.value == "reach":
        lines.append("and the loops have to fill every dimension (extents: reach)")
    return tuple(lines) or ("the statement has no loop with more than one iteration",)
