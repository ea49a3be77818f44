"""What all steps share: a frozen value that rewrites a tree and can be stored as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from polysched.dependence.dependences import Dependences
from polysched.scheduling.loop_tree import LoopTree
from polysched.scop.scop import Scop


@dataclass(frozen=True, kw_only=True)
class Step:
    """One rewrite of a schedule tree.

    `rewrite` gets a tree whose bands are split into one-member bands and returns another; it refuses what
    has no meaning (UsageError), and leaves legality to `scheduling.steps.apply`, which decides it exactly.
    """

    NAME: ClassVar[str] = ""

    def rewrite(self, tree: LoopTree) -> LoopTree:
        """The tree after the step."""
        raise NotImplementedError(type(self).__name__)

    def to_json(self) -> dict[str, Any]:
        """A JSON object with the step's name under `step` and its fields."""
        return {"step": self.NAME, **{k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}}


@dataclass(frozen=True, kw_only=True)
class ProgramStep(Step):
    """A step that changes the program beside its order (storage, or which statement computes what when).

    That the new program computes the same is held by `same_values.check_same_values`: every read still gets
    the value of the same source instance.  The order is then judged by the dependences of the new program.
    """

    def rewrite(self, tree: LoopTree) -> LoopTree:
        raise TypeError(f"{self.NAME} changes the program: use rewrite_program")

    def rewrite_program(self, dependences: Dependences, tree: LoopTree) -> tuple[Scop, LoopTree]:
        """The program, with the new tree as its schedule as written, and the same tree as loops.

        A statement whose instances are computed again gets new *leading* iterators; the last ones are
        those of the statement before.
        """
        raise NotImplementedError(type(self).__name__)
