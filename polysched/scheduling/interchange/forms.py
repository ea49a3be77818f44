"""The forms in which a schedule is written and read, by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.scheduling.interchange.cloog import has_matrices, read_matrices, write_matrices
from polysched.scheduling.interchange.dates import dates_of, tree_of_dates
from polysched.scheduling.interchange.halide import has_chains, read_chains, write_chains
from polysched.scheduling.interchange.isl_text import is_tree, read_map
from polysched.scheduling.interchange.openscop import has_region, read_region, write_region
from polysched.scheduling.interchange.pluto_lines import has_lines, read_lines, write_lines
from polysched.scheduling.schedule import Schedule
from polysched.scop.openscop.reading import MOST_DIGITS

_TOO_LONG = re.compile(rf"\d{{{MOST_DIGITS + 1}}}")

WRITERS: dict[str, Callable[[Schedule], str]] = {
    "tree": lambda schedule: f"{schedule.tree}\n",
    "map": lambda schedule: f"{dates_of(schedule.tree)}\n",
    "pluto": lambda schedule: write_lines(schedule.tree, schedule.scop),
    "halide": write_chains,
    "openscop": lambda schedule: write_region(schedule.tree, schedule.scop),
    "cloog": lambda schedule: write_matrices(schedule.tree, schedule.scop)}


def written(schedule: Schedule, form: str) -> str:
    """A schedule in a form of `WRITERS`.

    Raises
    ------
    UsageError : there is no such form, or it cannot say this schedule.
    """
    if form not in WRITERS:
        raise UsageError(f"no form {form!r} of schedules", hint=f"there are stored, {', '.join(WRITERS)}")
    return WRITERS[form](schedule)


def foreign_tree(text: str, dependences: Dependences) -> isl.Schedule | Schedule | None:
    """The schedule of a text that is neither a stored schedule nor a tree; None where it may be one of these.

    Raises
    ------
    UsageError : it is of a known form, and says no schedule of this program.
    """
    if (number := _TOO_LONG.search(text)) is not None:
        raise UsageError(f"a number of the schedule has more than {MOST_DIGITS} digits", where=dependences.scop.name,
                         witness=f"{number[0]}...", hint="no element or iteration has such a number")
    if has_region(text):
        return tree_of_dates(read_region(text, dependences.scop), dependences)
    if has_matrices(text):
        return tree_of_dates(read_matrices(text, dependences.scop), dependences)
    if has_lines(text):
        return tree_of_dates(read_lines(text, dependences.scop), dependences)
    if is_tree(text) or _is_stored(text):
        return None
    if has_chains(text):
        return read_chains(text, dependences)
    if text.lstrip().startswith(("{", "[")):
        return tree_of_dates(read_map(text), dependences)
    raise UsageError("the text is no schedule in a form that is known", witness=text.strip()[:40] or "it is empty",
                     hint="what Schedule.to_text writes, a schedule tree or a union map in isl's notation, lines like "
                          "T(S1): (k, i, j), OpenScop, CLooG's input, or chains like "
                          "S0.split(i, io, ii, 32).parallel(io)")


def _is_stored(text: str) -> bool:
    """Whether a text is JSON, right or wrong as a schedule; `{ }` is a map without dates."""
    try:
        return bool(json.loads(text) != {})
    except ValueError:
        return False
    except RecursionError:
        raise UsageError("this is no stored schedule", witness="values are nested too deeply",
                         hint="Schedule.to_text writes one") from None
