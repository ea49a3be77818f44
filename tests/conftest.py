"""Options of the test run: goldens can be rewritten, and are then reviewed as a diff."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polysched.emit_c import EmitOptions


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", default=False,
                     help="rewrite the golden files that a test compares with, instead of comparing")


@pytest.fixture(autouse=True, scope="session")
def passes_are_verified() -> None:
    """Whatever a test emits in this process is emitted with the loop IR verified behind every pass."""
    EmitOptions.__init__.__kwdefaults__["verify_passes"] = True   # type: ignore[misc]


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
