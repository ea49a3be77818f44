"""Before an instruction or a library call stands in emitted code, it is run beside the statement that it replaces.

The check is made of the very functions that are emitted (`emit_c.alternatives.replacement_check`) and runs in a process
of its own (`measure.bit_for_bit`). Its verdict is kept, in memory and in the user's cache folder, under both texts,
the description, the compiler and the machine, so that the same pair runs once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

from polysched.emit_c.alternatives.call_check import by_its_text, call_check, call_sizes
from polysched.emit_c.alternatives.smaller_programs import MOST_WORK
from polysched.errors import (
    CompileError,
    OutputError,
    PolyschedError,
    RunFailedError,
    UnsupportedScopError,
    WrongResultError,
)
from polysched.measure.bit_for_bit.check import STRAYED, UNREACHED, CheckOutcome, Difference, run_checks
from polysched.measure.processes.building import DEFAULT_FLAGS
from polysched.pipeline.replacement_runs import OUTSIDE, Run, checks_of, preparation_of, runs_of
from polysched.records import dataclass, whole
from polysched.scop.scop import Scop
from polysched.target import Compiler, find_compiler
from polysched.target.build_cache import entry_key, find_or_build, forget, found
from polysched.tensorize.called import CalledProgram
from polysched.tensorize.decision import Decision
from polysched.tensorize.emission.emulated_library import emulated_library
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.program import TensorizedProgram

logger = logging.getLogger(__name__)

KIND = "verdicts"
FILE = "verdict.json"
_KNOWN: dict[str, Verdict] = {}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether the code with an instruction computes what the replaced statement does.

    Parameters
    ----------
    statement, instruction : names.
    emulated : plain C stood for the instruction or the library.
    outcome : of the comparison.
    kept : it was found in the cache: nothing ran.
    untouched : the region ran as the user wrote it; else the statement alone, as it was prepared.
    unable : why nothing could be run; None where something was.
    """

    statement: str
    instruction: str
    emulated: bool
    outcome: CheckOutcome
    kept: bool = False
    untouched: bool = True
    unable: PolyschedError | None = None

    def __str__(self) -> str:
        by = f"{self.instruction}{' (emulated)' if self.emulated else ''}"
        if self.outcome.equal:
            prepared = "" if self.untouched else "prepared "
            return f"{self.statement}: {by} equals the {prepared}statement at {', '.join(self.outcome.sizes)}"
        return f"{self.statement}: {by} is not used: {self.outcome.difference or self.outcome.failure}"

    def refusal(self) -> PolyschedError:
        """The error for an instruction that was asked for by its name."""
        hint = f"compare the description of {self.instruction} with the manual: polysched bench conformance"
        where = f"statement {self.statement}"
        if self.outcome.difference is not None:
            return WrongResultError(f"the code with {self.instruction} computes something else than the statement that "
                                    "it replaces", where=where, witness=str(self.outcome.difference), hint=hint)
        problem = f"the code with {self.instruction} could not be compared with the statement that it replaces"
        if self.unable is not None:
            return UnsupportedScopError(problem, where=where, witness=self.outcome.failure,
                                        hint=self.unable.hint or "state the sizes: --size NAME=VALUE")
        if self.outcome.failure.startswith((STRAYED, UNREACHED)):
            return UnsupportedScopError(problem, where=where, witness=self.outcome.failure, hint=OUTSIDE)
        kind = CompileError if "refused" in self.outcome.failure else RunFailedError
        return kind(problem, where=where, witness=self.outcome.failure, hint=hint)


@dataclass(frozen=True, kw_only=True)
class BegunVerdict:
    """A comparison that may still run.

    Parameters
    ----------
    result : waits for it.
    wait : until nothing runs any more, whatever came of it; for those who do not ask for the result.
    """

    result: Callable[[], Verdict]
    wait: Callable[[], None] = lambda: None


def verdict_on(decision: Decision, *, numerics: Numerics, parallel: bool, cc: str | None = None,
               again: bool = False, given: Scop | None = None) -> Verdict:
    """Run the code of a decision beside the statement that it replaces; see `verdict_begun`."""
    return verdict_begun(decision, numerics=numerics, parallel=parallel, cc=cc, again=again, given=given).result()


def verdict_begun(decision: Decision, *, numerics: Numerics, parallel: bool, cc: str | None = None,
                  again: bool = False, given: Scop | None = None) -> BegunVerdict:
    """Start to run the code of a decision beside the statement that it replaces, or find what came of that earlier.

    The compiler and the process with the code work while the caller goes on; the result waits for them.

    Parameters
    ----------
    decision : with a program.
    again : run it although there is a verdict.
    given : the region as the user wrote it; without it the statement that `tensorize.preparing` made is the reference.

    Raises
    ------
    NoCompilerError : there is nothing to compile the check with.
    """
    assert decision.program is not None
    program, compiler = decision.program, find_compiler(cc)
    own = program.match
    plain = Verdict(statement=own.fragment.statement.name, instruction=own.intrinsic.name, emulated=decision.emulated,
                    outcome=CheckOutcome(sizes=(), trials=0))
    try:
        runs = runs_of(program, given, numerics, emulated=decision.emulated)
        checks = checks_of(runs, parallel=parallel, emulated=decision.emulated)
        prepared = preparation_of(program, runs, given)
    except PolyschedError as error:
        witness = f" ({error.witness})" if error.witness else ""
        failed = replace(plain, unable=error, outcome=replace(plain.outcome, failure=error.problem + witness))
        return BegunVerdict(result=lambda: failed)
    plain = replace(plain, untouched=runs[0].given is not None or bool(prepared))
    checks += prepared
    key = entry_key({"checks": whole(checks), "description": whole(own.intrinsic), "numerics": whole(numerics),
                     "flags": list(DEFAULT_FLAGS)}, compiler)
    known = None if again else _KNOWN.get(key) or _read(key, plain)
    if known is not None:
        _KNOWN[key] = replace(known, kept=True)
        return BegunVerdict(result=lambda: replace(known, kept=True))
    executor = ThreadPoolExecutor(max_workers=1)   # its thread waits for processes
    outcome = executor.submit(lambda: run_checks(checks, compiler=compiler))
    executor.shutdown(wait=False)

    def finished() -> Verdict:
        found = _compared(replace(plain, outcome=outcome.result()), runs, parallel, compiler)
        _keep(key, found)
        _KNOWN[key] = replace(found, kept=True)
        return found

    return BegunVerdict(result=finished, wait=executor.shutdown)


