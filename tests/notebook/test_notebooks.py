"""The notebooks run from top to bottom, and were committed with outputs of the same kinds."""

from __future__ import annotations

import importlib.util
import itertools
import runpy
from pathlib import Path

import pytest

from tests.html_reader import Page

FOLDER = Path(__file__).parents[2] / "experiments" / "notebooks"
NOTEBOOKS = [*sorted(FOLDER.glob("*.ipynb")), *sorted(FOLDER.glob("tutorial/*.ipynb"))]
NEEDED = ("nbclient", "ipykernel", "ipywidgets", "pygments")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")


def kinds(notebook) -> list[list[tuple[str, ...]]]:
    """Per code cell, what its outputs are; text that came in several pieces is one output."""
    each = [[tuple(sorted(o.get("data", {o.get("name", o.output_type): None}))) for o in cell.outputs]
            for cell in notebook.cells if cell.cell_type == "code"]
    return [[kind for kind, _ in itertools.groupby(outputs)] for outputs in each]


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs_and_is_committed_with_its_outputs(path):
    import nbformat
    committed = nbformat.read(path, as_version=4)
    run = runpy.run_path(str(FOLDER / "execute.py"))["executed"](path)
    assert kinds(committed) == kinds(run)
    assert [c.source for c in committed.cells] == [c.source for c in run.cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_committed_outputs_are_self_contained_and_name_no_folder_of_a_machine(path):
    import nbformat
    notebook = nbformat.read(path, as_version=4)
    outputs = [o.get("data", {}) for c in notebook.cells for o in c.get("outputs", ())]
    shown = [data["text/html"] for data in outputs if "text/html" in data]
    assert shown
    for html in shown:
        Page(html)
    text = path.read_text()
    for folder in (str(FOLDER.parents[1]), str(Path.home()) + "/", "/tmp/"):
        assert folder not in text
