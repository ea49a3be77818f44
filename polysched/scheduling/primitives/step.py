"""What all steps share: a frozen value that rewrites a tree and can be stored as JSON."""

from __future__ import annotations

from dataclasses import asdict, fields
from functools import cache
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from polysched.dependence.dependences import Dependences
from polysched.dependence.same_values import check_same_values
from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.scheduling.primitives.loops import Loop
from polysched.scheduling.tree.loop_tree import LoopTree
from polysched.scop.scop import Scop

LARGEST = 2**31 - 1
"""Of the numbers in a step: products of two of them fit the 64-bit integers of the emitted loops."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One rewrite of a schedule tree.

    `rewrite` gets a tree whose bands are split into one-member bands and returns another; it refuses what
    has no meaning (UsageError), and leaves legality to `scheduling.steps.apply`, which decides it exactly.

    Raises
    ------
    UsageError : a field has a value of another type; a list stands for a tuple, as in JSON.
    """

    NAME: ClassVar[str] = ""
    KEEPS_ORDER: ClassVar[bool] = False
    """Whether instances stay in their order, so that the step is legal wherever it has a meaning."""
    SPLITS: ClassVar[bool] = True
    """Whether every loop is a band of its own for the step; else bands stay whole, and are judged anew behind it."""

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, wanted in _field_types(kind).items():
            try:
                object.__setattr__(self, name, _fitting(getattr(self, name), wanted))
            except TypeError:
                raise UsageError(f"step {self.NAME}: {name} cannot be {getattr(self, name)!r}",
                                 hint=f"it is {_in_words(wanted)}") from None

    def rewrite(self, tree: LoopTree) -> LoopTree:
        """The tree after the step."""
        raise NotImplementedError(type(self).__name__)

    def permuted(self, tree: LoopTree) -> tuple[Loop, ...]:
        """The loops of one perfect nest that the step permutes or tiles, and nothing else.

        It is legal where each of them runs every dependence forward.  None for steps that do other things.
        """
        return ()

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

    def check_values(self, before: Dependences, after: Dependences, tree: LoopTree) -> None:
        """Hold that the new program computes the same, up to what `rounds_differently` says.

        Parameters
        ----------
        tree : the loops before the step.

        Raises
        ------
        IllegalScheduleError : it does not; the witness is an instance.
        """
        check_same_values(before, after)

    def rounds_differently(self, dependences: Dependences, tree: LoopTree) -> str:
        """What is summed up in another order with another rounding; empty where every bit stays."""
        return ""


@cache
def _field_types(kind: type[Step]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind)}


def _fitting(value: Any, wanted: Any) -> Any:
    """The value as a field of type `wanted` holds it; TypeError when it is none."""
    if get_origin(wanted) is tuple:
        if not isinstance(value, (tuple, list)):
            raise TypeError
        return tuple(_fitting(v, get_args(wanted)[0]) for v in value)
    allowed = get_args(wanted) or (wanted,)
    if isinstance(value, bool) or not isinstance(value, allowed) or (isinstance(value, int) and abs(value) > LARGEST):
        raise TypeError
    return value


def _in_words(wanted: Any) -> str:
    words = {int: f"an integer of at most {LARGEST}", str: "a text"}
    if get_origin(wanted) is tuple:
        return f"a tuple, each of {_in_words(get_args(wanted)[0])}"
    return " or ".join(words[kind] for kind in (get_args(wanted) or (wanted,)))
