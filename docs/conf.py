"""How Sphinx builds the documentation; the command is in docs/README.md."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from polysched.version import __version__

ROOT = Path(__file__).parents[1]

project = "polysched"
version = release = __version__
root_doc = "index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "README.md"]
default_role = "code"
html_title = f"polysched {release}"
html_show_copyright = False
html_copy_source = False
html_theme_options = {"fixed_sidebar": True, "page_width": "1100px"}
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False

_INCLUDE = re.compile(r"```\{include\} (\S+)\n```\n")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def with_included_pages(app: Any, name: str, source: list[str]) -> None:
    """Put READMEs of the repository in place of `{include}`, and let their links lead to the pages of the site.

    Links in the repository are relative to the file; on the site the README of a room is `rooms/ROOM`, and other files
    outside docs/ are no pages, so only their text stays.
    """
    docs = Path(app.srcdir)
    page = docs / f"{name}.md"
    text, folder = source[0], page.parent
    if included := _INCLUDE.search(text):
        file = (page.parent / included.group(1)).resolve()
        app.env.note_dependency(str(file))
        text, folder = text.replace(included.group(), file.read_text()), file.parent
    source[0] = _LINK.sub(lambda link: _on_the_site(link, folder, page.parent, docs), text)


def _on_the_site(link: re.Match[str], written_in: Path, shown_in: Path, docs: Path) -> str:
    label, path, anchor = link.group(1), link.group(2), link.group(3) or ""
    if "://" in path:
        return link.group()
    target = (written_in / path).resolve()
    if target.name == "README.md" and target.parent.parent == ROOT / "polysched":
        target = docs / "rooms" / f"{target.parent.name}.md"
    if not target.is_relative_to(docs):
        return label
    return f"[{label}]({os.path.relpath(target, shown_in)}{anchor})"


def with_code_blocks(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Show what a docstring indents, before its first numpydoc section, as code and not as a quotation."""
    section = next((at for at, line in enumerate(lines) if re.fullmatch("-{3,}", line)), len(lines))
    marked: list[str] = []
    for at, line in enumerate(lines):
        starts = line.startswith("    ") and at > 0 and not lines[at - 1].strip()
        if at < section and starts and not _in_block(marked):
            marked += ["::", ""]
        marked.append(line)
    lines[:] = marked


def _in_block(lines: list[str]) -> bool:
    last = next((line for line in reversed(lines) if line.strip()), "")
    return last.startswith("    ") or last.endswith("::")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", with_included_pages)
    app.connect("autodoc-process-docstring", with_code_blocks, priority=400)
