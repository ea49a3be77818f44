"""InstructionChoice: which instruction computes one statement, by which mapping and plan; data that is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scop.body import Load, walk
from polysched.tensorize.emission.plan import PlanChoice, Tiling
from polysched.tensorize.matching.mapping import Match

NO_INSTRUCTION = "none"


@dataclass(frozen=True, kw_only=True)
class InstructionChoice:
    """What computes one statement.

    Parameters
    ----------
    name : of the instruction; `none` for ordinary code.
    loops : per dimension of the instruction (equal ones merged) the loops that go into it; empty for any mapping.
    operands : the arrays that its inputs hold, in its order; empty for any.
    tiling : a value of `Tiling`; empty for the model's plan.
    block : which of the register blocks that the model finds.

    Raises
    ------
    UsageError : there is no such tiling, or the block's number is negative.
    """

    name: str
    loops: tuple[tuple[str, ...], ...] = ()
    operands: tuple[str, ...] = ()
    tiling: str = ""
    block: int = 0

    def __post_init__(self) -> None:
        if self.tiling and self.tiling not in {t.value for t in Tiling}:
            raise UsageError(f"there is no plan by {self.tiling!r}", hint=", ".join(t.value for t in Tiling))
        if not isinstance(self.block, int) or self.block < 0 or not isinstance(self.name, str):
            raise UsageError("this chooses no instruction", witness=f"{self.name!r}, block {self.block!r}")

    def fits(self, match: Match) -> bool:
        """Whether a match is the one that was chosen."""
        return (match.intrinsic.name == self.name and self.loops in ((), match.loops)
                and self.operands in ((), operands_of(match)))

    @property
    def plan(self) -> PlanChoice | None:
        """The plan; None for the model's."""
        return PlanChoice(tiling=Tiling(self.tiling), block=self.block) if self.tiling else None

    def to_json(self) -> dict[str, Any]:
        """What was chosen, as JSON values."""
        value: dict[str, Any] = {"name": self.name, "loops": [list(names) for names in self.loops],
                                 "operands": list(self.operands), "tiling": self.tiling, "block": self.block}
        return {name: v for name, v in value.items() if v not in ([], "", 0)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> InstructionChoice:
        """The choice that `to_json` wrote.

        Raises
        ------
        UsageError, TypeError : it is none.
        """
        return cls(**{**value, "loops": tuple(tuple(map(str, names)) for names in value.get("loops", ())),
                      "operands": tuple(map(str, value.get("operands", ())))})


def choice_of(match: Match, plan: PlanChoice | None = None) -> InstructionChoice:
    """The choice of a match with one of its plans."""
    return InstructionChoice(name=match.intrinsic.name, loops=match.loops, operands=operands_of(match),
                             tiling="" if plan is None else plan.tiling.value, block=0 if plan is None else plan.block)


def operands_of(match: Match) -> tuple[str, ...]:
    """The arrays that the inputs of an instruction hold, joined where one holds several."""
    found = []
    for _, held in match.assignment.operands:
        arrays = dict.fromkeys(match.fragment.statement.access(x.reference).array for x in walk(held)
                               if isinstance(x, Load))
        found.append("+".join(arrays))
    return tuple(found)
