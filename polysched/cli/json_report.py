"""What `--json` writes: what was found, what was chosen, and how long each stage took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polysched.pipeline import Optimized, TransformedFile

FORMAT_VERSION = 1


def file_report(transformed: TransformedFile, *, output: str | None) -> dict[str, Any]:
    """The report on one file."""
    from polysched.version import __version__
    return {"format_version": FORMAT_VERSION, "polysched": __version__, "source": str(transformed.path),
            "output": output, "options": transformed.regions[0].options.chosen(),
            "seconds": dict(transformed.seconds), "regions": [region_report(r) for r in transformed.regions]}


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
        "bands": [{"band": b.band, "tile": list(b.sizes), "wavefront": b.wavefront,
                   "parallel_member": b.parallel_member} for b in region.tiled.bands],
        "fallbacks": list(region.source.fallbacks),
        "steps": list(region.steps()),
        "seconds": dict(region.seconds)}
