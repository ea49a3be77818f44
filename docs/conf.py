"""How Sphinx builds the documentation; the command is in docs/README.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from polysched.version import __version__

sys.path.insert(0, str(Path(__file__).parent))
from collected import collect, on_the_site

project = "polysched"
version = release = __version__
root_doc = "index"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "_templates", "README.md", "jupyter_execute"]   # the last: myst-nb, beside _build
nb_execution_mode = "off"   # notebooks are shown as they were run; tests run them
templates_path = ["_templates"]
autosummary_generate = True   # a page a module of api.md, in docs/api/
autosummary_imported_members = False
default_role = "code"
html_title = f"polysched {release}"
html_show_copyright = False
html_copy_source = False
html_theme = "furo"  # for phones and in the dark too
html_static_path = ["_static"]
html_css_files = ["wide.css"]
myst_heading_anchors = 3
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
# `bytes` in a signature is Python's, not one of our properties of that name; widgets are shown as text.
suppress_warnings = ["ref.python", "mystnb.unknown_mime_type"]

_INCLUDE = re.compile(r"```\{include\} (\S+)\n```\n")


def with_included_pages(app: Any, name: str, source: list[str]) -> None:
    """Put READMEs of the repository in place of `{include}`, and let their links lead to the pages of the site.

    Links in the repository are relative to the file (`collected.on_the_site`).
    """
    page = Path(app.srcdir) / f"{name}.md"
    if not page.exists():
        return
    text, folder = source[0], page.parent
    if included := _INCLUDE.search(text):
        file = (page.parent / included.group(1)).resolve()
        app.env.note_dependency(str(file))
        text, folder = text.replace(included.group(), file.read_text()), file.parent
    source[0] = on_the_site(text, folder, page.parent)


def with_sections(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """From the numpydoc of this program (`name : what it is`, on one line) to reStructuredText.

    Sections become lists; what stands indented outside of a section is code, and not a quotation.
    """
    made: list[str] = []
    section = False
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if re.fullmatch("-{3,}", following):
            made += [f"**{line}**", ""]
            section = True
        elif re.fullmatch("-{3,}", line):
            continue
        elif section and (entry := re.fullmatch(r"(\*?\w[\w, ]*?) : (.*)", line)):
            made += [f"- `{entry.group(1)}`: {entry.group(2)}"]
        elif section and line.startswith("    "):
            made.append(line[2:])
        else:
            section = section and not line.strip()
            if line.startswith("    ") and not lines[at - 1].strip() and not _in_code(made):
                made += ["::", ""]
            made.append(line)
    lines[:] = made


def _in_code(lines: list[str]) -> bool:
    last = next((line for line in reversed(lines) if line.strip()), "")
    return last.startswith("    ") or last.endswith("::")


def with_short_navigation(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Generated pages name no others beside them: each of some 600 would list 300, which took most of the build."""
    if page.startswith(("api/", "_modules/")) and (navigation := context.get("toctree")):
        context["toctree"] = lambda **options: navigation(**{**options, "collapse": True, "maxdepth": 1})


def setup(app: Any) -> None:
    """Called by Sphinx."""
    collect()
    app.connect("source-read", with_included_pages)
    app.connect("autodoc-process-docstring", with_sections)
    app.connect("html-page-context", with_short_navigation, priority=400)   # ahead of the theme, which calls `toctree`
