"""What the site takes from other folders: notebooks as they were run, findings of experiments, and the gallery's pages.

`conf.py` calls `collect` before Sphinx looks for pages; what is written here is no part of the repository.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
EXPERIMENTS = ROOT / "experiments"
FIGURES = (".svg", ".png")
CODE = re.compile(r"^[^\S\n]*(?P<fence>`{3,}).*?^[^\S\n]*(?P=fence)[^\S\n]*$"
                  r"|(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def collect() -> None:
    """Write `notebooks/` and `findings/`, and the pages of the gallery."""
    for folder in ("notebooks", "findings"):
        shutil.rmtree(DOCS / folder, ignore_errors=True)
    for notebook in sorted((EXPERIMENTS / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in notebook.parts:
            _write(place_of(notebook), _notebook(notebook))
    for page in sorted(EXPERIMENTS.rglob("README.md")):
        if page.parent != EXPERIMENTS / "notebooks":
            _write(place_of(page), f"```{{include}} {os.path.relpath(page, place_of(page).parent)}\n```\n")
    _write(DOCS / "notebooks" / "index.md", _index("../../experiments/notebooks/README.md", _names("notebooks")))
    _write(DOCS / "findings" / "index.md", _index("../../experiments/README.md", _names("findings")))


def place_of(file: Path) -> Path:
    """Where a file of the repository lies on the site; itself where it is no page of it."""
    if file == ROOT / "README.md":
        return DOCS / "index.md"
    if file.name == "README.md" and file.parent.parent == ROOT / "polysched":
        return DOCS / "rooms" / f"{file.parent.name}.md"
    if file.is_relative_to(EXPERIMENTS / "notebooks"):
        if file.name == "README.md":
            return DOCS / "notebooks" / "index.md"
        return DOCS / "notebooks" / file.relative_to(EXPERIMENTS / "notebooks") if file.suffix == ".ipynb" else file
    if file.is_relative_to(EXPERIMENTS) and file.name == "README.md":
        name = file.parent.relative_to(EXPERIMENTS)
        return DOCS / "findings" / (f"{name}.md" if name.parts else "index.md")
    return file


def on_the_site(text: str, written_in: Path, shown_in: Path) -> str:
    """Links and figures of a text as they are from a page of the site; of what is no page, the label stays.

    In code, `values[name](argument)` is no link; the label of a link may be code.
    """
    code = [range(*found.span()) for found in CODE.finditer(text)]

    def changed(link: re.Match[str]) -> str:
        if any(link.start() in part for part in code):
            return link.group()
        figure, label, path, anchor = link.group(1), link.group(2), link.group(3), link.group(4) or ""
        if "://" in path:
            return link.group()
        target = (written_in / path).resolve()
        if figure and target.suffix in FIGURES and target.is_file():
            return f"![{label}]({os.path.relpath(_figure(target), shown_in)})"
        target = place_of(target)
        if not target.is_relative_to(DOCS) or not target.exists():
            return label
        return f"{figure}[{label}]({os.path.relpath(target, shown_in)}{anchor if target.suffix == '.md' else ''})"
    return LINK.sub(changed, text)


def _figure(file: Path) -> Path:
    """A figure where Sphinx finds it."""
    if file.is_relative_to(DOCS):
        return file
    copy = DOCS / "findings" / "_figures" / file.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)
    return copy


def _notebook(file: Path) -> str:
    """A notebook with links that lead to pages of the site."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            cell["source"] = on_the_site(text, file.parent, place_of(file).parent)
    return json.dumps(notebook)


def _names(folder: str) -> Iterator[str]:
    """The pages of a folder, as a toctree names them."""
    for page in sorted((DOCS / folder).rglob("*")):
        if page.suffix in (".md", ".ipynb") and page.stem != "index":
            yield str(page.relative_to(DOCS / folder).with_suffix(""))


def _index(included: str, names: Iterator[str]) -> str:
    return f"```{{include}} {included}\n```\n\n```{{toctree}}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"


def _write(page: Path, text: str) -> None:
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
