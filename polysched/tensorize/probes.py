"""Which instructions this machine executes: tried once, and kept for later processes.

The key of a verdict has the description, the processor, the kernel and the compiler, so that another machine with the
same home folder, or a new compiler, is asked anew.
"""

from __future__ import annotations

import json
import logging
import platform
from functools import lru_cache
from pathlib import Path

from polysched.errors import NoCompilerError, OutputError
from polysched.records import whole
from polysched.target import find_compiler
from polysched.target.build_cache import entry_key, find_or_build, forget, found
from polysched.target.processor import processor_flags
from polysched.tensorize.conformance.conformance import Verdict, conformance
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.isa_features import is_listed
from polysched.tensorize.limits import LIMITS

logger = logging.getLogger(__name__)

PROBE_TRIALS = LIMITS.probe_trials
KIND = "instructions"
FILE = "verdict.json"


def may_execute_here(intrinsic: Intrinsic) -> bool:
    """Whether an instruction belongs to this kind of machine at all."""
    return not intrinsic.library and intrinsic.isa.machine == platform.machine()


def is_listed_here(intrinsic: Intrinsic) -> bool:
    """Whether the system lists what an instruction needs; nothing is compiled, and emitted code asks again."""
    return may_execute_here(intrinsic) and is_listed(intrinsic.isa, processor_flags())


@lru_cache(maxsize=256)
def executes_here(intrinsic: Intrinsic) -> bool:
    """Whether this machine runs an instruction natively and as described; tried, never read from processor flags."""
    if not may_execute_here(intrinsic):
        return False
    try:
        compiler = find_compiler()
    except NoCompilerError:
        return False
    key = entry_key({"instruction": whole(intrinsic), "kernel": platform.release(), "trials": PROBE_TRIALS}, compiler)
    known = _kept(key)
    if known is None:
        known = _tried(intrinsic)
        _keep(key, known)
    return known


def _tried(intrinsic: Intrinsic) -> bool:
    result = conformance(intrinsic, trials=PROBE_TRIALS)
    return result.verdict is Verdict.CONFORMS and result.how == "native"


def _kept(key: str) -> bool | None:
    """What an earlier process found; None without one."""
    entry = found(key, kind=KIND)
    if entry is None:
        return None
    try:
        return bool(json.loads((entry / FILE).read_text())["executes"])
    except (OSError, ValueError, KeyError, TypeError):
        forget(key, kind=KIND)
        return None


def _keep(key: str, executes: bool) -> None:
    def write(folder: Path) -> None:
        (folder / FILE).write_text(json.dumps({"executes": executes}))

    try:
        find_or_build(key, write, kind=KIND)
    except OutputError as error:
        logger.warning("the list of instructions that this machine executes could not be cached: %s", error.witness)
