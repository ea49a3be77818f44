"""Products of tensor cores run on the CPU here."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CUDA_ON_CPU", "1")
