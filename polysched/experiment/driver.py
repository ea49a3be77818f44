"""Run an experiment from its command line: choose cases, measure what is missing, keep every record, show them."""

from __future__ import annotations

import argparse
import fnmatch
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from polysched.errors import RunFailedError, UsageError, WrongResultError
from polysched.experiment.case_run import LARGEST_FILE_BYTES, CaseRequest, digest_of, run_case
from polysched.experiment.claims import claims_table
from polysched.experiment.definition import Case, Experiment, Settings
from polysched.experiment.folders import RESULTS, Found, find, load
from polysched.experiment.progress import CaseProgress, case_progress
from polysched.experiment.record import Record, append, key_of, machines_of, read
from polysched.measure.processes.isolation import Limits
from polysched.measure.timing.machine import available_cores, available_memory, describe_machine

Named = TypeVar("Named", Case, Found)

MEBIBYTE = 1 << 20
DEFAULT_BUDGET_SECONDS = 20.0
DEFAULT_LIMIT_SECONDS = 600.0


def run_experiment(name: str, argv: Sequence[str], *,
                   parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser) -> int:
    """Everything behind `polysched bench NAME`; 0 when every case was measured and the verdict is good.

    Parameters
    ----------
    name : an experiment's name or folder.
    parser_class : what reads the options, and refuses them.

    Raises
    ------
    UsageError : the experiment or an option is not known.
    RunFailedError, WrongResultError : cases failed, or the experiment's verdict is bad; the results are written.
    """
    found = find(name)
    experiment = load(found.folder)
    arguments = make_parser(found, experiment, parser_class).parse_args(argv)
    settings = make_settings(found, experiment, arguments)
    showing = arguments.show and not arguments.list
    results = arguments.results or Path(f"{found.folder.name}.jsonl")
    if showing and arguments.results is None and not results.exists():
        results = committed(found, results, arguments)
    held = (Case(name=record.case) for record in read(results, experiment=found.name)) if showing else ()
    every = tuple(held) if showing else cases_of(experiment, settings)
    cases = select(every, arguments.only)
    if arguments.list:
        print("\n".join(case.name for case in cases))
        return 0
    if not showing:
        measure_cases(found, settings, cases, arguments, results)
    records = wanted(read(results, experiment=found.name), cases, arguments)
    show(experiment, records, arguments, found)
    if len(cases) < len(every) and not arguments.quiet:
        print(f"polysched: {len(cases)} of {len(every)} cases: the table and its verdict are about these alone",
              file=sys.stderr)
    return judge(experiment, records)


def committed(found: Found, own: Path, arguments: argparse.Namespace) -> Path:
    """The results beside the experiment, which are shown where the current folder has none; said, with the machines."""
    path = found.folder / RESULTS
    if not path.exists():
        return own
    arguments.any_machine = True
    if not arguments.quiet:
        machines = "; ".join(machines_of(read(path, experiment=found.name)))
        print(f"polysched: there is no {own} here: shown are the committed results, measured on {machines}",
              file=sys.stderr)
    return path


