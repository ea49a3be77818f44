"""Where experiments are found, and that a file that was loaded before is not taken for another of its name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from polysched.errors import UsageError
from polysched.experiment import folders
from polysched.experiment.folders import find, list_experiments, load, load_module, read_folder, roots

CONFIG = 'question = "why?"\nexpected_time = "a second"\nnumber = 5\n'
RUN = """from polysched.experiment import Experiment
import beside
EXPERIMENT = Experiment(cases=lambda s: [], measure=lambda c, s, r: {}, table=lambda r: beside.NAME)
"""


@pytest.fixture(autouse=True)
def modules_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(folders, "_LOADED_FROM", set())
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        del sys.modules[name]


def made(folder: Path, *, config: str = CONFIG, run: str = RUN) -> Path:
    folder.mkdir(parents=True)
    (folder / "experiment.toml").write_text(config)
    (folder / "run.py").write_text(run)
    (folder / "beside.py").write_text(f"NAME = {str(folder)!r}\n")
    return folder


def test_the_nearest_folder_with_experiments_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "experiments" / "outer")
    made(tmp_path / "inside" / "experiments" / "group" / "inner")
    (tmp_path / "inside" / "deep" / "experiments").mkdir(parents=True)   # nothing there
    monkeypatch.chdir(tmp_path / "inside" / "deep")
    found = list(roots())
    assert found[:2] == [tmp_path / "inside" / "experiments", tmp_path / "experiments"]
    assert found[2:] in ([], [Path(folders.__file__).parents[2] / "experiments"])
    assert [f.name for f in list_experiments()] == ["group/inner"]
    assert find("group/inner").folder == (tmp_path / "inside" / "experiments" / "group" / "inner").resolve()
    assert find("outer").config["number"] == 5
    assert find(str(tmp_path / "experiments" / "outer")).name == "outer"
    with pytest.raises(UsageError, match=r"no experiment inner\n.*did you mean group/inner"):
        find("inner")


@pytest.mark.parametrize(("config", "problem"), [
    ('question = "why?"\n', "no text expected_time"), ('question = 5\nexpected_time = "x"\n', "no text question"),
    ("question = ", "cannot be read")])
def test_a_configuration_that_lacks_something_is_refused(config: str, problem: str, tmp_path: Path) -> None:
    folder = made(tmp_path / "e", config=config)
    with pytest.raises(UsageError, match=problem):
        read_folder(folder)


def test_experiments_of_one_name_in_two_places_are_two(tmp_path: Path) -> None:
    first, second = (made(tmp_path / place / "same") for place in ("a", "b"))
    assert load(first).table([]) == str(first)
    assert load(second).table([]) == str(second)
    assert load(first).table([]) == str(first)


def test_a_file_is_executed_once(tmp_path: Path) -> None:
    folder = made(tmp_path / "e", run=f"COUNT = []\n{RUN}")
    assert load_module(folder / "run.py") is load_module(folder / "run.py")
    assert load_module(folder / "beside.py") is not load_module(folder / "run.py")


def test_files_beside_another_experiment_are_not_found(tmp_path: Path) -> None:
    load(made(tmp_path / "a"))
    other = made(tmp_path / "b", run="import beside\nEXPERIMENT = beside.NAME\n")
    assert load_module(other / "run.py").EXPERIMENT == str(other)
    assert str(tmp_path / "a") not in sys.path


@pytest.mark.parametrize(("run", "error", "words"), [
    ("EXPERIMENT = 5\n", UsageError, "defines no EXPERIMENT"), ("def f(:\n", UsageError, "not Python: invalid syntax"),
    ("import nowhere_at_all\n", UsageError, "nowhere_at_all"), ("1 / 0\n", ZeroDivisionError, "division")])
def test_a_file_that_is_no_experiment_is_the_same_twice(run: str, error: type[Exception], words: str,
                                                        tmp_path: Path) -> None:
    folder = made(tmp_path / "e", run=run)
    for _ in range(2):
        with pytest.raises(error, match=words):
            load(folder)


def test_what_is_not_installed_is_told_with_the_extra_that_brings_it(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.requires", lambda name: [
        "numpy>=1.26", 'torch>=2.4; extra == "peers"', 'torch>=2.6; extra == "torch"',
        'no-such-peer[all]>=1; (platform_system == "Linux") and extra == "peers"'])
    assert folders.extra_of("torch") == "torch"
    assert folders.extra_of("numpy") == ""
    (tmp_path / "run.py").write_text("import no_such_peer.part\n")
    with pytest.raises(UsageError, match=r"needs no_such_peer, which is not installed: .*'polysched\[peers\]'"):
        load_module(tmp_path / "run.py")
    (tmp_path / "part.py").write_text("import polysched.no_such_part\n")
    with pytest.raises(UsageError, match=r"not installed: No module named 'polysched\.no_such_part'"):
        load_module(tmp_path / "part.py")


def test_an_experiment_of_nearly_that_name_is_named() -> None:
    with pytest.raises(UsageError, match=r"there is no experiment polibench\n  hint: did you mean polybench\?"):
        find("polibench")


def test_no_file_is_no_experiment(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        load(tmp_path)
