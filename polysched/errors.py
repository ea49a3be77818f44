"""Every deliberate refusal of polysched.

A refusal tells what is wrong, where, one concrete witness, and what to try.  The command line prints
it without a traceback and ends with `exit_code`; a script catches `PolyschedError` or a child of it.
"""

from __future__ import annotations

from polysched.records import dataclass, shortened


@dataclass(frozen=True)
class SourceLocation:
    """A place in a user's file; line and column count from 1, and 0 means unknown."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.path]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)


class PolyschedError(Exception):
    """The base of every deliberate refusal.

    Parameters
    ----------
    problem : what is wrong, one sentence without a full stop.
    where : the file and line, or the stage and object, if there is one.
    witness : one concrete example: an instance pair, an index, an element, a construct's text.
    hint : what the user can try.
    """

    exit_code = 2

    def __init__(self, problem: str, *, where: SourceLocation | str | None = None,
                 witness: str | None = None, hint: str | None = None) -> None:
        self.problem = problem
        self.where = where
        self.witness = witness
        self.hint = hint
        super().__init__(self.render())

    def __repr__(self) -> str:
        return shortened(super().__repr__())

    def render(self) -> str:
        """The message as the command line prints it: one line each for problem, witness and hint."""
        head = f"{self.where}: {self.problem}" if self.where else self.problem
        lines = [head]
        if self.witness:
            lines.append(f"  witness: {self.witness}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class UsageError(PolyschedError):
    """The options or arguments of a call do not fit together."""


class UnsupportedScopError(PolyschedError):
    """The region cannot be represented soundly as a static control part."""


class NoLoopsError(UnsupportedScopError):
    """isl's generator found no loops that visit exactly the instances of a schedule, in its order."""


class SourceSyntaxError(PolyschedError):
    """The source does not preprocess or parse; carries the compiler's own message."""


class UnsupportedGraphError(PolyschedError):
    """An operator graph has something that is not had, or does not fit together; says node, operator and attribute."""


class ModelFileError(PolyschedError):
    """A model file is damaged, refers outside its folder, or asks for more than its limits; nothing was run."""


class PlacementError(PolyschedError):
    """Operators do not fit onto a mesh of cores, or a placement is not what it says of itself; names the operator."""


class IllegalScheduleError(PolyschedError):
    """A schedule or a step breaks a dependence; the witness is one violated pair of instances."""


class BudgetExceededError(PolyschedError):
    """An isl or solver call ran out of its budget and no fallback was left."""


class NoCompilerError(PolyschedError):
    """No C compiler was found on the machine."""


class CompileError(PolyschedError):
    """The compiler refused the emitted or the original code; carries its message."""


class RunFailedError(PolyschedError):
    """A measured child process crashed, hung or ran out of memory; says signal, seconds and limit."""

    exit_code = 3


class DeviceError(PolyschedError):
    """A device is not there, or its driver refused a kernel, a buffer or a launch; carries the driver's message."""

    exit_code = 3


class WrongResultError(PolyschedError):
    """A transformed program computed something else than the original; the witness is one element."""

    exit_code = 4


class UndefinedBehaviourError(PolyschedError):
    """An interpreted program does what C leaves undefined; the witness is the statement instance."""

    exit_code = 3


class UndefinedDescriptionError(UndefinedBehaviourError):
    """Some operands make a described instruction or function do what C leaves undefined; the witness is what does."""

    exit_code = 2


class InconsistentScopError(PolyschedError):
    """Two descriptions inside a Scop contradict each other: a fault of the front end that made it."""

    exit_code = 3


class BrokenLoopsError(PolyschedError):
    """A pass over the loop IR broke one of its invariants: a fault of that pass."""

    exit_code = 3


class FaultError(PolyschedError):
    """A fault of polysched itself, met at one of many parts, of which the others go on; the log has its traceback."""

    exit_code = 1

    @classmethod
    def of(cls, error: Exception) -> PolyschedError:
        """The refusal that an exception comes to; one that refuses already is its own."""
        if isinstance(error, PolyschedError):
            return error
        if isinstance(error, RecursionError):
            return BudgetExceededError("statements or expressions stand deeper inside one another than Python's calls")
        told = " ".join(str(error).split())
        return cls(f"polysched itself fails at it, {type(error).__name__}{f': {told}' if told else ''}",
                   hint="-vv shows where; please report it")


class OutputError(PolyschedError):
    """An output file cannot be written; whatever stood there before is untouched."""


class NoIntrinsicMatchError(PolyschedError):
    """No legal way to compute the fragment with the instruction; the witness is the conflicting facts."""
