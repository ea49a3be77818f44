"""Options of the test run: goldens can be rewritten, and are then reviewed as a diff."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from polysched.cli.entry import COLLECT_AFTER
from polysched.emit_c import EmitOptions
from polysched.target.build_cache import ENVIRONMENT as CACHE
from tests import forked_children
from tests.cli import loaded_process
from tests.compilations import AS_ASKED, KEPT, SHARED, Compilations, take_the_place
from tests.tiers import CAMPAIGN, RECORD, ROOT, function_of, in_campaign, recorded, renewed, renewed_campaign


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", default=False,
                     help="rewrite the golden files that a test compares with, instead of comparing")
    parser.addoption("--record-tiers", action="store_true", default=False,
                     help="rewrite which functions are not quick and which parameters are left to campaigns, of those "
                          "that run, by what their tests take now; campaigns run, too, whatever -m says")


def pytest_configure(config: pytest.Config) -> None:
    """Processes that tests start keep their bytecode, and idle threads give their core to another test."""
    gc.disable()   # until all tests are collected: they stay, and looking at them takes a quarter of that time
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")   # read when a process loads libgomp
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")   # and OpenBLAS, with NumPy: 2 to this many cycles
    os.environ.setdefault("POLYSCHED_OPENCL_BUILD", "-cl-opt-disable")   # else PoCL takes six times as long
    loaded_process.remember(os.environ)
    if config.getoption("--record-tiers"):
        config.option.markexpr = ""   # of a function that ran in part, the record would lose the other parameters
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(TierRecorder())


def pytest_collection(session: pytest.Session) -> None:
    """Every second worker reads the tests from the last to the first: each compiles half of what is not compiled."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if number % 2 and [Path(own).resolve() for own in session.config.args] == [ROOT / "tests"]:
        for path in sorted((ROOT / "tests").rglob("test_*.py"), reverse=True):
            with contextlib.suppress(Exception, pytest.skip.Exception):   # the collection itself meets it again
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tier, and what only a campaign runs."""
    slow, campaign = recorded(), in_campaign()
    for item in items:
        if item.nodeid in campaign:
            item.add_marker("campaign")
        if function_of(item.nodeid) not in slow and item.get_closest_marker("campaign") is None:
            item.add_marker("quick")


def pytest_collection_finish() -> None:
    """No collection of garbage looks at tests and modules again."""
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    gc.enable()


class TierRecorder:
    """Notes what every test takes that passes, and writes at the end which are not quick."""

    def __init__(self) -> None:
        self.seconds: list[tuple[str, float]] = []
        self.passed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds.append((report.nodeid, report.duration))
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        taken = [(nodeid, duration) for nodeid, duration in self.seconds if nodeid in self.passed]
        RECORD.write_text("".join(f"{name}\n" for name in renewed(recorded(), taken)))
        CAMPAIGN.write_text("".join(f"{name}\n" for name in renewed_campaign(in_campaign(), taken)))


@pytest.fixture(autouse=True, scope="session")
def passes_are_verified() -> None:
    """Whatever a test emits in this process is emitted with the loop IR verified behind every pass."""
    EmitOptions.__init__.__kwdefaults__["verify_passes"] = True


@pytest.fixture(autouse=True, scope="session")
def compilations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compilations]:
    """Compilers compile nothing twice in this process, children are forked, caches are the run's own."""
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base   # the workers' folders are beside each other
    outputs, cache = run / "compilations", run / "cache"
    for folder in (outputs, cache):
        folder.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        made = take_the_place(outputs, patch.setattr)
        forked_children.take_the_place(forked_children.fork_loaded, patch.setattr)
        patch.setenv(CACHE, str(cache))
        patch.setenv(SHARED, str(outputs))
        yield made
    made.remove_precompiled()


@pytest.fixture(autouse=True, scope="module")
def flags_as_asked(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where the level of optimisation may matter, compilers get what is asked for, and nothing kept has less."""
    with pytest.MonkeyPatch.context() as patch:
        if request.node.nodeid.startswith(AS_ASKED):
            patch.setenv(KEPT, "1")
            patch.setenv(CACHE, f"{os.environ[CACHE]}_as_asked")
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file; `--update-golden` rewrites the file and passes."""
    update = request.config.getoption("--update-golden")

    def check(path: Path, text: str) -> None:
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="")
            return
        assert path.exists(), f"{path} is missing: run pytest with --update-golden and review it"
        with path.open(newline="") as file:
            assert file.read() == text, f"{path.name} differs: run pytest with --update-golden and review the diff"

    return check
