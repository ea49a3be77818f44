"""One driver for every experiment: cases, isolation, results files, tables, plots, many machines.

    polysched bench NAME [options]          the same as          python experiments/NAME/run.py [options]

An experiment is a folder with `experiment.toml`, a `run.py` that defines `EXPERIMENT`, and a README.
"""

from polysched.experiment.contest import Contender, Program, Rules, run_contest
from polysched.experiment.contestant import Entry
from polysched.experiment.definition import Case, Experiment, Report, Settings
from polysched.experiment.record import Record
from polysched.experiment.standings import Standings, VariantTimes

__all__ = ["Case", "Contender", "Entry", "Experiment", "Program", "Record", "Report", "Rules", "Settings", "Standings",
           "VariantTimes", "run_contest"]
