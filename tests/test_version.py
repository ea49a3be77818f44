"""The version: one string, the newest of the changelog, and what the package calls itself."""

from __future__ import annotations

import re
from pathlib import Path

import polysched
from polysched.version import __version__

ROOT = Path(__file__).parents[1]


def test_the_version_is_semantic_and_the_packages() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:[.-]\w+)?", __version__)
    assert polysched.__version__ == __version__


def test_the_changelog_has_a_section_for_it() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert __version__ in [heading.split()[0] for heading in headings]


def test_the_build_reads_it_from_here() -> None:
    assert "polysched.version.__version__" in (ROOT / "setup.cfg").read_text()
