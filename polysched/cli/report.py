"""`polysched report`: results files as a page, as LaTeX tables and as PDF plots."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from polysched.cli.conventions import Input, add_json
from polysched.cli.shown.input import as_files
from polysched.cli.shown.output import STANDARD_OUTPUT, prepared
from polysched.cli.shown.progress import progress
from polysched.cli.shown.unserved import OF_REPORTS, refuse_unserved
from polysched.errors import OutputError, UsageError

if TYPE_CHECKING:
    from polysched.report import Results
    from polysched.report.rows import Cell

NAME = "report"
HELP = "Make an HTML page from results files, and LaTeX tables and PDF plots for a paper."
EPILOG = """\
examples:
  polysched report results.jsonl
  polysched report results.jsonl -o results.html --title 'PolyBench on two cores'
  polysched report polybench.jsonl blas.jsonl --latex paper/tables --pdf paper/plots
  polysched report results.jsonl --csv results.csv
  polysched report --schema > results.schema.json

reads what `polysched run --results` and `polysched bench` write; of repeated results the last counts. The page holds
everything in one file: tables, speed-ups with their intervals, the roofline (when `polysched machine` had measured the
peak), heat maps of tile sizes, schedules and C side by side, and where everything comes from.
Needs polysched[report]"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("results", type=Input, metavar="RESULTS.jsonl", nargs="*",
                        help="results files, of both kinds together; - is standard input")
    parser.add_argument("-o", "--output", metavar="FILE.html",
                        help="the page, - for standard output (default: report.html, unless --latex, --pdf, "
                             "--csv or --json is given)")
    parser.add_argument("--latex", metavar="DIR",
                        help="write a table per experiment there, to be read by \\input")
    parser.add_argument("--csv", metavar="FILE.csv",
                        help="write a line per program of each result there, - for standard output; needs no package")
    add_json(parser, "what --csv writes")
    parser.add_argument("--pdf", metavar="DIR", help="write every plot there as a PDF file")
    parser.add_argument("--schema", action="store_true",
                        help="print the JSON Schema of a line of a results file, and stop")
    parser.add_argument("--title", default="polysched results", metavar="TEXT",
                        help="title of the page (default: %(default)s)")
    parser.add_argument("--any-machine", action="store_true", help="show results of several machines together")


def run(arguments: argparse.Namespace) -> int:
    """Write what was asked for and say so."""
    from polysched.report import read_results
    from polysched.report.rows import rows
    refuse_unserved(arguments, OF_REPORTS)
    if arguments.schema or not arguments.results:
        return _schema(arguments)
    name = _page_name(arguments)
    with (prepared(name) as output, prepared(arguments.csv) as table, prepared(arguments.json) as report,
          progress(quiet=bool(arguments.quiet)) as shown):
        shown.step("reading the results")
        with as_files(arguments.results) as paths:
            results = read_results(paths, any_machine=arguments.any_machine)
        shown.step("drawing")
        if output is not None:
            from polysched.report.page import page_html
            output.write(page_html(results, title=arguments.title))
        if table is not None:
            table.write(results.to_csv())
        if report is not None:
            report.write_json([{name: _finite(cell) for name, cell in row.items()} for row in rows(results)])
        if arguments.latex:
            _write_all(arguments.latex, _tables, results)
        if arguments.pdf:
            _write_all(arguments.pdf, _plots, results)
    if not arguments.quiet and STANDARD_OUTPUT not in (name, arguments.csv, arguments.json):
        for written in (name, arguments.csv, arguments.json, arguments.latex, arguments.pdf):
            if written:
                print(written)
    return 0


def _schema(arguments: argparse.Namespace) -> int:
    """Print the schema.

    Raises
    ------
    UsageError : there are results files beside it, or neither.
    """
    from polysched.report.schema import results_schema
    if not arguments.schema:
        raise UsageError("no results file is named", hint="polysched report RESULTS.jsonl, or --schema")
    if arguments.results:
        raise UsageError("--schema needs no results file", witness=arguments.results[0])
    print(json.dumps(results_schema(), indent=1))
    return 0


def _finite(cell: Cell) -> Cell:
    """A cell as JSON has it: null for what is no number."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _page_name(arguments: argparse.Namespace) -> str | None:
    """Where the page goes, or None where only other things are asked for; names that are taken are refused."""
    others = arguments.latex or arguments.pdf or arguments.csv or arguments.json
    name: str | None = arguments.output or (None if others else "report.html")
    written = {"-o": name, "--csv": arguments.csv, "--json": arguments.json}
    places: dict[Path, str] = {}
    for option, output in written.items():
        _refuse_inputs(arguments, output)
        if output is not None and (other := places.setdefault(Path(output).resolve(), option)) != option:
            raise UsageError(f"{other} and {option} have one name", where=output, hint=f"give another with {option}")
    return name


def _refuse_inputs(arguments: argparse.Namespace, output: str | None) -> None:
    """Refuse to overwrite a results file; standard output overwrites none."""
    if output is None or output == STANDARD_OUTPUT:
        return
    if any(Path(path).resolve() == Path(output).resolve() for path in arguments.results):
        raise UsageError("the output is one of the results files", where=output, hint="give another name with -o")


def _write_all(folder: str, write: Callable[[Results, Path], None], results: Results) -> None:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        write(results, Path(folder))
    except OSError as error:
        raise OutputError(f"the output cannot be written: {error.strerror}", where=folder) from None


def _tables(results: Results, folder: Path) -> None:
    from polysched.report.latex import latex_tables
    for name, text in latex_tables(results).items():
        (folder / f"{name}.tex").write_text(text, encoding="utf-8")


def _plots(results: Results, folder: Path) -> None:
    from polysched.experiment.plots import save
    from polysched.report.figures import plots
    for plot in plots(results.entries, paper=True):
        save(plot.figure, folder / f"{plot.name}.pdf")