def make_parser(found: Found, experiment: Experiment,
                parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The options of every experiment, and those of this one."""
    parser = parser_class(
        prog=f"polysched bench {found.name}", formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"{found.config['question']}\n\nexpected time: {found.config['expected_time']}")
    add_common(parser, found)
    group = parser.add_argument_group("this experiment")
    before = len(parser._actions)
    experiment.add_arguments(group)
    parser.set_defaults(own=tuple(action.dest for action in parser._actions[before:]), pin=False, cold_cache=False)
    if experiment.times_calls:
        add_timing(parser)
    return parser


def add_common(parser: argparse.ArgumentParser, found: Found) -> None:
    """The options that all experiments have."""
    parser.add_argument("--only", nargs="+", metavar="CASE", help="these cases (patterns as in the shell)")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--threads", type=_positive, nargs="+", metavar="N", help="numbers of threads (default: "
                        + (" ".join(map(str, found.config.get("threads", ()))) or "all cores") + ")")
    parser.add_argument("--budget", type=_seconds, metavar="SECONDS",
                        default=float(found.config.get("budget_seconds", DEFAULT_BUDGET_SECONDS)),
                        help="for the repeats of one case (default: %(default)g)")
    parser.add_argument("--results", type=Path, metavar="FILE.jsonl",
                        help=f"where records are added (default: {found.folder.name}.jsonl in the current folder)")
    parser.add_argument("--resume", action="store_true", help="do not measure again what the results file holds")
    parser.add_argument("--show", action="store_true", help="measure nothing: table and plot of the results file, or "
                        "of the committed results where there is none")
    parser.add_argument("--any-machine", action="store_true", help="show results of several machines together")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write the plot (svg, pdf or png; needs matplotlib: "
                                                                  "pip install 'polysched[plot]')")
    parser.add_argument("--limit", type=_seconds, metavar="SECONDS", default=DEFAULT_LIMIT_SECONDS,
                        help="longest time of a case without progress (default: %(default)g)")
    parser.add_argument("--memory", type=_positive, metavar="MIB", default=None,
                        help="most memory of a case's process (default: 3/4 of what is free)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="measure on the workers of a Dask cluster, one case at a "
                        "time on each; `local` or `local:N` starts N workers here (needs polysched[cluster])")
    parser.add_argument("-v", "--verbose", action="store_true", help="say everything that a case does")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def add_timing(parser: argparse.ArgumentParser) -> None:
    """The options of experiments that time calls."""
    group = parser.add_argument_group("timing")
    group.add_argument("--pin", action="store_true", help="bind what is timed to cores, one for each of its threads")
    group.add_argument("--cold-cache", action="store_true", help="flush the caches before every call (with --show: the "
                                                                 "records that were measured so)")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def make_settings(found: Found, experiment: Experiment, arguments: argparse.Namespace) -> Settings:
    """The settings from options and configuration."""
    threads = arguments.threads or found.config.get("threads") or [available_cores()]
    return Settings(folder=found.folder, config=found.config, threads=tuple(threads), budget_seconds=arguments.budget,
                    pin=arguments.pin, cold_cache=arguments.cold_cache,
                    options={name: getattr(arguments, name) for name in arguments.own},
                    local_options=experiment.local_options)


def cases_of(experiment: Experiment, settings: Settings) -> Sequence[Case]:
    """What can be measured.

    Raises
    ------
    UsageError : a file or folder that an option names cannot be read.
    """
    try:
        return experiment.cases(settings)
    except OSError as error:
        if error.filename is None:
            raise
        raise UsageError(f"the cases cannot be listed: {error.strerror}", where=str(error.filename),
                         hint="see the options that name folders and files: --help") from None


def select(cases: Sequence[Named], patterns: Sequence[str] | None, *, what: str = "case") -> tuple[Named, ...]:
    """The cases, or experiments, whose names match a pattern; all of them when there is none.

    Raises
    ------
    UsageError : a pattern matches nothing.
    """
    if patterns is None:
        return tuple(cases)
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(c.name, pattern) for c in cases):
            raise UsageError(f"no {what} is named {pattern}",
                             hint=f"the {what}s: " + ", ".join(c.name for c in cases))
    return tuple(c for c in cases if any(fnmatch.fnmatchcase(c.name, p) for p in patterns))


def measure_cases(found: Found, settings: Settings, cases: Sequence[Case], arguments: argparse.Namespace,
                  results: Path) -> None:
    """Measure what is not done yet; every record is in the file as soon as it is known."""
    missing = unmeasured(found, settings, cases, results)   # refuses a file of another experiment in any case
    digest, limits = digest_of(found.folder), _limits(arguments)
    requests = [CaseRequest(experiment=found.name, case=case, settings=settings, run_digest=digest, limits=limits)
                for case in (missing if arguments.resume else cases)]
    results.parent.mkdir(parents=True, exist_ok=True)
    with case_progress(len(requests), skipped=len(cases) - len(requests), quiet=arguments.quiet,
                       verbose=arguments.verbose) as shown:
        try:
            for record in _records(requests, arguments.cluster, shown):
                append(results, record)
                shown.finished(record.case, "" if record.done else f"{record.status}: {record.problem}")
        except KeyboardInterrupt:
            shown.say(f"what was measured is in {results}; the same command with --resume goes on")
            raise
        if requests:
            shown.say(f"the records are in {results}")


def unmeasured(found: Found, settings: Settings, cases: Sequence[Case], results: Path) -> tuple[Case, ...]:
    """The cases that a results file does not hold as done."""
    if not results.exists():
        return tuple(cases)
    done, machine = {r.key for r in read(results, experiment=found.name) if r.done}, describe_machine()
    return tuple(case for case in cases if key_of(found.name, case, settings, machine) not in done)


def _records(requests: Sequence[CaseRequest], cluster: str | None, shown: CaseProgress) -> Iterable[Record]:
    if cluster is not None:
        from polysched.experiment.cluster import run_on_cluster
        yield from run_on_cluster(requests, cluster, on_start=shown.started)
        return
    for request in requests:
        shown.started(request.case.name)
        yield run_case(request, shown.phase)


def _limits(arguments: argparse.Namespace) -> Limits:
    memory = arguments.memory * MEBIBYTE if arguments.memory else max(64 * MEBIBYTE, available_memory() * 3 // 4)
    return Limits(seconds=arguments.limit, memory_bytes=memory, file_bytes=LARGEST_FILE_BYTES)


def wanted(records: Sequence[Record], cases: Sequence[Case], arguments: argparse.Namespace) -> tuple[Record, ...]:
    """The records of the chosen cases, timed as the options say: those of warm and cold caches are not mixed.

    Raises
    ------
    UsageError : none was timed so, or they come from several machines, which was not asked for.
    """
    names, how = {case.name for case in cases}, (arguments.pin, arguments.cold_cache)
    named = tuple(r for r in records if r.case in names)
    chosen = tuple(r for r in named if (bool(r.options.get("pin")), bool(r.options.get("cold_cache"))) == how)
    if named and not chosen:
        raise UsageError("no record of these cases was measured like this",
                         witness=f"pinned: {how[0]}, cold caches: {how[1]}",
                         hint="show records with the options --pin and --cold-cache with which they were measured")
    machines = machines_of(chosen)
    if len(machines) > 1 and not arguments.any_machine and arguments.cluster is None:
        raise UsageError("the results come from several machines, and their times cannot be compared",
                         witness="; ".join(machines), hint="show them with --any-machine if that is meant")
    return chosen


def show(experiment: Experiment, records: Sequence[Record], arguments: argparse.Namespace, found: Found) -> None:
    """Print the table, say what failed, and write the plot."""
    good = [r for r in records if r.done]
    if good:
        print(experiment.table(good))
        if claims := experiment.claims(good):
            print(f"\n{claims_table(claims)}")
    for record in records:
        if not record.done:
            print(f"{record.case}: {record.status}: {record.problem}")
    if arguments.plot is not None:
        from polysched.experiment.plots import save
        if experiment.plot is None:
            raise UsageError(f"the experiment {found.name} has no plot", hint="leave out --plot")
        if good:
            save(experiment.plot(good), arguments.plot)
            if not arguments.quiet:
                print(f"polysched: the plot is in {arguments.plot}", file=sys.stderr)


def judge(experiment: Experiment, records: Sequence[Record]) -> int:
    """0, or the error that says why not."""
    failed = [r for r in records if not r.done]
    if failed:
        raise RunFailedError(f"{len(failed)} of {len(records)} cases have no result",
                             witness=f"{failed[0].case}: {failed[0].problem}",
                             hint="measure them again with --resume")
    objection = experiment.verdict(records)
    if objection:
        raise WrongResultError(objection)
    return 0
