"""A C file whose region can be stopped behind every tile: `polysched c2c --preemptible`."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path

from polysched.emit_c import CSource, emit
from polysched.emit_c.alternatives.guard import never_granted
from polysched.emit_c.scalar_code.preemption import STATE
from polysched.emit_c.splice import splice
from polysched.errors import UnsupportedScopError, UsageError
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.promises import told_promises
from polysched.pipeline.stages import analysed, scheduled
from polysched.records import dataclass
from polysched.scop import all_from_c_file
from polysched.scop.scop import SourceRegion
from polysched.tiling import tile

logger = logging.getLogger(__name__)

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DECLARATION = re.compile(r"(?:unsigned|signed|long|int|short|char|float|double|size_t)\b[\w\s,\[\]*+-]*")
_END = re.compile(r"\s*(?:return\s*;)?\s*\}")


@dataclass(frozen=True, eq=False, kw_only=True)
class PreemptibleFile:
    """A C file whose region stops behind a tile where a flag says so.

    Parameters
    ----------
    path : as the user named it.
    text : the whole file.
    source : the region, with what had to be given up.
    """

    path: Path
    text: str
    source: CSource


def preemptible_file(path: str | Path, options: PipelineOptions | None = None) -> PreemptibleFile:
    """The region of a C file as code that can be stopped, and that goes on when its function is called again.

    No instruction is used in it (`PipelineOptions.tensorize`): those have tiles of their own.

    Raises
    ------
    UsageError : an option has no such code; the file has the name of the state; it has several regions.
    UnsupportedScopError : the function does something beside the region, which a second call would do again.
    """
    options = options or PipelineOptions()
    _refuse_options(options)
    scops = all_from_c_file(str(path), include_dirs=options.include_dirs, defines=options.defines, cc=options.cc,
                            pure=options.pure)
    if len(scops) > 1:
        raise UsageError("code that can be stopped is made for one region of a file", where=str(path),
                         witness=f"{len(scops)} regions", hint="a file for each")
    (scop,) = scops
    assert scop.source is not None
    if STATE in scop.source.text:
        raise UsageError(f"the file has the name {STATE}, which says what is done", where=str(path))
    _refuse_code_around(scop.source)
    tiling = options.tiling_of(scop)
    schedule = scheduled(analysed(scop, expand=False).dependences, options, parameters=tiling.parameters)
    source = emit(tile(schedule, tiling), options=replace(options.emission, preemptible=True))
    tested = never_granted(source.text, scop)
    if tested != source.text:   # the other branch is done at once
        source = replace(source, text=f"{STATE}.stopped = 0;\n{tested}")
    if (line := told_promises(scop, options)) is not None:
        logger.warning("%s", line)
    return PreemptibleFile(path=Path(path), text=splice(scop.source.text, [source]), source=source)


def _refuse_options(options: PipelineOptions) -> None:
    asked = {"guard": options.guard, "safe": options.safe, "a database": options.database is not None,
             "a device": options.device is not None,
             "autodetect": options.autodetect}
    for name, given in asked.items():
        if given:
            raise UsageError("code that can be stopped has no other code beside it", witness=name, hint="leave it out")


def _refuse_code_around(source: SourceRegion) -> None:
    """The function is called again to go on: only declarations may stand before the region, and nothing behind it."""
    before, behind = _bare(source.text[:source.start]), _bare(source.text[source.end:])
    opened = before.rfind("{")
    if source.function is None or before.count("{") != before.count("}") + 1 or not _only_declares(before[opened + 1:]):
        raise UnsupportedScopError("the function does something ahead of the region, which going on would do again",
                                   where=source.path, witness=" ".join(before[opened + 1:].split())[:60],
                                   hint="move the region into a function of its own")
    if not _END.match(behind):
        raise UnsupportedScopError("the function does something behind the region, though that may be left in between",
                                   where=source.path, witness=" ".join(behind.split())[:60],
                                   hint="move the region into a function of its own")


def _only_declares(text: str) -> bool:
    return all(not part.strip() or _DECLARATION.fullmatch(part.strip()) for part in text.split(";"))


def _bare(text: str) -> str:
    return _COMMENT.sub(" ", text)
