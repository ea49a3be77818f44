"""What every stage's value shares: IPython on a terminal shows it as `str` does, a notebook as its HTML."""

from __future__ import annotations

from typing import Protocol


class _Printer(Protocol):
    def text(self, text: str) -> None:
        """Print a text."""


class Shown:
    """A value with a text for people (`__str__`); `_repr_html_` is each value's own."""

    def __init_subclass__(cls) -> None:
        """IPython takes a dataclass's own `__repr__` unless this method stands in the same class."""
        super().__init_subclass__()
        if "_repr_pretty_" not in vars(cls):
            cls._repr_pretty_ = Shown._repr_pretty_  # type: ignore[method-assign]

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:
        printer.text(str(self).rstrip("\n"))
