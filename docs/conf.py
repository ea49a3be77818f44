"""How Sphinx builds the documentation; the command is in docs/README.md."""

from __future__ import annotations

from polysched.version import __version__

project = "polysched"
version = release = __version__
root_doc = "index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "README.md"]
default_role = "code"
html_title = f"polysched {release}"
html_show_copyright = False
html_theme_options = {"fixed_sidebar": True, "page_width": "1100px"}
html_copy_source = False
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
