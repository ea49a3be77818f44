"""Execute the notebooks of this folder and keep their outputs: `python experiments/notebooks/execute.py [NAME...]`."""

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
                   resources={"metadata": {"path": str(FOLDER)}}).execute()
    return notebook


def main(names: list[str]) -> None:
    """Execute the named notebooks, or all, in order."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            print(path.name, flush=True)
            nbformat.write(executed(path), path)


if __name__ == "__main__":
    main(sys.argv[1:])
