"""What the pages of docs/ show is what the program prints, and their links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from polysched.cli import main
from polysched.cli.commands import COMMANDS
from tests.architecture.test_import_direction import ORDER
from tests.docs.pages import in_fresh_process, sections, with_real_output

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXECUTED = ("concepts.md", "refusals.md")
RECIPES = DOCS / "recipes.md"
COOKBOOK = DOCS / "cookbook.md"
MOST_LINES = 25
"""Of a script of the cookbook, the empty ones not counted."""
WRITTEN = sorted([*DOCS.glob("*.md"), ROOT / "README.md", *(ROOT / "polysched").glob("*/README.md"),
                  *(ROOT / "experiments").rglob("*.md")])
GALLERY = re.findall(r"\(gallery/(\w+)\.svg\)\n\n`polysched (draw [^`]+)`", (DOCS / "index.md").read_text())
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("name", EXECUTED)
def test_examples_print_what_the_page_shows(name: str, tmp_path: Path, golden: Callable[[Path, str], None],
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    page = DOCS / name
    golden(page, with_real_output(page.read_text(), tmp_path))


@pytest.mark.parametrize("title", sections(RECIPES.read_text())[1])
def test_a_recipe_runs_in_a_fresh_environment(title: str, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    page = RECIPES.read_text()
    start, recipes = sections(page)
    given = f"{start}## {title}\n{recipes[title]}"
    made = in_fresh_process(given, tmp_path)
    assert made.startswith(start)
    golden(RECIPES, page.replace(given[len(start):], made[len(start):]))


@pytest.mark.parametrize("title", sections(COOKBOOK.read_text())[1])
def test_a_question_runs_in_a_fresh_environment(title: str, tmp_path: Path,
                                                golden: Callable[[Path, str], None]) -> None:
    page = COOKBOOK.read_text()
    start, questions = sections(page)
    given = f"{start}## {title}\n{questions[title]}"
    made = in_fresh_process(given, tmp_path)
    golden(COOKBOOK, page.replace(given[len(start):], made[len(start):]))


def test_the_cookbook_has_ten_questions_with_short_scripts() -> None:
    questions = sections(COOKBOOK.read_text())[1]
    assert len(questions) == 10
    for title, text in questions.items():
        scripts = re.findall(r"^```python(?: \S+)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        lines = [line for script in scripts for line in script.split("\n") if line.strip()]
        assert len(lines) <= MOST_LINES, title
        assert scripts or "```console" in text, title
        asked, *_, shown = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).strip().split("\n\n")
        assert "?" in asked, f"{title}: it begins with the question"
        assert shown.strip().endswith("."), f"{title}: it ends with what is shown"


@pytest.mark.parametrize(("name", "command"), GALLERY)
def test_a_picture_of_the_gallery_is_what_its_command_draws(
        name: str, command: str, tmp_path: Path, golden: Callable[[Path, str], None],
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS / "gallery")
    assert main([*command.split(), "-o", str(tmp_path / "drawn.svg")]) == 0
    golden(DOCS / "gallery" / f"{name}.svg", (tmp_path / "drawn.svg").read_text())


@pytest.mark.parametrize("title", sections(RECIPES.read_text())[1])
def test_a_recipe_names_the_place_where_it_ends(title: str) -> None:
    place = re.search(r"^Place: \[`?([\w/.]+)`?\]\(\.\./([\w/.]+)\)(?:, `(\w+)`)?\.$", sections(
        RECIPES.read_text())[1][title], re.MULTILINE)
    assert place, "a recipe has a line `Place: [FILE](../FILE), `NAME`.`"
    assert place.group(1) == place.group(2)
    file = ROOT / place.group(1)
    assert file.exists()
    assert place.group(3) is None or re.search(
        rf"^(def |class )?{place.group(3)}\b", file.read_text(), re.MULTILINE), "the name is defined there"


def _where_to_look() -> list[tuple[str, str, str]]:
    """Question, place and recipe of each row of the table in architecture.md."""
    text = sections((DOCS / "architecture.md").read_text())[1]["Where to look"]
    return re.findall(r"^\| ([^|]+?) \| `([^`]+)` \| (.*?) \|$", text, re.MULTILINE)


@pytest.mark.parametrize(("question", "place", "recipe"), _where_to_look())
def test_a_question_of_a_stranger_ends_at_one_place(question: str, place: str, recipe: str) -> None:
    """Its recipe ends where the table says, and so does the README of the room that holds the place."""
    assert (ROOT / place).exists(), question
    if not recipe:
        return
    titles = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"): title
              for title in sections(RECIPES.read_text())[1]}
    found = re.search(r"\(recipes\.md#([\w-]+)\)", recipe)
    assert found, question
    assert place in sections(RECIPES.read_text())[1][titles[found[1]]], "the recipe names the place"
    assert f"recipes.md#{found[1]}" in (ROOT / Path(*Path(place).parts[:2]) / "README.md").read_text()


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    missing = []
    for link in _LINK.findall(_without_code(page.read_text())):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            missing.append(link)
    assert not missing


@pytest.mark.parametrize("page", sorted((ROOT / "polysched").glob("*/README.md")), ids=lambda page: page.parent.name)
def test_files_that_a_room_names_are_there(page: Path) -> None:
    names = re.findall(r"`([\w/]+\.py)`", page.read_text())
    assert not [name for name in names if not (ROOT / name).exists() and not list(page.parent.rglob(name))]


@pytest.mark.parametrize("page", sorted((ROOT / "polysched").glob("*/README.md")), ids=lambda page: page.parent.name)
def test_a_room_names_its_files_and_folders(page: Path) -> None:
    words = set(re.findall(r"\w+", page.read_text()))
    commands = {c.NAME for c in COMMANDS} if page.parent.name == "cli" else set()   # one file each
    own = {path.stem for path in page.parent.iterdir() if path.suffix == ".py" or list(path.glob("*.py"))}
    assert not {name for name in own if not name.startswith("__")} - words - commands


def test_the_architecture_has_every_room_and_the_order_of_imports() -> None:
    page = (DOCS / "architecture.md").read_text()
    rooms = [path.parent.name for path in (ROOT / "polysched").glob("*/__init__.py")]
    assert not [room for room in rooms if not re.search(rf"^\| \[?{room}/", page, re.MULTILINE)]
    chain = re.search(r"^    version < .*\n(?:      < .*\n)*", page, re.MULTILINE)
    assert chain
    assert re.split(r"\s*<\s*", chain.group().strip()) == [room for room in ORDER if not room.startswith("__")]


def _without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", sorted((ROOT / "polysched").glob("*/README.md")), ids=lambda page: page.parent.name)
def test_a_room_is_described_in_two_screens(page: Path) -> None:
    text = page.read_text()
    assert len(text.splitlines()) <= 80
    assert len(text.split()) <= 1200, "figures and what was tried belong to experiments/, explanations to docs/"


def test_the_python_interface_lists_modules_that_are_there() -> None:
    modules = re.findall(r"^   (polysched[\w.]+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert len(modules) > 50
    places = [module.replace(".", "/") for module in modules]
    assert not [place for place in places if not (ROOT / f"{place}.py").exists() and not (
        ROOT / place / "__init__.py").exists()]
