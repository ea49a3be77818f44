"""What `--json` writes: what was found, what was chosen, and how long each stage took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polysched.pipeline import Optimized, TransformedFile

FORMAT_VERSION = 1


def file_report(transformed: TransformedFile, *, output: str | None,
                sizes: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The report on one file.

    Parameters
    ----------
    sizes : values of parameters by their C spelling; with some, the work at that size is counted.
    """
    from polysched.version import __version__
    return {"format_version": FORMAT_VERSION, "polysched": __version__, "source": str(transformed.path),
            "output": output, "options": transformed.regions[0].options.chosen(),
            "seconds": dict(transformed.seconds), "regions": [region_report(r) for r in transformed.regions],
            **(work_report(transformed, sizes) if sizes else {})}


def work_report(transformed: TransformedFile, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Operations and bytes of all regions at one size; `work` is null when counting would take too long.

    Raises
    ------
    UsageError : an access would leave its array at these sizes.
    """
    from polysched.measure.programs.problem_size import choose_size
    from polysched.measure.programs.work import count_work
    scops = [r.scop for r in transformed.regions]
    size = choose_size(scops, sizes)
    work = count_work(scops, size.values)
    return {"sizes": dict(size.spelled), "work": None if work is None else asdict(work)}


def region_report(region: Optimized) -> dict[str, Any]:
    """The report on one region."""
    from polysched.dependence.dependences import DependenceKind
    report, kinds = region.schedule.report, (DependenceKind.FLOW, DependenceKind.ANTI, DependenceKind.OUTPUT)
    return {
        "function": region.scop.name,
        "line": region.scop.statements[0].line if region.scop.statements else 0,
        "statements": len(region.scop.statements),
        "arrays": [a.name for a in region.scop.arrays],
        "dependences": {k.value: sum(d.kind is k for d in region.dependences.pairs) for k in kinds},
        "assumptions": [{"kind": a.kind, "text": a.text, "condition": a.condition} for a in region.scop.assumptions],
        "schedule": {"algorithm": region.schedule.algorithm, "rungs": list(report.rungs), "solves": report.solves,
                     "variables": report.variables, "rows": report.rows, "solver_seconds": report.solver_seconds,
                     "tree": str(region.schedule.tree)},
        "bands": [{"band": b.band, "tile": list(b.sizes), "wavefront": b.wavefront, "pieces": b.pieces,
                   "strip": b.strip, "parallel_member": b.parallel_member} for b in region.tiled.bands],
        "fallbacks": [*region.tiled.fallbacks, *region.source.fallbacks],
        "steps": list(region.steps()),
        "listing": asdict(region.listing()),
        **({} if region.accelerator is None else {"accelerator": region.accelerator.to_json()}),
        "seconds": dict(region.seconds)}
