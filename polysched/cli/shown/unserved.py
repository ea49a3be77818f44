"""Options that would do nothing beside others: each pair is refused in two lines."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from polysched.cli.conventions import RANKS, WORK_ITEMS, chosen_device, is_range
from polysched.cli.shown.programs import is_c_file, is_named
from polysched.errors import UsageError
from polysched.records import dataclass

SPELLINGS = {"split_index_sets": "--iss", "include_dirs": "-I", "defines": "-D", "devices": "--device"}
"""Of options whose names are others than those of their values."""


@dataclass(frozen=True, kw_only=True)
class Unserved:
    """A situation in which some options would do nothing.

    Parameters
    ----------
    holds : whether a command line is in it.
    why : in words, behind the option's name.
    names : of the options.
    hint : what to do.
    """

    holds: Callable[[argparse.Namespace], bool]
    why: str
    names: tuple[str, ...]
    hint: str = "leave one of them out"


def given(arguments: argparse.Namespace, name: str) -> bool:
    """Whether a command line spells an option, whatever its value: on, off, or what it is by default."""
    return name in arguments.spelled


def spelling(arguments: argparse.Namespace, name: str) -> str:
    """How a command line writes an option."""
    if getattr(arguments, name) is False:
        return f"--no-{name.replace('_', '-')}"
    return SPELLINGS.get(name, f"--{name.replace('_', '-')}")


def _no_intrinsic(arguments: argparse.Namespace) -> bool:
    from polysched.tensorize.options import NONE
    return bool(arguments.intrinsic == NONE)


def _writes_c_only(arguments: argparse.Namespace) -> bool:
    """Whether no instruction, report, database or run has a use for sizes."""
    is_c2c = not hasattr(arguments, "pairs")
    return is_c2c and _no_intrinsic(arguments) and not given(arguments, "json") and not given(
        arguments, "database")


def _is_by_hand(arguments: argparse.Namespace) -> bool:
    from polysched.cli.options import pipeline_options
    return arguments.strategy is not None or not pipeline_options(arguments).is_by_model


def _collapses_nothing(arguments: argparse.Namespace) -> bool:
    """Whether no two loops over short rows become one, whatever is said of that."""
    from dataclasses import replace

    from polysched.cli.options import tiled_options
    if arguments.strategy is not None or (arguments.intrinsic is not None and not _no_intrinsic(arguments)):
        return True
    if str(arguments.target) == RANKS:
        arguments = argparse.Namespace(**{**vars(arguments), "target": "host"})
    return not replace(tiled_options(arguments), collapse=True).collapses_for()


ON_NO_DEVICE = ("machine", "verify_passes", "measure_plans", "verify_instructions", "intrinsics", "allow",
                "verify_order", "collapse", "portable")
"""Options of this machine's cores."""
OF_SCHEDULES = (
    Unserved(holds=lambda a: a.strategy is not None, why="does nothing with --strategy, which is the scheduler",
             names=("scheduler",)),
    Unserved(holds=lambda a: a.scheduler == "original" and a.strategy is None,
             why="does nothing with --scheduler original, which keeps the order",
             names=("fusion", "split_index_sets", "concurrent_start")),
    Unserved(holds=lambda a: a.scheduler == "isl", why="does nothing with --scheduler isl",
             names=("split_index_sets", "concurrent_start")),
    Unserved(holds=lambda a: a.scheduler == "isl" and a.fusion not in ("none", "max"),
             why="has only none and max with --scheduler isl", names=("fusion",)),
    Unserved(holds=lambda a: a.scheduler == "best", why="does nothing with --scheduler best, which tries all of them",
             names=("fusion",)))
OF_TILES = (
    Unserved(holds=lambda a: not a.parallel, why="does nothing with --no-parallel",
             names=("parallel_degrees", "split_tiles", "tiles_over_time")),
    Unserved(holds=lambda a: a.tile == "off", why="does nothing with --tile off",
             names=("split_tiles", "tiles_over_time")),
    Unserved(holds=_collapses_nothing, names=("collapse",),
             why="does nothing where loops, tiles, vectors or an instruction are chosen by hand"),
    Unserved(holds=lambda a: a.vector_bits == 0, why="does nothing with --vector-bits 0", names=("register_block",)))
OF_INSTRUCTIONS = (
    Unserved(holds=lambda a: a.intrinsic is None, why="belongs to --intrinsic",
             names=("measure_plans", "allow"), hint="name an instruction, or --intrinsic auto"),
    Unserved(holds=_no_intrinsic, why="does nothing with --intrinsic none",
             names=("measure_plans", "allow", "intrinsics", "verify_instructions")))
OF_DEVICES = (
    Unserved(holds=lambda a: chosen_device(a) in WORK_ITEMS, why="does nothing with --target opencl or cuda",
             names=ON_NO_DEVICE),
    Unserved(holds=lambda a: chosen_device(a) is not None, why="does nothing with --target davinci or gemmini",
             names=ON_NO_DEVICE))
OF_GIVEN_SCHEDULES = Unserved(
    holds=lambda a: a.given is not None, why="does nothing with --given, which is the schedule",
    names=("scheduler", "strategy", "fusion", "split_index_sets", "concurrent_start", "assume", "inputs"))
OF_MACHINES = (
    Unserved(holds=lambda a: a.targets, why="does nothing with --targets, which measures nothing",
             names=("again", "busy", "calibrate", "cc")),
    Unserved(holds=lambda a: a.calibrate is not None, why="does nothing with --calibrate, which keeps no figures",
             names=("again",)))
