"""Which tests the quick tier leaves out."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.tiers import (
    OF_SUBJECTS,
    ROOT,
    exists,
    function_of,
    in_campaign,
    left_to_campaigns,
    recorded,
    renewed,
    renewed_campaign,
    slow_functions,
)

HERE = "tests/test_tiers.py::"


def test_a_function_counts_with_all_phases_and_the_average_of_its_parameters() -> None:
    seconds = [("a.py::long", 0.1), ("a.py::long", 0.3), ("a.py::short", 0.1), ("b.py::cases[1-2]", 0.5),
               ("b.py::cases[3[]]", 0.0), ("b.py::cases[4]", 0.0), ("b.py::TestC::rare[x]", 0.4)]
    assert slow_functions(seconds, most=0.2) == ["a.py::long", "b.py::TestC::rare"]
    assert slow_functions(seconds, most=0.1) == ["a.py::long", "b.py::TestC::rare", "b.py::cases"]


def test_a_run_of_a_few_tests_renews_the_record_of_these() -> None:
    earlier = [f"{HERE}test_the_record_leaves_some_out", f"{HERE}test_that_is_gone", f"{HERE}test_every_name_exists"]
    seconds = [(f"{HERE}test_every_name_exists", 0.0), (f"{HERE}test_new[1]", 9.0)]
    assert renewed(earlier, seconds) == [f"{HERE}test_new", f"{HERE}test_the_record_leaves_some_out"]
    assert renewed(earlier, []) == [earlier[2], earlier[0]]


def test_parameters_that_take_long_in_all_are_left_to_campaigns_but_for_some() -> None:
    seconds = [(f"a.py::many[{k}]", 1.0) for k in range(9)] + [("a.py::many[3]", 1.0), ("b.py::one", 50.0)]
    assert left_to_campaigns(seconds, most=2) == [f"a.py::many[{k}]" for k in (1, 2, 4, 6, 7)]   # 4.5 of 10 s stay
    assert left_to_campaigns(seconds, most=0.1) == [f"a.py::many[{k}]" for k in range(1, 9)]   # one
    assert left_to_campaigns(seconds, most=10) == []
    assert left_to_campaigns([("a.py::two[a]", 9.0), ("a.py::two[b]", 9.0)], most=0.1) == []   # often two kinds
    rooms = [(f"tests/architecture/test_a.py::test_rooms[{k}]", 9.0) for k in range(9)]
    assert left_to_campaigns(rooms, most=0.1) == []
    unlike = [(f"a.py::unlike[{k}]", float(k)) for k in range(1, 6)]
    assert left_to_campaigns(unlike, most=0.1) == [f"a.py::unlike[{k}]" for k in (1, 2, 4, 5)]
    instructions = [(f"{name}[{k}]", 1.0) for name in OF_SUBJECTS for k in range(9)]
    assert left_to_campaigns(instructions, most=0.1, of_subjects=10) == []
    short = [("a.py::many[1]", 0.1)]
    assert renewed_campaign([f"{HERE}test_every_name_exists[x]", "a.py::many[1]", "c.py::gone[2]"], short) == [
        f"{HERE}test_every_name_exists[x]"]


def test_a_record_is_made_of_all_parameters(tmp_path: Path) -> None:
    """Of a function that ran in part, the parameters left to campaigns would be lost."""
    folder = tmp_path / "tests"
    (folder / "cli").mkdir(parents=True)
    for name in ("setup.cfg", "tests/conftest.py", "tests/tiers.py", "tests/compilations.py",
                 "tests/forked_children.py", "tests/cli/loaded_process.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    (folder / "test_a.py").write_text("import pytest\n\n@pytest.mark.parametrize('k', range(3))\n"
                                      "def test_many(k): pass\n")
    (folder / "not_quick.txt").write_text("")
    (folder / "campaign.txt").write_text("tests/test_a.py::test_many[1]\n")

    def passed(*options: str) -> str:
        command = [sys.executable, "-m", "pytest", "-n", "0", "-q", *options, "tests/test_a.py"]
        return subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True,
                              capture_output=True, text=True).stdout.splitlines()[-1]

    assert passed().startswith("2 passed, 1 deselected")
    assert passed("--record-tiers").startswith("3 passed in")
    assert (folder / "campaign.txt").read_text() == ""


def test_every_name_exists() -> None:
    named = (*recorded(), *map(function_of, in_campaign()), *OF_SUBJECTS)
    assert [name for name in named if not exists(name)] == []


def test_the_record_leaves_some_out(request) -> None:
    assert request.node.get_closest_marker("quick") is not None
    assert "tests/end_to_end/test_kernels.py::test_every_version_agrees" in recorded()
