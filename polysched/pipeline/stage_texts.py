"""Each stage's value as text, in files: what `--dump-stages` writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polysched.dependence.text import dependences_text
from polysched.errors import OutputError
from polysched.scop.text import isl_tree_text, scop_text

if TYPE_CHECKING:
    from polysched.pipeline.optimized import Optimized

STAGES = ("scop", "dependences", "schedule", "tiled", "emitted")


def dump_stages(regions: Sequence[Optimized], folder: str | Path) -> None:
    """Write each stage's value as text: `1-scop.txt` to `5-emitted.c`, in a folder per region if there are several.

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
        except OSError as error:
            raise OutputError(f"the stages cannot be written: {error.strerror}", where=str(target)) from None


def stage_texts(region: Optimized) -> dict[str, str]:
    """Each stage's value as text, by the stage's name."""
    return {"scop": scop_text(region.scop), "dependences": dependences_text(region.dependences),
            "schedule": _text([f"algorithm: {region.schedule.algorithm}", f"report: {region.schedule.report}",
                               isl_tree_text(region.schedule.tree)]),
            "tiled": _text([*region.steps(), isl_tree_text(region.tiled.tree)]), "emitted": region.text}


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