OF_REPORTS = (
    Unserved(holds=lambda a: a.schema, why="does nothing with --schema, which reads no results",
             names=("output", "latex", "csv", "json", "pdf", "title", "any_machine")),
    Unserved(holds=lambda a: a.output is None and (a.latex or a.csv or a.json or a.pdf) is not None,
             why="is that of a page, and none is written", names=("title",), hint="-o FILE.html writes one, too"))
OF_C_FILES = ("include_dirs", "defines", "pure", "autodetect")
"""Options about how a C file is read."""
OF_SEARCHES = (
    Unserved(holds=lambda a: not is_range(a.size), why="is for a size that is a range",
             names=("samples", "variants"), hint="--size NAME=64..2048"),
    Unserved(holds=lambda a: a.terms, why="does nothing with --terms, which are searched on this machine",
             names=("each_machine",), hint="leave it out"),
    Unserved(holds=lambda a: not is_c_file(a.source), why="does nothing for what is no C file", names=OF_C_FILES,
             hint="leave it out"))
OF_CAMPAIGNS = (
    Unserved(holds=lambda a: a.instructions, why="does nothing with --instructions",
             names=("count", "programs", "limit_seconds", "data_dependent"),
             hint="--pairs says how many, --time-limit how long one may take"),
    Unserved(holds=lambda a: a.graphs, why="does nothing with --graphs",
             names=("programs", "limit_seconds", "data_dependent"), hint="leave it out"),
    Unserved(holds=lambda a: a.target is not None, why="does nothing with --target",
             names=("programs", "limit_seconds", "data_dependent"), hint="leave it out"),
    Unserved(holds=lambda a: not a.instructions, why="is for --instructions", names=("pairs", "results", "time_limit"),
             hint="--count says how many, --json FILE has every finding"))
OF_MATCHES = (
    Unserved(holds=lambda a: is_named(a.what), why="does nothing for what is no C file",
             names=(*OF_C_FILES, "cc"), hint="leave it out"),
    Unserved(holds=lambda a: a.rule == "amos", why="does nothing with --rule amos", names=("split", "remainder"),
             hint="the exact rule has it"))
OF_PLACEMENTS = (
    Unserved(holds=lambda a: a.method in ("greedy", "row-major"), why="is of the annealing", names=("seed",),
             hint="--method anneal or exact"),)
OF_MODELS = (
    Unserved(holds=lambda a: a.inputs is not None, why="is of random inputs, and --inputs has others",
             names=("seed",)),)
NO_PORTABLE_TEXT = Unserved(holds=lambda a: True, why="does nothing where no file of C is written", names=("portable",),
                            hint="leave it out")
NO_TEXT = Unserved(holds=lambda a: True, why="does nothing to loops", names=("portable", "guard", "safe"),
                   hint="c2c writes the tests and the original code around them")
OF_CHOICES = (*OF_DEVICES, *OF_INSTRUCTIONS, *OF_SCHEDULES, *OF_TILES)
"""Of all that decides a transformation."""
SITUATIONS = (
    Unserved(holds=lambda a: str(a.target) == RANKS, why="does nothing with --target mpi",
             names=("measure_plans", "verify_instructions", "intrinsics", "allow", "pairs", "budget", "tolerance",
                    "database", "dump_stages", "portable", "intrinsic", "verify_order", "results", "resume", "pin",
                    "cold_cache", "preemptible", "math"), hint="leave it out"),
    Unserved(holds=lambda a: str(a.target) == RANKS and not a.guard, why="does nothing with --target mpi",
             names=("guard",), hint="leave it out: what the extraction assumes has to hold"),
    Unserved(holds=lambda a: getattr(a, "preemptible", False), why="does nothing with --preemptible",
             names=("json", "dump_stages", "verify_order", "size", "intrinsic", "intrinsics", "allow", "measure_plans",
                    "verify_instructions", "portable", "expand", "collapse"), hint="leave it out"),
    Unserved(holds=lambda a: getattr(a, "preemptible", False) and not a.guard, why="does nothing with --preemptible",
             names=("guard",), hint="leave it out: what the extraction assumes has to hold"),
    Unserved(holds=lambda a: str(a.target) == RANKS and not hasattr(a, "pairs") and (
        a.partition is None or a.partition[0] == "block"), why="does nothing where blocks are dealt out",
             names=("ranks",), hint="leave it out: the code is right for any number of ranks"),
    *OF_CHOICES,
    Unserved(holds=_is_by_hand, why="does nothing where loops, tiles or vectors are chosen by hand",
             names=("database",)),
    Unserved(holds=_writes_c_only, why="does nothing for C without instructions and without a report", names=("size",),
             hint="--assume NAME=VALUE guides the model; the C is right for every value"))
"""Of `c2c` and `run`."""


def refuse_unserved(arguments: argparse.Namespace, situations: Sequence[Unserved] = SITUATIONS) -> None:
    """Refuse an option that would do nothing beside the others.

    Parameters
    ----------
    situations : those that the options of a command allow.

    Raises
    ------
    UsageError : with the option, and what leaves it no effect.
    """
    for situation in situations:
        for name in situation.names:
            if given(arguments, name) and situation.holds(arguments):
                raise UsageError(f"{spelling(arguments, name)} {situation.why}", hint=situation.hint)