def verdict_on_calls(program: CalledProgram, sizes: Mapping[str, int], *, cc: str | None = None,
                     again: bool = False, given: Scop | None = None) -> Verdict:
    """Run calls of a described function beside the statements that they replace, or find what came of that earlier.

    A function that cannot be linked here is computed by the text of its description.

    Parameters
    ----------
    sizes : values of parameters that the calls are made for; others are chosen.
    again : run it although there is a verdict.
    given : the region as the user wrote it; without it the statements that became calls run alone, as prepared.

    Raises
    ------
    NoCompilerError : there is nothing to compile the check with.
    """
    found_match, compiler = program.match, find_compiler(cc)
    plain = Verdict(statement=" and ".join(found_match.statements), instruction=found_match.function.name,
                    emulated=False, outcome=CheckOutcome(sizes=(), trials=0))
    tried = list(call_sizes(program, sizes, most_work=MOST_WORK, given=given))
    if not tried:
        return replace(plain, outcome=replace(plain.outcome, failure="the program allows none of the sizes tried"))
    try:
        checks = [call_check(program, entry=str(i), sizes=s, given=given) for i, s in enumerate(tried)]
    except PolyschedError as error:
        return replace(plain, outcome=replace(plain.outcome, failure=f"{error.problem} ({error.witness})"))
    key = entry_key({"checks": whole(checks), "description": whole(found_match.function), "flags": list(DEFAULT_FLAGS)},
                    compiler)
    known = None if again else _KNOWN.get(key) or _read(key, plain)
    if known is None:
        known = replace(plain, outcome=run_checks(checks, compiler=compiler))
        if known.outcome.failure and not found_match.function.inline:
            logger.info("instruction %s is checked by the C of its description, since this machine does not run it: %s",
                        plain.instruction, known.outcome.failure)
            text = by_its_text(program)
            checks = [call_check(text, entry=str(i), sizes=s, given=given) for i, s in enumerate(tried)]
            known = replace(plain, emulated=True, outcome=run_checks(checks, compiler=compiler))
        _keep(key, known)
    _KNOWN[key] = replace(known, kept=True)
    return known


def _compared(found: Verdict, runs: Sequence[Run], parallel: bool, compiler: Compiler) -> Verdict:
    """What a run found; a library that cannot be linked here is emulated."""
    if not runs[0].program.match.intrinsic.library or not found.outcome.failure:
        return found
    logger.info("library function %s is checked by plain C in its place: %s", found.instruction, found.outcome.failure)
    emulated = [replace(run, program=_by_emulator(run.program)) for run in runs]
    checks = checks_of(emulated, parallel=parallel, emulated=found.emulated)
    return replace(found, emulated=True, outcome=run_checks(checks, compiler=compiler))


def _by_emulator(program: TensorizedProgram) -> TensorizedProgram:
    """The program with plain C in the place of the library function."""
    own, general = program.match, program.general
    emulated = emulated_library(own.intrinsic)
    if general is not None:
        general = replace(general, match=replace(general.match, intrinsic=emulated))
    return replace(program, match=replace(own, intrinsic=emulated), general=general)


def _read(key: str, plain: Verdict) -> Verdict | None:
    """The verdict that an earlier process kept; None without one that can be read."""
    entry = found(key, kind=KIND)
    if entry is None:
        return None
    try:
        value = json.loads((entry / FILE).read_text())
        difference = value["difference"]
        if difference is not None:
            difference = Difference(**(difference | {"index": tuple(difference["index"])}))
        outcome = CheckOutcome(sizes=tuple(value["sizes"]), trials=value["trials"], difference=difference)
        return replace(plain, emulated=value["emulated"], outcome=outcome, kept=True)
    except (OSError, ValueError, KeyError, TypeError):
        forget(key, kind=KIND)
        return None


def _keep(key: str, verdict: Verdict) -> None:
    """Keep what a comparison found; a crash or a hang may have had other causes and is tried again."""
    if verdict.outcome.failure:
        return
    value = {"emulated": verdict.emulated, **asdict(verdict.outcome)}

    def write(folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(value))

    forget(key, kind=KIND)
    try:
        find_or_build(key, write, kind=KIND)
    except OutputError as error:
        logger.warning("the result of checking the instruction could not be cached: %s", error.witness)
