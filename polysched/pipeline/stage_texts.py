"""Each stage's value as text, in files: what `--dump-stages` writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from polysched.dependence.text import dependences_text
from polysched.emit_c.loop_ir.text import loop_text
from polysched.emit_c.pass_history import pass_history
from polysched.errors import OutputError
from polysched.scop.text import isl_tree_text, scop_text

if TYPE_CHECKING:
    from polysched.pipeline.optimized import Optimized

STAGES = ("scop", "dependences", "schedule", "tiled", "emitted")


def dump_stages(regions: Sequence[Optimized], folder: str | Path) -> None:
    """Write each stage's value as text: `1-scop.txt` to `5-emitted.c`, in a folder per region if there are several.

    The folder `passes` has the loop IR behind each pass, and what each of them changed.

    Raises
    ------
    OutputError : the folder cannot be written.
    """
    for number, region in enumerate(regions):
        target = Path(folder) / f"region-{number}" if len(regions) > 1 else Path(folder)
        texts = stage_texts(region)
        try:
            target.mkdir(parents=True, exist_ok=True)
            for position, name in enumerate(STAGES, 1):
                suffix = "c" if name == "emitted" else "txt"
                (target / f"{position}-{name}.{suffix}").write_text(
                    texts[name], encoding="utf-8", errors="surrogateescape")
            _dump_passes(region, target / "passes")
        except OSError as error:
            raise OutputError(f"the stages cannot be written: {error.strerror}", where=str(target)) from None


def _dump_passes(region: Optimized, folder: Path) -> None:
    """The loops behind every pass that ran, `01-unskew.txt` and so on, and in `changes.diff` what each changed."""
    folder.mkdir(exist_ok=True)
    records = pass_history(region.tiled, region.options.emit_options())
    for number, record in enumerate(records, 1):
        (folder / f"{number:02}-{record.loop_pass.name}.txt").write_text(
            loop_text(record.after), encoding="utf-8", errors="surrogateescape")
    (folder / "changes.diff").write_text(
        "".join(record.difference() for record in records), encoding="utf-8", errors="surrogateescape")


def stage_texts(region: Optimized) -> dict[str, str]:
    """Each stage's value as text, by the stage's name."""
    return {"scop": scop_text(region.scop), "dependences": dependences_text(region.dependences),
            "schedule": _text([f"algorithm: {region.schedule.algorithm}", f"report: {asdict(region.schedule.report)}",
                               isl_tree_text(region.schedule.tree)]),
            "tiled": _text([*region.steps(), isl_tree_text(region.tiled.tree)]), "emitted": region.text}


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
