"""Write `constants.md`, the table of the constants that steer a choice: `python docs/constants.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polysched.dependence.limits import LIMITS as DEPENDENCE
from polysched.distribute.limits import LIMITS as DISTRIBUTE
from polysched.emit_c.limits import LIMITS as EMIT_C
from polysched.emit_gpu.limits import LIMITS as EMIT_GPU
from polysched.gpu.limits import LIMITS as GPU
from polysched.graph.limits import LIMITS as GRAPH
from polysched.kernel.limits import LIMITS as KERNEL
from polysched.mesh.limits import LIMITS as MESH
from polysched.model.limits import LIMITS as MODEL
from polysched.pipeline.limits import LIMITS as PIPELINE
from polysched.runtime.limits import LIMITS as RUNTIME
from polysched.scheduling.limits import LIMITS as SCHEDULING
from polysched.scop.assumptions import ASSUMED
from polysched.scop.limits import LIMITS as SCOP
from polysched.search.limits import LIMITS as SEARCH
from polysched.target.constant import Constant, constants
from polysched.target.costs import DEVICE, SHIPPED
from polysched.target.limits import LIMITS as TARGET
from polysched.target.target import CorePorts
from polysched.tensorize.limits import LIMITS as TENSORIZE
from polysched.tiling.limits import LIMITS as TILING

FILE = Path(__file__).with_name("constants.md")
RECORDS: tuple[tuple[str, str, str, Any], ...] = (
    ("What a machine takes", "target/costs.py", "`Target.costs`; `polysched machine --calibrate FILE` measures those "
     "with that command as their experiment, or the bandwidths that are used in their place; `--machine FILE` applies "
     "them.", SHIPPED),
    ("What a device takes", "target/costs.py", "Which mapping to a device is taken.", DEVICE),
    ("What a core does per cycle", "target/target.py", "`Target.ports`.", CorePorts()),
    ("What is assumed of machines", "target/limits.py", "Where the system does not say.", TARGET),
    ("What is assumed of programs", "scop/assumptions.py", "Where only the running program knows more.", ASSUMED),
    ("Limits of reading", "scop/limits.py", "", SCOP),
    ("Limits of analysis", "dependence/limits.py", "", DEPENDENCE),
    ("Limits of scheduling", "scheduling/limits.py", "", SCHEDULING),
    ("Limits of tiling", "tiling/limits.py", "", TILING),
    ("Limits of tensorize", "tensorize/limits.py", "", TENSORIZE),
    ("Limits of distribute", "distribute/limits.py", "", DISTRIBUTE),
    ("Limits of mapping to devices", "gpu/limits.py", "", GPU),
    ("Limits of emit_c", "emit_c/limits.py", "", EMIT_C),
    ("Limits of emit_gpu", "emit_gpu/limits.py", "", EMIT_GPU),
    ("Limits of the pipeline", "pipeline/limits.py", "", PIPELINE),
    ("Limits of search", "search/limits.py", "", SEARCH),
    ("Limits of graphs", "graph/limits.py", "", GRAPH),
    ("Limits of calls", "kernel/limits.py", "", KERNEL),
    ("Limits of models", "model/limits.py", "", MODEL),
    ("Limits of placement on a mesh", "mesh/limits.py", "", MESH),
    ("Limits of jobs that share a machine", "runtime/limits.py", "", RUNTIME),
)
HEAD = """\
# Constants

Every single number that steers a choice in target, scop, dependence, scheduling, tiling, tensorize, distribute, gpu,
emit_c, emit_gpu, pipeline, search, graph, kernel, model, mesh and runtime, with its unit and its source.
`python docs/constants.py` writes this page from the values; a test keeps it up to date, and another one finds numbers
of these rooms that are missing here. Costs are what a machine takes for something; limits are budgets of searches and
proofs, and sizes above which a choice pays. Lists of candidates are where they are tried, and the protocol of
measurements (warm-ups, rounds, confidence) is in `polysched/measure`.
`experiments/ablation` says which costs and ports change the emitted C, and with `--limits` which limits of tiling,
tensorize and emit_c do.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *(line for record in RECORDS for line in _section(*record))])


def _section(title: str, place: str, note: str, record: Any) -> Iterator[str]:
    rows = list(constants(record))
    experiments = any(row.experiment for row in rows)
    yield f"## {title}\n"
    yield f"`polysched/{place}`, {len(rows)} constant{'s' * (len(rows) != 1)}. {note}".rstrip() + "\n"
    yield "| name | value | unit | source |" + (" experiment |" if experiments else "")
    yield "|---|---:|---|---|" + ("---|" if experiments else "")
    yield from (_row(row, experiments) for row in rows)
    yield ""


def _row(row: Constant, experiments: bool) -> str:
    value = f"{row.value:g}" if isinstance(row.value, float) else str(row.value)
    cells = [f"`{row.name}`", value, row.unit, row.source]
    cells += [f"`{row.experiment}`" if row.experiment else ""] if experiments else []
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
