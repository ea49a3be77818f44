"""A cache folder of its own for every test that asks for one."""

from pathlib import Path

import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(folder))
    return folder
