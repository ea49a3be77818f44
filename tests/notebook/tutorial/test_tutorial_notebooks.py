"""The tutorial: solutions are right, wrong answers are wrong, empty ones are open, in every notebook."""

from __future__ import annotations

import ast
import itertools
import json
from pathlib import Path

import pytest

from polysched.notebook.tutorial.answers import State, Verdict

FOLDER = Path(__file__).parents[3] / "experiments" / "notebooks" / "tutorial"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SOLUTIONS = FOLDER / "solutions.py"
WRONG = Path(__file__).with_name("wrong_answers.py")


def code_cells(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Source and tags of every code cell."""
    return [("".join(cell["source"]), tuple(cell["metadata"].get("tags", ())))
            for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def answered(path: Path) -> list[str]:
    """The names that a notebook's exercises are assigned to."""
    return [source.split(" = ")[0] for source, tags in code_cells(path) if "answer" in tags]


def answers_in(path: Path) -> dict[str, object]:
    """The values of a file of answers."""
    values: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), values)
    return values


def verdicts(path: Path, answers: dict[str, object] | None) -> list[Verdict]:
    """Run the cells of a notebook in order, with these answers in place of the dots."""
    names: dict[str, object] = {}
    found = []
    for source, tags in code_cells(path):
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path.stem, "exec"), names)
        if "answer" in tags and answers is not None:
            name = source.split(" = ")[0]
            names[name] = answers[name]
        if last is not None:
            value = eval(compile(ast.Expression(last.value), path.stem, "eval"), names)
            if "check" in tags:
                found.append(value)
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_solutions_are_right_and_wrong_answers_wrong(path):
    right, wrong = (verdicts(path, answers_in(file)) for file in (SOLUTIONS, WRONG))
    assert [v.state for v in right] == [State.RIGHT] * len(answered(path)), [str(v) for v in right]
    assert [v.state for v in wrong] == [State.WRONG] * len(answered(path)), [str(v) for v in wrong]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_exercises_are_committed_open_in_pairs_of_answer_and_check(path):
    cells = code_cells(path)
    names = answered(path)
    assert 4 <= len(names) == len(set(names)) <= 6
    for (source, tags), (check, check_tags) in itertools.pairwise(cells):
        if "answer" in tags:
            name = source.removesuffix(" = ...")
            assert name.isidentifier()
            assert "check" in check_tags
            assert check.startswith(f"check({name}, ")
    assert sum("check" in tags for _, tags in cells) == len(names)


def test_both_files_of_answers_have_exactly_the_exercises():
    names = [name for path in NOTEBOOKS for name in answered(path)]
    assert len(NOTEBOOKS) == 6
    for file in (SOLUTIONS, WRONG):
        assigned = [node.targets[0].id for node in ast.parse(file.read_text()).body if isinstance(node, ast.Assign)]
        assert assigned == names
