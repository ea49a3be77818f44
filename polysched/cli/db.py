"""`polysched db`: look at, check, merge and export what searches found."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polysched.cli.conventions import STANDARD, add_json, output_beside
from polysched.cli.options import add_preprocessing
from polysched.cli.shown.output import prepared
from polysched.cli.values import positive
from polysched.errors import UsageError

if TYPE_CHECKING:
    from polysched.pipeline.options import PipelineOptions
    from polysched.search.database import Database

NAME = "db"
HELP = "List, show, replay, verify, merge and export what `polysched tune` found."
EPILOG = """\
examples:
  polysched db list tuned.db
  polysched db show tuned.db gemm
  polysched db replay tuned.db gemm.c -o gemm.opt.c
  polysched db verify tuned.db
  polysched db merge tuned.db other.db records.jsonl
  polysched db export tuned.db -o records.jsonl

replay applies the record of a program, whatever its names, and refuses code that is not the one that was measured;
verify checks every record, and with C files that their records still give the measured code; merge takes databases and
JSON lines. A record holds a program without its names: p0 is its first parameter, p1 the second, a0 its first array"""

ACTIONS = ("list", "show", "replay", "verify", "merge", "export")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=ACTIONS, metavar="|".join(ACTIONS), help="what to do")
    parser.add_argument("database", metavar="FILE.db", help="as `polysched tune --database` makes it")
    parser.add_argument("others", metavar="NAME|FILE", nargs="*",
                        help="show: of which programs; replay: the C file; verify: C files; merge: what to add")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="of replay and export (default: -, standard output, unless the JSON goes there)")
    parser.add_argument("--threads", type=positive, metavar="N",
                        help="replay: the record for so many OpenMP threads (default: all cores)")
    add_preprocessing(parser)
    add_json(parser, "what is listed, shown or found")


def run(arguments: argparse.Namespace) -> int:
    """Do one of the actions."""
    with prepared(arguments.json) as report:
        value, text = {"list": _list, "show": _show, "replay": _replay, "verify": _verify, "merge": _merge,
                       "export": _export}[arguments.action](arguments)
        if report is not None:
            report.write_json(value)
    if arguments.json != STANDARD and text:
        print(text)
    return 0


def _opened(arguments: argparse.Namespace) -> Database:
    from polysched.search.database import Database
    return Database(arguments.database, read_only=arguments.action != "merge")


def _list(arguments: argparse.Namespace) -> tuple[Any, str]:
    """What was chosen for each program, sizes and place."""
    with _opened(arguments) as database:
        winners = database.winners()
        tasks, ranges = database.tasks(), database.ranges()
    value: list[dict[str, Any]] = [
        {"name": w.name, "sizes": dict(w.key.sizes), "threads": w.key.place.threads, "gain": w.gain.to_json(),
         "recipe": w.recipe.to_json()} for w in winners]
    done = {w.key.digest for w in winners}
    value += [{"name": r.name, "sizes": dict(r.key.sizes), "threads": r.key.place.threads, "parameter": r.parameter,
               "cases": [{"from": c.least, "recipe": c.recipe.to_json()} for c in r.cases]} for r in ranges]
    lines = [str(w) for w in (*winners, *ranges)]
    lines += [f"{name}: not finished" for key, name in tasks if key.digest not in done]
    return value, "\n".join(lines) or "the database is empty"


def _show(arguments: argparse.Namespace) -> tuple[Any, str]:
    """Every trial of the programs that are named, or of all."""
    from polysched.search.database import trial_to_json
    value, lines = [], []
    with _opened(arguments) as database:
        tasks = [(key, name) for key, name in database.tasks() if not arguments.others or name in arguments.others]
        if not tasks and arguments.others:
            known = ", ".join(sorted({name for _, name in database.tasks()}))
            raise UsageError(f"there is no program {arguments.others[0]!r}", where=arguments.database,
                             hint=f"there are {known}" if known else "the database is empty")
        for key, name in tasks:
            trials = database.trials(key)
            sizes = ", ".join(f"{p}={v}" for p, v in key.sizes)
            lines.append(f"{name}({sizes}), {key.place.threads} threads, {key.place.compiler}: {len(trials)} trials")
            lines += [f"  {t.phase}: {t}" for t in trials]
            value.append({"name": name, "sizes": dict(key.sizes), "threads": key.place.threads,
                          "compiler": key.place.compiler, "machine": _machine(key.place.machine),
                          "trials": [trial_to_json(t) for t in trials]})
    return value, "\n".join(lines)


def _machine(text: str) -> Any:
    """What a place says of its machine; its text where a database says something else than JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _replay(arguments: argparse.Namespace) -> tuple[Any, str]:
    """The C file by its record; refused where there is none, or where its C is another one."""
    from polysched.pipeline import transform_file
    from polysched.search.lookup import replayed_region
    if len(arguments.others) != 1:
        raise UsageError("replay takes one C file")
    with prepared(output_beside(arguments, "C")) as output:
        made = transform_file(arguments.others[0], _options(arguments), region=replayed_region)
        if output is not None:
            output.write(made.text)
    return [{"region": r.scop.name, "database": r.looked_up, "text": r.text} for r in made.regions], ""


def _verify(arguments: argparse.Namespace) -> tuple[Any, str]:
    """Check every record; with C files, that their records still give the C that was measured."""
    from polysched.scop import all_from_c_file
    from polysched.search.lookup import checked
    with _opened(arguments) as database:
        lines = [f"{database.verify()} records are sound"]
        for path in arguments.others:
            for scop in all_from_c_file(path, include_dirs=tuple(arguments.include_dirs), cc=arguments.cc,
                                        defines=tuple(arguments.defines)):
                found = checked(scop, _options(arguments), database)
                for winner, why in found:
                    if why:
                        raise UsageError("a record does not give the code that was measured", where=path,
                                         witness=f"{winner}: {why}", hint="`polysched tune` searches anew")
                lines.append(f"{path}: {scop.name}: {len(found)} records for this machine give the measured code")
    return lines, "\n".join(lines)


def _merge(arguments: argparse.Namespace) -> tuple[Any, str]:
    """Add other databases and JSON lines."""
    from polysched.search.exchange import merge
    if not arguments.others:
        raise UsageError("merge takes databases or JSON lines to add")
    with _opened(arguments) as database:
        added = {path: merge(database, path) for path in arguments.others}
    return added, "\n".join(f"{path}: {count} new records" for path, count in added.items())


def _export(arguments: argparse.Namespace) -> tuple[Any, str]:
    """Every record as a line of JSON, in an order that does not change."""
    from polysched.search.exchange import lines_of
    with _opened(arguments) as database, prepared(output_beside(arguments, "export")) as output:
        lines = list(lines_of(database))
        if output is not None:
            output.write("".join(f"{line}\n" for line in lines))
    return [json.loads(line) for line in lines], ""


def _options(arguments: argparse.Namespace) -> PipelineOptions:
    from polysched.pipeline.options import PipelineOptions
    from polysched.target import host
    from polysched.tiling import TilingOptions
    target = host() if arguments.threads is None else replace(host(), cores=arguments.threads)
    return PipelineOptions(tiling=TilingOptions(target=target), database=arguments.database, cc=arguments.cc,
                           include_dirs=tuple(arguments.include_dirs), defines=tuple(arguments.defines))
