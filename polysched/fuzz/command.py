"""The `polysched fuzz` command."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from polysched.errors import OutputError, WrongResultError
from polysched.fuzz.campaign import CampaignOptions, ProgramResult, as_json, run_campaign, save_wrong, summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--count", type=int, default=100, help="how many programs (100)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first program (0)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every finding to FILE")
    parser.add_argument("--save", type=Path, metavar="DIR", default=Path("polysched-fuzz"),
                        help="folder for wrong programs, made smaller (polysched-fuzz)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--data-dependent", type=float, default=0.02, metavar="P",
                        help="probability that a statement has a data-dependent condition (0.02)")


def run(arguments: argparse.Namespace) -> int:
    """Run the command; 0 when nothing is wrong, WrongResultError's exit code otherwise.

    Raises
    ------
    OutputError : a result file cannot be written.
    """
    options = CampaignOptions(count=arguments.count, seed=arguments.seed, jobs=arguments.jobs,
                              data_dependent=arguments.data_dependent)
    results = run_campaign(options, on_result=_tell)
    if arguments.json is not None:
        try:
            arguments.json.write_text(as_json(results, options))
        except OSError as error:
            raise OutputError(f"cannot write {arguments.json}: {error.strerror}") from None
    for path in save_wrong(results, options, arguments.save):
        print(f"saved {path}")
    print(summary(results))
    return WrongResultError.exit_code if any(r.wrong for r in results) else 0


def _tell(result: ProgramResult) -> None:
    for finding in result.findings:
        kind = "WRONG" if finding.is_wrong else "refused"
        print(f"{kind} {finding.subject} {finding.configuration} {finding.kind}: {finding.detail}", flush=True)
