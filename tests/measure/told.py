"""A reporter that keeps what a child would send."""

from __future__ import annotations

from typing import Any


class Told:
    """Takes reports as a parent would."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []

    def report(self, **values: Any) -> None:
        self.reports.append(values)

    def phase(self, doing: str) -> None:
        self.report(phase=doing)
