"""What the site takes from other folders: where each file lies there, and what becomes of its links."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def collected() -> ModuleType:
    spec = importlib.util.spec_from_file_location("collected", ROOT / "docs" / "collected.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("file", "place"), [
    ("README.md", "docs/index.md"), ("polysched/scop/README.md", "docs/rooms/scop.md"),
    ("experiments/README.md", "docs/findings/index.md"),
    ("experiments/reproduced/diamonds/README.md", "docs/findings/reproduced/diamonds.md"),
    ("experiments/notebooks/README.md", "docs/notebooks/index.md"),
    ("experiments/notebooks/tutorial/1_iterations.ipynb", "docs/notebooks/tutorial/1_iterations.ipynb"),
    ("experiments/notebooks/heat.c", "experiments/notebooks/heat.c"), ("docs/concepts.md", "docs/concepts.md")])
def test_where_a_file_lies_on_the_site(collected: ModuleType, file: str, place: str) -> None:
    assert (ROOT / file).exists()
    assert collected.place_of(ROOT / file) == ROOT / place


@pytest.mark.parametrize(("text", "shown"), [
    ("[a](../docs/concepts.md#tile)", "[a](../concepts.md#tile)"), ("[a](https://b.c/d)", "[a](https://b.c/d)"),
    ("[a](tile_model/run.py)", "a"), ("[a](nowhere.md)", "a"), ("[`a`](nowhere.md)", "`a`"),
    ("`x[a](b)` [a](nowhere.md)", "`x[a](b)` a"),
    ("```python\nx[a](b)\n```\n[a](nowhere.md)", "```python\nx[a](b)\n```\na"),
    ("one ` alone\n\n[a](nowhere.md) and ` another", "one ` alone\n\na and ` another")])
def test_links_lead_to_pages_or_lose_their_target(collected: ModuleType, text: str, shown: str) -> None:
    assert collected.on_the_site(text, ROOT / "experiments", ROOT / "docs" / "findings") == shown


def test_every_page_of_the_first_page_exists(collected: ModuleType) -> None:
    page = (ROOT / "docs" / "index.md").read_text()
    for link in collected.LINK.finditer(page):
        assert "://" in link.group(3) or (ROOT / "docs" / link.group(3)).exists(), link.group()
