"""Every test has a cache of compiled kernels of its own; a C file that some tests compile."""

from pathlib import Path

import pytest

from tests.kernel.products import PRODUCT


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A C file with one product, and the header that it includes."""
    (tmp_path / "rows.h").write_text("#define ROWS 4\n")
    path = tmp_path / "product.c"
    path.write_text(PRODUCT)
    return path
