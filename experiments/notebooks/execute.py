"""Execute the notebooks, the tutorial's too, and keep outputs: `python experiments/notebooks/execute.py [NAME...]`."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
SECONDS_PER_CELL = 120


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of this run; raises nbclient's error with the traceback of a cell that fails."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=SECONDS_PER_CELL, kernel_name="python3", record_timing=False,
                   resources={"metadata": {"path": str(path.parent)}}).execute()
    return notebook


def main(names: list[str]) -> None:
    """Execute the named notebooks (`1_tour`, or a path to it), or all, in order."""
    known = {path.stem: path for path in (*sorted(FOLDER.glob("*.ipynb")), *sorted(FOLDER.glob("tutorial/*.ipynb")))}
    wanted = [Path(name).stem for name in names] or list(known)
    if unknown := [name for name in wanted if name not in known]:
        sys.exit(f"there is no notebook {', '.join(unknown)}; those here: {', '.join(known)}")
    for name in wanted:
        print(known[name].name, flush=True)
        nbformat.write(executed(known[name]), known[name])


if __name__ == "__main__":
    main(sys.argv[1:])
